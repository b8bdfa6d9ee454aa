from . import parallel  # noqa: F401


class Module:
    def eval(self):
        return self


class DataParallel:
    def __init__(self, module):
        self.module, self.device_ids = module, [0, 1]
