"""Rule 15: operations that run the user's Python see the effects before them, and what they change is seen behind them."""
import pytest
import torch

import jedlik

SCALE = 3
COUNT = 0
SEEN = []


class Box:
    n = 0


BOX = Box()
T = torch.Tensor
op = lambda f: torch.library.custom_op(f"jedlik_open::{f.__name__}", f, mutates_args=())  # noqa: E731


def defined(f):
    made = op(f)
    made.register_fake(lambda x: torch.empty_like(x))
    return made


@defined
def plain(x: T) -> T:
    return torch.sin(x) * 2


@defined
def scaled(x: T) -> T:
    return x * SCALE


@defined
def listed(x: T) -> T:
    SEEN.append(COUNT)
    return x * len(SEEN)


@defined
def boxed(x: T) -> T:
    BOX.n += 10
    return x + BOX.n


@defined
def counted(x: T) -> T:
    global COUNT
    COUNT += 1
    return x + COUNT


def helper(x):
    return deeper(x)


def deeper(x):
    return x + BOX.n + COUNT


@defined
def through_helpers(x: T) -> T:
    return helper(x) * 1


def closed_over(box):
    @defined
    def in_closure(x: T) -> T:
        box.append(len(box))
        return x + len(box)
    return in_closure


CELLS = []
in_closure = closed_over(CELLS)


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2 + BOX.n

    @staticmethod
    def backward(ctx, g):
        return g * 2


@torch._dynamo.allow_in_graph
def allowed(x):
    return x * BOX.n


LIBRARY = torch.library.Library("jedlik_open_library", "DEF")
LIBRARY.define("implemented(Tensor x) -> Tensor")
LIBRARY.impl("implemented", lambda x: x * BOX.n, "CPU")
LIBRARY.impl("implemented", torch.empty_like, "Meta")


OPS = [torch.ops.jedlik_open_library.implemented, torch.ops.jedlik_open_library.implemented.default, plain, scaled, listed, boxed, counted, through_helpers, in_closure, Doubled.apply, allowed]


def before(f):
    def fn(x, s):
        global COUNT
        COUNT += 1
        BOX.n += 1
        s.append(COUNT)
        return f(x) + BOX.n
    return fn


def between(f):
    def fn(x, s):
        y = f(x)
        BOX.n += 1
        z = f(y) * BOX.n
        s.append(BOX.n)
        return z, COUNT, len(SEEN), len(CELLS)
    return fn


def behind(f):
    def fn(x, s):
        a = BOX.n, COUNT, len(SEEN)
        y = f(x)
        b = BOX.n, COUNT, len(SEEN), len(CELLS)
        return y, a, b, x * BOX.n
    return fn


def scale_changes(f):
    def fn(x, s):
        global SCALE
        SCALE += 1
        y = f(x)
        SCALE -= 1
        return y, f(x)
    return fn


def flat(v):
    return [flat(e) for e in v] if isinstance(v, (tuple, list)) else v.tolist() if isinstance(v, torch.Tensor) else v


def observe(fn, times):
    global COUNT, SCALE
    COUNT, SCALE, BOX.n = 0, 3, 0
    SEEN.clear()
    CELLS.clear()
    s = []
    return [flat(fn(torch.ones(2), s)) for _ in range(times)], s, COUNT, SCALE, BOX.n, list(SEEN), list(CELLS)


@pytest.mark.parametrize("body", [before, between, behind, scale_changes])
@pytest.mark.parametrize("f", OPS, ids=lambda f: getattr(f, "_name", getattr(f, "__name__", "apply")))
def test_each(f, body):
    fn = body(f)
    want = observe(fn, 4)
    assert observe(jedlik.compile(fn, backend="eager"), 4) == want


def test_operators_without_state_are_captured_beside_effects():
    compiled = jedlik.compile(before(plain), backend="eager", fullgraph=True)
    want = observe(before(plain), 3)
    assert observe(compiled, 3) == want


def test_numbers_of_a_module_are_no_state_while_nothing_is_pending():
    compiled = jedlik.compile(lambda x: scaled(x) + 1, backend="eager", fullgraph=True)
    assert compiled(torch.ones(2)).tolist() == [4, 4]
