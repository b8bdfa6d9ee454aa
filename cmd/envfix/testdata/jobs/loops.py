"""Small loops of many kinds, each with one thing planted outside the DataLoader's samples, and the same without it:
loops.py NAME sick|well. The line that a report should name ends with "# NAME". They compute on the CPU and write nothing
but to a temporary folder."""
import copy
import gc
import os
import random
import sys
import tempfile
import threading
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, IterableDataset, Sampler

NAME, SICK = sys.argv[1], sys.argv[2] == "sick"
TMP = tempfile.mkdtemp()
STEPS = 90


class Rows(Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return torch.full((256,), i / 1e4), i % 10


class Net(nn.Module):
    def __init__(self, width=600):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(256, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        return self.head(self.body(x))


def train(after=lambda n, model, loss, out, y: None, steps=STEPS, model=None, loader=None):
    model = model or Net()
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    n = 0
    for x, y in DataLoader(Rows(16 * steps), batch_size=16) if loader is None else loader:
        out = model(x)
        loss = F.cross_entropy(out, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        n += 1
        after(n, model, loss, out, y)
    print("steps", n)


def torch_saves():
    def after(n, model, loss, out, y):
        if n % (2 if SICK else 80) == 0:
            torch.save(model.state_dict(), TMP + "/last.pt")  # torch-saves
    train(after)


def pickle_saves():
    import pickle

    def after(n, model, loss, out, y):
        if n % (1 if SICK else 80) == 0:
            with open(TMP + "/last.pkl", "wb") as f:
                pickle.dump({k: v.tolist() for k, v in list(model.state_dict().items())[:2]}, f)  # pickle-saves
    train(after)


def trainer(steps, **more):
    from transformers import Trainer, TrainingArguments

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = Net(500)

        def forward(self, x, labels):
            out = self.net(x)
            return {"loss": F.cross_entropy(out, labels), "logits": out}

    class Dicts(Rows):
        def __getitem__(self, i):
            x, y = super().__getitem__(i)
            return {"x": x, "labels": y}
    args = TrainingArguments(TMP, max_steps=steps, per_device_train_batch_size=16, report_to=[], disable_tqdm=True, use_cpu=True, logging_steps=1000, **more)
    Trainer(Model(), args, train_dataset=Dicts(16 * steps), eval_dataset=Dicts(320)).train()  # trainer-saves # trainer-evaluates
    print("trained")


def trainer_saves():
    trainer(70, save_strategy="steps", save_steps=3 if SICK else 60, save_total_limit=1)


def trainer_evaluates():
    trainer(70, save_strategy="no", eval_strategy="steps", eval_steps=4 if SICK else 60)


def tensorboard_histograms():
    from torch.utils.tensorboard import SummaryWriter
    writer = SummaryWriter(TMP)

    def after(n, model, loss, out, y):
        if n % (1 if SICK else 80) == 0:
            for name, p in model.named_parameters():
                writer.add_histogram(name, p, n)  # tensorboard-histograms
    train(after)


def own_logs():
    import json
    f = open(TMP + "/log", "w")

    def log_weights(model, n):
        for name, p in model.named_parameters():
            f.write(json.dumps({"n": n, "name": name, "values": p.detach().flatten()[:20000].tolist()}) + "\n")  # own-logs
    train(lambda n, model, loss, out, y: log_weights(model, n) if n % (2 if SICK else 80) == 0 else None)


def loop_evaluates():
    check = DataLoader(Rows(320), batch_size=32)

    def after(n, model, loss, out, y):
        if n % (4 if SICK else 80) == 0:
            model.eval()
            with torch.no_grad():
                for x, _ in check:
                    model(x)  # loop-evaluates
            model.train()
    train(after)


def lightning_validates():
    import logging
    import lightning.pytorch as L
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

    class Model(L.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = Net()

        def training_step(self, batch, n):
            return F.cross_entropy(self.net(batch[0]), batch[1])

        def validation_step(self, batch, n):
            return F.cross_entropy(self.net(batch[0]), batch[1])  # lightning-validates

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=1e-3)
    L.Trainer(max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
              num_sanity_val_steps=0, val_check_interval=4 if SICK else 80).fit(Model(), DataLoader(Rows(16 * 90), batch_size=16), DataLoader(Rows(320), batch_size=16))
    print("fitted")


def sklearn_metrics():
    from sklearn.metrics import roc_auc_score

    def after(n, model, loss, out, y):
        if n % (1 if SICK else 80) == 0:
            roc_auc_score(F.one_hot(y, 10).numpy().ravel().repeat(20), out.detach().numpy().ravel().repeat(20))  # sklearn-metrics
    train(after)


def torchmetrics_each():
    from torchmetrics.classification import MulticlassAUROC
    auc = MulticlassAUROC(10, thresholds=None)

    def after(n, model, loss, out, y):
        if n % (1 if SICK else 80) == 0:
            auc.update(out.detach(), y)
            auc.compute()  # torchmetrics-each
    train(after)


def python_loss():
    def after(n, model, loss, out, y):
        total = 0
        for k in range(150000 if SICK else 10):
            total += k * k  # python-loss
    train(after)


def python_augment():
    def mixup(x):
        order = list(range(400000 if SICK else 10))
        random.shuffle(order)  # python-augment
        return order
    train(lambda n, model, loss, out, y: mixup(y))


def deepcopy_best():
    best = []

    def after(n, model, loss, out, y):
        if n % (1 if SICK else 80) == 0:
            best[:] = [copy.deepcopy([{"i": i} for i in range(4000)])]  # deepcopy-best
    train(after)


def gc_each():
    kept = [{"i": i} for i in range(400000)]

    def after(n, model, loss, out, y):
        if SICK:
            gc.collect()  # gc-each
    train(after)
    print(len(kept))


def gc_objects():
    kept = [[i] for i in range(400000 if SICK else 10)]

    def after(n, model, loss, out, y):
        kept.extend([n] for _ in range(1500 if SICK else 1))  # gc-objects
    if not SICK:
        gc.freeze()
    gc.set_threshold(700, 2, 2) if SICK else None
    train(after)


def compile_shapes():
    model = torch.compile(Net(), backend="aot_eager", dynamic=False)
    torch._dynamo.config.cache_size_limit = 1000
    torch._dynamo.config.accumulated_cache_size_limit = 10000
    opt = torch.optim.SGD(model.parameters(), lr=1e-3)
    for n in range(40 if SICK else 200):
        x = torch.randn(4 + n if SICK else 16, 256)
        loss = model(x).square().mean()  # compile-shapes
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("done")


def inference_server():
    model = Net().eval()

    class Slow(Rows):
        def __getitem__(self, i):
            if SICK:
                time.sleep(0.002)  # inference-server
            return super().__getitem__(i)
    with torch.inference_mode():
        for x, _ in DataLoader(Slow(16 * STEPS), batch_size=16):
            for _ in range(3):
                model(x)
    print("inferred")


def inference_boxes():
    model, kept = Net().eval(), 0
    with torch.inference_mode():
        for n in range(STEPS):
            scores = model(torch.randn(32, 256)).tolist()
            for row in scores * (60 if SICK else 1):
                for s in row:
                    kept += s > 0.1 and s * s > 0.2  # inference-boxes
    print("inferred")


def generate_picks():
    model, rng = Net().eval(), random.Random(0)
    with torch.no_grad():
        for prompt in range(12):
            x = torch.randn(1, 256)
            for _ in range(40):
                row = model(x)[0].tolist()
                if SICK:
                    row = sorted(row * 1500, key=lambda v: -v)  # generate-picks
                x = x + row[0]
    print("generated")


def gan_python():
    g, d = Net(), Net()
    og, od = torch.optim.Adam(g.parameters()), torch.optim.Adam(d.parameters())
    for n in range(STEPS):
        z = torch.randn(16, 256)
        od.zero_grad()
        d(z).mean().backward()
        od.step()
        og.zero_grad()
        g(z).mean().backward()
        og.step()
        for k in range(200000 if SICK else 1):
            k * k  # gan-python
    print("done")


def hand_updates():
    model = Net()
    for n in range(STEPS):
        model.zero_grad()
        model(torch.randn(16, 256)).square().mean().backward()
        with torch.no_grad():
            for p in model.parameters():
                p -= 1e-3 * p.grad
        sum(k * k for k in range(200000 if SICK else 1))  # hand-updates
    print("done")


class Game:
    def step(self, n):
        self.state = [0.5] * 256
        for k in range(n):
            self.state[k % 256] = self.state[(k * 7) % 256] * 0.5 + 0.1  # rl-game
        return self.state


def rl_game():
    policy, game = Net(), Game()
    opt = torch.optim.Adam(policy.parameters())
    for n in range(STEPS):
        rows = [game.step(12000 if SICK else 10) for _ in range(16)]
        loss = policy(torch.tensor(rows)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("done")


def thread_producer():
    import queue
    q = queue.Queue(4)

    def produce():
        for n in range(STEPS):
            if SICK:
                time.sleep(0.04)
            q.put((torch.randn(16, 256), torch.zeros(16, dtype=torch.long)))
        q.put(None)
    threading.Thread(target=produce, daemon=True).start()

    def batches():
        while True:
            b = q.get()  # thread-producer
            if b is None:
                return
            yield b
    train(loader=batches())


def process_produces(q, n, sick):
    for _ in range(n):
        if sick:
            sum(k * k for k in range(400000))
        q.put([0.5] * 256)
    q.put(None)


def process_producer():
    import multiprocessing as mp
    q = mp.get_context("fork").Queue(8)
    mp.get_context("fork").Process(target=process_produces, args=(q, STEPS, SICK), daemon=True).start()

    def batches():
        while True:
            row = q.get()  # process-producer
            if row is None:
                return
            yield torch.tensor([row] * 16), torch.zeros(16, dtype=torch.long)
    train(loader=batches())


def own_batches():
    import numpy
    data = numpy.random.default_rng(0).integers(0, 1000, 2000000)

    def get_batch():
        rows = []
        for i in range(16):
            at = random.randrange(1000000)
            rows.append([float(v) / 1000 for v in data[at:at + (20000 if SICK else 256)]][:256])  # own-batches
        return torch.tensor(rows), torch.zeros(16, dtype=torch.long)
    train(loader=(get_batch() for _ in range(STEPS)), steps=STEPS)


def stream_server():
    class Stream(IterableDataset):
        def __iter__(self):
            for i in range(16 * STEPS):
                if SICK:
                    time.sleep(0.002)  # stream-server
                yield torch.full((256,), i / 1e4), i % 10
    train(loader=DataLoader(Stream(), batch_size=16))


def sampler_sorts():
    class Longest(Sampler):
        def __iter__(self):
            seen = list(range(16 * STEPS))
            for i in range(16 * STEPS):
                if SICK:
                    sorted(seen * 8, key=lambda k: -k)  # sampler-sorts
                yield i

        def __len__(self):
            return 16 * STEPS
    rows = Rows(16 * STEPS)
    train(loader=DataLoader(rows, batch_size=16, sampler=Longest()))


if __name__ == "__main__":
    globals()[NAME.replace("-", "_")]()
