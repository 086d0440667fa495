"""Single expressions whose value, or error with its words, is easily got wrong: each alone, and with its error caught in the trace."""
import collections
import enum
import functools

import pytest
import torch

import jedlik

X = torch.ones(1)
BIG, HALF = 10**20, 0.5
KEYS = [0, 0.0]
ORDERED = collections.OrderedDict(a=1)


class Empty(type):
    def __len__(cls):
        return 0


class NoLength(metaclass=Empty):
    pass


class Walked(type):
    def __iter__(cls):
        return iter([1, 2])


class Pair(metaclass=Walked):
    pass


class Dict(dict):
    pass


class BadIter:
    def __iter__(self):
        raise TypeError("mine")


class Colour(enum.Enum):
    RED = 1


def renamed(function):
    @functools.wraps(function)
    def wrapper(a, *, k=1):
        return a
    return wrapper


@renamed
def nice(a):
    pass


def mixed(a, b=1, *, k=2, m=3):
    pass


def positional(a, /, b):
    pass


TEXT, LIST, TUPLE, DEQUE, SLICE = "a", [1], (1,), collections.deque([1]), slice(1, None, 2)
EXPRESSIONS = """
bool(NoLength), len(NoLength), not NoLength
1 in Pair, 3 in Pair, list(Pair)
1 in str
1 in 5
1 in None
1 in BadIter()
iter(str)
len(str)
list(BadIter())
', '.join(BadIter())
', '.join(5)
nice()
nice(1, 2)
nice(1, 2, k=2)
nice(b=1)
mixed(1, 2, 3)
mixed(1, 2, 3, k=3)
mixed(1, 2, 3, k=3, m=3)
mixed()
mixed(1, a=2)
mixed(1, z=2)
positional(a=1, b=2)
positional(1)
positional(1, 2, 3)
(lambda: 1)(2)
(lambda x: 1)(2, 3)
bool(Colour), len(Colour), Colour.RED in Colour
str[0]
Colour[0]
Colour['B']
int[0]
LIST.__mul__(TEXT)
LIST.__imul__(TEXT)
LIST.__rmul__(TEXT)
TUPLE.__mul__(TEXT)
LIST * TEXT
TEXT * None
DEQUE.__getitem__(TEXT)
DEQUE[TEXT]
DEQUE.__delitem__(TEXT)
DEQUE.__setitem__(TEXT, 1)
DEQUE.rotate(BIG)
DEQUE.__mul__(TEXT)
DEQUE.insert(BIG, 1)
SLICE.indices(BIG)
slice(1, BIG, 2).indices(5)
SLICE.indices(-1)
LIST.__getitem__(TEXT)
LIST[KEYS[0]], TUPLE[KEYS[0]], TEXT[KEYS[0]]
LIST[KEYS[1]]
LIST[KEYS[1]:]
TUPLE[KEYS[1]]
TEXT[KEYS[1]]
range(3)[KEYS[1]]
DEQUE[KEYS[1]]
LIST.pop(BIG)
LIST.insert(BIG, 2)
LIST.index(1, BIG)
LIST * BIG
TEXT * BIG
range(BIG)[5]
range(5)[BIG]
TUPLE[BIG]
type(iter(ORDERED)), type(ORDERED.__iter__()), type(iter(ORDERED.items())), type(reversed(ORDERED))
torch.Size([HALF, 1])
torch.Size([True]), torch.Size(['a'])
Dict(a=1) | collections.OrderedDict(b=2), collections.OrderedDict(b=2) | Dict(a=1), Dict(a=1) | {}, {} | Dict(a=1)
Dict(a=1) | collections.defaultdict(int, b=2), collections.Counter('a') | Dict(a=1)
TEXT.format(1) is TEXT, TEXT.format([1]) is TEXT
HALF * 1 is HALF, HALF.__abs__() is HALF, +HALF is HALF
""".strip().splitlines()


def outcome(function):
    try:
        return repr(function(X))
    except Exception as e:
        return type(e), str(e)


@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.parametrize("body", (
    "return x + 1, {}", "try:\n        return x + 1, {}\n    except Exception as e:\n        return x + 2, type(e), str(e)"),
    ids=("alone", "caught"))
def test_expression(body, expression):
    space = dict(globals())
    exec(f"def f(x):\n    {body.format(expression)}", space)
    fast = jedlik.compile(space["f"], backend="eager")
    for _ in range(2):
        assert outcome(fast) == outcome(space["f"])


def iterator_of_an_ordered_dict(x):
    d = collections.OrderedDict(a=1, b=2, c=3)
    d.move_to_end("a")
    it = iter(d)
    next(it)
    return it, x + 1


def test_an_iterator_that_leaves():
    plain, fast = iterator_of_an_ordered_dict(X)[0], jedlik.compile(iterator_of_an_ordered_dict, backend="eager")(X)[0]
    assert type(plain) is type(fast) and list(plain) == list(fast) == ["c", "a"]


def equal_numbers(x):
    n = 2.5
    m = n * 1
    return x + 1, n, m, n is m


def test_equal_numbers_that_leave_stay_two():
    _, n, m, same = jedlik.compile(equal_numbers, backend="eager")(X)
    assert n == m and n is not m and not same
