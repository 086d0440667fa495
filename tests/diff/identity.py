"""One object met in two ways: as a constant of the program and through an argument, an attribute, a member. `is` and what rests on it says so."""
import re
import types

import numpy
import torch
from kit import T, program

LONG = tuple(range(20))
NUMBERS = (1.5, 2, 3)
NAMES = frozenset({"one", "two", "three"})


def held(x, long=LONG, names=NAMES):
    return x + 1


class Holder:
    long, names, numbers = LONG, NAMES, NUMBERS
    code = held.__code__

    def __init__(self):
        self.kept = [LONG, NAMES, NUMBERS, held.__code__]


def relations(a, b):
    """Everything that goes by identity first."""
    out = [a is b, b is a, a is not b, a in [b], b in (a,), [a].index(b) if a in [b] else None, [a] == [b], (b,) == (a,), [a].count(b)]
    for ask in (lambda: a == b, lambda: {a: 1}.get(b), lambda: b in {a}, lambda: len({a, b})):
        out.append(ask())
    return out


@program(lambda: (T(3), held.__code__), lambda: (T(3), held.__code__.replace()), lambda: (T(3), relations.__code__))
def code_of_a_function(x, code):
    return x + 1, relations(held.__code__, code), relations(code, Holder.code), relations(code, Holder().kept[3])


@program(lambda: (T(3), held.__code__), graphs=0)
def code_of_a_new_function(x, code):
    def made():
        pass
    again = types.FunctionType(made.__code__, globals())
    copied = types.FunctionType(code, globals())
    other = types.FunctionType(made.__code__.replace(), globals())
    return x + 1, [relations(made.__code__, f.__code__) for f in (made, again, copied, other)], relations(copied.__code__, held.__code__)


@program(lambda: (T(3), LONG), lambda: (T(3), tuple(range(20))), lambda: (T(3), NUMBERS), lambda: (T(3), (1.5, 2, 3)), graphs=0)
def long_tuples(x, a):
    h = Holder()
    return x + 1, [relations(a, b) for b in (LONG, held.__defaults__[0], Holder.long, h.kept[0], Holder.numbers, h.kept[2])]


@program(lambda: (T(3), NAMES), lambda: (T(3), frozenset(NAMES)), lambda: (T(3), frozenset(["three", "two", "one"])), graphs=0)
def sets_of_constants(x, a):
    h = Holder()
    return x + 1, [relations(a, b) for b in (NAMES, held.__defaults__[1], Holder.names, h.kept[1])]


@program(lambda: (T(3), held), graphs=0)
def passed_through_a_break(x, f):
    def made():
        return x
    code = made.__code__
    g = types.FunctionType(code, globals(), closure=made.__closure__)
    return g() + 1, g.__code__ is code, made.__code__ is g.__code__, code is not f.__code__, relations(code, g.__code__)


DEVICE, SPAN = torch.device("cpu"), range(3)
KEYS = {torch.device("cpu"): 1, range(3): 2, held.__code__: 3, (range(3), torch.device("cpu")): 4, frozenset([range(3)]): 5}


@program(lambda: (T(3), torch.device("cpu"), range(0, 3, 1)), lambda: (T(3), DEVICE, SPAN), graphs=0)
def equal_by_value(x, device, span):
    table = {device: 1, span: 2}
    found = [table.get(k) for k in (DEVICE, SPAN, torch.device("cpu"), range(3), range(0), torch.device("meta"), x.device)]
    kept = [KEYS.get(k) for k in (device, span, held.__code__.replace(), (span, device), frozenset([span]))]
    return x + 1, found, kept, len({device, DEVICE, x.device}), len({span, SPAN, range(0, 3)}), device in KEYS, span in set([SPAN]), span == SPAN


PATTERN, HALF, WORD = re.compile("a+"), numpy.float32(0.5), numpy.str_("w")
DEEP = SPAN
for _ in range(30):
    DEEP = (DEEP,)


def same_pattern():
    re.purge()
    return re.compile("a+")


@program(lambda: (T(3), same_pattern(), numpy.float64(0.5), numpy.str_("w")), lambda: (T(3), PATTERN, HALF, WORD), graphs=0)
def equal_by_value_in_c(x, pattern, half, word):
    table, out = {}, []
    for k in (pattern, half, word, DEEP, numpy.bool_(True)):
        table[k] = len(table)
    for k in (PATTERN, HALF, WORD, DEEP, 0.5, "w", True, 1):
        out.append((table.get(k), k in {pattern, half, word}, k in [pattern, half, word], k == word))
    return x + 1, out, len({pattern, PATTERN}), len({half, HALF, 0.5}), len({word, WORD, "w"}), {DEEP: 1}.get(DEEP)


@program(graphs=0)
def deep_keys(x):
    a, b = range(3), range(0, 3)
    for _ in range(25):
        a, b = (a,), (b,)
    return x + 1, a == b, {a: 1}.get(b), len({a, b}), b in [a], hash(a) == hash(b)
