"""Never mute: each row of src/base/breaks.def has a program that meets it. The break tells its place in the user's file,
a reason and a hint; the program's results stay those of plain Python; fullgraph=True raises with the same words."""
import ctypes
import decimal
import inspect
import itertools
import pathlib
import re
import sys
import weakref

import pytest

import jedlik

torch = pytest.importorskip("torch")
X = torch.arange(1.0, 5.0)
MARK = "# here"
PROGRAMS = {}


def meets(id, *make):
    """Marks a program that breaks with `id` at the line with the mark; `make` makes its further arguments."""
    def keep(fn):
        PROGRAMS[fn.__name__] = (fn, id, make)
        return fn
    return keep


# -- Language ----------------------------------------------------------------------

@meets("NYI_OP")
def line_as_a_shell_runs_it(x):
    y = x.sin()
    exec(compile("None", __file__, "single"))
    return y.cos()


class Pointer(ctypes.Structure):
    _fields_ = [("n", ctypes.c_int)]


@meets("NO_SLOT", lambda: memoryview(b"abc"))
def slice_of_a_memoryview(x, view):
    y = x.sin()
    n = len(view[1:].tolist())  # here
    return y * n


@meets("UNKNOWN_CALL", lambda: ctypes.sizeof)
def call_of_a_c_function(x, size):
    y = x.sin()
    n = size(Pointer)  # here
    return y * n


@meets("UNKNOWN_TYPE", lambda: decimal.Decimal(4))
def value_of_a_c_type(x, d):
    y = x.sin()
    n = d + 1  # here
    return y * int(n)


@meets("SIDE_EFFECT")
def text_to_standard_output(x):
    y = x.sin()
    print("seen", file=SINK)  # here
    return y.cos()


class Sink:
    """A file that keeps what is written."""

    def __init__(self):
        self.lines = []

    def write(self, text):
        self.lines.append(text)


SINK = Sink()


@meets("IDENTITY")
def address_of_a_new_object(x):
    y = [x.sin()]
    n = id(y) > 0  # here
    return y[0] * n


class Loud:
    """Hashes by code of its own."""

    def __init__(self, n):
        self.n = n

    def __hash__(self):
        return hash(self.n)

    def __eq__(self, other):
        return isinstance(other, Loud) and self.n == other.n


@meets("DYN_KEY", lambda: {Loud(1): 2})
def key_with_a_hash_of_its_own(x, table):
    y = x.sin()
    n = table[Loud(1)]  # here
    return y * n


@meets("LOOP_BUDGET")
def long_loop(x):
    y = x.sin()
    n = 0
    for i in range(3_000_000):
        n += i & 1  # here
    return y * n


@meets("RECURSION", lambda: sys.getrecursionlimit() // 2)
def deep_recursion(x, n):
    if n == 0:
        return x.sin()
    return deep_recursion(x, n - 1) + 1  # here


class Closing:
    """Tells when it goes."""
    gone = 0

    def __del__(self):
        Closing.gone += 1


@meets("FINALIZER")
def object_with_a_finalizer(x):
    y = x.sin()
    Closing()  # here
    return y.cos()


async def waited(x):
    return x + 1


@meets("GENERATOR")
def coroutine(x):
    y = x.sin()
    waited(y).close()  # here
    return y.cos()


def closing(n):
    try:
        yield n
    finally:
        SINK.lines.append(n)


# The generator goes with the object, after the return.
@meets("ABANDONED")
def generator_left_inside_its_try(x):
    y = x.sin()
    kept = Loud(closing(2))
    y = y * next(kept.n)  # here
    return y


@meets("WEAK")
def reference_to_what_is_gone(x):
    y = x.sin()
    kept = Loud(closing(2))
    held = weakref.ref(kept)
    kept = None
    return y * (held() is None)  # here


@meets("CLASS_BODY")
def class_statement(x):
    y = x.sin()

    class Local(metaclass=Meta):  # here
        n = 3
    return y * Local.n


class Meta(type):
    def __prepare__(name, bases):
        return Namespace()

    def __new__(meta, name, bases, names):
        return super().__new__(meta, name, bases, dict(names))


class Namespace(dict):
    """A namespace whose stores run code."""

    def __setitem__(self, key, value):
        super().__setitem__(key, value)


@meets("IMPORT", lambda: sys.modules.pop("this_is_imported_late", None))
def late_import(x, _):
    y = x.sin()
    import this_is_imported_late as late  # here
    return y * late.n


@meets("REBUILD")
def exception_that_outlives_its_handler(x):
    y = x.sin()
    try:
        raise ValueError(3)  # here
    except ValueError as error:
        kept = error
    return y.cos(), kept


# -- Torch ---------------------------------------------------------------------------

@meets("DATA_DEPENDENT")
def truth_of_a_tensor(x):
    y = x.sin()
    if y.sum() > 0:  # here
        y = y + 1
    return y.cos()


@meets("TORCH_CALL")
def storage_of_a_tensor(x):
    y = x.sin()
    n = y.untyped_storage().nbytes()  # here
    return y * n


class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, g):
        return g


@meets("FUNCTION", lambda: X.clone().requires_grad_())
def function_that_gives_back_its_argument(x, w):
    y = w.sin()
    y = Same.apply(y)  # here
    return y.cos()


@torch.library.custom_op("jedlik_test::logged", mutates_args=())
def logged(x: torch.Tensor) -> torch.Tensor:
    SINK.lines.append("logged")
    return x * 2


@logged.register_fake
def _(x):
    return torch.empty_like(x)


@meets("CUT")
def operator_that_sees_what_is_pending(x):
    y = x.sin()
    SINK.lines.append("pending")
    y = logged(y)  # here
    return y.cos()


@meets("TENSOR_KIND", lambda: torch.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (4,)))
def sparse_tensor(x, s):
    y = x.sin()
    z = s.to_dense()  # here
    return y + z


@torch.library.custom_op("jedlik_test::doubled", mutates_args=())
def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@meets("LAYOUT")
def strides_that_a_kernel_chooses(x):
    y = torch.einsum('i,j->ij', x, x)
    n = y.stride(0)  # here
    return x * n


@meets("NO_META")
def custom_operation_without_shapes(x):
    y = x.sin()
    y = doubled(y)  # here
    return y.cos()


@meets("GRAPH_RAISES")
def shapes_that_do_not_fit(x):
    y = x.sin()
    try:
        y = y @ torch.ones(3, 3)  # here
    except RuntimeError:
        y = y + 1
    return y.cos()


# -- Asked for -------------------------------------------------------------------------

@jedlik.disable
def left_out(x):
    return x + 1


@meets("DISABLED")
def call_of_a_disabled_function(x):
    y = x.sin()
    y = left_out(y)  # here
    return y.cos()


@meets("ASKED")
def break_that_is_asked_for(x):
    y = x.sin()
    jedlik.graph_break()  # here
    return y.cos()


@pytest.fixture(autouse=True)
def late_module(tmp_path, monkeypatch):
    (tmp_path / "this_is_imported_late.py").write_text("n = 3\n")
    monkeypatch.syspath_prepend(tmp_path)


def marked(fn):
    """file:line of the mark, or of any line of fn if it has none."""
    lines, first = inspect.getsourcelines(fn)
    for number, line in enumerate(lines, first):
        if line.rstrip().endswith(MARK):
            return f"{__file__}:{number}"
    return __file__


def same(a, b):
    if isinstance(a, torch.Tensor):
        return torch.equal(a, b)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b)


@pytest.mark.parametrize("name", PROGRAMS)
def test_break(name):
    fn, id, make = PROGRAMS[name]
    expected = fn(X, *(m() for m in make))
    told = jedlik.explain(fn)(X, *(m() for m in make))
    assert same(expected, told.result)
    found = [b for b in told.breaks if b.id == id]
    assert found, [repr(b) for b in told.breaks]
    assert any(marked(fn) in b.place for b in found), [b.place for b in found]
    assert all(b.reason and b.hint and re.fullmatch(r".+:\d+", b.place) for b in told.breaks)


@pytest.mark.parametrize("name", PROGRAMS)
def test_fullgraph(name):
    fn, id, make = PROGRAMS[name]
    compiled = jedlik.compile(fn, backend="eager", fullgraph=True)
    with pytest.raises(jedlik.Unsupported) as caught:
        compiled(X, *(m() for m in make))
    assert caught.value.id == id and caught.value.hint and caught.value.stack
    assert marked(fn).split(":")[0] in str(caught.value)


def test_uncaught():
    """A raise that leaves the compiled function: the break is told, the exception is the real one."""
    def f(x):
        y = x.sin()
        raise KeyError(y.shape)

    told = []
    with pytest.raises(KeyError) as caught:
        told.append(jedlik.explain(f)(X))
    assert caught.value.args == (X.shape,) and caught.traceback[-1].lineno == f.__code__.co_firstlineno + 1
    assert not told


def test_mode():
    """A mode that is active on entry: the function runs plainly, under the mode."""
    def f(x):
        return x.sin().cos()

    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, fn, types, args=(), kwargs=None):
            return fn(*args, **(kwargs or {}))

    with Mode():
        told = jedlik.explain(f)(X)
    assert torch.equal(told.result, f(X)) and told.graph_count == 0
    assert [b.id for b in told.breaks] == ["MODE"] and "function mode" in told.breaks[0].reason
    assert told.breaks[0].place == f"{f.__code__.co_filename}:{f.__code__.co_firstlineno}"


def test_forced():
    f = jedlik.compile(lambda x: x.sin().cos(), backend="eager")
    before = jedlik.stats()["breaks"].get("FORCED", 0)
    jedlik._core.call("set_config", "break_at", 3)
    try:
        assert torch.equal(f(X), X.sin().cos())
    finally:
        jedlik._core.call("set_config", "break_at", -1)
    assert jedlik.stats()["breaks"].get("FORCED", 0) > before


def test_spent():
    """Traces that are long and come to nothing are given up for the whole code, and that is told once."""
    loop = """
    walk = itertools.combinations(range(20), 3)
    x = x + 1
    for k in range(250_000):
        total = k + 1
    x = x * len(list(walk)) / total
"""
    space = {"itertools": itertools}
    exec(compile("def f(x):" + 18 * loop + "    return x", "spent.py", "exec"), space)
    f = space["f"]
    told = jedlik.explain(f)(X)
    assert torch.equal(told.result, f(X))
    spent = [b for b in told.breaks if b.id == "SPENT"]
    assert len(spent) == 1 and spent[0].reason.endswith("in f") and spent[0].hint and "spent.py:" in spent[0].place
    compiled = jedlik.compile(f, backend="eager")
    compiled(X)
    before = jedlik.stats()["instructions"]
    assert torch.equal(compiled(X.double()), f(X.double())) and jedlik.stats()["instructions"] == before
    jedlik.reset()
    before = jedlik.stats()["instructions"]
    assert torch.equal(compiled(X), f(X)) and jedlik.stats()["instructions"] > before


def test_every_row_has_a_program():
    table = pathlib.Path(__file__).parents[2] / "src/base/breaks.def"
    rows = re.findall(r"^BREAK\((\w+),", table.read_text(), flags=re.M)
    assert set(rows) == {id for _, id, _ in PROGRAMS.values()} | {"UNCAUGHT", "MODE", "FORCED", "SPENT"}
