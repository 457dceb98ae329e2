#!/usr/bin/env python3
"""make bench: image models; compares our programs with PyTorch and torchvision on the same GPU.

    bench-images [--only WORD]... [--repeats 5] [--minutes M] [--results DIR]
    bench_images.py --programs DIR

The CNN of PyTorch's MNIST example (specs/fashion_cnn.toml) at three batch sizes and four precisions, and MobileNet v2
and ResNet-50 at 224 pixels and batch 256 in bf16. Images are random bytes of one channel, which the step converts to
the model's channels and normalises, in the same way for all contenders; they stay on the device, or come from pinned
or from pageable host memory. Weights are the same too. Each measurement is a separate process.

Peers run at their best: channels-last, torch.amp (with a GradScaler in fp16), fused optimizers, cuDNN's benchmark;
eager, compiled (reduce-overhead, max-autotune), and eager with the whole step in one CUDA graph, which GradScaler
does not allow. Pinned batches are copied on a separate stream during the previous step. In bf16 our programs of the
CNN and of ResNet-50 are also measured without wgmma, those of MobileNet v2 and ResNet-50 with prefetched rows, with
one row per thread and without batch norms from products, that of ResNet-50 without masks of ReLUs, and that of the CNN
at small batches without its side stream, without narrow linears and with programmatic launch.

Aims are about bf16 on the device: the CNN's step at batch 64, ResNet-50's rate, and the speed beside the fastest peer.

Losses must agree: the first ten, or with dropout the one over the held-out images before the first step.

--only selects measurements with WORD in their name, such as `cnn.64`, `device`, `eager`; if given several times, all
words must occur. The words are in the names of the result files. --programs prints what the bundle builds, one name,
spec and settings per line, and writes the headers of the data files to DIR.
"""

import argparse
import itertools
import json
import struct
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from machine import BUNDLE, need_gpu, work_folder
from measure import (DEVICE, OURS, Bench, Turn, aim, aim_beside, failed, figures, in_own_process, measure_all,
                     measure_peer, measure_program, new_parser, our_ms, peer_result)

EVAL_BATCHES = 2
FIRST_LOSSES = 10
LEARNING_RATE = 1e-3
FEEDS = ["device", "pinned", "pageable"]
LINES = {"eager": "eager", "reduce-overhead": "compiled, reduce-overhead", "max-autotune": "compiled, max-autotune",
         "graph": "eager, one CUDA graph"}
ONE_STREAM = "compile.side_stream=false"
PROGRAMMATIC = "compile.programmatic_launch=true"
NO_WGMMA = "compile.wgmma=false"
NO_MASKS = "compile.relu_masks=false"
NO_GRAM = "compile.gram_batch_norm=false"
PREFETCH = "compile.prefetch_rows=true"
ROWS_APART = "compile.thread_rows=false"
NO_NARROW = "compile.narrow_linears=false"
DTYPES = {"fp32": "float32", "tf32": "float32", "bf16": "bfloat16", "fp16": "float16"}


@dataclass(frozen=True)
class Work:
    """A training run: the model, and how it is fed."""
    family: str  # "cnn"
    spec: str
    batch: int
    dtype: str
    feed: str
    warm_up: int
    timed: int
    batches: int  # distinct ones, which then repeat

    @property
    def name(self):
        return f"{self.family}.{self.batch}.{self.dtype}.{self.feed}"

    @property
    def steps(self):
        return self.warm_up + self.timed

    @property
    def programs(self):
        """Our programs: for each its line in the table, its name, and its additional settings."""
        yield OURS, self.name, []
        if (self.family, self.dtype, self.feed) == ("cnn", "bf16", "device") and self.batch < 1024:
            yield f"{OURS}, one stream", f"{self.name}.one_stream", [ONE_STREAM]
            yield f"{OURS}, programmatic launch", f"{self.name}.programmatic", [PROGRAMMATIC]
            yield f"{OURS}, no narrow linears", f"{self.name}.no_narrow", [NO_NARROW]
        if (self.dtype, self.feed) == ("bf16", "device") and self.family in ["cnn", "resnet50"]:
            yield f"{OURS}, no wgmma", f"{self.name}.no_wgmma", [NO_WGMMA]
        if (self.family, self.feed) == ("resnet50", "device"):
            yield f"{OURS}, no masks", f"{self.name}.no_masks", [NO_MASKS]
        if (self.dtype, self.feed) == ("bf16", "device") and self.family in ["mobilenet_v2", "resnet50"]:
            yield f"{OURS}, no gram batch norm", f"{self.name}.no_gram", [NO_GRAM]
            yield f"{OURS}, rows apart", f"{self.name}.rows_apart", [ROWS_APART]
            yield f"{OURS}, prefetched rows", f"{self.name}.prefetch", [PREFETCH]


def all_work():
    """All runs in the order of measurement, the most informative first."""
    def cnn(batch, dtype, feed):
        return Work("cnn", "specs/fashion_cnn.toml", batch, dtype, feed, 200, 800, 50)

    def large(family, feed):
        return Work(family, f"specs/h100/{family}_224.toml", 256, "bf16", feed, 20, 40, 5)

    families = ["mobilenet_v2", "resnet50"]
    work = [cnn(64, dtype, "device") for dtype in ["bf16", "fp32", "tf32", "fp16"]]
    work += [large(family, "device") for family in families]
    work += [cnn(batch, dtype, "device") for batch in [256, 1024] for dtype in ["bf16", "fp32", "tf32", "fp16"]]
    work += [large(family, feed) for family in families for feed in FEEDS[1:]]
    return work + [cnn(batch, "bf16", feed) for batch in [64, 256, 1024] for feed in FEEDS[1:]]


def spec_of(work, root):
    return tomllib.loads((root / work.spec).read_text())


def has_dropout(model):
    """Whether training losses depend on dropout, which each contender draws differently. Only the CNN has it."""
    return any(layer.startswith("dropout") for layer in model.get("layers", []))


# ---- our programs ------------------------------------------------------------------------------------


def settings(work):
    """The settings of the program of `work`, in addition to its spec."""
    images = "images-idx3-ubyte"
    yield from [
        f"training.per_device_train_batch_size={work.batch}", f"precision.dtype={work.dtype}", 'data.format="idx"',
        f'data.train=["{work.family}.{work.batch}/train-{images}"]',
        f'data.validation=["{work.family}.{work.batch}/test-{images}"]', "data.shuffle=false",
        f"data.eval_batches={EVAL_BATCHES}", f"optimizer.lr={LEARNING_RATE}",
        f"training.steps={work.steps}", f"training.log_every={work.steps}", "checkpoint.export=false",
        f"data.device_resident={'true' if work.feed == 'device' else 'false'}"]
    if work.feed != "device":
        yield f"data.pin_memory={'true' if work.feed == 'pinned' else 'false'}"
    if work.family != "cnn":  # the CNN's schedule is constant over these steps
        yield from ['lr_scheduler.type="constant"', "lr_scheduler.warmup_steps=0"]
    if work.family == "mobilenet_v2":
        yield "model.dropout=0.0"


def print_programs(folder):
    for work in all_work():
        for _, name, more in work.programs:
            print(name, work.spec, *settings(work), *more)
        write_images(work, spec_of(work, Path("."))["model"], folder, headers_only=True)


# ---- data ----------------------------------------------------------------------------------------------


def write_idx(path, shape, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(struct.pack(f">HBB{len(shape)}I", 0, 8, len(shape), *shape) + content)


def write_images(work, model, folder, headers_only=False):
    """Random training and held-out images with labels; written once per family and batch size."""
    size, classes = model["image_size"], model["num_classes"]
    place = folder / f"{work.family}.{work.batch}"
    for part, batches in [("train", work.batches), ("test", EVAL_BATCHES)]:
        count = batches * work.batch
        images, labels = place / f"{part}-images-idx3-ubyte", place / f"{part}-labels-idx1-ubyte"
        if images.exists():
            continue
        if headers_only:
            pixels = targets = b""
        else:
            import numpy

            draw = numpy.random.default_rng(count)
            pixels = draw.integers(256, size=count * size * size, dtype=numpy.uint8).tobytes()
            targets = draw.integers(min(classes, 256), size=count, dtype=numpy.uint8).tobytes()
        write_idx(images, (count, size, size), pixels)
        write_idx(labels, (count,), targets)


def read_idx(path, rank):
    import numpy
    import torch

    content = numpy.fromfile(path, dtype=numpy.uint8)
    shape = struct.unpack(f">{rank}I", content[4:4 + 4 * rank].tobytes())
    return torch.from_numpy(content[4 + 4 * rank:]).view(shape)


def read_part(work, folder, part):
    """Images [batches, batch, 1, H, W] and labels [batches, batch]."""
    place = folder / f"{work.family}.{work.batch}"
    images = read_idx(place / f"{part}-images-idx3-ubyte", 3)
    labels = read_idx(place / f"{part}-labels-idx1-ubyte", 1).long()
    return images.view(-1, work.batch, 1, *images.shape[1:]), labels.view(-1, work.batch)


def feed_of(work, images, labels):
    """Yields batches on the device, repeatedly, from the memory that the feed names."""
    import torch

    if work.feed == "device":
        images, labels = images.to(DEVICE), labels.to(DEVICE)
        for i in itertools.count():
            yield images[i % len(images)], labels[i % len(images)]
    elif work.feed == "pageable":
        for i in itertools.count():
            yield images[i % len(images)].to(DEVICE), labels[i % len(images)].to(DEVICE)
    else:
        images, labels = images.pin_memory(), labels.pin_memory()
        stream = torch.cuda.Stream()

        def copied(i):
            with torch.cuda.stream(stream):
                return tuple(part[i % len(images)].to(DEVICE, non_blocking=True) for part in (images, labels))

        ahead = copied(0)
        for i in itertools.count(1):
            torch.cuda.current_stream().wait_stream(stream)
            for part in ahead:
                part.record_stream(torch.cuda.current_stream())
            now, ahead = ahead, copied(i)
            yield now


# ---- the peers -----------------------------------------------------------------------------------------


def new_model(model):
    import torch
    import torchvision
    from torch import nn

    if model["family"] == "resnet":
        return torchvision.models.resnet50(num_classes=model["num_classes"])
    if model["family"] == "mobilenet_v2":
        return torchvision.models.mobilenet_v2(num_classes=model["num_classes"], dropout=0.0)

    class Cnn(nn.Module):
        """As in PyTorch's MNIST example; specs/fashion_cnn.toml lists the same layers."""

        def __init__(self):
            super().__init__()
            self.conv1, self.conv2 = nn.Conv2d(1, 32, 3), nn.Conv2d(32, 64, 3)
            self.dropout1, self.dropout2 = nn.Dropout(0.25), nn.Dropout(0.5)
            self.fc1, self.fc2 = nn.Linear(9216, 128), nn.Linear(128, 10)

        def forward(self, x):
            x = torch.relu(self.conv2(torch.relu(self.conv1(x))))
            x = self.dropout1(nn.functional.max_pool2d(x, 2))
            return self.fc2(self.dropout2(torch.relu(self.fc1(torch.flatten(x, 1)))))

    return Cnn()


def draw_weights(folder, works):
    """The initial weights for all contenders, with torchvision's names. The last layer is scaled up, so that the
    loss depends on every image."""
    import torch
    from safetensors.torch import save_file

    for work in works:
        place, model = folder / f"{work.family}.weights", spec_of(work, BUNDLE)["model"]
        if place.exists():
            continue
        place.mkdir()
        torch.manual_seed(0)
        drawn = new_model(model)
        with torch.no_grad():
            [value for value in drawn.parameters() if value.dim() == 2][-1].mul_(20)
        save_file({name: value.contiguous() for name, value in drawn.state_dict().items()},
                  str(place / "model.safetensors"), {"format": "pt"})
        (place / "config.json").write_text(json.dumps(model))


def new_optimizer(spec, weights, captured):
    import torch

    keys = spec["optimizer"]
    decay = keys.get("weight_decay", 0.0)
    if keys.get("name", "adamw") == "sgd":
        return torch.optim.SGD(weights, LEARNING_RATE, keys["momentum"], weight_decay=decay, fused=True)
    return torch.optim.AdamW(weights, LEARNING_RATE, weight_decay=decay, fused=True, capturable=captured)


class Peer:
    """A model with everything that a step needs."""

    def __init__(self, work, folder, mode):
        import torch
        from safetensors.torch import load_file

        spec = spec_of(work, BUNDLE)
        torch.backends.cudnn.benchmark = True
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = work.dtype == "tf32"
        model = new_model(spec["model"])
        model.load_state_dict(load_file(folder / f"{work.family}.weights" / "model.safetensors"))
        self.model = model.to(DEVICE, memory_format=torch.channels_last)
        self.dtype = getattr(torch, DTYPES[work.dtype])
        self.smoothing = spec["training"].get("label_smoothing", 0.0)
        shape, channels = (1, -1, 1, 1), spec["model"].get("image_channels", 3)
        self.channels = channels
        self.mean, self.std = (torch.tensor(spec["data"][key], device=DEVICE).view(shape)
                               for key in ("image_mean", "image_std"))
        self.optimizer = new_optimizer(spec, self.model.parameters(), mode == "graph")
        self.scaler = torch.amp.GradScaler(DEVICE, enabled=work.dtype == "fp16")
        self.forward = torch.compile(self.loss_of, mode=mode) if "compiled" in LINES[mode] else self.loss_of

    def loss_of(self, images, labels):
        import torch

        x = (images.expand(-1, self.channels, -1, -1).float() / 255 - self.mean) / self.std
        x = x.contiguous(memory_format=torch.channels_last)
        with torch.autocast(DEVICE, self.dtype, enabled=self.dtype != torch.float32):
            logits = self.model(x)
            return torch.nn.functional.cross_entropy(logits.float(), labels, label_smoothing=self.smoothing)

    def step(self, images, labels):
        loss = self.forward(images, labels)
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad(set_to_none=True)
        return loss.detach()

    def held_out_loss(self, images, labels):
        import torch

        self.model.eval()
        with torch.no_grad():
            losses = [float(self.loss_of(*(part.to(DEVICE) for part in pair))) for pair in zip(images, labels)]
        self.model.train()
        return sum(losses) / len(losses)


def captured(peer, images, labels):
    """A function that runs a step by replaying one CUDA graph. torch requires some steps on another stream before
    capture; their effect is undone."""
    import torch

    weights = {name: value.clone() for name, value in peer.model.state_dict().items()}
    images, labels = images.clone(), labels.clone()
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            peer.step(images, labels)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = peer.step(images, labels)
    with torch.no_grad():
        for name, value in peer.model.state_dict().items():
            value.copy_(weights[name])
        for state in peer.optimizer.state.values():
            for value in state.values():
                value.zero_()

    def replay(next_images, next_labels):
        images.copy_(next_images)
        labels.copy_(next_labels)
        graph.replay()
        return loss

    return replay


def run_peer(work, folder, mode):
    """Trains; prints a line of JSON."""
    import torch
    import torchvision

    peer = Peer(work, folder, mode)
    held_out = peer.held_out_loss(*read_part(work, folder, "test"))
    batches = feed_of(work, *read_part(work, folder, "train"))
    step = peer.step
    if mode == "graph":
        first = next(batches)
        step = captured(peer, *first)
        batches = itertools.chain([first], batches)
    losses, times = [], [torch.cuda.Event(enable_timing=True) for _ in range(work.steps + 1)]
    times[0].record()
    for i in range(work.steps):
        loss = step(*next(batches))
        if i < FIRST_LOSSES:
            losses.append(loss.clone())
        times[i + 1].record()
    dropout = has_dropout(spec_of(work, BUNDLE)["model"])
    peer_result(times[work.warm_up:], [held_out] if dropout else losses,
                f"torch {torch.__version__}, torchvision {torchvision.__version__}")


# ---- what is measured --------------------------------------------------------------------------------


def measure_ours(gpu, work, program, folder):
    dropout = has_dropout(spec_of(work, BUNDLE)["model"])
    return measure_program(
        gpu, program, ["--init", folder / f"{work.family}.weights", "--steps", work.steps], folder,
        lambda report, losses: [report["loss"]["heldout_before"]] if dropout else losses[:FIRST_LOSSES])


def peer_turn(work, folder, mode):
    line = "PyTorch " + LINES[mode]
    flags = ["--work", work.name, "--mode", mode]
    return Turn(work.name, line, work.batch, lambda: measure_peer(__file__, line, folder, *flags))


def our_turn(gpu, work, line, program, folder):
    return Turn(work.name, line, work.batch, lambda: measure_ours(gpu, work, program, folder))


def turns_of(gpu, work, folder):
    modes = [mode for mode in LINES if not (mode == "graph" and work.dtype == "fp16")]
    return [*(our_turn(gpu, work, line, program, folder) for line, program, _ in work.programs),
            *(peer_turn(work, folder, mode) for mode in modes)]


def turns(gpu, folder, only, repeats):
    listed = []
    for work in all_work():
        mine = [turn for turn in turns_of(gpu, work, folder)
                if all(word in f"{turn.group} {turn.line}" for word in only)]
        listed += mine * repeats
    return listed


CNN, MOBILENET, RESNET = (f"{name}.bf16.device" for name in ["cnn.64", "mobilenet_v2.256", "resnet50.256"])
SPEED_OF_PEER = {CNN: 10, MOBILENET: 1.5, RESNET: 1}
RESNET_RATE = 7000


def aims(results, gpu):
    known = figures(results)
    on_h100 = "H100" in gpu["name"]
    for group, least in SPEED_OF_PEER.items():
        yield aim_beside(known, group, [f"PyTorch {line}" for line in LINES.values()], "speed", least)
    ms = {group: our_ms(known, group) for group in SPEED_OF_PEER}
    yield aim(f"{CNN}: us of a step", 1e3 * ms[CNN] if ms[CNN] else None, 50, most=True)
    yield aim(f"{RESNET}: images/s on an H100", 256e3 / ms[RESNET] if ms[RESNET] and on_h100 else None, RESNET_RATE)


def new_bench(only):
    return Bench("-".join(["images", *only]), "Image models", "images", 2e-2, aims=aims)


def main():
    parser = new_parser(__doc__)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--programs", type=Path, help="write what the bundle builds")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--mode", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.programs:
        return print_programs(args.programs)
    named = {work.name: work for work in all_work()}
    if args.draw:
        return draw_weights(args.draw, named.values())
    if args.peer:
        return run_peer(named[args.work], args.peer, args.mode)
    gpu = need_gpu()
    with work_folder() as folder:
        folder = Path(folder)
        listed = turns(gpu, folder, args.only, args.repeats)
        for work in (named[name] for name in dict.fromkeys(turn.group for turn in listed)):
            write_images(work, spec_of(work, BUNDLE)["model"], folder)
        code, output = in_own_process(__file__, "--draw", folder)
        if code:
            failed("drawing the weights", output)
            sys.exit("error: bench-images needs a Python with torch and torchvision (PYTHON=... names one)")
        return measure_all(new_bench(args.only), gpu, listed, args)


if __name__ == "__main__":
    sys.exit(main())
