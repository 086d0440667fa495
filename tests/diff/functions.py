"""autograd.Function: forward traced in place or beside the graph, with contexts, marks, breaks and effects of every kind; gradients as plainly."""
import collections
import functools
import warnings

import torch
from kit import Env, T, program
from torch.autograd import Function
from torch.autograd.function import once_differentiable

LOG = []
Two = collections.namedtuple("Two", "a b")


def leaf():
    return T(3, at=1, grad=True)


def pair():
    return leaf(), Env()


def grads(y, *inputs):
    return torch.autograd.grad(y.sum(), inputs, allow_unused=True)


def ask(x):
    """What no graph gives: a break."""
    return x.sum().item()


class Scale(Function):
    """Saves an input, an intermediate and its output; keeps attributes; breaks in the middle."""

    @staticmethod
    def forward(ctx, x, k):
        ctx.before = k, [k]
        mid = x * k
        n = ask(mid)
        out = mid.sin() + n
        ctx.save_for_backward(x, mid, None, out)
        ctx.after = n
        return out

    @staticmethod
    def backward(ctx, g):
        x, mid, none, out = ctx.saved_tensors
        assert none is None and ctx.before[1] == [ctx.before[0]] and len(ctx.needs_input_grad) == 2
        return g * mid.cos() * ctx.before[0] + 0 * out, None


@program(leaf)
def attributes_around_a_break(x):
    y = Scale.apply(x, 3)
    return y.detach(), y.requires_grad, type(y.grad_fn).__name__, grads(y, x)


@program(leaf)
def without_gradients(x):
    with torch.no_grad():
        y = Scale.apply(x, 2)
    return y, y.requires_grad, y.is_leaf, torch.is_grad_enabled()


@program(lambda: T(3))
def input_without_gradients(x):
    y = Scale.apply(x, 2)
    return y, y.requires_grad, torch.is_grad_enabled()


@program(leaf)
def twice_in_a_row(x):
    y = Scale.apply(Scale.apply(x, 2).cos(), 0.5)
    return y.detach(), grads(y * 2, x)


@program(leaf)
def in_a_loop(x):
    y = x
    for k in range(1, 4):
        y = Scale.apply(y, k) / 2
    return y.detach(), grads(y, x)


class Noted(Function):
    @staticmethod
    def forward(ctx, x, env):
        env.log.append(("forward", torch.is_grad_enabled()))
        env.count += 1
        ctx.env = env
        return x * env.count

    @staticmethod
    def backward(ctx, g):
        ctx.env.log.append("backward")
        return g * 2, None


@program(pair)
def effects_in_forward_and_backward(x, env):
    y = Noted.apply(x, env)
    env.log.append("between")
    z = Noted.apply(y, env)
    return z.detach(), list(env.log), env.count, grads(z, x), list(env.log)


class Kept(Function):
    @staticmethod
    def forward(ctx, x, env):
        env.ctx = ctx
        ctx.note = env.name
        return x + 1

    @staticmethod
    def backward(ctx, g):
        return g * 3, None


@program(pair)
def context_that_is_kept(x, env):
    y = Kept.apply(x, env)
    return y.grad_fn is env.ctx, env.ctx.note, type(env.ctx).__name__, env.ctx.needs_input_grad, grads(y, x)


@program(lambda: (T(3), Env()))
def context_that_is_kept_without_gradients(x, env):
    y = Kept.apply(x, env)
    return y, y.grad_fn, env.ctx.note, type(env.ctx).__name__, env.ctx.to_save, env.ctx.needs_input_grad


class Marks(Function):
    @staticmethod
    def forward(ctx, x, breaks):
        top, where = x.max(0, keepdim=True)
        ctx.mark_non_differentiable(where)
        if breaks:
            ctx.n = ask(x)
        ctx.save_for_backward(where)
        ctx.shape = x.shape
        return top, where, "text", None, [1, 2]

    @staticmethod
    def backward(ctx, g, *rest):
        where, = ctx.saved_tensors
        assert rest[0].dtype == where.dtype and rest[1:] == (None, None, None)
        return torch.zeros(ctx.shape).index_add(0, where, g), None


@program(lambda: (leaf(), True), lambda: (leaf(), False))
def outputs_that_are_no_tensors(x, breaks):
    top, where, text, none, numbers = Marks.apply(x, breaks)
    return top.detach(), where, where.requires_grad, text, none, numbers, grads(top, x)


class Dirty(Function):
    @staticmethod
    def forward(ctx, x, breaks):
        x.mul_(2)
        if breaks:
            ask(x)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g * 2, None


@program(lambda: (leaf(), True), lambda: (leaf(), False))
def in_place(x, breaks):
    w = x * 1
    v = w._version
    y = Dirty.apply(w, breaks)
    return y is w, w._version - v, y.detach(), grads(y, x)


@program(lambda: (T(3), True), lambda: (T(3), False))
def in_place_without_gradients(x, breaks):
    y = Dirty.apply(x, breaks)
    return y is x, x, y.requires_grad


class Halves(Function):
    @staticmethod
    def forward(ctx, x, breaks):
        ctx.set_materialize_grads(False)
        if breaks:
            ask(x)
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, a, b):
        assert (a is None) != (b is None)
        return (a * 2 if b is None else b * 3), None


@program(lambda: (leaf(), True), lambda: (leaf(), False))
def gradients_that_are_none(x, breaks):
    a, b = Halves.apply(x, breaks)
    return a.detach(), grads(a, x), grads(Halves.apply(x, breaks)[1], x)


class Same(Function):
    @staticmethod
    def forward(ctx, x, how):
        ask(x)
        return x if how == "same" else x[1:] if how == "view" else (x, x) if how == "twice" else Two(x + 1, x + 2)

    @staticmethod
    def backward(ctx, g, *more):
        return g.new_ones(3) * 5, None


@program(*[lambda how=how: (leaf(), how) for how in ("same", "view", "twice", "named")])
def what_forward_returns(x, how):
    y = Same.apply(x, how)
    first = y[0] if isinstance(y, tuple) else y
    return type(y), first is x, first.requires_grad, first._base is None, first.detach(), grads(first, x)


@program(*[lambda how=how: (T(3), how) for how in ("same", "view", "twice", "named")])
def what_forward_returns_without_gradients(x, how):
    y = Same.apply(x, how)
    first = y[0] if isinstance(y, tuple) else y
    return type(y), first is x, first.requires_grad, first.data_ptr() == x.data_ptr(), first


class Rows(Function):
    @staticmethod
    def forward(ctx, x, how):
        return x * 2 if how == "new" else x.contiguous() if how == "perhaps" else x

    @staticmethod
    def backward(ctx, g):
        return g, None


@program(*[lambda how=how: (T(3), how) for how in ("new", "perhaps", "same")])
def argument_whose_identity_is_not_sure(x, how):
    a = torch.einsum("i,j->ji", x, x).contiguous()
    y = Rows.apply(a, how)
    return y, y is a, y.requires_grad


class Setup(Function):
    @staticmethod
    def forward(x, k=2, breaks=False):
        if breaks:
            ask(x)
        return x * k, x > 1

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.k, breaks = inputs
        if breaks:
            ask(x)
        ctx.save_for_backward(x)
        ctx.mark_non_differentiable(output[1])

    @staticmethod
    def backward(ctx, g, _):
        x, = ctx.saved_tensors
        return g * ctx.k + 0 * x, None, None


@program(lambda: (leaf(), True), lambda: (leaf(), False))
def setup_context(x, breaks):
    y, mask = Setup.apply(x, 3, breaks)
    return y.detach(), mask, mask.requires_grad, grads(y, x), Setup.apply(x)[0].detach(), Setup.apply(x, 4)[0].detach()


@program(lambda: (T(3), True), lambda: (T(3), False))
def setup_context_without_gradients(x, breaks):
    return Setup.apply(x, 3, breaks), Setup.apply(x, 3)


class Needs(Function):
    @staticmethod
    def forward(ctx, a, b, c):
        first = ctx.needs_input_grad
        ask(a)
        return a * b + c, first, ctx.needs_input_grad

    @staticmethod
    def backward(ctx, g, *rest):
        assert ctx.needs_input_grad == (True, False, False)
        return g, None, None


@program(leaf)
def needs_input_grad(x):
    y, first, then = Needs.apply(x, T(3), 2)
    with torch.no_grad():
        z, one, two = Needs.apply(x, T(3), 2)
    return y.detach(), first, then, z, one, two, grads(y, x)


class Twice(Function):
    @staticmethod
    def forward(ctx, x):
        ask(x)
        ctx.save_for_backward(x)
        return x ** 3

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * 3 * x ** 2


@program(leaf)
def double_backward(x):
    y = Twice.apply(x)
    g, = torch.autograd.grad(y.sum(), x, create_graph=True)
    return g.detach(), grads(g, x)


@program(leaf)
def double_backward_that_is_refused(x):
    y = Dirty.apply(x * 1, True)
    g, = torch.autograd.grad((y * x).sum(), x, create_graph=True)
    try:
        return grads(g * x, x)
    except RuntimeError as e:
        return type(e), str(e)[:40]


@program(leaf)
def saved_tensor_written_to(x):
    w = x * 1
    y = Twice.apply(w)
    w.add_(1)
    try:
        return grads(y, x)
    except RuntimeError as e:
        return type(e), "modified by an inplace operation" in str(e)


class Fails(Function):
    @staticmethod
    def forward(ctx, x, env):
        env.log.append(torch.is_grad_enabled())
        if env.flag:
            raise ValueError("in forward")
        return x + 1

    @staticmethod
    def backward(ctx, g):
        return g, None


@program(pair, lambda: (T(3), Env()))
def forward_that_raises(x, env):
    try:
        y = Fails.apply(x * 2, env)
    except ValueError as e:
        env.log.append(str(e))
        env.flag = False
        y = Fails.apply(x * 2, env)
    return y.detach(), y.requires_grad, env.log, torch.is_grad_enabled()


class Outer(Function):
    """Recomputes with autograd of its own, as reversible layers do."""

    @staticmethod
    def forward(ctx, x, weight):
        with torch.enable_grad():
            inner = Twice.apply(x.detach().requires_grad_()) * 2
        ctx.inner, ctx.weight = inner.detach(), weight
        return Scale.apply(x, 2) + inner.detach() * weight

    @staticmethod
    def backward(ctx, g):
        with torch.enable_grad():
            z = ctx.inner.requires_grad_() * ctx.weight
        return torch.autograd.grad(z, ctx.inner, g)[0], None


@program(lambda: (leaf(), 2.0), lambda: (T(3), 2.0))
def functions_in_functions(x, weight):
    y = Outer.apply(x, weight)
    return y.detach(), grads(y, x) if x.requires_grad else None


class Counted(Function):
    calls = 0

    @staticmethod
    def forward(ctx, x):
        Counted.calls += 1
        ctx.n = Counted.calls
        return x * Counted.calls

    @staticmethod
    def backward(ctx, g):
        return g * ctx.n


@program(leaf, graphs=0)
def state_of_the_class(x):
    Counted.calls = 0
    a, b = Counted.apply(x), Counted.apply(x)
    return a.detach(), b.detach(), Counted.calls, grads(a, x), grads(b, x)


@program(leaf)
def called_by_other_ways(x):
    f = Twice.apply
    a, = map(f, [x])
    b = functools.partial(Scale.apply, x)(2)
    return a.detach(), b.detach(), grads(a * b, x)


class Bare(Function):
    @staticmethod
    def forward(ctx, x):
        y = x * 2
        return y, type(ctx).__name__, ctx.saved_tensors, ctx.name(), ctx.metadata

    @staticmethod
    def backward(ctx, g, *rest):
        return g * 2


@program(leaf, lambda: T(3))
def what_a_context_tells(x):
    y, *told = Bare.apply(x)
    return y.detach(), told, grads(y, x) if x.requires_grad else None


class Seeded(Function):
    @staticmethod
    def forward(ctx, x, seed):
        torch.manual_seed(seed)
        ctx.seed = seed
        keep = torch.rand(3)
        return x * keep

    @staticmethod
    def backward(ctx, g):
        torch.manual_seed(ctx.seed)
        return g * torch.rand(3), None


@program(lambda: (leaf(), 3), lambda: (leaf(), 4), lambda: (T(3), 5))
def seeds_in_forward(x, seed):
    y = Seeded.apply(x, seed)
    return y.detach(), torch.rand(2), grads(y, x) if x.requires_grad else None


@program(leaf)
def in_inference_mode(x):
    with torch.inference_mode():
        y = Twice.apply(x.detach() * 1)
        on = torch.is_inference_mode_enabled()
    return y, on, torch.is_grad_enabled()


class Warns(Function):
    @staticmethod
    def forward(ctx, x):
        for level in 1, 2, 3:
            warnings.warn(f"level {level}", stacklevel=level)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g


@program(leaf, lambda: T(3))
def where_warnings_point(x):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        y = Warns.apply(x)
    return y.detach(), [(str(w.message), w.filename, w.lineno) for w in seen]


class Wrong(Function):
    @staticmethod
    def forward(ctx, x, how):
        ask(x)
        if how == "dirty":
            ctx.mark_dirty(x * 2)
        elif how == "save":
            ctx.save_for_backward("text")
        elif how == "flag":
            ctx.set_materialize_grads(1)
        elif how == "gone":
            del ctx.needs_input_grad
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g, None


@program(*[lambda how=how: (leaf(), how) for how in ("dirty", "save", "flag", "gone")])
def what_autograd_refuses(x, how):
    try:
        return Wrong.apply(x, how).detach()
    except (RuntimeError, TypeError, ValueError) as e:
        return type(e), str(e)


class Named(Function):
    @staticmethod
    def forward(ctx, x, scale):
        return x * scale

    @staticmethod
    def backward(ctx, g):
        return g, None


@program(leaf, graphs=0)
def keywords(x):
    return Named.apply(x, scale=3).detach()


class Hooked(torch.nn.Module):
    def forward(self, x):
        return Twice.apply(x) + 1


@program(leaf)
def in_a_module(x):
    y = Hooked()(x * 1)
    return y.detach(), grads(y, x)
