"""Small training runs, each with one fault planted, and the same run without it: planted.py FAULT sick|well.
They compute on the CPU, so that they run anywhere; the tests put GPUs beside them from recordings."""
import sys
import time

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

FAULT, SICK = sys.argv[1], sys.argv[2] == "sick"


class Samples(Dataset):
    def __init__(self, n, shape=(64,), wait=0.0, work=0, freeze=-1):
        self.n, self.x, self.wait, self.work, self.freeze = n, torch.randn(shape), wait, work, freeze

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if self.wait:
            time.sleep(self.wait)
        for _ in range(self.work):
            torch.sin(self.x).sum()
        if i == self.freeze:
            time.sleep(7)
        return self.x, i % 10


def net(inputs=64, width=256, depth=3):
    layers = [nn.Linear(inputs, width), nn.ReLU()]
    for _ in range(depth):
        layers += [nn.Linear(width, width), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(width, 10))


def train(model, loader, extra=None, epochs=1):
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    n = 0
    for _ in range(epochs):
        for x, y in loader:
            x, y = x.to("cpu"), y.to("cpu")
            opt.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            opt.step()
            n += 1
            if extra:
                extra(loss, n)
    print("steps", n)


def batches(wait):
    """An input of the job's own, without torch's loader."""
    for _ in range(400):
        time.sleep(wait)
        yield torch.randn(8, 64), torch.zeros(8, dtype=torch.long)


def ranks():
    """Ranks of one training under torchrun: the last one has more to do before its backward pass."""
    torch.distributed.init_process_group("gloo")
    model = nn.parallel.DistributedDataParallel(net(64, 128, 1))
    late = SICK and torch.distributed.get_rank() == torch.distributed.get_world_size() - 1
    opt = torch.optim.SGD(model.parameters(), lr=1e-3)
    for x, y in DataLoader(Samples(2400), batch_size=8):
        if late:
            time.sleep(0.03)
        opt.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        opt.step()
    torch.distributed.destroy_process_group()


def main():
    if FAULT == "queue":
        train(net(64, 700), batches(0.04 if SICK else 0))
    elif FAULT == "skew":
        ranks()
    elif FAULT == "storage":
        train(net(64, 700), DataLoader(Samples(400, wait=0.003 if SICK else 0), batch_size=8))
    elif FAULT == "decoding":
        train(net(64, 500), DataLoader(Samples(800, work=150 if SICK else 0), batch_size=8))
    elif FAULT == "reads":
        train(net(), DataLoader(Samples(4000), batch_size=8), lambda loss, n: [loss.item() for _ in range(15 if SICK else n % 200 == 0)])
    elif FAULT == "moves":
        tables = [torch.randn(64) for _ in range(40)]
        train(net(), DataLoader(Samples(4000), batch_size=8), lambda loss, n: [t.to("cpu") for t in tables if SICK])
    elif FAULT == "batch":
        train(net(64, 128, 6), DataLoader(Samples(1500 if SICK else 5000), batch_size=1 if SICK else 256))
    elif FAULT == "python":
        train(net(), DataLoader(Samples(2400), batch_size=8), lambda loss, n: sum(i * i for i in range(90000 if SICK else 10)))
    elif FAULT == "respawn":
        train(net(64, 512), DataLoader(Samples(64), batch_size=8, num_workers=2, persistent_workers=not SICK), epochs=12)
    elif FAULT == "frozen":
        train(net(64, 600), DataLoader(Samples(2400, freeze=900 if SICK else -1), batch_size=8))
    elif FAULT == "precision":
        if not SICK:
            torch.set_float32_matmul_precision("high")
        train(net(512, 1024, 2), DataLoader(Samples(1500, (512,)), batch_size=32))
    elif FAULT == "memory":
        def fail(loss, n):
            if n == 30 and SICK:
                raise torch.OutOfMemoryError(
                    "CUDA out of memory. Tried to allocate 3.00 GiB. GPU 0 has a total capacity of 79.25 GiB of which 1.50 GiB is free. Process 77 has 60.10 GiB "
                    "memory in use. Including non-PyTorch memory, this process has 17.00 GiB memory in use. Of the allocated memory 15.00 GiB is allocated by "
                    "PyTorch, and 0.50 GiB is reserved by PyTorch but unallocated.")
        train(net(), DataLoader(Samples(2000), batch_size=8), fail)
    elif FAULT == "crowd":
        train(net(64, 128), DataLoader(Samples(800, work=100 if SICK else 0), batch_size=16, num_workers=4 if SICK else 1))
    elif FAULT == "shm":
        train(net(4 << 20, 2, 0), DataLoader(Samples(64, (4 << 20,)), batch_size=8, num_workers=2 if SICK else 0))
    elif FAULT == "plain":
        train(net(64, 700), DataLoader(Samples(4000), batch_size=16))
    else:
        sys.exit("no such fault")


if __name__ == "__main__":
    main()
