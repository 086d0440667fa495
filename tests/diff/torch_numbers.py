"""Numbers that are no plain ones beside tensors: subclasses with operators of their own, members of enums, numpy's numbers, objects with __torch_function__."""
import enum
import operator

import numpy as np
import torch
import torch.nn.functional as F
from kit import T, ask, program

OPERATORS = (operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow, operator.matmul)
BITS = (operator.and_, operator.or_, operator.xor, operator.lshift)
COMPARISONS = (operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge)
IN_PLACE = (operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.imod, operator.ipow)
NAMES = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "matmul")
REFLECTED = {f"__r{n}__": lambda self, other, n=n: ("reflected", n) for n in NAMES}
COMPARED = {f"__{f.__name__}__": lambda self, other, n=f.__name__: ("compared", n) for f in COMPARISONS}


class Label(enum.IntEnum):
    CAT, DOG = 1, 2


class Whole(int):
    pass


class Torchy(int):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return "torch function", func.__name__


class Wrapper:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return "torch function", func.__name__

    def __rmul__(self, other):
        return "reflected"


class Left(int):
    def __mul__(self, other):
        return "left"

    def __eq__(self, other):
        return "left"

    __hash__ = None


ReflectedInt = type("ReflectedInt", (int,), dict(REFLECTED))
ReflectedFloat = type("ReflectedFloat", (float,), dict(REFLECTED))
ComparedInt = type("ComparedInt", (int,), dict(COMPARED))
ComparedFloat = type("ComparedFloat", (float,), dict(COMPARED))


NUMBERS = [Label.DOG, Whole(2), Torchy(2), Wrapper(), Left(2), ReflectedInt(2), ReflectedFloat(2.5), ComparedInt(2), ComparedFloat(1.0)]
BESIDE = [lambda n=n: (T(), n) for n in NUMBERS] + [lambda n=n: (torch.arange(1, 4), n) for n in NUMBERS[:6]]


@program(*BESIDE)
def right_of_a_tensor(x, n):
    return [ask(op, x, n) for op in OPERATORS + BITS]


@program(*BESIDE)
def left_of_a_tensor(x, n):
    return [ask(op, n, x) for op in OPERATORS + BITS]


@program(*BESIDE)
def compared_with_a_tensor(x, n):
    return [(ask(op, x, n), ask(op, n, x)) for op in COMPARISONS]


@program(*BESIDE)
def in_place(x, n):
    out = []
    for op in IN_PLACE:
        y = x.clone()
        out.append((ask(op, y, n), y, y._version))
    return out


@program(lambda: (T(), Label.CAT), lambda: (T(), Label.DOG), lambda: (T(), 2), lambda: (T(), 2.0))
def labels(x, label):
    y = x.clone()
    y += label
    return x == label, (x != label).sum(), y, x[label], x.roll(label), torch.full((label if label is Label.CAT else 2,), label)


@program(lambda: (T(2, 2), Whole(2)), lambda: (T(2, 2), ReflectedInt(2)), lambda: (T(2, 2), Torchy(2)), lambda: (T(2, 2), np.int64(2)), lambda: (T(2, 2), 2))
def of_functions_in_python(x, n):
    """They ask the number; torch's C code takes what it holds."""
    return ask(x.split, n), ask(F.pad, x, (n, n)), ask(torch.norm, x, n), ask(x.view, n, -1), ask(x.add, n), ask(torch.add, x, n), ask(F.leaky_relu, x, n)


def multiple(x, n):
    if 2 * n != 4:
        raise ValueError(n)
    return F.multi_head_attention_forward(x, x, x, 4, n, T(12, 4) / 20, T(12) / 20, None, None, False, 0.0, T(4, 4) / 20, T(4))[0]


@program(lambda: (T(3, 1, 4), 2), lambda: (T(3, 1, 4), Whole(2)), lambda: (T(3, 1, 4), type("M", (int,), {"__rmul__": lambda s, o: 8})(2)))
def heads(x, n):
    return ask(multiple, x, n), ask(F.multi_head_attention_forward, x, x, x, 4, n, T(12, 4) / 20, T(12) / 20, None, None, False, 0.0, T(4, 4) / 20, T(4))


@program(*[lambda n=n: (T(2, 2), n) for n in (np.bool_(True), np.complex64(1j), np.complex128(1j), np.float16(1.5), np.float32(1.5), np.float64(1.5), np.int32(1), np.uint8(1), np.longdouble(2))])
def numpy_numbers(x, n):
    i = x.long()
    return [ask(op, i, n) for op in OPERATORS[:6]], [ask(op, n, x) for op in OPERATORS[:3]], ask(operator.getitem, x, n), ask(torch.full, (2,), n), ask(x.clamp, n), ask(x.eq, n), ask(i.add, n)
