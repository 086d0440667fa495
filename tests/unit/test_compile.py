"""jedlik.compile: what it takes, and what its result is to the program."""
import copy
import functools
import inspect
import pickle
import types
import weakref

import pytest

import jedlik

torch = pytest.importorskip("torch")


def scaled(x, factor: float = 2.0, *, bias: int = 0):
    """Doc of scaled."""
    return x * factor + bias


@jedlik.compile(backend="eager")
def decorated(x):
    return x + 1


class Holder:
    def __init__(self, factor):
        self.factor = factor

    def times(self, x):
        return x * self.factor

    @jedlik.compile(backend="eager")
    def decorated(self, x):
        return x - self.factor

    @jedlik.compile(backend="eager")
    @staticmethod
    def plain(x):
        return x * 3

    def __call__(self, x):
        return x + self.factor


X = torch.arange(6.0).reshape(2, 3)


def same(actual, expected):
    assert torch.equal(actual, expected)


def test_signature_is_torch_compiles():
    ours, stock = (inspect.signature(c).parameters.values() for c in (jedlik.compile, torch.compile))
    assert [(p.name, p.kind, p.default) for p in ours] == [(p.name, p.kind, p.default) for p in stock]


def test_function(captures):
    compiled = jedlik.compile(scaled, backend=captures)
    same(compiled(X), scaled(X))
    same(compiled(X, 3.0, bias=1), scaled(X, 3.0, bias=1))
    assert captures.graphs


def test_metadata_is_the_functions():
    compiled = jedlik.compile(scaled, backend="eager")
    assert compiled.__wrapped__ is scaled
    assert compiled.__name__ == "scaled" and compiled.__qualname__ == "scaled"
    assert compiled.__doc__ == "Doc of scaled." and compiled.__module__ == __name__
    assert compiled.__defaults__ == (2.0,) and compiled.__kwdefaults__ == {"bias": 0}
    assert compiled.__annotations__ == {"factor": float, "bias": int}
    assert inspect.signature(compiled) == inspect.signature(scaled)


def test_wrong_calls_raise_as_the_function_does():
    compiled = jedlik.compile(scaled, backend="eager")
    for args, kwargs in [((), {}), ((X, 1, 2), {}), ((X,), {"colour": 1}), ((X, 1), {"factor": 2})]:
        with pytest.raises(TypeError) as expected:
            scaled(*args, **kwargs)
        with pytest.raises(TypeError) as actual:
            compiled(*args, **kwargs)
        assert str(actual.value) == str(expected.value)


def test_weak_references_and_copies():
    compiled = jedlik.compile(scaled, backend="eager")
    assert weakref.ref(compiled)() is compiled
    same(copy.copy(compiled)(X), scaled(X))
    same(copy.deepcopy(compiled)(X), scaled(X))


def test_pickled_by_name():
    assert pickle.loads(pickle.dumps(decorated)) is decorated


def test_methods():
    holder = Holder(5.0)
    same(jedlik.compile(holder.times, backend="eager")(X), X * 5)
    same(holder.decorated(X), X - 5)
    same(Holder.decorated(holder, X), X - 5)
    same(Holder.plain(X), X * 3)
    same(holder.plain(X), X * 3)
    assert isinstance(holder.decorated, types.MethodType)


def test_partials_and_callable_objects(captures):
    same(jedlik.compile(functools.partial(scaled, factor=4.0), backend=captures)(X), X * 4)
    same(jedlik.compile(Holder(7.0), backend=captures)(X), X + 7)
    same(jedlik.compile(torch.sin, backend=captures)(X), torch.sin(X))
    assert len(captures.graphs) == 3


def test_partials_are_counted_by_themselves():
    for factor in range(20):
        same(jedlik.compile(functools.partial(scaled, bias=factor), backend="eager")(X), X * 2 + factor)


def test_class():
    @jedlik.compile(backend="eager")
    class Adder:
        def __call__(self, x):
            return x + 1

    assert isinstance(Adder, type)
    same(Adder()(X), X + 1)


def test_decorator_forms(captures):
    @jedlik.compile(backend=captures, fullgraph=True)
    def f(x):
        return x.sin()

    same(f(X), X.sin())
    assert jedlik.compile(f.__wrapped__, disable=True) is f.__wrapped__
    with pytest.raises(RuntimeError):
        jedlik.compile(backend="eager")(None)


def test_compiled_again_is_compiled_once(captures):
    first = jedlik.compile(scaled, backend="eager")
    again = jedlik.compile(first, backend=captures)
    assert again.__wrapped__ is scaled
    same(again(X), scaled(X))
    assert len(captures.graphs) == 1


def test_wrong_requests():
    with pytest.raises(RuntimeError, match="Either mode or options"):
        jedlik.compile(scaled, mode="default", options={"max_autotune": True})
    with pytest.raises(TypeError):
        jedlik.compile(3)
    with pytest.raises(TypeError):
        jedlik.compile(scaled, backend=3)
    with pytest.raises(ValueError):
        jedlik.compile(scaled, dynamic=True, shapes_spec=object())
    with pytest.raises(Exception, match="no_such_backend"):
        jedlik.compile(scaled, backend="no_such_backend")


def test_backends_get_mode_and_options():
    seen = []

    def backend(gm, inputs, **extra):
        seen.append(extra)
        return gm.forward

    jedlik.compile(scaled, backend=backend, mode="reduce-overhead")(X)
    jedlik.compile(scaled, backend=backend, options={"a": 1})(X)
    jedlik.compile(scaled, backend=backend, mode="default")(X)
    assert seen == [{"mode": "reduce-overhead"}, {"options": {"a": 1}}, {}]


def test_recompile_limit_is_kept(captures):
    compiled = jedlik.compile(lambda x, n: x * n, backend=captures, recompile_limit=2)
    for n in range(1, 8):
        x = torch.ones(n)
        same(compiled(x, 2.0), x * 2)
    assert len(captures.graphs) <= 2


def test_backend_without_a_hash():
    class Graphs(list):
        def __call__(self, gm, example_inputs):
            self.append(gm)
            return gm.forward

    first, second = Graphs(), Graphs()

    def f(x):
        return x + 1

    for graphs in (first, second, first):
        assert torch.equal(jedlik.compile(f, backend=graphs)(torch.ones(2)), torch.full((2,), 2.0))
    assert len(first) == len(second) == 1
