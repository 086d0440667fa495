"""Methods of built-in types with arguments drawn from a pool, most of them wrong ones: results, identity, errors and their words, and what was
changed are those of plain Python. The object is an argument, or made in the trace; the arguments are constants or come from a list."""
import collections
import itertools
import random
import re

import pytest
import torch

import jedlik

X = torch.ones(1)


class Index:
    def __index__(self):
        return 1

    def __repr__(self):
        return "Index"


class Incomparable:
    def __eq__(self, other):
        raise ValueError("eq")

    def __hash__(self):
        return 1

    def __repr__(self):
        return "Incomparable"


class Kin(list):
    pass


OBJECTS = (
    "[3, 1, 2]", "[]", "Kin([1])", "{'a': 1, 2: 'b'}", "collections.OrderedDict([('a', 1), (2, 'b')])",
    "collections.defaultdict(int, {'a': 1})", "collections.Counter('aab')", "collections.deque([1, 2, 3], maxlen=4)",
    "collections.ChainMap({1: 2}, {3: 4})", "{1, 2, 3}", "frozenset({1, 2})", "(1, 2, 1)", "'aBc a'", "b'abc'", "5", "-3", "10**20",
    "2.5", "float('inf')", "1 + 2j", "True", "None", "range(1, 10, 3)", "slice(1, None, 2)", "torch.Size([2, 3])",
    "{'a': 1, 2: 'b'}.keys()", "{'a': 1, 2: 'b'}.items()", "{'a': 1, 2: 'b'}.values()", "iter([1, 2, 3])", "iter({'a': 1})",
    "iter(collections.OrderedDict(a=1))", "enumerate([1, 2])", "zip([1], [2])", "map(str, [1])", "reversed([1, 2])", "(i for i in [1, 2])",
    "bytearray(b'abc')")
ARGUMENTS = ("0", "1", "-1", "2", "'a'", "None", "[1, 2]", "(2, 3)", "{1: 2}", "'b'", "3.5", "Index()", "True", "slice(0, 2)", "{2, 3}",
             "b'b'", "str", "10**20", "''", "Incomparable()")
ASIDE = {"__class__", "__reduce__", "__reduce_ex__", "__init_subclass__", "__subclasshook__", "__sizeof__", "__dir__", "__getstate__",
         "__new__", "__init__", "__class_getitem__", "__hash__", "__dict__", "__doc__", "__delattr__", "__setattr__", "__getattribute__"}
BODIES = {
    "argument": "def f(x, o, a):\n    r = o.{name}({listed})\n    return x + 1, r, o, r is o",
    "made": "def f(x, _, a):\n    o = {object}\n    r = o.{name}({written})\n    return x + 1, r, o, r is o",
    "caught": "def f(x, o, a):\n    try:\n        r = o.{name}({written})\n    except Exception as e:\n        r = type(e), str(e)\n"
              "    return x + 1, r, o",
}


def without_addresses(text):
    return re.sub(r" at 0x[0-9a-f]+", "", text)


def shown(value):
    """Text without addresses; iterators with what they have left."""
    kind = type(value).__name__.replace("str_ascii_iterator", "str_iterator")
    try:
        text = without_addresses(repr(value))
        if "iterator" in kind or kind in ("enumerate", "zip", "map", "reversed", "generator"):
            text += repr(list(itertools.islice(value, 20)))
    except Exception as e:
        text = repr(e)
    return kind, text


def outcome(function, *args):
    try:
        result = function(*args)
    except Exception as e:
        return type(e), str(e)
    return [shown(value) for value in result]


def draw(rng):
    """One program: the text of its object and arguments, and its source."""
    made = rng.choice(OBJECTS)
    o = eval(made)
    name = rng.choice([n for n in dir(o) if n not in ASIDE and callable(getattr(o, n))])
    args = rng.choices(ARGUMENTS, k=rng.choice((0, 1, 1, 1, 2, 2, 3)))
    if "pow" in name:  # 5 ** 10**20 would take a while
        args = [a for a in args if a != "10**20"]
    source = BODIES[rng.choice(sorted(BODIES))].format(
        name=name, object=made, written=", ".join(args), listed=", ".join(f"a[{k}]" for k in range(len(args))))
    return made, args, source


@pytest.mark.parametrize("seed", range(40))
def test_methods(seed, request):
    rng = random.Random(seed)
    for _ in range(400 if request.config.getoption("--slow") else 25):
        made, args, source = draw(rng)
        space = dict(globals())
        exec(source, space)
        plain, fast = space["f"], jedlik.compile(space["f"], backend="eager")
        for call in range(2):
            worlds = [(eval(made), [eval(a) for a in args]) for _ in range(2)]
            results = [outcome(f, X, *world) for f, world in zip((plain, fast), worlds)]
            assert results[0] == results[1], (source, made, args, call)
            assert shown(worlds[0]) == shown(worlds[1]), (source, made, args, call)
        jedlik.reset()
