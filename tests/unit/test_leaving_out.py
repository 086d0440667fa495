"""disable, graph_break, is_compiling, register, reset."""
import pytest

import jedlik

torch = pytest.importorskip("torch")
X = torch.arange(4.0)


def disabled_forms():
    def plain(x):
        return x.cos()

    return [
        jedlik.disable(plain),
        jedlik.disable(plain, recursive=False),
        jedlik.disable(reason="tests")(plain),
        jedlik.disable()(plain),
        torch.compiler.disable(plain),
        torch.compiler.disable(plain, recursive=False),
    ]


@pytest.mark.parametrize("form", range(6))
def test_disabled_functions_stay_out(form, captures):
    helper = disabled_forms()[form]

    def f(x):
        return helper(x.sin()) + 1

    g = jedlik.compile(f, backend=captures)
    assert torch.equal(g(X), X.sin().cos() + 1)
    targets = [t for ops in captures.ops for t in ops]
    assert "cos" not in map(str, targets) and len(captures.graphs) == 2
    with pytest.raises(jedlik.Unsupported):
        jedlik.compile(f, backend="eager", fullgraph=True)(X)


def test_disable_keeps_the_functions_face():
    def helper(x):
        """Doc."""
        return x

    disabled = jedlik.disable(helper)
    assert disabled.__name__ == "helper" and disabled.__doc__ == "Doc." and disabled.__wrapped__ is helper
    assert disabled._torchdynamo_disable


def test_disabled_modules_and_classes(captures):
    inner = torch.nn.Linear(4, 4)
    quiet = jedlik.disable(inner)
    assert isinstance(quiet, torch.nn.Module) and quiet.weight is inner.weight

    f = jedlik.compile(lambda x: quiet(x) + 1, backend=captures)
    assert torch.equal(f(X), inner(X) + 1)

    @jedlik.disable
    class Adder:
        def __init__(self, n):
            self.n = n

        def __call__(self, x):
            return x + self.n

    assert torch.equal(Adder(2)(X), X + 2)


def test_disable_as_a_context(captures):
    def f(x):
        with jedlik.disable():
            y = x.sin()
        return y + 1

    assert torch.equal(jedlik.compile(f, backend=captures)(X), X.sin() + 1)
    with jedlik.disable():
        assert torch.equal(f(X), X.sin() + 1)


def test_graph_break_is_nothing_in_plain_python():
    assert jedlik.graph_break() is None and jedlik.graph_break("why") is None


def test_is_compiling_is_false_outside():
    assert not jedlik.is_compiling() and not torch.compiler.is_compiling()


def test_is_compiling_is_true_in_a_trace():
    def f(x):
        return x + 1 if torch.compiler.is_compiling() and jedlik.is_compiling() else x - 1

    assert torch.equal(jedlik.compile(f, backend="eager")(X), X + 1)
    assert torch.equal(f(X), X - 1)


def test_register():
    with pytest.raises(ValueError):
        jedlik.register(len, "colour")
    with pytest.raises(TypeError):
        jedlik.register(3, "inline")


def test_registered_functions_are_nodes(captures):
    def black_box(x):
        return x * 2 + 1

    assert jedlik.register(black_box, "graph_op") is black_box
    f = jedlik.compile(lambda x: black_box(x) + 1, backend=captures)
    assert torch.equal(f(X), X * 2 + 2)
    assert black_box in captures.ops[0]


def test_reset_forgets(captures):
    f = jedlik.compile(lambda x: x + 1, backend=captures)
    f(X), f(X)
    jedlik.reset()
    assert torch.equal(f(X), X + 1)
    assert len(captures.graphs) == 2


def test_allow_in_graph_goes_by_identity(captures):
    def made(n):
        def inner(x):
            return x + n if x.device.type == "meta" or x.sum() > -1e9 else x
        return inner

    allowed = [torch.compiler.allow_in_graph(made(1)), torch.compiler.allow_in_graph(made(5))]
    g = jedlik.compile(lambda x, f: f(x) * 2, backend=captures, fullgraph=True)
    for f in allowed:
        assert torch.equal(g(X, f), f(X) * 2)
    assert len(captures.graphs) == 2 and allowed[0] in captures.ops[0]


@pytest.mark.parametrize("values", [(0.5, 0.5, 1), (0.0, -0.0, 2), (2, 3, 2)])
def test_numbers_of_numpy_are_guarded_by_their_bits(values, captures):
    np = pytest.importorskip("numpy")
    first, second, graphs = values
    g = jedlik.compile(lambda x, n: (x * n, 1 / np.copysign(1, n)), backend=captures)
    for n in map(np.float64, (first, second)):
        y, z = g(X, n)
        assert torch.equal(y, X * n) and torch.equal(torch.signbit(y), torch.signbit(X * n)) and z == 1 / np.copysign(1, n)
    assert len(captures.graphs) == graphs


class Box:
    n = 1


MINE, OTHERS, TABLE = Box(), Box(), {"offset": Box()}


def offset():
    return TABLE["offset"].n


@torch.compiler.allow_in_graph
def shifted(x):
    return x + offset()


@pytest.mark.parametrize("box, graphs", [(OTHERS, 1), (TABLE["offset"], 2)])
def test_allowed_functions_see_what_was_written_before(box, graphs, captures):
    def f(x):
        y = x * 2
        box.n = box.n + 1
        return shifted(y) + box.n

    box.n = 1
    y = f(X)
    box.n = 1
    assert torch.equal(jedlik.compile(f, backend=captures)(X), y)
    assert len(captures.graphs) == graphs
