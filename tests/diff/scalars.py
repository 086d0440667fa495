"""Arithmetic and scalars: lazy numbers, guards on questions, errors of operators."""
import cmath
import decimal
import fractions
import math
import operator

import torch
from kit import T, program

LOG = []
STEP = 3


@program(lambda: (T(3), 2), lambda: (T(3), 5), lambda: (T(3), -7))
def add_scaled(x, n):
    return x + n * 2, n * 2


@program(lambda: (T(3), 5), lambda: (T(3), 0), lambda: (T(3), 2))
def unused_division(x, n):
    k = 10 // n
    return x + 1


@program(lambda: (T(3), 7, 3), lambda: (T(3), -7, 3), lambda: (T(3), 7, -3), lambda: (T(3), 7.5, 2), lambda: (T(3), 7, 0))
def floor_and_mod(x, a, b):
    return x * 2, a // b, a % b, divmod(a, b), a / b


@program(lambda: (T(3), 1), lambda: (T(3), 70), lambda: (T(3), -1))
def shifts(x, n):
    return x + 1, 1 << n, 1000 >> n, ~n, n & 6, n | 8, n ^ 5


@program(lambda: (T(3), 2, 10), lambda: (T(3), 2.0, 0.5), lambda: (T(3), -8, 1 / 3), lambda: (T(3), 0, -1), lambda: (T(3), 10.0, 400))
def powers(x, a, b):
    return x + 1, a ** b


@program(lambda: (T(3), 1), lambda: (T(3), True), lambda: (T(3), 1.0), lambda: (T(3), "1"))
def kinds_of_one(x, n):
    return x * 2, type(n).__name__, n == 1, isinstance(n, int), [n]


@program(lambda: (T(3), 0.0), lambda: (T(3), -0.0), lambda: (T(3), math.nan), lambda: (T(3), math.inf))
def signed_zero(x, f):
    return x + 1, f, -f, f == 0, f != f, math.copysign(1.0, f)


@program(lambda: (T(3), 3), lambda: (T(3), 11), lambda: (T(3), 10))
def branch_on_comparison(x, n):
    if n > 10:
        return x * n
    if n == 3:
        return x - n
    return x + n


@program(lambda: (T(3), 5), lambda: (T(3), 6), lambda: (T(3), 0))
def chained_comparison(x, n):
    return (x + 1 if 0 < n <= 5 else x - 1), 0 < n < 10, not n, bool(n)


@program(lambda: (T(3), 2 ** 70), lambda: (T(3), -(2 ** 65)), lambda: (T(3), 7))
def big_integers(x, n):
    m = n * n + 1
    return x + 1, m, m % 97, n.bit_length(), str(n)[-3:]


@program(lambda: (T(3), 4), lambda: (T(3), 6))
def loop_count(x, n):
    total = 0
    for i in range(n):
        total += i * n
        x = x + i
    return x, total


@program(lambda: (T(3), 0.9, 3), lambda: (T(3), 0.9, 4), lambda: (T(3), 0.5, 3))
def decay(x, rate, step):
    lr = rate ** step * 0.1
    return x * lr, lr


@program(lambda: (T(3), 17), lambda: (T(3), 18))
def collatz(x, n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return x + steps, steps


@program(lambda: (T(3), 3), lambda: (T(3), "ab"), lambda: (T(3), None), lambda: (T(3), [1]))
def operand_errors(x, v):
    out = []
    for f in (operator.add, operator.sub, operator.mul, operator.lt, operator.neg):
        try:
            out.append(f(v, 2) if f is not operator.neg else f(v))
        except TypeError as e:
            out.append(str(e))
    return x + 1, out


@program(lambda: (T(3), "12"), lambda: (T(3), " 7 "), lambda: (T(3), "x"), lambda: (T(3), "1e3"))
def conversions(x, s):
    try:
        n = int(s)
    except ValueError as e:
        n = str(e)
    try:
        f = float(s)
    except ValueError as e:
        f = str(e)
    return x + 1, n, f


@program(lambda: (T(3), 2.5), lambda: (T(3), -2.5), lambda: (T(3), 3.5), lambda: (T(3), 1e20))
def rounding(x, f):
    return x + f, round(f), int(f), math.floor(f), math.ceil(f), math.trunc(f), round(f, 1), abs(f), f.is_integer()


@program(lambda: (T(3), math.inf), lambda: (T(3), math.nan), lambda: (T(3), 1.0))
def int_of_inf(x, f):
    LOG.append("before")
    n = int(f)
    LOG.append("after")
    return x + n


@program(lambda: (T(3), 4), lambda: (T(3), -4), lambda: (T(3), 0))
def math_functions(x, n):
    try:
        r = math.sqrt(n), math.log(n)
    except ValueError as e:
        r = str(e)
    return x + 1, r, math.gcd(n, 6), math.hypot(n, 3), math.isclose(n, 4.0), math.factorial(abs(n))


@program(lambda: (T(3), 1 + 2j), lambda: (T(3), 2))
def complex_numbers(x, c):
    return x + 1, c * 1j, abs(c), c.real, c.imag, c.conjugate(), cmath.phase(c)


@program(lambda: (T(3), True, False), lambda: (T(3), True, True), lambda: (T(3), 0, 5))
def boolean_algebra(x, a, b):
    return x + 1, a and b, a or b, not a, a & b, a | b, a ^ b, a + b, a is b


@program(lambda: (T(3), 3), lambda: (T(3), 4))
def augmented(x, n):
    a = n
    a += 2
    a *= 3
    a -= 1
    a //= 2
    a **= 2
    a %= 100
    a <<= 1
    a >>= 1
    a |= 64
    a &= ~1
    a ^= 3
    b = a / 7
    b /= 2
    return x * a, a, b


@program(lambda: (T(3),))
def global_scalar(x):
    global STEP
    STEP += 1
    return x * STEP, STEP


@program(lambda: (T(2, 3), 2), lambda: (T(4, 5), 2), lambda: (T(2, 3), 3))
def shape_arithmetic(x, k):
    b, c = x.shape
    n = b * c
    return x.reshape(n) * k, n // k, -(-n // k), n % k == 0, (b + k, c - k)


@program(lambda: (T(3), 1000), lambda: (T(3), 1001), lambda: (T(3), 3))
def identity_of_ints(x, n):
    m = n
    k = n + 0
    return x + 1, m is n, k == n, n is None, n is not None


@program(lambda: (T(3), 5, 3), lambda: (T(3), 3, 5), lambda: (T(3), 4, 4), lambda: (T(3), 4, 4.0))
def min_max_sum(x, a, b):
    return x + min(a, b), max(a, b), min([a, b, 4]), max(a, b, key=lambda v: -v), sum((a, b)), sum([a], 0.5), abs(a - b)


@program(lambda: (T(3), 10), lambda: (T(3), 255), lambda: (T(3), -3))
def bases(x, n):
    return x + 1, hex(n), bin(n), oct(n), int("1f", 16), n.to_bytes(2, "big", signed=True), int.from_bytes(b"\x01\x02", "big")


@program(lambda: (T(3), fractions.Fraction(1, 3)), lambda: (T(3), decimal.Decimal("1.5")))
def other_numbers(x, q):
    return x + 1, q + q, q * 2, q > 1, str(q), float(q)


@program(lambda: (T(3), 65), lambda: (T(3), 1114112), lambda: (T(3), 8364))
def characters(x, n):
    try:
        c = chr(n)
        return x + 1, c, ord(c)
    except ValueError as e:
        return x + 2, str(e)


@program(lambda: (T(3), 2), lambda: (T(3), 3))
def nested_conditions(x, n):
    return (x if n == 2 else -x) * (2 if n > 2 else 3), (1 if n else 2) if n != 3 else "three"


@program(lambda: (T(4), 1), lambda: (T(4), -1), lambda: (T(4), 4))
def index_by_scalar(x, i):
    words = ["zero", "one", "two", "three"]
    return x[i] * 2 if i < 4 else None, words[i] if i < 4 else words[i - 4], x[i - 1:i + 1]


NAN = float("nan")


@program(lambda: (1.0, [2.0]), lambda: (NAN, [NAN]), lambda: (NAN, [float("nan")]), lambda: (1.0, [1.0]), lambda: (complex(0, NAN), [2j]), graphs=0)
def a_nan_is_found_by_identity(x, items):
    made = float("nan")
    held = [made, x]
    return x in items, items.count(x), made in held, made in (made,), float("nan") in held, x is items[0]


@program(lambda: (1.0, 2.0), lambda: (float("nan"), NAN), lambda: (NAN, NAN), graphs=0)
def a_nan_is_a_key_by_identity(x, y):
    d = {y: 1}
    return x in d, d.get(x), x in {y}, hash(x) == hash(y)


class Measure(float):
    pass


@program(lambda: (float("nan"),), lambda: (NAN,), lambda: (1.0,), graphs=0)
def hashes_of_nans(x):
    a, b = Measure(x), float("nan")
    return [hash(v) == object.__hash__(v) for v in (a, b, x)], {a: 1}[a], b in {b}, len({float("nan"), float("nan")}), [a].index(a)
