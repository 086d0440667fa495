"""Rule 13 with backends other than "eager": a graph that raises after it has written to an input leaves nothing behind; the program
raises at the operation, in its handler, with the effects before it."""
import pytest
import torch

import jedlik
from tests.soundness import test_rule13_raises as t


def wrapped(gm, inputs):
    return lambda *args: gm.forward(*args)


def own_order(gm, inputs):
    """Writes inputs in its own way, before anything may raise."""
    def run(*args):
        for a in args:
            if a.dtype.is_floating_point:
                a.mul_(7)
        return gm.forward(*args)

    def sometimes(*args):
        try:
            gm.forward(*[a.clone() for a in args])
        except Exception:
            return run(*args)
        return gm.forward(*args)
    return sometimes


PURE = [t.index, t.embedding, t.nll, t.cholesky, t.asserted, t.gather, t.put, t.index_add_, t.autograd_function]
WRITERS = [t.write_input, t.write_view, t.write_data, t.write_random, t.write_nothing]


def write_behind(raiser, writer):
    """The raise comes first: nothing is written."""
    def fn(s, x, i):
        s.n += 1
        try:
            z = raiser(x, i)
        except (IndexError, RuntimeError):
            s.seen.append("caught")
            z = x * 5
        writer(x)
        return z
    return fn


BODIES = [*t.BODIES, write_behind]


# The second draws twice, and writes where the program does only.
PAIRS = [(wrapped, w) for w in WRITERS] + [(own_order, w) for w in WRITERS[:3]]


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("backend, writer", PAIRS)
@pytest.mark.parametrize("raiser", PURE)
def test_each_combination(backend, raiser, writer, body):
    fn = body(raiser, writer)
    compiled = jedlik.compile(fn, backend=backend)
    for i in (t.GOOD, t.BAD, t.GOOD, t.BAD, t.BAD):
        t.check(t.observe(compiled, i), t.observe(fn, i))


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("writer", [t.write_input, t.write_data, t.write_random])
@pytest.mark.parametrize("raiser", [t.index, t.embedding, t.cholesky, t.put])
def test_aot_eager(raiser, writer, body):
    fn = body(raiser, writer)
    compiled = jedlik.compile(fn, backend="aot_eager")
    for i in (t.GOOD, t.BAD, t.BAD):
        t.check(t.observe(compiled, i), t.observe(fn, i))


@pytest.mark.parametrize("writer", [t.write_input, t.write_random])
@pytest.mark.parametrize("raiser", PURE)
def test_eager_that_raises_before_it_writes(raiser, writer):
    fn = write_behind(raiser, writer)
    compiled = jedlik.compile(fn, backend="eager")
    for i in (t.GOOD, t.BAD, t.GOOD, t.BAD):
        t.check(t.observe(compiled, i), t.observe(fn, i))


@pytest.mark.parametrize("backend", ["eager", wrapped])
def test_eager_that_raises_in_a_callback_before_it_writes(backend):
    def fn(s, x, i):
        try:
            order = sorted([2, 0, 1], key=lambda k: (s.seen.append(k), x[i].sum() * 0, k)[2])
        except IndexError:
            order = [s.n]
        x.add_(1)
        return order, x * 2
    compiled = jedlik.compile(fn, backend=backend)
    for i in (t.GOOD, t.BAD, t.GOOD, t.BAD):
        t.check(t.observe(compiled, i), t.observe(fn, i))


SHAPES = ["plain", "view", "strided", "beside"]


@pytest.mark.parametrize("shape, backend", [("expanded", wrapped)] + [(s, b) for b in (wrapped, "aot_eager") for s in SHAPES])
def test_inputs_of_all_layouts(shape, backend):
    def fn(x, i):
        x[0].mul_(2)
        try:
            return x[i[None]] + 1
        except IndexError:
            return x * 3

    def make():
        base = torch.arange(24.).reshape(4, 6)
        return base, {"plain": base, "view": base[1:3], "strided": base.t()[::2], "expanded": base[:, :1].expand(4, 6)[:, :2],
                      "beside": base[:, 2:4]}[shape]
    compiled = jedlik.compile(fn, backend=backend)
    for i in (0, 9, 1, 9):
        results = []
        for f in (compiled, fn):
            base, x = make()
            version = x._version
            try:
                out = f(x, torch.tensor(i)).clone()
            except RuntimeError as e:
                out = str(e)
            results.append([out, base.clone(), x._version - version if i == 9 or backend is wrapped else None])
        assert t.equal(*results), i


@pytest.mark.parametrize("backend", [wrapped, "aot_eager"])
def test_statistics_of_batch_norm(backend):
    def fn(bn, w, x, target):
        y = torch.nn.functional.batch_norm(x, bn[0], bn[1], training=True) @ w
        return torch.nn.functional.cross_entropy(y, target)
    compiled = jedlik.compile(fn, backend=backend, fullgraph=True)

    def run(f, target):
        bn, w = (torch.zeros(4), torch.ones(4)), torch.arange(12.).reshape(4, 3).requires_grad_()
        try:
            out = f(bn, w, torch.arange(8.).reshape(2, 4), target)
            out.backward()
            out = [out.detach(), w.grad]
        except (IndexError, RuntimeError) as e:
            out = [type(e)]
        return [*out, *bn, w.detach()]
    for target in ([0, 1], [0, 7], [2, 1], [9, 1]):
        a, b = run(compiled, torch.tensor(target)), run(fn, torch.tensor(target))
        assert len(a) == len(b)
        for p, q in zip(a, b):
            assert p is q if isinstance(p, type) else torch.allclose(p, q)


@pytest.mark.parametrize("backend", ["eager", wrapped, "aot_eager"])
def test_history_of_inputs_that_need_gradients(backend):
    """What autograd notes of an input cannot be taken back: the graph ends before what may raise."""
    def fn(x, i):
        x.mul_(3)
        try:
            return x[i] * 2
        except IndexError:
            return x * 5
    compiled = jedlik.compile(fn, backend=backend)
    for i in (0, 9, 1, 9):
        grads = []
        for f in (compiled, fn):
            leaf = torch.arange(4.).requires_grad_()
            x = leaf * 1
            f(x, torch.tensor(i)).sum().backward()
            grads.append([leaf.grad, x.detach()])
        assert t.equal(*grads), i


def test_only_what_is_written_is_copied():
    """Weights that a graph reads are not."""

    def counting(gm, inputs):
        def run(*args):
            return gm.forward(*args)
        return run

    def fn(n, w, x, i):
        n.add_(1)
        return (x @ w)[i]
    compiled = jedlik.compile(fn, backend=counting, fullgraph=True)
    n, w, x = torch.zeros(3), torch.ones(5, 6), torch.ones(4, 5)
    compiled(n, w, x, torch.tensor([1]))
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True) as p:
        compiled(n, w, x, torch.tensor([1]))
    copied = [e.input_shapes[0] for e in p.events() if e.name == "aten::clone"]
    assert copied == [[3]] and n.tolist() == [2, 2, 2]
