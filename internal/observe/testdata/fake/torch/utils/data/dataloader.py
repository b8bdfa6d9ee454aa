class _DatasetKind:
    @staticmethod
    def create_fetcher(*a):
        return None


class _BaseDataLoaderIter:
    def __init__(self, loader):
        _DatasetKind.create_fetcher()
        self._num_workers = loader.num_workers
        self._dataset, self.loader, self._num_yielded, self.it = loader.dataset, loader, 0, iter(range(0, len(loader.dataset), loader.batch_size))

    def __iter__(self):
        return self

    def __next__(self):
        i = next(self.it)
        self._num_yielded += 1
        return [self.loader.dataset[j] for j in range(i, i + self.loader.batch_size)]


class DataLoader:
    def __init__(self, dataset, batch_size=1, num_workers=0):
        self.dataset, self.batch_size, self.num_workers = dataset, batch_size, num_workers
        self.pin_memory, self.persistent_workers, self.prefetch_factor = False, False, None

    def _get_iterator(self):
        return _BaseDataLoaderIter(self)

    def __iter__(self):
        return self._get_iterator()
