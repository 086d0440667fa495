"""Context managers that a trace goes through: generators with `try`, and the kernels of attention."""
import contextlib

import pytest

import jedlik

torch = pytest.importorskip("torch")
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402

X = torch.arange(4.0)
Q = torch.arange(16.0).reshape(1, 1, 4, 4) / 16


@contextlib.contextmanager
def logged(log):
    log.append("in")
    try:
        yield log
    finally:
        log.append("out")


def test_generator_with_try_is_no_break():
    def f(x, log):
        with logged(log) as l:
            y = x + len(l)
        return y * 2

    log = []
    assert torch.equal(jedlik.compile(f, backend="eager", fullgraph=True)(X, log), (X + 1) * 2) and log == ["in", "out"]


def test_generator_dropped_by_what_kept_it():
    class Keeper:
        pass

    def f(x, log):
        def numbers():
            try:
                yield 1
                yield 2
            finally:
                log.append("closed")
        keeper = Keeper()
        keeper.g = numbers()
        y = x + next(keeper.g)
        log.append("before")
        keeper.g = None
        log.append("after")
        return y

    log = []
    assert torch.equal(jedlik.compile(f, backend="eager")(X, log), X + 1) and log == ["before", "closed", "after"]


def enabled():
    return [b for b in torch.nn.attention._cur_sdpa_kernel_backends()]


def attend(q):
    with sdpa_kernel([SDPBackend.MATH, SDPBackend.FLASH_ATTENTION]):
        inside = enabled()
        with sdpa_kernel(SDPBackend.MATH):
            y = torch.nn.functional.scaled_dot_product_attention(q, q, q)
    return y + 1, inside, enabled()


def test_kernels_of_attention(captures):
    before = enabled()
    expected = attend(Q)
    g = jedlik.compile(attend, backend=captures, fullgraph=True)
    for _ in range(2):
        y, inside, after = g(Q)
        assert torch.equal(y, expected[0]) and (inside, after) == expected[1:] and enabled() == before
    assert len(captures.graphs) == 1
    with sdpa_kernel(SDPBackend.MATH):  # what it finds is part of what it was traced for
        y, inside, after = g(Q)
        assert (inside, after) == (expected[1], [SDPBackend.MATH]) and enabled() == [SDPBackend.MATH]
    assert enabled() == before


def test_kernels_of_attention_at_a_break():
    seen = []

    def f(q):
        with sdpa_kernel(SDPBackend.MATH):
            y = q * 2
            jedlik.graph_break()
            seen.append(enabled())
            return torch.nn.functional.scaled_dot_product_attention(y, y, y)

    before = enabled()
    assert torch.equal(jedlik.compile(f, backend="eager")(Q), f(Q))
    assert seen == [[SDPBackend.MATH]] * 2 and enabled() == before


def test_kernels_of_attention_when_the_graph_raises():
    def f(q, i):
        with sdpa_kernel(SDPBackend.MATH):
            return torch.nn.functional.scaled_dot_product_attention(q, q, q), q[..., i]

    before = enabled()
    g = jedlik.compile(f, backend="eager")
    g(Q, torch.tensor(1))
    with pytest.raises(IndexError):
        g(Q, torch.tensor(99))
    assert enabled() == before
