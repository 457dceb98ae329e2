"""The boxes that training crops from images: torchvision's own code, given the random numbers that
runtime/data/data_crop.c draws.

    python3 crops.py     writes crop_boxes.csv; fitted.csv: pictures resized to raw images; and
                         cut.csv: crops of pictures as the model sees them
"""

import csv
import math
from pathlib import Path
from unittest import mock

import torch
from torchvision import transforms
from torchvision.transforms import functional

WORD = (1 << 64) - 1
BOX_KEY = 2  # the key of boxes in runtime/data/data_images.c


def mix64(a, b):
    """The same function as in runtime/data/data.c."""
    x = (a * 0x9E3779B97F4A7C15 + b + 0x9E3779B97F4A7C15) & WORD
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & WORD
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & WORD
    return x ^ x >> 31


class Number(float):
    def item(self):
        return float(self)


class Draws:
    """Replaces torch where torchvision draws random numbers: the same calls in float64, keyed."""

    def __init__(self, key):
        self.key, self.drawn = key, 0

    def draw(self):
        self.drawn += 1
        return (mix64(self.key, self.drawn - 1) >> 11) * 2.0**-53

    def empty(self, _):
        return self

    def uniform_(self, low, high):
        return Number(low + self.draw() * (high - low))

    def randint(self, low, high, size):
        assert size == (1,)
        return mock.Mock(item=lambda n=low + int(self.draw() * (high - low)): n)

    def tensor(self, numbers):
        return numbers

    def log(self, numbers):
        return [math.log(n) for n in numbers]

    def exp(self, number):
        return Number(math.exp(number))


def draw_box(data, height, width, key):
    """(top, left, height, width, mirrored) according to a spec's [data] table."""
    draws = Draws(key)
    mirrored = draws.draw() < data.get("random_horizontal_flip", 0)
    box = (0, 0, height, width)
    if data.get("random_resized_crop"):
        image = torch.empty(1, height, width)
        with mock.patch.object(transforms.transforms, "torch", draws):
            box = transforms.RandomResizedCrop.get_params(image, data["crop_scale"],
                                                          data["crop_ratio"])
    return (*box, int(mirrored))


def box_of(data, height, width, seed, epoch, row):
    return draw_box(data, height, width, mix64(mix64(mix64(seed, BOX_KEY), epoch), row))


def cut_out(images, boxes, size):
    """[N,C,size,size]: the box of each image, resized."""
    cut = []
    for image, (top, left, height, width, mirrored) in zip(images, boxes):
        part = functional.resized_crop(image, top, left, height, width, [size, size],
                                       antialias=False)
        cut.append(functional.hflip(part) if mirrored else part)
    return torch.stack(cut)


def central(images, resize_size, size):
    return functional.center_crop(functional.resize(images, resize_size, antialias=False), size)


# --- For the unit tests ----------------------------------------------------------------------

# Rows, columns, scale, ratio, probability of a flip. In the last four, often no drawn box fits.
DRAWN = [
    (256, 256, (0.08, 1.0), (3 / 4, 4 / 3), 0.5),
    (480, 640, (0.08, 1.0), (3 / 4, 4 / 3), 0.25),
    (28, 28, (0.5, 0.5), (1.0, 1.0), 1.0),
    (33, 17, (0.3, 0.9), (0.5, 2.0), 0.0),
    (10, 200, (0.7, 1.0), (3 / 4, 4 / 3), 0.5),
    (200, 10, (0.7, 1.0), (3 / 4, 4 / 3), 0.5),
    (7, 7, (0.99, 1.0), (3 / 4, 4 / 3), 0.5),
    (41, 40, (0.4, 1.0), (1.7, 1.9), 0.5),
]
KEYS = 12


def write_boxes(out):
    out.writerow(["image_height", "image_width", "scale_low", "scale_high", "ratio_low",
                  "ratio_high", "flip", "key", "top", "left", "height", "width", "mirrored"])
    for height, width, scale, ratio, flip in DRAWN:
        data = {"random_resized_crop": True, "crop_scale": scale, "crop_ratio": ratio,
                "random_horizontal_flip": flip}
        for key in range(KEYS):
            out.writerow([height, width, *(f"{n:.17g}" for n in (*scale, *ratio, flip)), key,
                          *draw_box(data, height, width, key)])


# Rows, columns and channels of a picture; rows and columns of its raw image.
FITTED = [(9, 14, 3, 4, 4), (31, 23, 1, 5, 3), (12, 12, 3, 12, 12), (7, 5, 3, 6, 5),
          (40, 90, 1, 3, 2), (4, 5, 3, 11, 9), (3, 9, 1, 10, 16), (2, 7, 1, 3, 10), (6, 1, 3, 4, 9)]


def write_fitted(out):
    """Byte i of a picture is 37 i modulo 256. Its raw image is its largest centred part of that
    aspect ratio, at least one pixel wide, resized by torch with antialiasing. The results are not
    rounded."""
    out.writerow(["height", "width", "channels", "raw_height", "raw_width", "place", "value"])
    for height, width, channels, *raw in FITTED:
        pixels = torch.arange(height * width * channels, dtype=torch.float64) * 37 % 256
        image = pixels.view(height, width, channels).permute(2, 0, 1)
        part = [max(1, min(height, width * raw[0] // raw[1])),
                max(1, min(width, height * raw[1] // raw[0]))]
        top, left = (height - part[0]) // 2, (width - part[1]) // 2
        cut = functional.crop(image, top, left, *part)
        fitted = functional.resize(cut, raw, antialias=True).permute(1, 2, 0).flatten()
        for place, value in enumerate(fitted.tolist()):
            out.writerow([height, width, channels, *raw, place, f"{value:.10g}"])


# Rows, columns and channels of a picture; key of its box; rows and columns of the result.
CUT = [(40, 60, 3, 1, 8), (33, 21, 1, 5, 7), (64, 64, 3, 9, 5), (9, 13, 3, 3, 16), (50, 20, 1, 2, 9)]


def write_cut(out):
    """Crops of whole pictures by RandomResizedCrop with antialiasing and RandomHorizontalFlip. The
    bytes of a picture are as in fitted.csv; these results are not rounded either."""
    out.writerow(["height", "width", "channels", "key", "size", "place", "value"])
    data = {"random_resized_crop": True, "crop_scale": (0.08, 1.0), "crop_ratio": (3 / 4, 4 / 3),
            "random_horizontal_flip": 0.5}
    for height, width, channels, key, size in CUT:
        pixels = torch.arange(height * width * channels, dtype=torch.float64) * 37 % 256
        image = pixels.view(height, width, channels).permute(2, 0, 1)
        top, left, *part, mirrored = draw_box(data, height, width, key)
        seen = functional.resized_crop(image, top, left, *part, [size, size], antialias=True)
        seen = functional.hflip(seen) if mirrored else seen
        for place, value in enumerate(seen.permute(1, 2, 0).flatten().tolist()):
            out.writerow([height, width, channels, key, size, place, f"{value:.10g}"])


def main():
    for name, write in (("crop_boxes", write_boxes), ("fitted", write_fitted), ("cut", write_cut)):
        path = Path(__file__).resolve().parent / f"{name}.csv"
        with open(path, "w", newline="") as file:
            write(csv.writer(file, lineterminator="\n"))


if __name__ == "__main__":
    main()
