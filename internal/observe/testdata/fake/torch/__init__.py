"""A stand-in for torch: the names that the probe touches, in the shapes that it relies on, and nothing that computes.
Tests use it so that `make test` needs no PyTorch; the tests of `make e2e` use the real one."""
__version__ = "9.9.9+fake"


class device:
    def __init__(self, type):
        self.type = type

    def __str__(self):
        return self.type


class Tensor:
    requires_grad = False

    def __init__(self, *shape):
        self.shape, self.dtype, self.device = shape, "torch.float32", device("cpu")

    def numel(self):
        n = 1
        for d in self.shape:
            n *= d
        return n

    def to(self, *a, **k):
        return self

    cuda = to

    def item(self):
        return 1.0

    def tolist(self):
        return [1.0]

    def printed(self):
        return _tensor_str._str(self)

    def dim(self):
        return len(self.shape)

    def backward(self):
        pass

    def cpu(self):
        return self

    def __getitem__(self, i):
        return self

    def __bool__(self):
        return True

    def __float__(self):
        return 1.0

    def __int__(self):
        return 1


class autocast:
    def __init__(self, *a, enabled=True):
        self._enabled = enabled

    def __enter__(self):
        return self

    def __exit__(self, *a):
        return False


class _C:
    _get_fp32_precision_getter = None  # came with 2.9, as fp32_precision


class backends:
    fp32_precision = "none"

    class cuda:
        class matmul:
            fp32_precision = "none"


def get_float32_matmul_precision():
    if {backends.fp32_precision, backends.cuda.matmul.fp32_precision} != {"none"}:
        raise RuntimeError("mix of the legacy and new APIs to set the matmul precision")
    return "highest"


from . import _tensor_str, version, cuda, distributed, nn, optim, utils  # noqa: E402
