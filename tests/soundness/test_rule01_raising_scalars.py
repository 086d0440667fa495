"""Rule 1: a lazy scalar that can raise asks at once, used or not; an exception while a predicate is evaluated is a miss."""
import math
import operator

import pytest
from follow import X, follow, follows

RAISING = {
    "floordiv": (lambda n: 10 // n, (5, 0, -3, 0, 5)),
    "truediv": (lambda n: 10 / n, (5, 0, 0.0, 2.5)),
    "mod": (lambda n: 10 % n, (3, 0, -3, 0.0)),
    "divmod": (lambda n: divmod(10, n), (3, 0, 7)),
    "pow": (lambda n: 0 ** n, (3, -1, 0, 2.5, -0.5)),
    "pow of a negative": (lambda n: (-8) ** n, (3, 0.5, -1)),
    "float overflow": (lambda n: 10.0 ** n, (3, 400, 308, 309)),
    "float multiplied": (lambda n: n * 1e308, (1.0, 10.0, 10, 10 ** 400)),
    "pow with modulus": (lambda n: pow(3, 4, n), (5, 0, 7)),
    "left shift": (lambda n: 1 << n, (3, -1, 70, 3)),
    "right shift": (lambda n: 100 >> n, (3, -1, 200)),
    "int of text": (lambda s: int(s), ("12", "x", " 7 ", "1_0", "")),
    "int with a base": (lambda s: int(s, 16), ("ff", "xyz", "0x1f")),
    "int of float": (lambda v: int(v), (2.5, float("nan"), float("inf"), -0.5, 1e30)),
    "float of text": (lambda s: float(s), ("1.5", "one", "nan", "-inf")),
    "float of int": (lambda n: float(n), (5, 10 ** 400, 2 ** 62)),
    "mixed": (lambda n: n + 0.5, (5, 10 ** 400, -10 ** 400)),
    "index of a list": (lambda n: [1, 2, 3][n], (1, 3, -4, -1, 2)),
    "index of a tuple": (lambda n: (1, 2, 3)[n], (1, 3, -4, 2 ** 70)),
    "index of text": (lambda n: "abc"[n], (1, 3, -3, -4)),
    "chr": (lambda n: chr(n), (65, -1, 0x110000, 66)),
    "ord": (lambda s: ord(s), ("a", "ab", "", "b")),
    "format": (lambda n: f"{n:{n}d}", (5, -5, 3)),
    "format with a code": (lambda n: f"{n:c}", (65, -1, 66)),
    "percent": (lambda n: "%c" % n, (65, -1, 66)),
    "round": (lambda v: round(v), (2.5, float("nan"), float("inf"), 3.5)),
    "sqrt": (lambda v: math.sqrt(v), (4.0, -1.0, 9)),
    "log": (lambda v: math.log(v), (4.0, 0, -1, 2)),
    "exp": (lambda v: math.exp(v), (1.0, 1000.0, 2.0)),
    "factorial": (lambda n: math.factorial(n), (5, -1, 6)),
    "floor": (lambda v: math.floor(v), (2.5, float("inf"), float("nan"), -2.5)),
    "comb": (lambda n: math.comb(n, 2), (5, -1, 1)),
    "isqrt": (lambda n: math.isqrt(n), (16, -1, 17)),
    "count": (lambda n: "ab" * n, (2, 0, -1, 3)),
    "list of": (lambda n: len([0] * n), (2, 0, -1)),
    "range": (lambda n: list(range(0, 6, n)), (2, 0, 3, -1)),
    "slice step": (lambda n: (1, 2, 3, 4)[::n], (1, 0, 2, -1)),
    "to_bytes": (lambda n: n.to_bytes(1, "big"), (5, 256, -1, 6)),
    "index operator": (lambda n: operator.index(n), (5, 2.5, True)),
    "as_integer_ratio": (lambda v: v.as_integer_ratio(), (0.5, float("inf"), 0.25)),
    "str.index": (lambda s: "abc".index(s), ("b", "z", "c")),
    "encode": (lambda s: s.encode("ascii"), ("b", "\xe9", "c")),
    "fromhex": (lambda s: bytes.fromhex(s), ("ff", "z", "00")),
    "int digits": (lambda n: str(n), (5, 10 ** 5000, 6)),
    "fsum": (lambda v: math.fsum([v, v]), (0.5, float("inf"), 1e308)),
}


@pytest.mark.parametrize("name", RAISING)
@pytest.mark.parametrize("used", (False, True))
def test_raises_when_it_raises(name, used):
    """`k = 10 // n; return x + 1`, traced with 5 and called with 0, must raise."""
    op, values = RAISING[name]

    def program(compile):
        def unused(x, n):
            k = op(n)  # noqa: F841
            return x + 1

        def returned(x, n):
            return x + 1, op(n)

        f = compile(returned if used else unused)
        for v in values:
            yield f(X, v)
        for v in reversed(values):
            yield f(X, v)
    follow(program, graphs=(1, 12), sweep=False)


@pytest.mark.parametrize("name", RAISING)
def test_caught(name):
    """The handler is entered at the same value; what was done before it stays done."""
    op, values = RAISING[name]

    def program(compile):
        def f(x, n, log):
            log.append("before")
            try:
                op(n)
                log.append("behind")
            except (ArithmeticError, ValueError, LookupError, TypeError) as e:
                log.append(type(e).__name__)
                return x - 1
            finally:
                log.append("last")
            return x + 1

        f = compile(f)
        for v in (*values, *values):
            log = []
            yield f(X, v, log), log
    follow(program, graphs=(1, 12), sweep=name in ("floordiv", "chr", "index of a list"))


@follows(graphs=(1, 4))
def test_an_exception_in_the_guard_is_a_miss(compile):
    """Evaluating `10 // n > 1` raises for 0 in the guard: cleared, a miss, and the program raises for itself."""
    def f(x, n):
        return x * 2 if 10 // n > 1 else x * 3

    f = compile(f)
    for n in 5, 0, 6, 0, 20, 0, 5:
        yield f(X, n)
        yield f(X, n), "after"


@follows(graphs=(1, 6))
def test_large_numbers(compile):
    """Numbers that are too large to compute with on each call fall back to an equality guard."""
    def f(x, n):
        m = n * n + 1
        return x + 1, m, m > 10

    f = compile(f)
    for n in 3, 10 ** 30, 10 ** 300, -3, 10 ** 300, 3, 2 ** 63, 2 ** 63 - 1:
        yield f(X, n)


@follows(graphs=(1, 8))
def test_growing_powers(compile):
    """Repeated squaring of an input must not run away in the guard."""
    def f(x, n):
        for _ in range(6):
            n = n * n
        return x + (1 if n > 5 else 2), n % 1000

    f = compile(f)
    for n in 2, 3, 2, 1, 0, -1, 10 ** 20:
        yield f(X, n)


@follows(graphs=(1, 6))
def test_long_text(compile):
    def f(x, s):
        t = s + s
        return x + len(t), t.upper(), t[0]

    f = compile(f)
    for s in "ab", "abc", "", "a" * 100000, "b" * 100001, "ab":
        yield f(X, s)


@follows(graphs=(1, 6))
def test_raising_behind_a_condition(compile):
    """Only executed operations are asked: n == 0 never divides."""
    def f(x, n):
        if n and 10 // n > 3:
            return x + 1
        return x + 2

    f = compile(f)
    for n in 0, 2, 0, 5, 3, 0:
        yield f(X, n)


@follows(graphs=(1, 6))
def test_attribute_that_divides(compile):
    class Box:
        pass

    o = Box()
    o.n = 5

    def f(x):
        o.k = 100 / o.n
        return x * 2

    f = compile(f)
    for n in 5, 0, 4, 0.0, 2.5, 0:
        o.n = n
        yield f(X), o.k


@follows(graphs=(1, 6))
def test_subclasses_of_numbers(compile):
    class Odd(int):
        def __floordiv__(self, other):
            return "mine"

        def __rfloordiv__(self, other):
            raise LookupError("mine too")

    def f(x, n):
        k = 10 // n
        return x + 1, k

    f = compile(f)
    for n in 5, Odd(5), True, 0, Odd(0), 5:
        yield f(X, n)
