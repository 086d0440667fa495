"""What programs are made with: the mark, small tensors, an object to leave effects in."""
import sys

import torch


class Env:
    """What a case may change: lists, a dictionary, a counter, and any attribute."""

    def __init__(self):
        self.log = []
        self.table = {"a": 1, "b": 2.5, "c": "text"}
        self.count = 0
        self.items = [3, 1, 2]
        self.n = 4
        self.rate = 0.5
        self.name = "env"
        self.flag = True


def T(*shape, at=0, grad=False):
    """0, 1, 2 … from `at` in a tensor; without a shape: of three items."""
    n = 1
    for d in shape or (3,):
        n *= d
    return torch.arange(float(at), at + n).reshape(shape or (3,)).requires_grad_(grad)


# What programs over modules are called with.

def x23():
    return T(2, 3)


def x43():
    return T(4, 3, at=-2)


def grad():
    return T(2, 3, grad=True)


def ask(f, *a):
    """What comes of a call: its result, or the exception in words."""
    try:
        return f(*a)
    except Exception as e:
        return type(e).__name__, str(e)


def program(*makers, graphs=1):
    """Marks a program. Makers give fresh arguments: a tuple, or one argument; without: one tensor. `graphs`: how many must be captured at least."""
    def keep(f):
        rows = sys._getframe(1).f_globals.setdefault("PROGRAMS", [])
        rows.append((f, [tupled(m) for m in makers or (T,)], graphs))
        return f
    return keep


def tupled(make):
    def arguments():
        args = make()
        return args if type(args) is tuple else (args,)
    return arguments
