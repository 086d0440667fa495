"""Values as keys and members: equal ones, identical ones, those that stand for another."""
import collections
import enum
import operator

import torch
from kit import T, program

NAN, OTHER = float("nan"), float("nan")
HELD = [NAN]


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 5


class Word(str, enum.Enum):
    A = "a"


class Count(int):
    def __radd__(self, other):
        return "reflected"


class Overriding:
    @classmethod
    def __torch_function__(cls, f, types, args=(), kwargs=None):
        return "overridden", f.__name__


def cell_of(value):
    return (lambda: value).__closure__[0]


@program(lambda: (T(), NAN), lambda: (T(), OTHER), lambda: (T(), NAN), graphs=0)
def nan_keys(x, v):
    d = {v: 1, HELD[0]: 2}
    d.pop(v)
    d[NAN] = 3
    return x + len(d), len({v, HELD[0], OTHER}), v in d, d.get(HELD[0])


@program(lambda: (T(), {NAN: 1, "a": 2}, {OTHER, 1}), lambda: (T(), {OTHER: 1}, {NAN}), graphs=0)
def nan_in_arguments(x, d, s):
    d.update({NAN: 5})
    s.add(NAN)
    d.pop("a", None)
    seen = len(s), OTHER in s, NAN in s
    s.clear()  # its order would depend on addresses
    return x + len(d), seen, [k is NAN for k in d], d.popitem()


@program(lambda: (T(), [0.5, NAN]), lambda: (T(), [NAN, NAN]), lambda: (T(), [0.5, 0.5]), graphs=0)
def nan_written_behind(x, held):
    d = {held[0]: len}
    HELD.append(len(d))
    held[0] = abs(held[1])
    d.popitem()
    return x + len(HELD)


@program(lambda: (T(), (NAN, 1), (NAN, 1)), lambda: (T(), (OTHER, 1), (NAN, 1)), lambda: (T(), (2.5, 1), (NAN, 1)), graphs=0)
def nan_in_tuples(x, a, b):
    return x + 1, a == b, [a].count(b), a in {b: 1}, len({a, b}), {(a, 2): 1}.get((b, 2))


@program(lambda: (T(), complex(NAN, 1), complex(NAN, 1)), lambda: (T(), 1.5, complex(NAN, 1)), graphs=0)
def complex_nan(x, a, b):
    return x + 1, a == b, (a,) == (b,), a in [b], (b,) == (b,), len({a, b})


@program(lambda: (T(), range(3), range(3)), lambda: (T(), range(0), range(5, 5)), lambda: (T(), range(3), range(4)), graphs=0)
def ranges(x, a, b):
    return x + 1, {a: 1}.get(b), len({a, b}), a in {b}, {(a, 1)} == {(b, 1)}, frozenset([a]) == frozenset([b])


@program(lambda: (T(), Level.LOW, Level.HIGH), lambda: (T(), Level.LOW, 1), lambda: (T(), 5, Level.HIGH),
         lambda: (T(), Word.A, "a"), lambda: (T(), torch.Size([2, 1]), (2, 1)), graphs=0)
def members_stay_objects(x, a, b):
    both, common, left = {a} | {b, 7}, {a, 9} & {b, a}, {a, b} - {7}
    both |= {a, 8}
    grown = {b}
    grown.update({a, 11})
    return x + 1, [both, common, left, {a} ^ {8}, frozenset([a]) | {b}, grown, {a}.union([b]), {a: 1}.keys() | {b}]


@program(lambda: (T(), Level.LOW), lambda: (T(), Count(2)), lambda: (T(), 2), lambda: (T(), 1.0), lambda: (T(), True))
def numbers_compared(x, n):
    return x == n, n == x, x != n, x < n, n >= x, x + n, x * n, n * x, n - x


@program(lambda: (T(), Level.LOW), lambda: (T(), Word.A), lambda: (T(), None), lambda: (T(), object), graphs=0)
def others_compared(x, n):
    return x.sum() == n, n != x.sum(), [n].count(x.sum())


@program(lambda: (T(), Overriding()), graphs=0)
def overriding(x, o):
    return x == o, o != x, x + o, operator.ge(x, o), [x, 1][1:]


@program(lambda: (T(), cell_of(1)), lambda: (T(), [1]), lambda: (T(), None), lambda: (T(), 1.5), graphs=0)
def cells(x, c):
    try:
        hashed = hash(c) == hash(c)
    except TypeError as e:
        hashed = str(e)
    return x + 1, type(c).__name__, isinstance(c, list), hashed


@program(lambda: (T(), [cell_of(1), cell_of(1)]), lambda: (T(), [cell_of(1), cell_of(2)]), graphs=0)
def cells_compared(x, c):
    return x + 1, c[0] == c[1], c[0] is c[1], collections.deque(c, 1) == c[1:]
