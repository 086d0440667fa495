"""Rule 2: equality guards are exact: type and bits, recursively in tuples; a specialised scalar is returned from its source."""
import functools
import itertools

import pytest
from follow import X, follow, follows

NAN = float("nan")
LOOKALIKES = {
    "one": (1, True, 1.0, 1 + 0j, "1", b"1", 1),
    "zero": (0, False, 0.0, -0.0, 0j, complex(0.0, -0.0), complex(-0.0, 0.0), 0.0),
    "nan": (NAN, float("-nan"), -NAN, 1.0, NAN),
    "texts": ("a", b"a", "\u0430", "a"),
    "tuples": ((1, 2), (1.0, 2), (True, 2), (1, 2), (1, (2,)), ((1,), 2)),
    "zeros in tuples": ((0.0,), (-0.0,), (0,), (False,), ((0.0,),), ((-0.0,),)),
    "nothing": (None, False, 0, "", (), b"", 0.0),
    "frozen": (frozenset({1}), frozenset({True}), frozenset({1.0}), frozenset()),
    "ranges": (range(3), range(0, 3, 1), range(0, 3), range(4)),
    "slices": (slice(1), slice(True), slice(1.0), slice(None, 1)),
    "large": (2 ** 63, 2 ** 63 - 1, -2 ** 63, -2 ** 63 - 1, 2.0 ** 63),
}


@pytest.mark.parametrize("name", LOOKALIKES)
@pytest.mark.parametrize("how", ("dict", "eq", "repr", "default"))
def test_lookalikes(name, how):
    """Whatever is asked of one value is not answered for another that is merely equal."""
    values = LOOKALIKES[name]

    def program(compile):
        table = {repr(values[0]): 1}
        first = values[0]

        def f(x, v):
            if how == "dict":
                return x + (1 if repr(v) in table else 2), v
            if how == "eq":
                return x + (1 if v == first else 2), v
            if how == "repr":
                return x + len(repr(v)), repr(v), v
            return x + 1, [v], {"v": v}, (v, v)

        f = compile(f)
        for v in values:
            yield f(X, v)
        for v in reversed(values):
            yield f(X, v)
    follow(program, graphs=(1, 9), sweep=False)


@pytest.mark.parametrize("name", LOOKALIKES)
def test_lookalikes_in_objects(name):
    """The same as attribute, item, global, default and cell."""
    values = LOOKALIKES[name]

    def program(compile):
        class Box:
            pass

        o, d, cell = Box(), {}, None

        def f(x, w):
            v = o.v
            return x + (1 if repr((v, d["v"], cell, w)).count("1") > 3 else 2), (v, d["v"], cell, w)

        f = compile(f)
        for v in (*values, *values):
            o.v = d["v"] = cell = v
            yield f(X, v)
    follow(program, graphs=(1, 9), sweep=False)


def test_text_of_a_specialised_float_is_its_own():
    """0.0 and -0.0 as loop scale, format, and copysign."""
    import math

    def program(compile):
        def f(x, v):
            s = math.copysign(1, v)
            return x * s, f"{v}", v

        f = compile(f)
        for v in 0.0, -0.0, 0, -0.0, 0.0, NAN, -NAN:
            yield f(X, v)
    follow(program)


@follows(graphs=(1, 8))
def test_identity_of_equal_scalars(compile):
    """`is` on scalars: known for the same value or different exact types, else a break."""
    def f(x, a, b):
        return x + 1, a is b

    f = compile(f)
    big = 10 ** 20
    for a, b in [(1, 1), (big, big), (big, 10 ** 20 + (len(str(big)) - 21)), (1, True), (1, 1.0), (None, None), (None, 0), (True, False), (True, True),
                 ("ab", "ab"), ("ab", "".join(["a", "b"])), (2.5, 2.5), (2.5, float("2.5"))]:
        yield f(X, a, b)


@follows()
def test_specialised_scalar_is_returned_from_its_source(compile):
    """The value is known by a guard, but the very object of the call comes back."""
    def f(x, n, s, t):
        for _ in range(n - 1000):
            x = x + 1
        ok = s == "long text" and t == (5, 6.5)
        return x, n, s, t, ok

    f = compile(f)
    for _ in range(3):
        n, s, t = int("1002"), "".join(["long", " text"]), tuple([5, float("6.5")])
        how, value = f(X, n, s, t)
        yield how, value, value[1] is n, value[2] is s, value[3] is t


@follows()
def test_specialised_frozenset_and_bytes(compile):
    """`frozenset(f) is f`, tuple(t) is t, bytes(b) is b, and slices of all: what is known by value is still that object."""
    def f(x, fs, t, b, s):
        y = x + len(fs) + len(t)
        return y, frozenset(fs) is fs, tuple(t) is t, bytes(b) is b, str(s) is s, t[:] is t, s[:] is s, fs.copy() is fs, (fs, t, b, s)

    f = compile(f)
    for _ in range(3):
        args = frozenset(["a", "b"[:1]]), tuple(["x", "y"]), bytes([65, 66]), "".join(["p", "q"])
        how, value = f(X, *args)
        yield how, value[:8], [a is b for a, b in zip(value[8], args)] if how == "returned" else value


@follows(graphs=(1, 8))
def test_ints_that_enter_a_graph(compile):
    """They guard the range of an int64."""
    def f(x, n):
        return x.long() * n

    f = compile(f)
    for n in 3, 2 ** 31, 2 ** 62, -2 ** 63, 2 ** 63 - 1, 3, True:
        yield f(X, n)


@follows()
def test_ints_beyond_int64(compile):
    """As torch itself refuses them."""
    def f(x, n):
        return x.long() * n

    f = compile(f)
    for n in 3, 2 ** 63, 2 ** 64, -2 ** 63 - 1, 3:
        yield f(X, n)


@follows()
def test_bool_and_int_enter_a_graph(compile):
    """Their dtypes differ."""
    def f(x, n):
        return x * n, x.bool() + n, x.long() + n

    f = compile(f)
    for n in 1, True, 1.0, True, 1, 1.0:
        yield f(X, n)


@follows()
def test_keys_that_are_equal(compile):
    """d[1], d[True], d[1.0] are one entry; which key the dict has is what was put first."""
    def f(x, k):
        d = {1: "first"}
        d[k] = "second"
        return x + len(d), d, list(d)

    f = compile(f)
    for k in 1, True, 1.0, 2, True, 1:
        yield f(X, k)


@follows()
def test_signed_zero_through_arithmetic(compile):
    def f(x, a, b):
        c = a * b
        return x + 1, c, str(c), c == 0, x * c

    f = compile(f)
    for a, b in itertools.product((0.0, -0.0, 1.0, -1.0), (0.0, -0.0, 2.0)):
        yield f(X, a, b)


@follows(graphs=(1, 3))
def test_enum_and_int_lookalikes(compile):
    import enum

    class Level(enum.IntEnum):
        LOW = 1
        HIGH = 2

    def f(x, v):
        return x + 1, v == 1, type(v).__name__

    f = compile(f)
    for v in 1, Level.LOW, Level.HIGH, 1, Level.LOW:
        yield f(X, v)


SELVES = {
    "tuple": (lambda t: (tuple(t), t[:], t[0:], t * 1, 1 * t, t + (), () + t, t[0:99], tuple.__getitem__(t, slice(None))),
              (lambda: tuple(["a", "b"]), lambda: tuple([object(), "b"]), lambda: tuple([[], 2]), lambda: (), lambda: tuple([1, 2]))),
    "str": (lambda s: (str(s), s[:], s * 1, s + "", "" + s, s.strip(), s.lower(), s.replace("q", "r"), s.ljust(1), s.zfill(0), s.expandtabs(), f"{s}", "".join([s]),
                       "%s" % s, "{}".format(s), s.removeprefix("zz"), s.removesuffix("zz"), s.center(1), format(s, ""), s.translate({}), s.rstrip("z"), s.format(),
                       s % (), next(iter([s])), s.__str__(), s.partition("zz")[0], s.split("zz")[0], s.splitlines()[0], s.casefold(), max(s, "")),
            (lambda: "".join(["long", "er"]), lambda: "".join(["\u0430", "b"]))),
    "bytes": (lambda s: (bytes(s), s[:], s * 1, s + b"", b"" + s, s.strip(), s.lower(), s.replace(b"q", b"r"), b"".join([s]), s.removeprefix(b"zz"), s.ljust(1)),
              (lambda: bytes([65, 66, 67]),)),
    "frozenset": (lambda s: (frozenset(s), s.copy(), s | set(), s.union(), s & s, s - set(), s ^ set(), s.difference(), s.intersection()),
                  (lambda: frozenset(["a", "b"]), lambda: frozenset())),
    "int": (lambda n: (int(n), +n, abs(n), n.__index__(), n.real, n.numerator, n.conjugate(), round(n), n.__trunc__(), n | n, n & n, n * 1, n + 0, max(n, 0), sum([n])),
            (lambda: int("123456789012"), lambda: int("-7777"), lambda: int("1" * 30))),
    "float": (lambda v: (float(v), +v, abs(v), v.real, v.conjugate(), v * 1.0, max(v, 0.0), min([v]), v ** 1), (lambda: float("2.5"), lambda: float("-2.5"))),
}


@pytest.mark.parametrize("kind", SELVES)
def test_results_that_are_the_operand(kind):
    """What of an operation's results is the operand itself is so in every call, and no more than that."""
    op, makers = SELVES[kind]

    def program(compile):
        def f(x, v):
            return x + 1, v, op(v)

        f = compile(f)
        for make in makers:
            for _ in range(3):
                given = make()
                how, value = f(X, given)
                yield how, value, how == "raised" or (value[1] is given, [r is given for r in value[2]])

        def g(x, v):
            return x + 1, [r is v for r in op(v)]

        g = compile(g)
        for make in makers:
            for _ in range(3):
                yield g(X, make())
    follow(program, sweep=False)


@follows()
def test_specialised_values_in_new_containers(compile):
    """Known by value, put into new tuples, lists, dicts, sets and objects: the very objects of the call."""
    class Box:
        pass

    def f(x, s, t):
        b = Box()
        b.s, b.t = s, t
        known = s == "long" and t == (1.5, "p")
        return x + known, (s, t), ((s,), t), [s, t], {"k": s, s: t}, {s}, b

    f = compile(f)
    for _ in range(3):
        s, t = "".join(["lo", "ng"]), tuple([float("1.5"), "p"])
        how, v = f(X, s, t)
        yield how, v, v[1][0] is s, v[1][1] is t, v[2][0][0] is s, v[2][1] is t, v[3][0] is s, v[4]["k"] is s, v[4][s] is t, v[6].s is s, v[6].t is t
        yield list(v[4])[1] is s, next(iter(v[5])) is s


@follows()
def test_items_of_specialised_tuples(compile):
    """Known by value, its items are still those of the tuple that came: by index, slice, loop, unpacking, +, *."""
    def f(x, t):
        known = t == ("one item", ("two", 2.5), 7)
        a, (b, c), d = t
        for last in t:
            pass
        return x + known, t[0], t[-3], t[1][0], t[1:], t[::-1], a, b, c, last, t + (1,), t * 2, (0,) + t, [*t], t[0] is t[-3], t[0] is a

    f = compile(f)
    for _ in range(3):
        t = ("".join(["one ", "item"]), ("".join(["t", "wo"]), float("2.5")), 7)
        how, v = f(X, t)
        yield how, v, v[1] is t[0], v[2] is t[0], v[3] is t[1][0], v[4][0] is t[1], v[5][2] is t[0], v[6] is t[0], v[7] is t[1][0], v[8] is t[1][1]
        yield v[10][0] is t[0], v[11][4] is t[1], v[12][2] is t[1], v[13][0] is t[0]


@follows()
def test_identity_of_items(compile):
    """Two items that are one object in the first call are two in the next."""
    def f(x, t, s, d):
        k, = s
        j, = d
        return x + 1, t[0] is t[1], t[0] is t[2][0], k == j, k in s

    f = compile(f)
    for shared in True, False, True, False:
        one = "".join(["on", "e"])
        other = (lambda: one) if shared else (lambda: "".join(["o", "ne"]))
        for s in {other()}, frozenset([other()]):
            yield f(X, (one, other(), (other(),)), s, {other(): 1})


@follows()
def test_a_long_tuple_that_is_the_constant(compile):
    """Read from a slot behind a break it is known by its items, and from a cache by its address: one object all the same."""
    made = functools.lru_cache(None)(lambda n: tuple(range(n, n + 20)))

    def f(x, other):
        t = made(x.dim())
        print(end="")
        u = other or t
        return x + 1, made(x.dim()) is t, made(x.dim()) is u, t is made(x.dim())

    f = compile(f)
    for _ in range(2):
        yield f(X, ())
        yield f(X, tuple(range(1, 21)))
        yield f(X, tuple(range(2, 23)))


@follows()
def test_tuples_of_numbers_in_later_versions(compile):
    """A point that has met another tuple looks at the numbers one by one."""
    def f(x, s, d):
        return x * s[0], s, s == (1, 2), s is d[1], d[0].get(s), hash(s) == hash((1, 2)), s + (3,), sorted(s), 2 in s, f"{s}"

    f = compile(f)
    for s in (1, 2), (2, 3), (1.0, 2), (True, 2), (1, 2), (5, 6, 7), (-0.0,), (0.0,), (10**30, 1):
        yield f(X, s, ({(1, 2): "found"}, s))
        yield f(X, s, ({}, tuple(list(s))))
