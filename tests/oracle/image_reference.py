"""A training step of a small image model, by PyTorch and torchvision, in a chosen precision.

fp64 is the reference. The others measure PyTorch's own error at those types, with the policy
of torch.amp: operands of convolutions and linears and all activations 16-bit, batch norm's
parameters and statistics fp32, and fp32 masters of what trains, cast for each forward pass.
"""

import torch
import torchvision
from torch import nn
from torch.func import functional_call
from torch.nn import functional
from torchvision.models import resnet

import crops
from precision import COMPUTE_DTYPE, LOSS_SCALE, lr_factor, products, wide


# --- Models ----------------------------------------------------------------------------------

class Mlp(nn.Module):
    """Linears with ReLU between them; the last one maps to the classes."""

    def __init__(self, spec):
        super().__init__()
        width = spec["hidden_size"]
        sizes = [spec["image_channels"] * spec["image_size"] ** 2]
        sizes += [width] * spec["num_hidden_layers"] + [spec["num_classes"]]
        self.layers = nn.ModuleList(nn.Linear(*pair) for pair in zip(sizes, sizes[1:]))

    def forward(self, x):
        x = x.flatten(1)
        for layer in self.layers[:-1]:
            x = functional.relu(layer(x))
        return self.layers[-1](x)


class Cnn(nn.Module):
    """The layers that a spec lists, named as in PyTorch's MNIST example: conv1, ..., fc1, ..."""

    def __init__(self, spec):
        super().__init__()
        self.steps, counts = [], {"conv": 0, "fc": 0}
        shape = (spec["image_channels"], spec["image_size"], spec["image_size"])
        for text in spec["layers"] + [f"linear {spec['num_classes']}"]:
            layer, kind = self.new_layer(text, shape)
            if kind:
                counts[kind] += 1
                self.add_module(f"{kind}{counts[kind]}", layer)
            self.steps.append(layer)
            shape = layer(torch.zeros(1, *shape)).shape[1:]

    @staticmethod
    def new_layer(text, shape):
        """The layer for one line of a spec, and the prefix of its name if it is numbered."""
        word, *numbers = text.split()
        numbers = [int(n) for n in numbers]
        if word == "conv":
            channels, kernel, stride, padding = (numbers + [1, 0])[:4] if len(numbers) == 2 else (
                numbers + [0])[:4]
            return nn.Conv2d(shape[0], channels, kernel, stride, padding), "conv"
        if word == "linear":
            return nn.Linear(shape[0], numbers[0]), "fc"
        return {"relu": nn.ReLU, "flatten": nn.Flatten, "max_pool": nn.MaxPool2d}[word](*numbers), ""

    def forward(self, x):
        for step in self.steps:
            x = step(x)
        return x


class ResNet(resnet.ResNet):
    """torchvision's, with stages of base_width times 1, 2, 4 and 8 channels."""

    def __init__(self, spec):
        nn.Module.__init__(self)
        block, blocks = {18: (resnet.BasicBlock, [2, 2, 2, 2]),
                         34: (resnet.BasicBlock, [3, 4, 6, 3]),
                         50: (resnet.Bottleneck, [3, 4, 6, 3])}[spec["depth"]]
        width = spec["base_width"]
        self._norm_layer, self.groups, self.base_width, self.dilation = nn.BatchNorm2d, 1, 64, 1
        self.inplanes = width
        self.conv1 = nn.Conv2d(3, width, kernel_size=7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.layer1 = self._make_layer(block, width, blocks[0])
        self.layer2 = self._make_layer(block, 2 * width, blocks[1], stride=2)
        self.layer3 = self._make_layer(block, 4 * width, blocks[2], stride=2)
        self.layer4 = self._make_layer(block, 8 * width, blocks[3], stride=2)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(8 * width * block.expansion, spec["num_classes"])


def new_model(spec, state=None):
    """The model of a spec's [model] table, in float32 and training mode, with the given state."""
    model = {"mlp": Mlp, "cnn": Cnn, "resnet": ResNet,
             "mobilenet_v2": lambda s: torchvision.models.mobilenet_v2(
                 num_classes=s["num_classes"], width_mult=s["width_mult"], dropout=s["dropout"]),
             }[spec["family"]](spec)
    if state:
        model.load_state_dict(state)
    return model.train()


# --- Images ----------------------------------------------------------------------------------

def prepared(pixels, model, data, dtype, boxes=None):
    """Images [N,C,H,W] as the model sees them, from bytes [N,rows,columns]: cropped to their boxes
    (crops.py) or, without boxes, prepared as held-out images."""
    shape = (1, -1, 1, 1)
    mean, std = (torch.tensor(data[key], dtype=dtype).view(shape)
                 for key in ("image_mean", "image_std"))
    x = (pixels[:, None].to(dtype) / 255).expand(-1, model["image_channels"], -1, -1)
    x, size, resize_size = (x - mean) / std, model["image_size"], data.get("eval_resize_size")
    if boxes is not None:
        return crops.cut_out(x, boxes, size)
    if resize_size:
        return crops.central(x, resize_size, size)
    return functional.interpolate(x, (size, size), mode="bilinear", align_corners=False,
                                  antialias=False)


# --- Training --------------------------------------------------------------------------------

def new_optimizer(optimizer, weights):
    if optimizer["name"] == "adamw":
        return torch.optim.AdamW(weights, lr=optimizer["lr"], eps=optimizer["eps"],
                                 betas=(optimizer["beta1"], optimizer["beta2"]),
                                 weight_decay=optimizer["weight_decay"])
    return torch.optim.SGD(weights, lr=optimizer["lr"], momentum=optimizer["momentum"],
                           nesterov=optimizer["nesterov"], weight_decay=optimizer["weight_decay"])


class Trainer:
    """Trains a model of new_model() in one precision. A batch is (pixels, labels) and, for
    training, the boxes, or None for whole images."""

    def __init__(self, model, dtype, spec):
        self.spec, self.training = spec, spec["training"]
        self.compute = COMPUTE_DTYPE[dtype]
        self.scale = LOSS_SCALE.get(dtype, 1.0)
        self.real = wide(self.compute)
        self.model = model.to(self.real)
        self.masters = dict(model.named_parameters())
        self.narrow = {f"{name}.{kind}" for name, module in model.named_modules()
                       if isinstance(module, (nn.Conv2d, nn.Linear)) for kind in ("weight", "bias")}
        self.optimizer = new_optimizer(spec["optimizer"], list(self.masters.values()))

    def logits(self, pixels, boxes=None):
        cast = {name: p.to(self.compute) if name in self.narrow else p
                for name, p in self.masters.items()}
        x = prepared(pixels, self.spec["model"], self.spec["data"], self.real, boxes)
        return functional_call(self.model, cast, (x.to(self.compute),)).to(self.real)

    def loss(self, logits, labels):
        return functional.cross_entropy(logits, labels, reduction="sum",
                                        label_smoothing=self.training.get("label_smoothing", 0.0))

    def step(self, t, micro_batches):
        """One optimizer step; returns its mean loss, first micro-batch's logits, raw gradients."""
        images = sum(len(labels) for _, labels, _ in micro_batches)
        self.optimizer.zero_grad()
        total, first = 0.0, None
        for pixels, labels, boxes in micro_batches:
            logits = self.logits(pixels, boxes)
            loss = self.loss(logits, labels) / images
            (loss * self.scale).backward()
            total += loss.item()
            first = logits.detach() if first is None else first
        for p in self.masters.values():
            p.grad /= self.scale
            assert p.grad.isfinite().all()
        grads = {name: p.grad.clone() for name, p in self.masters.items()}
        if self.training["max_grad_norm"]:
            nn.utils.clip_grad_norm_(self.masters.values(), self.training["max_grad_norm"])
        factor = lr_factor(self.spec["lr_scheduler"], t, self.training["steps"])
        self.optimizer.param_groups[0]["lr"] = self.spec["optimizer"]["lr"] * factor
        self.optimizer.step()
        return total, first, grads

    def state(self):
        """Weights and running statistics, by the file's names."""
        return {name: value.detach().clone() for name, value in self.model.state_dict().items()
                if not name.endswith("num_batches_tracked")}

    @torch.no_grad()
    def evaluate(self, batches):
        """Mean loss, top-1 and top-5 accuracy over all images."""
        self.model.eval()
        sums, images = torch.zeros(3, dtype=torch.float64), 0
        for pixels, labels in batches:
            logits = self.logits(pixels)
            rank = (logits > logits.gather(1, labels[:, None])).sum(1)
            hits = [(rank < k).sum() for k in (1, 5)]
            sums += torch.tensor([self.loss(logits, labels), *hits], dtype=torch.float64)
            images += len(labels)
        self.model.train()
        return sums / images

    def run(self, steps, held_out=None):
        """All steps: the tensors of the first one, every loss, and the held-out figures."""
        losses, held = [], [self.evaluate(held_out)] if held_out else []
        for t, micro_batches in enumerate(steps):
            loss, logits, grads = self.step(t, micro_batches)
            losses.append(loss)
            if t:
                continue
            result = {"loss": torch.tensor(loss, dtype=torch.float64), "logits": logits}
            result |= {f"grad.{name}": grad for name, grad in grads.items()}
            result |= {f"new.{name}": value for name, value in self.state().items()}
        result["losses"] = torch.tensor(losses, dtype=torch.float64)
        if held_out:
            held = torch.stack([*held, self.evaluate(held_out)])
            figures = ("loss", "top1", "top5") if logits.shape[1] > 5 else ("loss", "top1")
            result |= {f"heldout.{name}": held[:, i].clone() for i, name in enumerate(figures)}
        return result


def train(model, dtype, spec, steps, held_out=None):
    """The results of Trainer.run() in float64."""
    with products(dtype):
        result = Trainer(model, dtype, spec).run(steps, held_out)
    return {name: value.double() for name, value in result.items()}
