"""Small trainings by real frameworks, each with one fault planted, and the same training without it:
frameworks.py FRAMEWORK-FAULT sick|well. The line that a report should name ends with "# NAME". They compute on the
CPU and write nothing but to a temporary folder."""
import io
import os
import sys
import tempfile
import time

NAME, SICK = sys.argv[1], sys.argv[2] == "sick"
TMP = tempfile.mkdtemp()
STEPS = 100


def jpeg(size):
    from PIL import Image
    b = io.BytesIO()
    Image.effect_noise(size, 60).convert("RGB").save(b, "JPEG", quality=90)
    return b.getvalue()


def small(width=1400):
    """A model that has something to do: a step takes some 20 ms of a processor."""
    import torch.nn as nn
    return nn.Sequential(nn.Flatten(), nn.Linear(3 * 32 * 32, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10))


def items(n, get):
    from torch.utils.data import Dataset

    class Items(Dataset):
        def __len__(self):
            return n

        def __getitem__(self, i):
            return get(i)
    return Items()


def numbers(i):
    import torch
    return torch.full((3, 32, 32), i / 1e4), i % 10


def loop(loader, extra=None, device=False):
    import torch
    model = small()
    opt = torch.optim.SGD(model.parameters(), lr=1e-3)
    n = 0
    for x, y in loader:
        if device:
            x, y = x.to("cpu"), y.to("cpu")
        opt.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
        n += 1
        if extra:
            extra(loss)
    print("steps", n)


# torchvision: large pictures are decoded, or small ones.
def torchvision_decode():
    import torchvision.transforms as T
    from PIL import Image
    from torch.utils.data import DataLoader
    raw, tf = jpeg((1200, 900) if SICK else (32, 32)), T.Compose([T.Resize((32, 32)), T.ToTensor()])

    def get(i):
        img = Image.open(io.BytesIO(raw)).convert("RGB")  # torchvision-decode
        return tf(img), i % 10
    loop(DataLoader(items(8 * STEPS, get), batch_size=8))


# The same by torchvision's own data set, in workers: the library is named, for no line is the job's.
def torchvision_folder():
    import torchvision.transforms as T
    from torch.utils.data import DataLoader
    from torchvision.datasets import ImageFolder
    os.makedirs(TMP + "/a")
    for i in range(8 * STEPS):
        if i == 0:
            with open(TMP + "/a/0.jpg", "wb") as f:
                f.write(jpeg((1200, 900) if SICK else (32, 32)))
        else:
            os.link(TMP + "/a/0.jpg", TMP + "/a/%d.jpg" % i)
    loop(DataLoader(ImageFolder(TMP, T.Compose([T.Resize((32, 32)), T.ToTensor()])), batch_size=8, num_workers=1))


def torchvision_augment():
    import torch
    import torchvision.transforms as T
    from torch.utils.data import DataLoader
    tf = T.Compose([T.GaussianBlur(31)] * 6)
    x = torch.rand(3, 160, 160)

    def get(i):
        return (tf(x) if SICK else x)[:, :32, :32], i % 10  # torchvision-augment
    loop(DataLoader(items(8 * STEPS, get), batch_size=8))


# numpy: a packed archive is unpacked for each sample.
def numpy_archive():
    import numpy
    import torch
    from torch.utils.data import DataLoader
    big = numpy.random.default_rng(0).normal(size=(200, 3, 32, 32)).astype("float32")
    numpy.savez_compressed(TMP + "/d.npz", x=big)
    numpy.save(TMP + "/d.npy", big)
    flat = numpy.load(TMP + "/d.npy", mmap_mode="r")

    def get(i):
        x = numpy.load(TMP + "/d.npz")["x"][i % 200] if SICK else flat[i % 200]  # numpy-archive
        return torch.from_numpy(numpy.array(x)), i % 10
    loop(DataLoader(items(2 * STEPS, get), batch_size=2))


# datasets: a transform that works for each row, without a server.
def datasets_transform():
    import torch
    from datasets import Dataset
    from torch.utils.data import DataLoader
    ds = Dataset.from_dict({"x": list(range(8 * STEPS))})

    def slow(rows):
        n = 60000 if SICK else 1
        for i in rows["x"]:
            sum(k * k for k in range(n))  # datasets-transform
        return {"x": [torch.full((3, 32, 32), i / 1e4) for i in rows["x"]], "y": [i % 10 for i in rows["x"]]}
    ds.set_transform(slow)
    loop(DataLoader(ds, batch_size=8, collate_fn=lambda b: (torch.stack([r["x"] for r in b]), torch.tensor([r["y"] for r in b]))))


def trainer(get, collate=None, batch=8, steps=STEPS, width=1400, **more):
    import torch
    from transformers import PrinterCallback, Trainer, TrainingArguments

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net = small(width)

        def forward(self, x, labels):
            out = self.net(x)
            return {"loss": torch.nn.functional.cross_entropy(out, labels), "logits": out}
    args = TrainingArguments(TMP, max_steps=steps, per_device_train_batch_size=batch, report_to=[], save_strategy="no", logging_steps=50, disable_tqdm=True, use_cpu=True, **more)  # trainer
    t = Trainer(Model(), args, train_dataset=items(batch * steps * more.get("gradient_accumulation_steps", 1), get), data_collator=collate)
    t.remove_callback(PrinterCallback)  # it prints how long it took
    t.train()
    print("trained")


def row(i):
    x, y = numbers(i)
    return {"x": x, "labels": y}


# transformers: each sample waits for a server.
def transformers_server():
    def get(i):
        if SICK:
            time.sleep(0.008)  # transformers-server
        return row(i)
    trainer(get)


# transformers: the collator tokenizes.
def transformers_collate():
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast
    words = ["word%d" % i for i in range(2000)]
    t = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words + ["[UNK]", "[PAD]"])}, unk_token="[UNK]"))
    t.pre_tokenizer = pre_tokenizers.Whitespace()
    tok = PreTrainedTokenizerFast(tokenizer_object=t, unk_token="[UNK]", pad_token="[PAD]")
    text = " ".join(words[i % 2000] for i in range(12000 if SICK else 10))

    def collate(rows):
        ids = tok([text for _ in rows], padding=True, return_tensors="pt")["input_ids"]  # transformers-collate
        return {"x": torch.stack([r["x"] for r in rows]) + ids[0, 0] * 0, "labels": torch.tensor([r["labels"] for r in rows])}
    trainer(row, collate)


def transformers_batch():
    trainer(row, batch=1 if SICK else 64, steps=600 if SICK else 100, width=64 if SICK else 1400)


def lightning(step, loader, epochs=1, width=1400, **more):
    import logging
    import lightning.pytorch as L
    import torch
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

    class Model(L.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = small(width)

        def training_step(self, batch, n):
            x, y = batch
            loss = torch.nn.functional.cross_entropy(self.net(x), y)
            step(loss)
            return loss

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=1e-3)
    L.Trainer(max_epochs=epochs, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False, **more).fit(Model(), loader)
    print("fitted")


def lightning_reads():
    from torch.utils.data import DataLoader

    def step(loss):
        for _ in range(20 if SICK else 0):
            loss.item()  # lightning-reads
    lightning(step, DataLoader(items(8 * STEPS, numbers), batch_size=8))


def lightning_python():
    from torch.utils.data import DataLoader

    def step(loss):
        for k in range(1500000 if SICK else 1):  # lightning-python
            k * k
    lightning(step, DataLoader(items(4 * STEPS, numbers), batch_size=8))


def lightning_respawn():
    from torch.utils.data import DataLoader
    lightning(lambda loss: None, DataLoader(items(64, numbers), batch_size=8, num_workers=2, persistent_workers=not SICK), epochs=12, width=64)  # lightning-respawn


def lightning_storage():
    from torch.utils.data import DataLoader

    def get(i):
        if SICK:
            time.sleep(0.008)  # lightning-storage
        return numbers(i)
    lightning(lambda loss: None, DataLoader(items(8 * STEPS, get), batch_size=8))


def accelerated(loader, extra=None, epochs=1):
    import torch
    from accelerate import Accelerator
    a = Accelerator(cpu=True)
    model = small()
    model, opt, loader = a.prepare(model, torch.optim.SGD(model.parameters(), lr=1e-3), loader)
    n = 0
    for _ in range(epochs):
        for x, y in loader:
            opt.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), y)
            a.backward(loss)
            opt.step()
            n += 1
            if extra:
                extra(a)
    print("steps", n)


def accelerate_moves():
    import torch
    from torch.utils.data import DataLoader
    tables = [torch.randn(64) for _ in range(40)]

    def extra(a):
        for t in tables if SICK else ():
            t.to(a.device)  # accelerate-moves
    accelerated(DataLoader(items(8 * STEPS, numbers), batch_size=8), extra)


def accelerate_json():
    import json
    import torch
    from torch.utils.data import DataLoader
    line = json.dumps({"x": [0.5] * (60000 if SICK else 10), "y": 3})

    def get(i):
        r = json.loads(line)  # accelerate-json
        return torch.full((3, 32, 32), r["x"][0]), r["y"]
    accelerated(DataLoader(items(8 * STEPS, get), batch_size=8))


def accelerate_frozen():
    from torch.utils.data import DataLoader

    def get(i):
        if SICK and i == 900:
            time.sleep(7)
        return numbers(i)
    accelerated(DataLoader(items(8 * 300, get), batch_size=8))


# A DataLoader that is built anew for each epoch: its workers never stay.
def torch_rebuilt():
    import torch
    from torch.utils.data import DataLoader
    model = small(64)
    opt = torch.optim.SGD(model.parameters(), lr=1e-3)
    once = DataLoader(items(64, numbers), batch_size=8, num_workers=2, persistent_workers=True)
    for _ in range(10):
        loader = DataLoader(items(64, numbers), batch_size=8, num_workers=2, persistent_workers=True) if SICK else once  # torch-rebuilt
        for x, y in loader:
            opt.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            opt.step()
    print("done")


# An input of the job's own, without a DataLoader.
def torch_queue():
    import torch

    def batches():
        for _ in range(STEPS):
            time.sleep(0.1 if SICK else 0)  # torch-queue
            yield torch.rand(32, 3, 32, 32), torch.zeros(32, dtype=torch.long)
    loop(batches())


def torch_address():
    import resource
    import torch
    torch.ones(1)
    if SICK:
        resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
    from torch.utils.data import DataLoader

    def extra(loss):
        kept.append(torch.ones(1 << 28) if SICK else None)
    kept = []
    loop(DataLoader(items(8 * 100, numbers), batch_size=8), extra)


def timm_model(batch, get):
    import timm.optim
    import torch
    from torch.utils.data import DataLoader
    model = timm.create_model("test_vit", pretrained=False, num_classes=10, img_size=32) if batch > 1 else small()
    opt = timm.optim.create_optimizer_v2(model, opt="adamw", lr=1e-3)
    n = 0
    for x, y in DataLoader(items(batch * STEPS, get), batch_size=batch):
        opt.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        opt.step()
        n += 1
    print("steps", n)


def timm_augment():
    import torch
    from PIL import Image
    from timm.data.auto_augment import rand_augment_transform
    aug, img = rand_augment_transform("rand-m9-n4", {}), Image.effect_noise((600, 600), 60).convert("RGB")

    def get(i):
        if SICK:
            aug(img)  # timm-augment
        return torch.full((3, 32, 32), 0.5), i % 10
    timm_model(8, get)


# ray: a task of it trains.
def ray_server():
    import ray
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, object_store_memory=100 << 20)

    @ray.remote
    def train():
        from torch.utils.data import DataLoader

        def get(i):
            if SICK:
                time.sleep(0.008)  # ray-server
            return numbers(i)
        loop(DataLoader(items(8 * STEPS, get), batch_size=8))
        return "trained"
    print(ray.get(train.remote()))
    ray.shutdown()


PLAIN = {"epochs": 1, "imgsz": 32, "workers": 1, "device": "cpu", "project": TMP, "plots": False, "save": False, "val": False, "verbose": False, "amp": False,
         "auto_augment": None, "erasing": 0, "warmup_epochs": 0}


# ultralytics: its own data set reads large pictures.
def ultralytics_decode():
    yolo = ultralytics(160)
    yolo.train(data=TMP, batch=4, nbs=4, **PLAIN)  # ultralytics-decode
    print("trained")


def ultralytics(pictures):
    import logging
    os.environ.update(YOLO_CONFIG_DIR=TMP, YOLO_OFFLINE="true", YOLO_VERBOSE="false")
    import torch
    from ultralytics import YOLO
    torch.set_num_threads(1)
    logging.getLogger("ultralytics").setLevel(logging.ERROR)
    for part, n in (("train", pictures), ("val", 1)):
        os.makedirs(TMP + "/%s/a" % part)
        with open(TMP + "/%s/a/0.jpg" % part, "wb") as f:
            f.write(jpeg((1600, 1200) if SICK else (64, 64)))
        for i in range(1, n):
            os.link(TMP + "/%s/a/0.jpg" % part, TMP + "/%s/a/%d.jpg" % (part, i))
    return YOLO("yolov8n-cls.yaml")


# torchrun: one rank waits for its shard's storage, and the other for it.
def torchrun_skew():
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel
    from torch.utils.data import DataLoader
    dist.init_process_group("gloo")
    rank = dist.get_rank()

    def get(i):
        if SICK and rank == 1:
            time.sleep(0.02)
        return numbers(i)
    model = DistributedDataParallel(small(64))
    opt = torch.optim.SGD(model.parameters(), lr=1e-3)
    for x, y in DataLoader(items(4 * STEPS, get), batch_size=4):
        opt.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        opt.step()
    dist.destroy_process_group()
    if rank == 0:
        print("done")


def pytest_reads():
    from torch.utils.data import DataLoader

    def extra(loss):
        for _ in range(20 if SICK else 0):
            float(loss)  # pytest-reads
    loop(DataLoader(items(8 * STEPS, numbers), batch_size=8), extra)


def make_server():
    from torch.utils.data import DataLoader

    def get(i):
        if SICK:
            time.sleep(0.008)  # make-server
        return numbers(i)
    loop(DataLoader(items(8 * STEPS, get), batch_size=8))


def nox_moves():
    import torch
    from torch.utils.data import DataLoader
    tables = [torch.randn(64) for _ in range(40)]

    def extra(loss):
        for t in tables if SICK else ():
            t.to("cpu")  # nox-moves
    loop(DataLoader(items(8 * STEPS, numbers), batch_size=8), extra, device=True)


# Gradients of four batches are added up before the optimizer steps: nothing is ill.
def transformers_accumulate():
    trainer(row, steps=25, gradient_accumulation_steps=4)


def lightning_accumulate():
    from torch.utils.data import DataLoader
    lightning(lambda loss: loss.item(), DataLoader(items(8 * STEPS, numbers), batch_size=8), accumulate_grad_batches=4)


def ultralytics_accumulate():
    ultralytics(240).train(data=TMP, batch=4, nbs=16, **PLAIN)
    print("trained")


# Trainings that end in the middle: by an exit code, an exception or a signal.
def ending(how):
    import signal
    if how == "exit":
        sys.exit(3)
    if how == "raise":
        raise ValueError("planted")
    os.kill(os.getpid(), {"interrupt": signal.SIGINT, "term": signal.SIGTERM}[how])
    time.sleep(0.1)


def ended(how):
    from torch.utils.data import DataLoader
    loop(DataLoader(items(64, numbers), batch_size=8), lambda loss: ending(how))


def torch_term():
    ended("term")


def torch_interrupt():
    ended("interrupt")


def torchrun_raise():
    ended("raise")


def pytest_raise():
    ended("raise")


def make_exit():
    ended("exit")


def nox_exit():
    ended("exit")


def transformers_exit():
    trainer(lambda i: ending("exit") or row(i))


def lightning_interrupt():
    from torch.utils.data import DataLoader
    lightning(lambda loss: ending("interrupt"), DataLoader(items(64, numbers), batch_size=8))


def accelerate_raise():
    from torch.utils.data import DataLoader
    accelerated(DataLoader(items(64, numbers), batch_size=8), lambda a: ending("raise"))


def ray_raise():
    import ray
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, object_store_memory=100 << 20)
    ray.get(ray.remote(ended).remote("raise"))


# What starts a training in its own way: the job is started again by it.
def written(name, text):
    with open(os.path.join(TMP, name), "w") as f:
        f.write(text)
    return os.path.join(TMP, name)


def by_torchrun(argv):
    os.execv(sys.executable, [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2", *argv])


def by_pytest(argv):
    test = written("test_train.py", "import runpy, sys\ndef test_train():\n    sys.argv = %r\n    runpy.run_path(sys.argv[0], run_name='__main__')\n" % argv)
    os.execv(sys.executable, [sys.executable, "-m", "pytest", "-qq", "-s", "--tb=no", "-rN", "-p", "no:cacheprovider", "-p", "no:warnings", test])


def by_make(argv):
    makefile = written("Makefile", "train:\n\t@%s\n" % " ".join([sys.executable, *argv]))
    os.execvp("make", ["make", "-f", makefile])


def by_nox(argv):
    noxfile = written("noxfile.py", "import nox\n@nox.session(venv_backend='none')\ndef train(s):\n    s.run(%s, external=True)\n" % ", ".join(map(repr, [sys.executable, *argv])))
    os.execv(sys.executable, [sys.executable, "-m", "nox", "-f", noxfile])


CELL = """
from torch.utils.data import DataLoader
def get(i):
    if SICK:
        time.sleep(0.008)
    return numbers(i)
loop(DataLoader(items(8 * STEPS, get), batch_size=8))
"""


def by_jupyter(argv):
    import nbformat
    from nbclient import NotebookClient
    begin = "import sys\nsys.argv, sys.path[:0] = %r, [%r]\nfrom frameworks import *" % (argv, os.path.dirname(argv[0]))
    cell = CELL.strip() if NAME == "jupyter-server" else "ended('raise')"
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(t) for t in (begin, cell)])
    NotebookClient(book, timeout=None, kernel_name="python3").execute()
    for cell in book.cells:
        for out in cell.outputs:
            print(out.get("text", out.get("evalue", "")), end="")


STARTERS = {"torchrun": by_torchrun, "pytest": by_pytest, "make": by_make, "nox": by_nox, "jupyter": by_jupyter}

if __name__ == "__main__":
    starter = STARTERS.get(NAME.partition("-")[0])
    if starter and not os.environ.get("FRAMEWORKS_INSIDE"):
        os.environ["FRAMEWORKS_INSIDE"] = "1"
        starter([os.path.abspath(sys.argv[0]), *sys.argv[1:]])
    else:
        globals()[NAME.replace("-", "_")]()
