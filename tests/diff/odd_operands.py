"""Operands that are nearly right: index objects, reflected operators, subclasses, proxies, callables where a container is wanted. All of a program is one trace, with the exceptions caught in it."""
import collections
import operator
import types
import weakref


def tried(fn, *args):
    try:
        return "value", fn(*args)
    except Exception as e:
        return type(e).__name__, str(e)


class Index:
    def __init__(self, n):
        self.n = n

    def __index__(self):
        return self.n


class Reflected(Index):
    def __rmul__(self, other):
        return "rmul", other

    def __radd__(self, other):
        return "radd", other


class Modest(Index):
    def __rmul__(self, other):
        return NotImplemented


class Whole(int):
    pass


class WholeReflected(int):
    def __rmul__(self, other):
        return "rmul", other


class Text(str):
    pass


class TextReflected(str):
    def __radd__(self, other):
        return "radd", other


class WrongIndex:
    def __index__(self):
        return "x"


class Nothing:
    pass


class Items(list):
    pass


TIMES = [lambda: Index(2), lambda: Index(-1), lambda: Index(0), lambda: Index(2**70), lambda: Reflected(3), lambda: Modest(2), lambda: Whole(2), lambda: Whole(2**70),
         lambda: WholeReflected(2), lambda: True, lambda: 2.0, lambda: None, lambda: "a", WrongIndex, Nothing]


def in_place(a, b):
    a *= b
    return a


def times(make):
    return [tried(f, a, b()) if right else tried(f, b(), a)
            for f in (operator.mul, in_place) for right in (True, False) for b in TIMES for a in [make()]]


def case_text_times(x, e):
    return times(lambda: "ab"), x + 1


def case_bytes_times(x, e):
    return times(lambda: b"ab"), x + 1


def case_tuple_times(x, e):
    return times(lambda: (1, 2)), times(lambda: (1, Nothing)), x + 1


def case_list_times(x, e):
    return times(lambda: [1, 2]), x + 1


def case_deque_times(x, e):
    return times(lambda: collections.deque([1, 2])), times(lambda: collections.deque([1, 2], 3)), x + 1


def case_bytearray_times(x, e):
    return times(lambda: bytearray(b"ab")), x + 1


def case_subclass_times(x, e):
    made = [Text("ab"), Items([1, 2])]
    return [[tried(operator.mul, a, b()) for b in TIMES[:8]] for a in made], x + 1


def case_list_plus(x, e):
    return [tried(operator.add, a, b) for a in ([1], (1,), "a", b"a", Text("a"), Items([1])) for b in (Reflected(1), TextReflected("b"), Text("b"), Nothing(), None)], x + 1


class Pair(tuple):
    def __len__(self):
        return 77

    def __getitem__(self, i):
        return "item", i

    def __iter__(self):
        return iter("own")


class PairTimes(tuple):
    def __mul__(self, other):
        return "mul", other


class PairPlus(tuple):
    def __radd__(self, other):
        return "radd", other


class ItemsPlus(list):
    def __add__(self, other):
        return "add", other

    def __radd__(self, other):
        return "radd", other

    def __imul__(self, other):
        return "imul", other


class Fraction(float):
    def __radd__(self, other):
        return "radd", other


class Refuses(int):
    def __add__(self, other):
        return NotImplemented

    def __radd__(self, other):
        return "radd", other


MADE = [lambda: Pair((1, 2)), lambda: PairTimes((1, 2)), lambda: PairPlus((1, Nothing)), lambda: ItemsPlus([1]), lambda: Items([3]), lambda: Refuses(2), lambda: Fraction(1.5), lambda: Text("s"),
        lambda: TextReflected("r"), lambda: (5,), lambda: [6], lambda: "x", lambda: b"y", lambda: Index(2), lambda: Reflected(2), lambda: Modest(2), lambda: 3, lambda: True, lambda: 1.5, lambda: 1j,
        lambda: collections.deque([1]), lambda: bytearray(b"q"), lambda: None]


def plus_in_place(a, b):
    a += b
    return a


def pairs(f, lefts):
    return [tried(f, a(), b()) for a in lefts for b in MADE]


def case_plus_of_sequences(x, e):
    return pairs(operator.add, MADE[:4]), pairs(operator.add, MADE[9:13]), x + 1


def case_plus_of_numbers(x, e):
    return pairs(operator.add, MADE[5:7]), pairs(operator.add, MADE[13:20]), x + 1


def case_plus_of_others(x, e):
    return pairs(operator.add, MADE[4:5]), pairs(operator.add, MADE[7:9]), pairs(operator.add, MADE[20:]), x + 1


def case_plus_in_place(x, e):
    return [pairs(plus_in_place, [make]) for make in MADE], x + 1


def case_format_of_a_tuple(x, e):
    return "%s %s" % Pair((1, 2)), tried(lambda: "%s" % Pair((1, 2))), "%s" % (Pair((1, 2)),) == "x", x + 1


# -- Proxies ------------------------------------------------------------------------


class Full:
    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __iter__(self):
        return iter(self.items)

    def __reversed__(self):
        return iter("reversed")

    def __index__(self):
        return 2

    def __next__(self):
        return 5


class Called(Full):
    def __call__(self):
        return "called"


USES = [list, lambda p: list(reversed(p)), operator.index, next, lambda p: "abcd"[p], lambda p: [1, 2, 3][p], lambda p: "ab" * p, lambda p: [1] * p, lambda p: (1, Nothing) * p,
        lambda p: [5, 6, 7].pop(p), lambda p: [1, 2, 3][p:], lambda p: p(), len, bool, hash, lambda p: p + 1, lambda p: p < 1, lambda p: -p]


def uses(make):
    out = []
    for f in USES:
        o = make()
        out.append(tried(f, weakref.proxy(o)))
    return out


def case_weak_proxies(x, e):
    return uses(lambda: Full([1, 2])), uses(lambda: Called([1, 2])), uses(Nothing), x + 1


class GivesProxy:
    def __init__(self, to):
        self.to = to

    def __iter__(self):
        return weakref.proxy(self.to)


def case_weak_proxy_as_iterator(x, e):
    bad = Nothing()
    held = Full([])
    some = []
    for i in GivesProxy(held):
        some.append(i)
        if len(some) == 3:
            break
    return tried(list, GivesProxy(bad)), some, x + 1


def dead_and_alive():
    o = Full([1])
    gone, there = weakref.proxy(Full([1])), weakref.proxy(o)
    return lambda: (gone, there, o)


held = dead_and_alive()


def case_dead_proxies(x, e):
    does = [lambda p: p.__class__, lambda p: isinstance(p, Full), lambda p: isinstance(p, int), lambda p: type(p).__name__, lambda p: p.items, lambda p: len(p), lambda p: p + 1, lambda p: p == 1, bool, hash]
    return [[tried(f, p) for f in does] for p in held()[:2]], x + 1


def or_in_place(a, b):
    a |= b
    return a


def case_mapping_proxies(x, e):
    d = {"a": 1, "b": 2}
    p, q = types.MappingProxyType(d), types.MappingProxyType({"b": 5, "c": 6})
    out = [tried(f) for f in (
        lambda: p | q, lambda: p | {"z": 1}, lambda: {"z": 1} | p, lambda: p | [("z", 1)], lambda: p | 5, lambda: 5 | p, lambda: p | None, lambda: or_in_place(p, {}),
        lambda: or_in_place(p, 5), lambda: or_in_place({1: 2}, q), lambda: list(reversed(p)), lambda: repr(p), lambda: str(p), lambda: p & q, lambda: p + 1, lambda: -p)]
    return out, d, x + 1


class Odd(dict):
    def __bool__(self):
        return False

    def __len__(self):
        return 7


def case_mapping_proxy_of_others(x, e):
    p, q = types.MappingProxyType(Odd(a=1)), types.MappingProxyType(collections.OrderedDict(a=1, b=2))
    return bool(p), len(p), list(reversed(q)), repr(q), q | {"c": 3}, x + 1


# -- What callables have ----------------------------------------------------------------


class Methods(list):
    def plain(self, *a, **k):
        return "plain", a, k

    @classmethod
    def of_class(cls, *a):
        return "class", a

    @staticmethod
    def static(*a):
        return "static", a


def function(*a, **k):
    "text"
    return "function", a, k


def callables(o):
    return [o.plain, o.of_class, Methods.of_class, Methods.static, o.static, function, function.__call__, "a".join, o.append, [1].__len__, len]


def case_call_of_call(x, e):
    o = Methods()
    return [tried(lambda: f.__call__("b")) for f in callables(o)], [tried(lambda: f.__call__.__call__("b")) for f in callables(o)], o.plain.__call__(1, k=2), function.__call__(k=3), o, x + 1


def case_facts_of_callables(x, e):
    o = Methods()
    names = "__class__", "__name__", "__doc__", "__module__", "nothing"
    return [[tried(getattr, f, name) for f in callables(o)] for name in names], (3).__add__.__qualname__, "a".join.__qualname__, x + 1


def case_subclass_qualname(x, e):
    return Methods().append.__qualname__, [].append.__qualname__, x + 1


def case_methods_equal(x, e):
    o = Methods()
    return o.plain.__eq__(o.plain), o.plain.__eq__(o.of_class), o.plain.__ne__(o.plain), x + 1


# -- What is no container -----------------------------------------------------------------


def case_no_containers(x, e):
    o = Methods()
    values = [o.plain, function, operator, Nothing, slice(1, 2), ValueError("x"), property(), NotImplemented, None, (i for i in "ab"), iter("ab"), zip("ab")]
    does = [lambda v: len(v), lambda v: v["a"], lambda v: v + 1, lambda v: 1 + v, lambda v: -v, lambda v: v < 3, lambda v: operator.setitem(v, 0, 1), lambda v: operator.delitem(v, 0),
            lambda v: operator.index(v), lambda v: v == 3, lambda v: "ab"[v], lambda v: [1][v], lambda v: [1] * v, lambda v: v @ 2]
    return [[tried(f, v) for f in does] for v in values], x + 1


def case_generic_alias_as_class(x, e):
    return tried(isinstance, 3, list[int]), tried(issubclass, int, list[int]), tried(isinstance, 3, int | str), x + 1


# -- An OrderedDict that was changed behind its back ---------------------------------------


def made():
    return collections.OrderedDict(a=1, b=2, c=3)


def case_ordered_behind(x, e):
    out = []
    for change in (lambda d: dict.clear(d), lambda d: dict.__delitem__(d, "a"), lambda d: dict.pop(d, "b"), lambda d: dict.popitem(d), lambda d: dict.__setitem__(d, "z", 1)):
        d = made()
        change(d)
        x = x + 1
        out.append([tried(f, d) for f in (repr, list, len, lambda d: d.get("a"), lambda d: list(d.items()), lambda d: d.copy(), lambda d: d == {}, lambda d: d.pop("c", None))])
    return out, x + 1


def existing():
    broken, longer = made(), made()
    dict.__delitem__(broken, "b"), dict.__setitem__(longer, "z", 9)
    return lambda: (broken, longer)


both = existing()


def case_ordered_behind_before(x, e):
    return [[tried(f, d) for f in (repr, list, len, lambda d: "b" in d, lambda d: list(d.values()))] for d in both()], x + 1


# -- Tensors beside instances that are numbers --------------------------------------------

class Half(float):
    pass


class Whole(int):
    pass


class Willing(float):
    def __lt__(self, other):
        return "lt"

    def __eq__(self, other):
        return "eq"

    __hash__ = float.__hash__

    def __radd__(self, other):
        return "radd"

    def __rmul__(self, other):
        return "rmul"

    def __sub__(self, other):
        return "sub"


class Plain:
    def __lt__(self, other):
        return "lt"

    def __radd__(self, other):
        return "radd"


NUMBERS = Half(1), Whole(2), Willing(1), Plain(), True
BINARY = [operator.gt, operator.lt, operator.eq, operator.ne, operator.le, operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow, operator.iadd]


def case_tensors_beside_numbers(x, e):
    return [tried(f, x.clone(), v) for f in BINARY for v in NUMBERS], x + 1


def case_numbers_beside_tensors(x, e):
    return [tried(f, v, x) for f in BINARY for v in NUMBERS], x + 1


def case_new_numbers(x, e):
    numbers = Half(1), Whole(2), Willing(1), Plain()
    return [(tried(f, v, x), tried(f, x.clone(), v)) for f in BINARY for v in numbers], [tried(operator.contains, x, v) for v in numbers], x + 1


THREE, NESTED, NONE, LISTED, DEEP = (1, 1, 1), ((1, 2), 3), (None,), ([1],), (1, (2, [3]))
SIDES = [THREE, NESTED, NONE, LISTED, DEEP, [1, 2], ["a"], 3, 2.5, 1j, True, "s", None]


def case_who_is_named_first(x, e):
    """An order that nobody knows names the operands as they stood, inside of containers, too."""
    for f in (operator.lt, operator.gt, operator.le, operator.ge, operator.eq, max):
        for a in SIDES:
            e.log += [tried(f, a, b) for b in SIDES] + [tried(f, a, (x.shape[0],)), tried(f, (e.n,), a), tried(f, (e.n, [x.dim()]), (e.n, a))]
    return x + 1
