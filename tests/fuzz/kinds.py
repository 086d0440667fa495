"""Expressions over values of many kinds, in sequences of calls that mix them.

Takes: the tables below. Gives: `differences(seed)`, lines that say where a compiled expression shows something else than the plain one. A sequence calls
one compiled expression with equal, identical and other values of one to three kinds, so that each call meets what the calls before have guarded.

    python tests/fuzz/kinds.py FIRST COUNT
"""
import collections
import copy
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import math
import operator
import pathlib
import random
import re
import sys
import types
import typing
import uuid
import warnings
import weakref

import numpy
import torch

import jedlik
from jedlik import _engine

CALLS = 6


# -- Classes ---------------------------------------------------------------------------


Pair = collections.namedtuple("Pair", "a b")


class Tuple(tuple):
    pass


class List(list):
    pass


class Str(str):
    pass


class Int(int):
    pass


class Float(float):
    pass


class Bytes(bytes):
    pass


class Frozen(frozenset):
    pass


class Level(enum.IntEnum):
    A = 1
    B = 5


class Bits(enum.IntFlag):
    A = 1
    B = 4


class Word(str, enum.Enum):
    A = "1"
    B = "5"


@dataclasses.dataclass(frozen=True)
class Fixed:
    a: object


@dataclasses.dataclass
class Open:
    a: object


class Equal:
    def __init__(self, v):
        self.v = v

    def __eq__(self, other):
        return isinstance(other, Equal) and self.v == other.v

    def __hash__(self):
        return hash(self.v)

    def method(self):
        return self.v


class Own:
    def __init__(self, v):
        self.v = v


class Hashed(int):
    def __hash__(self):
        return 7


class Yes(tuple):
    def __eq__(self, other):
        return True

    __hash__ = tuple.__hash__


def plain():
    return 1


ONE, FIVE = Equal(1), Equal(5)
LISTS = {1: [1], 5: [5]}
NAN = float("nan")


def either(one, other):
    return lambda v: one if v == 1 else other


# -- Kinds: a number to a value; two calls give two that are equal ----------------------------


KINDS = [
    lambda v: (*range(20), v), lambda v: Pair(v, 2), lambda v: Tuple((v, 1)), lambda v: (v, [v]), lambda v: (v, NAN), lambda v: Yes((v,)),
    lambda v: frozenset([v, 3, 4]), lambda v: frozenset([v]), lambda v: Frozen([v]), lambda v: (frozenset([v, 9]),), lambda v: {v}, lambda v: {v: 1},
    lambda v: List([v]), lambda v: [v], lambda v: bytearray([v]), lambda v: collections.deque([v]), lambda v: collections.OrderedDict({v: 1}),
    lambda v: collections.Counter([v]), lambda v: types.MappingProxyType({v: 1}), lambda v: {v: 1}.keys(), lambda v: {v: 1}.items(),
    lambda v: slice(v, 1), lambda v: range(v), lambda v: range(0, v * 2, 2), lambda v: (range(v), 1), lambda v: memoryview(bytes([v])),
    lambda v: v, float, lambda v: complex(v, 1), lambda v: complex(NAN, v), lambda v: 10 ** 30 + v, lambda v: bytes([v] * 3), lambda v: "ab" * v,
    lambda v: v == 1, lambda v: -float(v - 1), lambda v: NAN, lambda v: None if v == 1 else ...,
    lambda v: Str(v), Int, Float, lambda v: Bytes([v]), Hashed, Level, either(Bits.A, Bits.B), lambda v: Word(str(v)),
    Fixed, Open, Equal, Own, lambda v: types.SimpleNamespace(v=v), lambda v: (lambda: v).__closure__[0], ValueError,
    lambda v: either(ONE, FIVE)(v).method, lambda v: LISTS[v].append, lambda v: str(v).upper, lambda v: functools.partial(plain, v),
    lambda v: plain.__code__.replace(co_firstlineno=v), lambda v: operator.itemgetter(v), lambda v: weakref.ref(either(ONE, FIVE)(v)),
    lambda v: datetime.date(2000, 1, v), lambda v: datetime.timedelta(v), lambda v: fractions.Fraction(v, 3), decimal.Decimal,
    lambda v: uuid.UUID(int=v), lambda v: pathlib.PurePosixPath(f"a{v}"), lambda v: re.compile(f"a{v}"),
    lambda v: list[int] if v == 1 else list[str], lambda v: int | str if v == 1 else int | float, lambda v: typing.Literal[v],
    numpy.int64, numpy.float32, lambda v: numpy.bool_(v == 1), lambda v: numpy.dtype("f4" if v == 1 else "f8"), numpy.array,
    lambda v: torch.Size([v, 2]), lambda v: torch.device("cpu" if v == 1 else "meta"), either(torch.float32, torch.float64), either(int, str),
]
OTHERS = [1, 5, 1.0, "1", (1, 1), None, True, 0, [1], {1: 1}, "ab", -1, 2 ** 70, math.inf]


# -- Expressions over a and b; W is the world: a dict, a set, a list, a tuple and an object around a third value -----------


W = {}


def matched(v):
    match v:
        case int(x) if x > 3:
            return "large", x
        case bool():
            return "bool"
        case 1 | 5:
            return "number"
        case str():
            return "str"
        case (x, *rest):
            return "sequence", x, rest
        case {1: x}:
            return "mapping", x
        case None:
            return "none"
        case Pair(a=x):
            return x
        case _:
            return "other"


def keyword(x, k=0):
    return x, k


def raised(a, b):
    try:
        raise ValueError(a)
    except ValueError as e:
        try:
            return e.args[0] == b, {a: 1}[b]
        except KeyError as missing:
            return missing.args[0] is b
        except TypeError:
            return "unhashable"
    finally:
        W["l"].append(1)


def generated(a, b):
    def g():
        x = yield a
        yield x == b

    it = g()
    return next(it), it.send(a)


def closed(a):
    seen = [a]

    def h(b):
        nonlocal a
        old, a = a, b
        seen.append(b)
        return old, a, seen

    return h


def entered(a, b):
    class C:
        def __enter__(self):
            return a

        def __exit__(self, *info):
            return b

    with C() as x:
        raise KeyError(x)
    return "swallowed"


def swapped(a, b):
    a, b = b, a
    W["k"], W["m"] = b, {a: b}
    del W["k"]
    return a, W["m"]


EXPRESSIONS = """
[a] == [b], a in [b], (a, 1) == (b, 1), [a, 2].count(b), a == b, a != b, a is b
{1: a} == {1: b}, {a, b} != {a}, len({a, b}), {a: 1}.get(b), {a: 3, b: 4}[a], frozenset([a]) == frozenset([b]), a in {b: 1}
{(a, 1): 1}.get((b, 1)), len({(a,), (b,)}), hash(a) == hash(b)
W['d'].get(a), b in W['d'], a in W['s'], len(W['s'] | {b}), W['d'] == {a: 1}, W['s'] == {b}, W['x'] == a
W['d'].update({a: 2}), W['s'].add(b), W['d'].setdefault(b, 5), len(W['d']), len(W['s']), W['d'].pop(a), b in W['d']
W['t'].index(a) if a in W['t'] else None, W['l'].count(b)
W['d'], W['s'], {a: b}, {b}, {a: 1} | {b: 2}, {a} - {b}, {a} & {b}, {a} | {b}
isinstance(a, (int, float, str)), isinstance(b, tuple), type(a) is type(b), a.__class__ is b.__class__
str(a), repr(b), f'{a!r:>5}', '{}{}'.format(a, b)
len(a)
[x for x in a], list(b)
bool(a), not b, a and b, a or b, 1 if a else 2
getattr(a, 'v', 'no'), hasattr(b, 'a'), getattr(b, 'name', None), getattr(a, 'real', 0)
sorted([a, b, a])
min(a, b), max(b, a)
W['d'].pop(a, None), W['d'].setdefault(b, a), list(W['d'].items())
dict.fromkeys([a, b, a], 0), dict([(a, 1), (b, 2)]), {**{a: 1}, **{b: 2}}
{a: 1}.keys() & {b: 2}.keys(), {a: 1}.keys() | {b}, {a: 1}.items() - {b: 1}.items()
{a} <= {b}, {a}.issubset([b]), {a}.union([b]), {a}.difference([b]), {a} ^ {b}, {a}.isdisjoint([b]), {a}.intersection((b,))
W['l'].index(a), W['l'].count(b)
W['l'].append(b), W['l'].remove(a), len(W['l'])
W['s'].add(a), W['s'].discard(b), len(W['s']), a in W['s']
(a,) + (b,), [a] * 2, (b,) * 3, [a] + [b]
copy.copy(a) == a, copy.copy(b) is b
[i for i, x in enumerate([a, b, a]) if x == a], list(zip([a], [b])), list(map(type, [a, b]))
any([a, b]), all([a, b]), sum([1 for x in (a, b) if x])
operator.eq(a, b), operator.contains([a], b), operator.countOf([a, b, a], a), operator.indexOf([b, a], a)
a < b
a <= b <= a
a + b
a - b
a * b
a / b
a // b
a % b
a & b, a | b
a ^ b
a[0], b[-1]
a[b]
a in b
-a
abs(a), round(b)
int(a)
float(a)
tuple(a), set(a), frozenset(a), dict.fromkeys(a)
iter(a) is a, next(iter(b))
list(reversed(a))
callable(a), a.__class__.__name__, type(b).__mro__
a.__eq__(b), a.__ne__(b)
a.__hash__ is None
matched(a), matched(b)
keyword(a, k=b), keyword(*[a], **{'k': b})
functools.reduce(lambda x, y: (x, y), [a, b], 0)
{v: k for k, v in {1: a, 2: b}.items()}
collections.Counter([a, b, a]).most_common(), collections.deque([a, b], 1)
collections.OrderedDict([(a, 1), (b, 2)]), collections.defaultdict(list, {a: 1})[b]
Pair(a, b) == Pair(b, a), Pair(a, b)._replace(a=b), Pair(a, b) < Pair(b, a)
Open(a) == Open(b), Fixed(a) == Fixed(b), hash(Fixed(a)) == hash(Fixed(b)), dataclasses.replace(Fixed(a), a=b)
str.join('-', [a, b])
complex(a, b)
divmod(a, b)
range(a) == range(b), list(range(a))[:2]
slice(a, b) == slice(b, a), slice(a) == slice(b)
isinstance(a, type(b)), issubclass(type(a), type(b))
W['x'] == a, W['x'] is a, W['t'] == (a,), W['l'] == [b]
vars(a)
torch.ones(2) + a
torch.ones(2) * b
torch.tensor([1., 2.]) == a, b != torch.tensor([1., 2.])
torch.ones(2).to(a)
torch.full((2,), a), torch.zeros(a)
torch.ones(2, 5, 2).sum(a)
torch.ones(2, 5)[a]
torch.ones(2, 5, dtype=a) if isinstance(a, torch.dtype) else torch.ones(2, 5).view(a)
functools.partial(keyword, a)(k=b), functools.partial(keyword, k=a)(b)
setattr(W['o'], 'q', a), W['o'].q is a, W['o'].__dict__
ValueError(a).args == (a,), str(KeyError(b))
raised(a, b)
generated(a, b)
closed(a)(b)
entered(a, b)
{(a, b): 1} == {(b, a): 1}, ((a, b),) == ((b, a),), [[a]] == [[b]]
swapped(a, b)
""".strip().split("\n")


# -- What a call shows --------------------------------------------------------------------


def shown(v, depth=0):
    """Types and values; no addresses, and sets without their order."""
    name = type(v).__name__
    if isinstance(v, torch.Tensor):
        return name, str(v.dtype), tuple(v.shape), str(v.tolist())
    if depth > 4:
        return name
    if isinstance(v, dict):
        return name, [(shown(k, depth + 1), shown(x, depth + 1)) for k, x in v.items()]
    if isinstance(v, (list, tuple, collections.deque)):
        return name, [shown(x, depth + 1) for x in v]
    if isinstance(v, (set, frozenset)):
        return name, sorted(str(shown(x, depth + 1)) for x in v)
    try:
        return name, re.sub(r"0x[0-9a-f]+|object at .*", "", repr(v))
    except Exception as e:
        return name, type(e).__name__


def fresh(v):
    return copy.copy(v) if isinstance(v, (list, dict, set, bytearray, collections.deque)) else v


def renew(x):
    """The world anew around x."""
    W.clear()
    W.update(d={}, s=set(), x=x, t=(x,), l=[x], o=types.SimpleNamespace(v=1))
    try:
        W.update(d={x: 1}, s={x})
    except TypeError:
        pass  # no key


def call(f, a, b, x):
    renew(x)
    mine = fresh(a)
    theirs = mine if a is b else fresh(b)
    try:
        result = shown(f(mine, theirs))
    except Exception as e:
        result = type(e).__name__
    return result, shown(mine), shown(theirs), shown(W)


# -- Sequences -----------------------------------------------------------------------------------


def compare(text, sequence, at):
    plain = eval(f"lambda a, b: ({text})", globals())
    jedlik.reset()
    compiled = jedlik.compile(plain, backend="eager")
    _engine.set_config("break_at", at)
    try:
        with jedlik.config.patch(capture_without_tensors=True, keep_empty_graphs=True, recompile_limit=30):
            for i, (a, b, x) in enumerate(sequence):
                want, got = call(plain, a, b, x), call(compiled, a, b, x)
                if want != got:
                    values = ", ".join(str(shown(v))[:60] for v in (a, b, x))
                    return [f"{text} | call {i} of {values} | break at {at}", *(f"    plain {p}\n    compiled {c}" for p, c in zip(want, got) if p != c)]
    finally:
        _engine.set_config("break_at", 0)
    return []


def differences(seed):
    lines, rng = [], random.Random(seed)
    for text in EXPRESSIONS:
        values = [make(v) for make in rng.sample(KINDS, rng.choice([1, 1, 2, 2, 3])) for v in (1, 1, 5)]
        values += rng.sample(OTHERS, 2)
        sequence = [[rng.choice(values) for _ in range(3)] for _ in range(CALLS)]
        lines += compare(text, sequence, rng.choice([0, 0, 0, rng.randint(1, 20)]))
    return lines


def main(first, count):
    warnings.simplefilter("ignore")
    for seed in range(int(first), int(first) + int(count)):
        lines = differences(seed)
        if lines:
            print(f"seed {seed}", *lines, sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
