class DistributedDataParallel:
    def __init__(self, module):
        self.module, self.device_ids = module, [0]
