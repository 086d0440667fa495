"""Numbers, math, operator and text."""
import cmath
import functools
import math
import operator


class Number:
    def __init__(self, v):
        self.v = v

    def __int__(self):
        return int(self.v)

    def __float__(self):
        return float(self.v)

    def __index__(self):
        return int(self.v)

    def __abs__(self):
        return "abs"

    def __round__(self, n=None):
        return ("round", n)

    def __bool__(self):
        return self.v > 2

    def __add__(self, other):
        return ("add", other)

    def __radd__(self, other):
        return ("radd", other)

    def __divmod__(self, other):
        return ("divmod", other)


class OwnInt(int):
    def half(self):
        return self // 2


class OwnStr(str):
    def shout(self):
        return self.upper() + "!"


def case_constructors(x, e):
    return x * int(e.rate * 10), [int(e.n), float(e.n), bool(e.n), int("12"), int("ff", 16), int(e.rate), float("1.5"), complex(1, 2), bool(e.items), bool([]),
                                  int(True), float(e.flag), int(), float(), bool(), int(Number(3.7)), float(Number(3.7)), bool(Number(1)), str(e.n), str(e.rate)]


def case_own_numbers(x, e):
    n = OwnInt(9)
    s = OwnStr("ab")
    return x * n.half(), int(n), n + 1, type(n + 1), s.shout(), s + "c", len(s), str(s), type(s.upper())


def case_functions(x, e):
    return x + abs(-e.n), [round(e.rate), round(2.567, 2), round(e.n, -1), divmod(e.n, 3), divmod(-7.5, 2), pow(e.n, 2), pow(2, e.n, 5), bin(e.n), hex(255),
                           oct(e.n), chr(97 + e.n), ord("a"), abs(Number(1)), round(Number(1)), round(Number(1), 2), abs(-2.5), ascii("é"), round(number=2.5, ndigits=1)]


def case_functions_tensor(x, e):
    return abs(-x), round(x * 1.7), pow(x, 2), divmod(e.n, 2), x.abs().sum()


def case_math(x, e):
    return x * math.sqrt(e.n), [math.floor(e.rate), math.ceil(e.rate), math.log(e.n, 2), math.pi, math.isnan(e.rate), math.gcd(e.n, 6), math.prod(e.items), math.prod([2, 3], start=2),
                                math.fsum([0.1] * 3), math.dist([0, 0], [3, 4]), math.hypot(3, 4), math.inf, math.isclose(0.1 + 0.2, 0.3), math.copysign(1, -0.0), cmath.sqrt(-1)]


def case_math_shapes(x, e):
    return x.reshape(math.prod(x.shape)), math.prod(x.shape), x.shape.numel(), math.ceil(x.shape[1] / 2)


def case_math_error(x, e):
    e.log.append("before")
    return x + math.sqrt(-e.n)


def case_math_caught(x, e):
    try:
        return x + math.log(0)
    except ValueError as error:
        return x, str(error)


def case_operator(x, e):
    op = operator
    return op.add(x, 1), [op.mul(e.n, 2), op.sub(e.n, 1), op.truediv(e.n, 8), op.floordiv(e.n, 3), op.mod(e.n, 3), op.pow(e.n, 2), op.neg(e.n), op.not_(e.n), op.truth(e.items),
                          op.eq(e.n, 4), op.lt(e.n, 4), op.ge(e.n, 4), op.contains(e.items, 3), op.getitem(e.items, 0), op.is_(e, e), op.is_not(e, None), op.and_(6, 3),
                          op.or_(6, 3), op.xor(6, 3), op.lshift(1, e.n), op.inv(5), op.index(e.n), op.concat([1], [2]), op.abs(-3), op.iadd([1], [2])]


def case_operator_tensor(x, e):
    y = operator.matmul(x, x.t())
    z = operator.iadd(y.clone(), 1)
    return operator.neg(y), operator.lt(x, 3), operator.getitem(x, 0), operator.truediv(x, 2), z


def case_operator_mutation(x, e):
    operator.setitem(e.items, 0, 9)
    operator.delitem(e.table, "a")
    operator.iadd(e.items, [5])
    return x + 1


def case_getters(x, e):
    first, both = operator.itemgetter(0), operator.itemgetter(1, 2)
    name = operator.attrgetter("name")
    up = operator.methodcaller("upper")
    rows = sorted([(3, "c"), (1, "a"), (2, "b")], key=operator.itemgetter(1))
    return x + first(e.items), both(e.items), name(e), up("q"), rows, operator.attrgetter("name", "n")(e)


GET = operator.itemgetter("a")


def case_getter_existing(x, e):
    return x + GET(e.table)


MADE = []


def case_getters_are_new(x, e):
    """Each call makes its own."""
    first, name, up = operator.itemgetter(0), operator.attrgetter("name"), operator.methodcaller("upper")
    MADE.append((first, up))
    seen = {first: 1, name: 2}
    again = [pair[0] is first for pair in MADE], len({id(g) for pair in MADE for g in pair}) if len(MADE) > 1 else 0
    return x + 1, repr(first), repr(name), first == operator.itemgetter(0), first is first, seen[first], bool(up), up("q"), hasattr(up, "x"), again, type(name) is operator.attrgetter


def case_own_operators(x, e):
    n = Number(3)
    return x + 1, n + 1, 1 + n, operator.add(n, 2), divmod(n, 4), [10, 20, 30, 40][n]


def case_reduce(x, e):
    return functools.reduce(operator.add, [x, x, x]), functools.reduce(lambda a, b: a * b, e.items, 2), functools.reduce(max, e.items)


def case_reduce_empty(x, e):
    return x + functools.reduce(operator.add, [])


def case_partial(x, e):
    f = functools.partial(scaled, k=3)
    g = functools.partial(f, x, k=5)
    h = functools.partial(int, base=2)
    return f(x), g(), g(k=1), h("101"), f.keywords, g.args[0] is x, f.func is scaled


def scaled(x, k=1, *more, **rest):
    return x * k + len(more) + len(rest)


TRIPLE = functools.partial(scaled, k=3)
QUAD = functools.partial(scaled, k=4)


def case_partial_of_partials(x, e):
    """One without attributes is taken apart by the next, one that has or had some is kept."""
    made = functools.partial(scaled, k=2)
    tagged = functools.partial(scaled, k=4)
    tagged.tag = e.name
    for f in (TRIPLE, made, tagged, QUAD):
        g = functools.partial(f, x)
        e.log += [g.func is f, g.func is scaled, g.args == (), len(g.keywords)]
        x = g()
    e.log.append(vars(TRIPLE))
    return functools.partial(TRIPLE, x), functools.partial(QUAD, x), x


def case_partial_existing(x, e):
    return TRIPLE(x), TRIPLE(x, k=4), TRIPLE(x, z=1)


def case_wraps(x, e):
    def logged(f):
        @functools.wraps(f)
        def inner(*a, **k):
            e.log.append(f.__name__)
            return f(*a, **k)
        return inner
    g = logged(scaled)
    return g(x, 2), g.__name__, g.__wrapped__ is scaled


class Cached:
    def __init__(self):
        self.runs = 0

    @functools.cached_property
    def value(self):
        self.runs += 1
        return self.runs * 10


def case_cached_property(x, e):
    c = Cached()
    return x * c.value, c.value, c.runs, vars(c)


@functools.lru_cache(maxsize=None)
def square(n):
    return n * n


@functools.lru_cache(maxsize=4)
def cube(n, m=0):
    return [n * n * n + m]


def case_lru_cache(x, e):
    return x * square(3), square(3), cube(2) is cube(2), cube(2, 5)


@functools.total_ordering
class Ordered:
    def __init__(self, v):
        self.v = v

    def __eq__(self, other):
        return self.v == other.v

    def __lt__(self, other):
        return self.v < other.v


def case_total_ordering(x, e):
    a, b = Ordered(1), Ordered(2)
    return x + 1, a < b, a >= b, a <= b, a > b, max(a, b).v


def case_strings(x, e):
    s = e.name
    return x + len(s), [s.upper(), s.startswith("e"), s.replace("e", "a"), "-".join(["a", s]), ", ".join(str(i) for i in e.items), s.split("n"), s.center(9, "*"), "a b".split(), s[::-1], s * 2,
                        "x" in s, s.encode(), b"ab".decode(), "%s=%d" % (s, e.n), "%05.2f%%" % e.rate, "{} {k} {0}".format(s, k=e.n) if False else "{0} {k}".format(s, k=e.n), s.isidentifier(), "Ab".swapcase(), s.find("v"), s.zfill(6)]


def case_format_objects(x, e):
    return x + 1, "{}|{!r}|{0}".format(e.n, e.n) if False else "{0}|{0!r}|{1[0]}|{2.name}".format(e.n, e.items, e), "{:>{w}}".format("a", w=e.n), f"{e.items}|{e.n!r:>4}"


def case_percent_objects(x, e):
    return x + 1, "%s and %r" % (e.items, [1, "a"]), "%s" % (x.shape,), "%-5s|" % "ab", "%d items" % len(e.items)


def case_format_errors(x, e):
    out = []
    for f in (lambda: "{} {}".format(1), lambda: "{a}".format(b=1), lambda: "%d" % "x", lambda: "%s %s" % (1,), lambda: "{:d}".format("s"), lambda: "-".join(["a", 1]),
              lambda: "%s" % (1, 2), lambda: "{0.nope}".format(3)):
        try:
            f()
        except Exception as error:
            out.append((type(error), str(error)))
    return x + 1, out


def case_tensor_to_number(x, e):
    return float(x.sum()), int(x[0, 1]), x + 1


def case_bytes(x, e):
    return x + 1, [b"ab" + b"c", bytes([1, 2]), bytes(3), b"a,b".split(b","), int.from_bytes(b"\x01\x00", "big"), (258).to_bytes(2, "little"), b"x".hex(), "é".encode("utf-8")]


def case_int_methods(x, e):
    return x + e.n.bit_length(), (3).bit_count(), e.rate.is_integer(), e.rate.as_integer_ratio(), float.fromhex("0x1p3"), e.n.__add__(2), int.__mul__(e.n, 3), (2).__pow__(3)


def case_operators_refuse_with_the_words_of_sequences(x, e):
    values = ["ab", [1, 2], (1, 2), {"a": 1}, {1, 2}, b"x", None, 2.5, e.items, range(3), e]
    out = []
    for a in values:
        for b in values:
            for do in operator.add, operator.mul, operator.iadd, operator.imul:
                try:
                    do(a, b)
                except TypeError as z:
                    out.append(str(z))
    return x + 1, out


def case_percent_leaves_what_could_be_asked_by_name(x, e):
    out = ["ab" % [1, 2], "ab" % {"a": 1}, "ab" % e.table, "ab" % e.items, "ab" % range(3)]
    for value in {1, 2}, 5, "text", None, (1,):
        try:
            out.append("ab" % value)
        except TypeError as z:
            out.append(str(z))
    return x + 1, out


class Counts:
    """A number of its own, and an iterable."""

    def __neg__(self):
        return 0

    def __iter__(self):
        return iter([7, 8])


def case_lists_extend_by_numbers_that_iterate(x, e):
    new = [1]
    new += Counts()
    e.items += Counts()
    try:
        new = new + Counts()
    except TypeError as z:
        e.log.append(str(z))
    return x + 1, new


def case_items_that_cannot_be_deleted(x, e):
    out = []
    for value in None, (1, 2), "ab", 3, 2.5, range(3), {1}, e, len, b"x":
        for key in 0, "a", slice(1), None, True:
            for do in operator.delitem, lambda v, k: operator.setitem(v, k, 1):
                try:
                    do(value, key)
                except TypeError as z:
                    out.append(str(z))
    return x + 1, out
