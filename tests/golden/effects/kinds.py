"""One write of each kind onto existing values."""

import torch

LETTERS = "gec"
COUNT = 0
NAMES = {"old": 1, "gone": 2}


class Box:
    limit = 1


def f(x, box, items, cell):
    global COUNT
    COUNT += 1
    NAMES["new"] = x + 1
    del NAMES["gone"]
    box.last = x
    box.count = box.count + 1
    items[0] = len(items)
    cell(x.shape[0])
    return x * 2


def args():
    kept = None
    NAMES.clear()
    NAMES.update(old=1, gone=2)

    def cell(v):
        nonlocal kept
        kept = v

    box = Box()
    box.count = 0
    return torch.ones(2), box, [1, 2], cell
