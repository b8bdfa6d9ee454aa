from . import parallel  # noqa: F401


class Module:
    def parameters(self):
        return getattr(self, "params", [])

    def train(self, mode=True):
        for child in getattr(self, "kids", []):
            child.train(mode)
        return self

    def eval(self):
        return self.train(False)


class DataParallel:
    def __init__(self, module):
        self.module, self.device_ids = module, [0, 1]
