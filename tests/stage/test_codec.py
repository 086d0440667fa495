"""Decoder, encoder, assembler and liveness, stage by stage: data in, data out.

JEDLIK_ROUNDTRIP=all takes every code object of the standard library, torch and transformers
through the round trip instead of a sample.
"""
import ast
import dis
import importlib.util
import os
import sys
import sysconfig
import types
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

try:
    from jedlik._engine import selftest
except ImportError as reason:
    pytest.skip(f"no engine to test: {reason}", allow_module_level=True)

WHOLE = os.environ.get("JEDLIK_ROUNDTRIP") == "all"
STDLIB = Path(sysconfig.get_paths()["stdlib"])
SAME = [
    "co_code", "co_exceptiontable", "co_linetable", "co_stacksize", "co_consts", "co_names",
    "co_varnames", "co_cellvars", "co_freevars", "co_flags", "co_argcount",
    "co_posonlyargcount", "co_kwonlyargcount", "co_nlocals", "co_firstlineno", "co_name",
    "co_qualname", "co_filename",
]


# -- Helpers ------------------------------------------------------------------


def nested(co):
    """The code object and all those in it."""
    yield co
    for const in co.co_consts:
        if isinstance(const, types.CodeType):
            yield from nested(const)


def codes_of(path):
    try:
        top = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return
    yield from nested(top)


def sources(package):
    """Python files of a package, or of the standard library; a sample unless WHOLE."""
    if package is None:
        root = STDLIB
    else:
        spec = importlib.util.find_spec(package)
        if spec is None:
            pytest.skip(f"{package} is not installed")
        root = Path(spec.submodule_search_locations[0])
    files = sorted(f for f in root.rglob("*.py") if package or "site-packages" not in f.parts)
    return files if WHOLE else files[:: max(1, len(files) // 40)]


def made(*rows):
    """A function assembled from rows."""
    return types.FunctionType(selftest.assemble(list(rows)), {})


def ops(co):
    return [row[0] for row in selftest.decode(co)]


# -- Round trip ---------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("package", [None, "torch", "transformers"])
def test_unedited_code_comes_back_byte_for_byte(package):
    count = 0
    for path in sources(package):
        for co in codes_of(path):
            back = selftest.recode(co)
            differ = [name for name in SAME if getattr(co, name) != getattr(back, name)]
            assert not differ, (path, co.co_qualname, differ)
            count += 1
    print(f"{package or 'stdlib'}: {count} code objects")
    assert count


@pytest.mark.filterwarnings("ignore")
def test_depth_is_what_cpython_reserves():
    """CPython also counts handlers of bodies it optimised away, so it may be higher there."""
    higher = count = 0
    for path in sources(None):
        for co in codes_of(path):
            depth = selftest.depth(co)
            assert depth <= co.co_stacksize, (path, co.co_qualname)
            higher += depth < co.co_stacksize
            count += 1
    assert higher * 1000 < count


@pytest.mark.filterwarnings("ignore")
def test_lines_are_cpythons():
    for path in sources(None)[:20]:
        for co in codes_of(path):
            lines = [p[0] for p in co.co_positions()]
            for name, *_, at, end, handler, line in selftest.decode(co):
                assert (lines[at] if lines[at] is not None else -1) == line, (co, name, at)


# -- Decoding -----------------------------------------------------------------


def test_every_opcode_has_a_row():
    skipped = {"CACHE", "EXTENDED_ARG", "PRECALL"}
    for name, code in dis.opmap.items():
        if name in skipped:
            continue
        raw = bytes([code, 0]) + bytes(2 * dis._inline_cache_entries[code])
        tail = bytes([dis.opmap["RETURN_VALUE"], 0])
        if name == "CALL":
            raw = bytes([dis.opmap["PRECALL"], 0, 0, 0]) + raw
        if "BACKWARD" in name:
            raw = bytes([code, 1])
        back = selftest.decode(made(("LOAD_CONST", 1), ("RETURN_VALUE",)).__code__.replace(
            co_code=raw + tail, co_linetable=b"", co_exceptiontable=b""))
        assert len(back) == 2, name


@pytest.mark.parametrize("raw", [
    b"\xf0\x00S\x00",  # unknown opcode
    b"\x90\x00",       # prefix of nothing
    b"n\x05S\x00",     # jump outside
    bytes([dis.opmap["CALL"], 0]) + bytes(8) + b"S\x00",  # without PRECALL
    b"t\x00S\x00",     # caches cut off
])
def test_broken_code_is_refused(raw):
    co = made(("LOAD_CONST", 1), ("RETURN_VALUE",)).__code__
    with pytest.raises(ValueError):
        selftest.decode(co.replace(co_code=raw, co_linetable=b""))


def test_calls_and_globals_are_canonical():
    def f(a):
        return len(a, key=1)

    rows = selftest.decode(f.__code__)
    assert ops(f.__code__) == [
        "RESUME", "LOAD_GLOBAL", "LOAD_FAST", "LOAD_CONST", "KW_NAMES", "CALL", "RETURN_VALUE"]
    assert rows[1][1:3] == (0, 1)
    assert rows[5][1] == 2 and rows[5][5] - rows[5][4] == 7
    assert [row[4] for row in rows[1:]] == [row[5] for row in rows[:-1]]


def test_handlers_are_indices():
    def f(x):
        try:
            x()
        except KeyError:
            return 1

    ranges = selftest.ranges(f.__code__)
    rows = selftest.decode(f.__code__)
    start, end, target, depth, lasti = ranges[0]
    assert rows[target][0] == "PUSH_EXC_INFO" and depth == 0 and not lasti
    assert {rows[i][6] for i in range(start, end)} == {0}


def test_specialised_code_decodes_like_fresh_code():
    def f(n):
        total = 0
        for i in range(n):
            total = total + i
        return total

    before = selftest.decode(f.__code__.replace())
    for _ in range(50):
        f(100)
    assert selftest.decode(f.__code__.replace()) == before == selftest.decode(f.__code__)


def test_decoded_code_dies_with_its_code_object():
    before = selftest.blocks()
    for i in range(50):
        co = compile(f"x = [y for y in range({i})]", "f", "exec")
        selftest.decode(co)
        selftest.live(co, 0)
    del co
    assert selftest.blocks() == before


# -- Stack effects ------------------------------------------------------------


def cpython_names(op):
    """CPython's instructions for a canonical one: forward, then backward."""
    if op.startswith("POP_JUMP_IF"):
        kind = op.removeprefix("POP_JUMP_")
        return [f"POP_JUMP_FORWARD_{kind}", f"POP_JUMP_BACKWARD_{kind}"]
    return {"JUMP": ["JUMP_FORWARD", "JUMP_BACKWARD"],
            "JUMP_NO_INTERRUPT": ["JUMP_BACKWARD_NO_INTERRUPT"]}.get(op, [op])


def canonical_ops():
    table = Path(__file__).parents[2] / "src/bytecode/ops.def"
    return [line[3:].split(",")[0] for line in table.read_text().splitlines()
            if line.startswith("OP(")]


@pytest.mark.parametrize("op", canonical_ops())
def test_effects_are_cpythons(op):
    for name in cpython_names(op):
        code = dis.opmap[name]
        for n in (2, 3) if op == "BUILD_SLICE" else (0, 1, 2, 3, 5, 8, 15, 0x203):
            arg = n if code >= dis.HAVE_ARGUMENT else None
            for jump in {False, op in name and code in dis.hasjrel}:
                want = dis.stack_effect(code, arg, jump=jump)
                if op == "CALL":
                    want += dis.stack_effect(dis.opmap["PRECALL"], n)
                if op == "RETURN_GENERATOR":
                    want = 1  # the table says 0, but it does push
                got = (selftest.effect(op, n >> 1, n & 1) if op == "LOAD_GLOBAL"
                       else selftest.effect(op, n, 0, jump))
                assert got == want, (name, n, jump)


# -- Assembling ---------------------------------------------------------------


def test_arguments_and_locals():
    f = made(("arg", "x"), ("arg", "y"), ("local", "t"), ("LOAD_FAST", 0), ("LOAD_FAST", 1),
             ("BINARY_OP", 10), ("STORE_FAST", 2), ("LOAD_FAST", 2), ("RETURN_VALUE",))
    assert f(7, 5) == 2
    assert f.__code__.co_varnames == ("x", "y", "t") and f.__code__.co_argcount == 2


def test_thousands_of_arguments():
    n = 3000
    rows = [("arg", f"a{i}") for i in range(n)]
    rows += [("LOAD_FAST", i) for i in range(n)] + [("BUILD_TUPLE", n), ("RETURN_VALUE",)]
    f = made(*rows)
    assert f(*range(n)) == tuple(range(n))
    assert f.__code__.co_stacksize == n


def test_constants_are_shared_by_identity():
    nan, other = object(), object()
    equal = [float("1.5"), int("9" * 40), complex("1j")]
    values = [1, 1.0, True, 1, 1.0, 0.0, -0.0, 0.0, (1, 2.0), (1, 2), (1, 2.0), "a", b"a", "a",
              nan, other, nan, 1j, complex(-0.0, 1), 1j, None, (), *equal, float("1.5"), int("9" * 40), complex("1j"), *equal]
    rows = [("LOAD_CONST", v) for v in values] + [("BUILD_TUPLE", len(values)), ("RETURN_VALUE",)]
    f = made(*rows)
    back = f()
    assert [repr(v) for v in back] == [repr(v) for v in values]
    assert [type(v) for v in back] == [type(v) for v in values]
    assert all(a is b for a, b in zip(back, values))
    assert len(f.__code__.co_consts) == len({id(v) for v in values})


def test_calls():
    kw = ("sep",)
    f = made(("PUSH_NULL",), ("LOAD_CONST", dict), ("LOAD_CONST", 1), ("LOAD_CONST", 2),
             ("CALL", 2, ("a", "b")), ("RETURN_VALUE",))
    assert f() == {"a": 1, "b": 2}
    g = made(("arg", "s"), ("LOAD_FAST", 0), ("LOAD_METHOD", "upper"), ("CALL", 0),
             ("RETURN_VALUE",))
    assert g("ab") == "AB" and kw


def test_exceptions_go_to_their_handler():
    f = made(("arg", "x"), ("try", "a", "b", "h", 0, False), ("try", "a", "c", "h2", 0, False),
             ("label", "a"), ("LOAD_CONST", 1), ("LOAD_FAST", 0), ("BINARY_OP", 11),
             ("label", "b"), ("LOAD_METHOD", "real"), ("CALL", 0), ("RETURN_VALUE",),
             ("label", "c"), ("label", "h"), ("PUSH_EXC_INFO",), ("POP_TOP",), ("POP_EXCEPT",),
             ("LOAD_CONST", "inner"), ("RETURN_VALUE",),
             ("label", "h2"), ("PUSH_EXC_INFO",), ("POP_TOP",), ("POP_EXCEPT",),
             ("LOAD_CONST", "outer"), ("RETURN_VALUE",))
    assert f(0) == "inner" and f(2) == "outer"
    assert f.__code__.co_exceptiontable
    assert sys.exc_info() == (None, None, None)


def test_lines_show_up_in_tracebacks():
    f = made(("line", 40), ("LOAD_CONST", 1), ("line", 3), ("LOAD_CONST", 0), ("BINARY_OP", 11),
             ("line", -1), ("RETURN_VALUE",))
    with pytest.raises(ZeroDivisionError) as caught:
        f()
    assert caught.tb.tb_next.tb_lineno == 3
    assert [p[:2] for p in f.__code__.co_positions()][-1] == (None, None)


@pytest.mark.parametrize("rows, complaint", [
    ([("RETURN_VALUE",)], "underflow"),
    ([("LOAD_CONST", 1)], "outside of the code"),
    ([("LOAD_CONST", 1), ("POP_TOP",), ("JUMP", "nowhere")], "bound to no"),
    ([("label", "a"), ("label", "a")], "bound twice"),
    ([("local", "a"), ("arg", "b")], "before locals"),
    ([("LOAD_FAST", 3), ("RETURN_VALUE",)], "out of range"),
    ([("label", "a"), ("LOAD_CONST", 1), ("JUMP", "a")], "disagree"),
    ([("label", "a"), ("LOAD_CONST", 1), ("JUMP_IF_TRUE_OR_POP", "a"), ("LOAD_CONST", 1),
      ("RETURN_VALUE",)], "direction"),
    ([("COPY", 1), ("RETURN_VALUE",)], "underflow"),
])
def test_unsound_code_is_refused(rows, complaint):
    with pytest.raises(ValueError, match=complaint):
        selftest.assemble(rows)


def test_dump_is_stable_text():
    text = selftest.dump([
        ("arg", "x"), ("label", "top"), ("LOAD_FAST", 0), ("POP_JUMP_IF_NONE", "out"),
        ("LOAD_CONST", (1, "a")), ("STORE_FAST", 0), ("LOAD_CONST", object()), ("POP_TOP",),
        ("JUMP", "top"), ("label", "out"), ("LOAD_FAST", 0), ("LOAD_CONST", int),
        ("BINARY_OP", 13), ("LOAD_ATTR", "real"), ("LOAD_FAST", 0), ("COMPARE_OP", 2),
        ("RETURN_VALUE",)])
    assert text == """\
    RESUME 0
L0:
    LOAD_FAST x
    POP_JUMP_IF_NONE L1
    LOAD_CONST (1, 'a')
    STORE_FAST x
    LOAD_CONST <object>
    POP_TOP
    JUMP L0
L1:
    LOAD_FAST x
    LOAD_CONST int
    BINARY_OP +=
    LOAD_ATTR real
    LOAD_FAST x
    COMPARE_OP ==
    RETURN_VALUE
"""


# -- Random programs against a model ------------------------------------------

ACC, FUEL = 0, 1
MODULUS = 1_000_003


def add(k):
    """acc = (acc * 3 + k) % MODULUS"""
    return [("LOAD_FAST", ACC), ("LOAD_CONST", 3), ("BINARY_OP", 5), ("LOAD_CONST", k),
            ("BINARY_OP", 0), ("LOAD_CONST", MODULUS), ("BINARY_OP", 6), ("STORE_FAST", ACC)]


def rows_of(program):
    """Assembler rows of a program: a list of (kind, number, target statement)."""
    rows = [("arg", "acc"), ("local", "fuel"), ("LOAD_CONST", 25), ("STORE_FAST", FUEL)]
    for place, (kind, k, target) in enumerate(program):
        rows.append(("label", place))
        if kind == "add":
            rows += add(k)
        elif kind == "pad":
            rows += [("NOP",)] * k
        elif kind == "skip":  # forward, if acc has bit k
            rows += [("LOAD_FAST", ACC), ("LOAD_CONST", 1 << k % 8), ("BINARY_OP", 1),
                     ("POP_JUMP_IF_TRUE", max(target, place + 1))]
        elif kind == "loop":  # backward, while there is fuel
            rows += [("LOAD_FAST", FUEL), ("LOAD_CONST", 1), ("BINARY_OP", 10), ("COPY", 1),
                     ("STORE_FAST", FUEL), ("LOAD_CONST", 0), ("COMPARE_OP", 4),
                     ("POP_JUMP_IF_TRUE", min(target, place))]
        else:  # wide: many constants
            for i in range(k % 300):
                rows += add(1000 + i)
    return rows + [("label", len(program)), ("LOAD_FAST", ACC), ("RETURN_VALUE",)]


def run(program, acc):
    place, fuel = 0, 25
    while place < len(program):
        kind, k, target = program[place]
        place += 1
        if kind == "add":
            acc = (acc * 3 + k) % MODULUS
        elif kind == "skip" and acc & 1 << k % 8:
            place = max(target, place)
        elif kind == "loop":
            fuel -= 1
            place = min(target, place - 1) if fuel > 0 else place
        elif kind == "wide":
            for i in range(k % 300):
                acc = (acc * 3 + 1000 + i) % MODULUS
    return acc


@st.composite
def programs(draw):
    n = draw(st.integers(1, 12))
    kinds = st.sampled_from(["add", "add", "skip", "loop", "pad", "wide"])
    sizes = st.one_of(st.integers(0, 260), st.sampled_from([250, 255, 256, 257, 20000, 66000]))
    return [(draw(kinds), draw(sizes), draw(st.integers(0, n))) for _ in range(n)]


@settings(max_examples=200 if WHOLE else 40, deadline=None)
@given(programs(), st.integers(0, 1000))
def test_random_programs_do_what_the_model_does(program, acc):
    co = selftest.assemble(rows_of(program))
    f = types.FunctionType(co, {})
    assert f(acc) == run(program, acc)
    assert selftest.recode(co) == co and selftest.recode(co).co_code == co.co_code
    assert list(dis.get_instructions(co))


# -- Editing ------------------------------------------------------------------

WORK = '''
import asyncio
def gen(n):
    for i in range(n):
        try:
            got = yield i
            if got: yield from (got, -got)
        except KeyError as e:
            yield e.args
        finally:
            n += 1
def closure(*a, k=3, **kw):
    def inner(x): return [x + k + i for i in a] + sorted(kw)
    return inner
class Base:
    def name(self): return "base"
class Sub(Base):
    def name(self): return super().name() + __class__.__name__
def match(x):
    match x:
        case {"a": y, **rest}: return y, rest
        case [1, *z]: return z
        case Base(): return "b"
        case str() as s if len(s) > 2: return f"{s!r:>8}"
    return None
async def later(x):
    async with Lock() as l:
        await asyncio.sleep(0)
        return [i async for i in agen(x)], l
class Lock:
    async def __aenter__(self): return 5
    async def __aexit__(self, *a): return False
async def agen(n):
    for i in range(n): yield i
def wrong(x):
    try:
        try: return 1 / x
        finally: x += 1
    except* ZeroDivisionError as group:
        x += len(group.exceptions)
    return x
def result():
    g = gen(4)
    out = [next(g), g.send(7), next(g), next(g), g.throw(KeyError(3)), *g]
    out += closure(1, 2, z=1)(5)
    out += [Sub().name(), match({"a": 1, "b": 2}), match([1, 2, 3]), match(Sub()), match("abc")]
    out += [asyncio.run(later(3)), wrong(0)]
    i = 0
    while True:
        i += 1
        if i % 2: continue
        if i > 20: break
        out.append(i if i > 5 and i < 15 or not i else -i)
    return out
'''


def padded(co, count):
    consts = tuple(padded(c, count) if isinstance(c, types.CodeType) else c
                   for c in co.co_consts)
    return selftest.pad(co.replace(co_consts=consts), count)


def outcome(co):
    space = {"__name__": "work"}
    exec(co, space)
    return space["result"]()


@pytest.mark.parametrize("count", [1, 3, 40, 300])
def test_padded_code_does_the_same(count):
    co = compile(WORK, "work", "exec")
    assert outcome(padded(co, count)) == outcome(co)


@pytest.mark.parametrize("name", ["json/decoder.py", "textwrap.py", "difflib.py", "ast.py"])
def test_taking_padding_out_again_leaves_the_same_instructions(name):
    for co in codes_of(STDLIB / name):
        bare = selftest.unpad(co)
        again = selftest.unpad(selftest.pad(co, 200))
        strip = [[(r[0], r[1], r[2], r[3], r[7]) for r in selftest.decode(c)]
                 for c in (bare, again)]
        assert strip[0] == strip[1]
        assert selftest.ranges(bare) == selftest.ranges(again)


def test_padded_library_code_still_works():
    source = (STDLIB / "ast.py").read_text()
    space = {"__name__": "padded_ast"}
    exec(padded(compile(source, "ast.py", "exec"), 30), space)
    tree = ast.parse(WORK)
    assert space["unparse"](tree) == ast.unparse(tree)
    assert space["literal_eval"]("{'a': [1, -2.5, (3j,)]}") == {"a": [1, -2.5, (3j,)]}


def test_a_new_local_moves_cells_up():
    def f(a):
        b = a + 1
        return (lambda: a + b)()

    co = selftest.pad(f.__code__, 0, "fresh")
    assert co.co_varnames[-1] == "fresh" and co.co_nlocals == f.__code__.co_nlocals + 1
    assert types.FunctionType(co, globals())(4) == 9


# -- Liveness -----------------------------------------------------------------


def live_at(f, op, nth=0):
    """Names live just before the nth instruction of a kind."""
    co = f.__code__
    index = [i for i, name in enumerate(ops(co)) if name == op][nth]
    slots = co.co_varnames + tuple(c for c in co.co_cellvars if c not in co.co_varnames)
    return {(slots + co.co_freevars)[i] for i in selftest.live(co, index)}


def test_a_local_is_dead_after_its_last_read():
    def f(a, b):
        c = a + b
        d = c * 2
        return d

    assert live_at(f, "RESUME") == {"a", "b"}
    assert live_at(f, "BINARY_OP", 1) == set()
    assert live_at(f, "STORE_FAST", 0) == set()
    assert live_at(f, "RETURN_VALUE") == set()


def test_loops_keep_what_they_read_again():
    def f(n, step):
        total = 0
        for i in range(n):
            total = total + step
        return total

    assert live_at(f, "FOR_ITER") == {"total", "step"}
    assert live_at(f, "STORE_FAST", 2) == {"step"}


def test_handlers_keep_what_they_read():
    def f(a, b):
        try:
            a = g(b)
        except ValueError:
            return a
        return b

    assert live_at(f, "STORE_FAST") == {"a", "b"}


def test_deleting_reads():
    def f(a):
        g()
        del a

    assert live_at(f, "CALL") == {"a"}


def test_cells_and_lookers_are_always_live():
    def f(a, b):
        g = lambda: a
        return g

    def h(a, b):
        return locals()

    class C:
        def m(self, x):
            return super().m

    assert live_at(f, "RETURN_VALUE") == {"a"}
    assert live_at(h, "RETURN_VALUE") == {"a", "b"}
    assert "self" in live_at(C.m, "RETURN_VALUE")


def smashed(co):
    consts = tuple(smashed(c) if isinstance(c, types.CodeType) else c for c in co.co_consts)
    return selftest.smash(co.replace(co_consts=consts))


def test_nobody_notices_what_happens_to_dead_locals():
    co = compile(WORK, "work", "exec")
    assert outcome(smashed(co)) == outcome(co)
    space = {"__name__": "smashed_ast"}
    exec(smashed(compile((STDLIB / "ast.py").read_text(), "ast.py", "exec")), space)
    assert space["unparse"](ast.parse(WORK)) == ast.unparse(ast.parse(WORK))


@pytest.mark.filterwarnings("ignore")
def test_a_local_is_live_where_it_is_read():
    for path in sources(None)[:10]:
        for co in codes_of(path):
            rows = selftest.decode(co)
            for i, row in enumerate(rows[:-1]):
                if row[0] == "LOAD_FAST":
                    assert row[1] in selftest.live(co, i)
