"""Built-in functions, operators and standard functions on drawn arguments, objects with odd special methods among them: results, errors and their
words, and the order in which user code runs are those of plain Python."""
import collections
import functools
import itertools
import math
import operator
import random

import pytest
import torch
from test_methods_random import shown, without_addresses

import jedlik

X = torch.ones(1)
LOG = []


def logged(name, value):
    def method(self, *args):
        LOG.append((name, type(self).__name__, len(args)))
        if isinstance(value, type) and issubclass(value, Exception):
            raise value(name)
        return value
    return method


SPECIAL = {
    "__bool__": (True, False, 1, ValueError), "__len__": (0, 3, -1, "a", TypeError), "__index__": (1, -2, "a", 10**20, KeyError),
    "__int__": (4, 2.5, "a"), "__float__": (1.5, 1, ValueError), "__iter__": (None, 5, TypeError), "__contains__": (1, 0, None, ValueError),
    "__getitem__": (IndexError, KeyError), "__eq__": (True, False, 0, NotImplemented, ValueError), "__lt__": (True, NotImplemented, TypeError),
    "__gt__": (False, NotImplemented, 1), "__hash__": (1, "a", TypeError), "__add__": (5, NotImplemented, ValueError), "__radd__": (6, NotImplemented),
    "__mul__": ("m", NotImplemented), "__call__": (3, StopIteration), "__next__": (1, StopIteration, ValueError), "__repr__": ("R", 5, ValueError),
    "__str__": ("S", None), "__format__": ("F", 3), "__abs__": (2, ValueError), "__neg__": (-1, NotImplemented), "__round__": (1, ValueError),
    "__reversed__": (None, 5), "__length_hint__": (3, "a", NotImplemented), "__complex__": (1j, 2), "__bytes__": (b"b", "a"),
    "__divmod__": ((1, 2), NotImplemented), "__pow__": (9, NotImplemented), "__missing__": (1, KeyError), "__trunc__": (3, "a"),
}
BASES = ((object,), (object,), (list,), (dict,), (int,), (str,), (tuple,))
FUNCTIONS = (
    "abs all any ascii bin bool bytes callable chr complex dict divmod enumerate filter float format frozenset getattr hasattr hex int isinstance "
    "issubclass iter len list map max min next oct ord pow range repr reversed round set slice sorted str sum tuple type zip").split()
FUNCTIONS += [f"operator.{n}" for n in ("add sub mul truediv floordiv mod pow lt le eq ne gt ge and_ or_ xor not_ truth is_ is_not neg pos invert "
                                        "getitem contains countOf indexOf concat index iadd length_hint itemgetter attrgetter").split()]
FUNCTIONS += [f"math.{n}" for n in "sqrt floor ceil fabs isnan isclose gcd fsum prod log copysign trunc comb factorial hypot dist".split()]
FUNCTIONS += [f"itertools.{n}" for n in ("chain islice accumulate product permutations combinations zip_longest starmap takewhile dropwhile compress "
                                         "pairwise repeat tee filterfalse").split()]
FUNCTIONS += ["functools.reduce", "functools.partial", "collections.Counter", "collections.deque", "collections.OrderedDict", "collections.ChainMap",
              "collections.defaultdict", "', '.join", "'{}|{}'.format", "'%s %s'.__mod__", "lambda *a: [*a[0]]", "lambda *a: {**a[0]}",
              "lambda a, b=0: a in (b, a)", "lambda a, b=1: (a < b, a == b, a != b)", "lambda a, b=1: a + b", "lambda a, b=2: a[b]",
              "lambda a: 1 if a else 2", "lambda a: f'{a}{a!r:>4}'", "lambda a, b=1: a * b", "lambda a, *b: (lambda *c, **d: (c, d))(*a)",
              "lambda a, b=1: a[b:]", "lambda a, b=1: -a if b else +a", "lambda a, b=3: not (a and b)", "lambda a: [v for v in a]"]
PLAIN = ("0", "1", "-3", "2.5", "'ab'", "''", "None", "[3, 1, 2]", "[]", "(1, 2)", "{1: 2}", "{'a': 1}", "{2, 3}", "True", "b'x'", "str", "int", "10**20",
         "float('nan')", "'a'", "1j", "range(4)", "lambda *a: a", "operator.add", "[[1, 2], [3, 4]]", "iter([1, 2])")
SLOW_TOGETHER = ("pow", "mul", "repeat", "range", "factorial", "permutations", "product", "comb")


def odd_class(rng):
    """A class with a few special methods, each with a fixed answer."""
    names = rng.sample(sorted(SPECIAL), rng.choice((1, 1, 2, 3)))
    members = {name: logged(name, rng.choice(SPECIAL[name])) for name in names}
    return type("Odd", rng.choice(BASES), members)


def draw(rng):
    function = rng.choice(FUNCTIONS)
    odd = odd_class(rng)
    args = [rng.choice(PLAIN + ("odd()",) * 16) for _ in range(rng.choice((1, 1, 2, 2, 2, 3)))]
    if any(part in function for part in SLOW_TOGETHER) or "**" in function or " * " in function:
        args = [a for a in args if a != "10**20"]
    return function, odd, args


def outcome(function, odd, args):
    LOG.clear()
    try:
        values = [eval(a, {**globals(), "odd": odd}) for a in args]
        result = shown(function(X, values)[1])
    except Exception as e:
        result = type(e), without_addresses(str(e))
    log = list(LOG)
    return result, log


@pytest.mark.parametrize("seed", range(40))
def test_calls(seed, request):
    rng = random.Random(seed)
    for _ in range(600 if request.config.getoption("--slow") else 25):
        function, odd, args = draw(rng)
        listed = ", ".join(f"a[{k}]" for k in range(len(args)))
        space = dict(globals())
        caught = rng.random() < 0.5
        exec(f"def f(x, a):\n    return x + 1, ({function})({listed})" if not caught else
             f"def f(x, a):\n    try:\n        r = ({function})({listed})\n    except Exception as e:\n        r = type(e), str(e)\n    return x + 1, r", space)
        fast = jedlik.compile(space["f"], backend="eager")
        for call in range(2):
            plain = outcome(space["f"], odd, args)
            assert outcome(fast, odd, args) == plain, (function, args, odd.__bases__, {k: v for k, v in vars(odd).items() if k in SPECIAL}, call)
        jedlik.reset()
