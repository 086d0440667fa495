"""Scalar expressions: sharing, folding, what can raise, and predicates in programs."""

import itertools

import pytest

from describe import (ADD, AND, EQ, FLOORDIV, GE, GT, LE, LSHIFT, LT, MOD, MUL, NE, OR, POW, RSHIFT,
                      SUB, TRUEDIV, XOR, Program, const, leaf, slot)
from guard_engine import selftest

OPS = {ADD: "+", AND: "&", FLOORDIV: "//", LSHIFT: "<<", MUL: "*", MOD: "%", OR: "|", POW: "**",
       RSHIFT: ">>", SUB: "-", TRUEDIV: "/", XOR: "^"}
CMP = {LT: "<", LE: "<=", EQ: "==", NE: "!=", GT: ">", GE: ">="}


def n(value, i=0):
    return leaf(slot(i), value)


def text(e):
    return selftest.expr_text(e)[0]


def test_folding_of_integer_offsets():
    plus = ("bin", ADD, n(5), const(1))
    assert text(("bin", ADD, plus, const(1))) == "L[0] + 2"
    assert text(("bin", SUB, plus, const(3))) == "L[0] - 2"
    assert text(("bin", SUB, plus, const(1))) == "L[0] + 0"  # another object than L[0] (rule 2)
    assert text(("bin", ADD, const(2), plus)) == "L[0] + 3"
    assert text(("bin", SUB, const(2), n(5))) == "2 - L[0]"
    assert text(("bin", ADD, n(True), const(0))) == "L[0] + 0"  # an int, not the bool
    assert text(("bin", ADD, ("bin", ADD, n(True), const(1)), const(-1))) == "L[0] + 0"
    assert text(("bin", ADD, ("bin", ADD, n(.5), const(1)), const(1))) == "(L[0] + 1) + 1"
    assert text(("bin", ADD, n(.5), const(0))) == "L[0] + 0"
    assert text(("bin", MUL, const(3), const(4))) == "12"
    assert text(("un", "i", n(3))) == "L[0]" and text(("un", "i", n(True))) == "int(L[0])"
    assert text(("un", "!", ("cmp", LT, n(3), const(4)))) == "not (L[0] < 4)"
    assert text(("bin", ADD, ("len", slot(), 3), const(1))) == "len(L[0]) + 1"


def test_constants_with_other_bits_are_not_merged():
    for a, b in [(0.0, -0.0), (1, True), (1, 1.0)]:
        e = ("bin", ADD, ("bin", MUL, n(2.5), const(a)), ("bin", MUL, n(2.5), const(b)))
        assert text(e) == f"(L[0] * {a!r}) + (L[0] * {b!r})"


VALUES = {int: [0, 1, -1, 7, 2**62, -2**70, 64], float: [0.0, -0.0, 1.5, -2.5, 1e308, float("inf"), float("nan")],
          bool: [True, False], str: ["", "a", "%s"]}


def try_(f):
    try:
        return f()
    except Exception as e:
        return e


@pytest.mark.parametrize("op", OPS)
def test_total_operations_never_raise(op):
    seen = 0
    for ta, tb in itertools.product(VALUES, VALUES):
        for a, b in itertools.product(VALUES[ta], VALUES[tb]):
            try:
                _, total, small, _, value = selftest.expr_text(("bin", op, n(a), n(b, 1)))
            except Exception:
                continue
            want = eval(f"a {OPS[op]} b")
            assert type(value) is type(want) and repr(value) == repr(want)
            if total:
                seen += 1
                for x, y in itertools.product(VALUES[ta], VALUES[tb]):
                    got = try_(lambda: eval(f"x {OPS[op]} y", {"x": x, "y": y}))
                    assert type(got) is type(want)
    assert seen or op in (FLOORDIV, LSHIFT, MOD, POW, RSHIFT, TRUEDIV)


@pytest.mark.parametrize("op, c, total", [
    (FLOORDIV, 2, True), (FLOORDIV, 0, None), (MOD, 2, True), (MOD, 2.0, False), (TRUEDIV, 2, False),
    (LSHIFT, 3, True), (LSHIFT, 1000, False), (RSHIFT, 3, True), (POW, 2, True), (POW, 100, False),
])
def test_constant_second_operands(op, c, total):
    if total is None:
        with pytest.raises(ZeroDivisionError):
            selftest.expr_text(("bin", op, n(5), const(c)))
    else:
        assert selftest.expr_text(("bin", op, n(5), const(c)))[1] is total


def test_large_and_long_expressions():
    assert selftest.expr_text(n(2**119))[2] and not selftest.expr_text(n(2**121))[2]
    assert not selftest.expr_text(n("a" * 2000))[2]
    e = n(1)
    for i in range(80):
        e = ("bin", ADD, e, n(1, 1))
    assert not selftest.expr_text(e)[2]
    with pytest.raises(LookupError):  # no scalar
        selftest.expr_text(("bin", POW, n(-8.0), n(.5, 1)))
    with pytest.raises(LookupError):  # would be made twice
        selftest.expr_text(("bin", LSHIFT, n(1), n(10**6, 1)))


# -- Predicates --------------------------------------------------------------------


@pytest.mark.parametrize("cmp", CMP)
@pytest.mark.parametrize("swap", [False, True])
def test_comparisons_with_a_constant(cmp, swap):
    for value, k in itertools.product([-2**70, -3, 0, 4, 5, 2**62, 2**70], [0, 5, -7, 2**62]):
        e = ("cmp", cmp, const(k), n(5)) if swap else ("cmp", cmp, n(5), const(k))
        form = f"k {CMP[cmp]} v" if swap else f"v {CMP[cmp]} k"
        p = Program([("PRED", e, eval(form, {"k": k, "v": 5}))])
        assert p.hit(value) == (eval(form, {"k": k, "v": value}) == eval(form, {"k": k, "v": 5}))
        assert not p.hit(True) and not p.hit(float(min(value, 2**60)))


def test_predicates_check_exact_types_themselves():
    class Int(int):
        def __gt__(self, other):
            raise AssertionError

    p = Program([("PRED", ("cmp", GT, ("bin", MUL, n(5), n(2, 1)), const(3)), True)])
    assert p.hit(5, 2) and not p.hit(1, 2)
    assert not p.hit(Int(5), 2) and not p.hit(True, 5) and not p.hit(5.0, 2) and not p.hit("a", 5)


def test_exceptions_are_misses_and_are_cleared():
    p = Program([("NORAISE", ("bin", FLOORDIV, const(10), n(5)))])
    assert p.hit(5) and not p.hit(0) and p.hit(-3)
    assert p.why(0) == "10 // L[0] gives int, but it raises or is too large"
    assert "10 // L[0] gives int" in p.text
    p = Program([("NORAISE", ("un", "i", n("12")))])
    assert p.hit("7") and not p.hit("x") and not p.hit(7)


def test_a_result_of_another_type_is_a_miss():
    p = Program([("NORAISE", ("bin", POW, const(2), n(3)))], [("expr", ("bin", POW, const(2), n(3)))])
    assert p(4) == (16,) and p(-1) is None and p(10**9) is None


def test_total_operations_need_no_guard():
    assert Program([("NORAISE", ("bin", ADD, n(1), const(1)))]).text == ""


def test_only_the_part_that_raises_is_evaluated():
    e = ("bin", ADD, ("bin", FLOORDIV, const(10), n(5)), n(1, 1))
    assert Program([("NORAISE", e)]).text == "type(L[0]) is int\n10 // L[0] gives int\n"


def test_shared_parts_are_computed_once():
    part = ("bin", MUL, n(3), n(4, 1))
    p = Program([("PRED", ("cmp", GT, part, const(5)), True), ("PRED", ("cmp", LT, part, const(50)), True)],
                [("expr", ("bin", ADD, part, const(1)))])
    assert p(3, 4) == (13,) and p(1, 2) is None and p(10, 10) is None
    assert p.text == ("type(L[0]) is int\ntype(L[1]) is int\n(L[0] * L[1]) > 5 is true\n"
                      "(L[0] * L[1]) < 50 is true\n-> (L[0] * L[1]) + 1\n")


def test_the_same_predicate_once_and_negation_undone():
    e = ("cmp", LT, n(3), const(5))
    p = Program([("PRED", e, True), ("PRED", ("un", "!", e), False), ("PRED", e, True)])
    assert p.text == "type(L[0]) is int\nL[0] < 5 is true\n"
    assert p.hit(4) and not p.hit(5)


def test_a_predicate_after_a_noraise_of_the_same_expression_is_kept():
    e = ("cmp", GT, ("bin", FLOORDIV, const(10), n(5)), const(1))
    p = Program([("NORAISE", e), ("PRED", e, True)])
    assert p.hit(5) and not p.hit(10) and not p.hit(0)


def test_too_many_predicates_become_equality():
    guards = [("PRED", ("cmp", LT, n(3), const(k)), True) for k in range(10, 30)]
    text = Program(guards).text
    assert text.count(" < ") == 0 and "L[0] == 3, same type and bits" in text
    guards = guards[:8]
    assert Program(guards).text.count(" < ") == 8


def test_too_large_expressions_become_equality():
    e = n(1)
    for _ in range(80):
        e = ("bin", ADD, e, n(2, 1))
    p = Program([("PRED", ("cmp", GT, e, const(3)), True)])
    assert p.text == "L[0] == 1, same type and bits\nL[1] == 2, same type and bits\n"
    e = ("cmp", LT, ("len", slot(2), 4), n(2**200))
    assert Program([("PRED", e, True)]).text == f"len(L[2]) == 4\nL[0] == {2**200}, same type and bits\n"


def test_predicates_of_guarded_values_vanish():
    e = ("cmp", LT, n(3), const(5))
    assert Program([("EQ", slot(), 3), ("PRED", e, True)]).text.count("\n") == 1
    assert Program([("PRED", e, True), ("EQ", slot(), 3)]).text.count("\n") == 1


def test_strings_and_floats():
    p = Program([("PRED", ("cmp", EQ, ("bin", ADD, n("a"), const("b")), const("ab")), True)])
    assert p.hit("a") and not p.hit("b") and not p.hit(b"a")
    p = Program([("PRED", ("cmp", LT, n(.5), const(1.0)), True)])
    assert p.hit(-1e308) and not p.hit(float("nan")) and not p.hit(0)
    assert Program([], [("expr", ("un", "-", n(1.0)))])(0.0)[0].hex() == "-0x0.0p+0"


def test_lengths():
    p = Program([("PRED", ("cmp", GT, ("len", slot(), 3), const(2)), True)],
                [("expr", ("bin", SUB, ("len", slot(), 3), const(1)))])
    assert p([1, 2, 3, 4]) == (3,) and p([1]) is None and p({1, 2, 3}) == (2,)
    assert p("abc") == (2,) and p(5) is None

    class L(list):
        def __len__(self):
            raise AssertionError

    assert p(L([1, 2, 3])) == (2,)


def test_random_expressions_are_evaluated_as_plain_python_does():
    import random

    rnd = random.Random(3)

    def grow(depth):
        if depth == 0:
            i = rnd.randrange(3)
            return rnd.choice([(n(VALS[i], i), f"v{i}"), (const(c := rnd.choice([0, 1, 2, 3, .5])), repr(c))])
        a, b = grow(depth - 1), grow(depth - 1)
        op = rnd.choice([ADD, SUB, MUL, FLOORDIV, MOD, TRUEDIV])
        return ("bin", op, a[0], b[0]), f"({a[1]} {OPS[op]} {b[1]})"

    VALS = [5, -3, 2.5]
    tried = 0
    for _ in range(300):
        e, code = grow(rnd.randrange(1, 4))
        try:
            p = Program([("NORAISE", e)], [("expr", e)])
        except (ZeroDivisionError, LookupError):
            continue
        for _ in range(5):
            v = [rnd.randrange(-4, 9), rnd.randrange(-4, 9), rnd.choice([.5, 0.0, -1.5, 1e300])]
            got = p(*v)
            want = try_(lambda: eval(code, {f"v{i}": x for i, x in enumerate(v)}))
            if isinstance(want, Exception):
                assert got is None
            else:
                assert got is not None and repr(got[0]) == repr(want), (code, v)
                tried += 1
    assert tried > 300
