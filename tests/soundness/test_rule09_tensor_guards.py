"""Rule 9: entering a graph asks everything of a tensor; one that stays outside is asked nothing."""
import pytest
import torch
from follow import X, follow, follows

BASE = {
    "plain": lambda: torch.arange(6.0).reshape(2, 3),
    "shape": lambda: torch.arange(6.0).reshape(3, 2),
    "more dims": lambda: torch.arange(6.0).reshape(1, 2, 3),
    "empty": lambda: torch.zeros(0, 3),
    "zero-dim": lambda: torch.tensor(2.0),
    "double": lambda: torch.arange(6.0, dtype=torch.float64).reshape(2, 3),
    "int": lambda: torch.arange(6).reshape(2, 3),
    "bool": lambda: torch.tensor([[True, False, True], [False, True, False]]),
    "complex": lambda: torch.arange(6.0).reshape(2, 3).to(torch.complex64),
    "strides": lambda: torch.arange(6.0).reshape(3, 2).t(),
    "offset": lambda: torch.arange(7.0)[1:].reshape(2, 3),
    "expanded": lambda: torch.arange(3.0).expand(2, 3),
    "grad": lambda: torch.arange(6.0).reshape(2, 3).requires_grad_(),
    "no leaf": lambda: torch.arange(6.0).reshape(2, 3).requires_grad_() * 1,
    "parameter": lambda: torch.nn.Parameter(torch.arange(6.0).reshape(2, 3)),
    "conjugate": lambda: torch.arange(6.0).reshape(2, 3).to(torch.complex64).conj(),
    "negative": lambda: torch._neg_view(torch.arange(6.0).reshape(2, 3)),
    "sparse": lambda: torch.arange(6.0).reshape(2, 3).to_sparse(),
    "sparse csr": lambda: torch.arange(6.0).reshape(2, 3).to_sparse_csr(),
    "channels last": lambda: torch.arange(24.0).reshape(1, 2, 3, 4).to(memory_format=torch.channels_last),
    "channels first": lambda: torch.arange(24.0).reshape(1, 2, 3, 4),
    "bfloat": lambda: torch.arange(6.0).reshape(2, 3).bfloat16(),
    "meta": lambda: torch.empty(2, 3, device="meta"),
    "number": lambda: 3,
    "float number": lambda: 2.5,
    "None": lambda: None,
    "list": lambda: [1.0, 2.0],
}
OPS = {
    "add": lambda t: t + 1,
    "sum": lambda t: torch.sum(t, -1),
    "view": lambda t: t.reshape(-1),
    "metadata": lambda t: (t.shape, t.dtype, t.stride(), t.is_contiguous(), t.requires_grad, t.is_leaf, t.dim(), t.device.type),
    "in place": lambda t: t.add_(1),
    "matmul": lambda t: t @ t.transpose(-1, -2),
    "detached": lambda t: t.detach() * 2,
    "is_floating_point": lambda t: (t.is_floating_point(), t.is_complex(), t.numel(), len(t)),
}


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("first", ("plain", "grad", "int", "strides", "sparse", "parameter", "number"))
def test_another_tensor(first, op):
    def program(compile):
        f = compile(OPS[op])
        yield f(BASE[first]())
        for name, make in BASE.items():
            if name == "meta":
                continue
            t = make()
            yield name, f(t), t
        yield f(BASE[first]())
    follow(program, sweep=False)


@follows(graphs=1)
def test_outside_of_the_graph_nothing_is_asked(compile):
    """One graph for all kinds of tensors that are only passed on."""
    def f(x, t, items):
        items.append(t)
        return x + 1, t, {"t": (t, items)}

    f = compile(f)
    for make in BASE.values():
        t = make()
        how, value = f(X, t, [])
        yield how, value[0], value[1] is t, value[2]["t"][0] is t, value[2]["t"][1][0] is t


@follows()
def test_subclass_of_tensor(compile):
    class Mine(torch.Tensor):
        pass

    def f(x):
        return x + 1, type(x).__name__

    f = compile(f)
    for t in (torch.ones(2), torch.ones(2).as_subclass(Mine), torch.ones(2), torch.nn.Parameter(torch.ones(2))):
        yield f(t)


@follows()
def test_subclass_with_a_torch_function(compile):
    log = []

    class Loud(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            log.append(getattr(func, "__name__", "?"))
            return super().__torch_function__(func, types, args, kwargs or {})

    def f(x):
        return (x + 1).sum()

    f = compile(f)
    for t in (torch.ones(2), torch.ones(2).as_subclass(Loud), torch.ones(2)):
        log.clear()
        yield f(t), list(log)


@follows()
def test_data_and_half_and_requires_grad_change_no_dict(compile):
    """Changes of parameters that no dictionary knows of."""
    net = torch.nn.Linear(3, 3)
    with torch.no_grad():
        net.weight.copy_(torch.eye(3)), net.bias.zero_()

    f = compile(lambda x: net(x))
    yield f(X)
    net.weight.data = torch.eye(3) * 2
    yield f(X)
    net.double()
    yield f(X.double())
    net.float()
    net.requires_grad_(False)
    yield f(X)
    net.weight.requires_grad_(True)
    yield f(X)
    net.weight.data = torch.ones(5, 3)
    net.bias.data = torch.zeros(5)
    yield f(X)
    net.weight.data = torch.ones(3, 5).t()
    yield f(X)
    net.bias = None
    yield f(X)


@follows()
def test_modes_around(compile):
    """Grad mode, inference mode and inference tensors."""
    w = torch.ones(3, requires_grad=True)
    f = compile(lambda x: ((x * w), (x * w).requires_grad))
    yield f(X)
    with torch.no_grad():
        yield f(X)
    with torch.inference_mode():
        yield f(X)
        t = X * 2
    yield f(X)
    how, value = f(t)
    yield how, str(value) if how == "raised" else value
    with torch.inference_mode():
        yield f(t)
    yield f(X)


@follows(graphs=(1, 3))
def test_weak_tie_between_two_inputs(compile):
    """The same tensor twice, views of each other, and strangers."""
    def f(a, b):
        return a + b, a is b

    f = compile(f)
    t = torch.arange(3.0)
    for a, b in ((t, torch.ones(3)), (t, t), (t, t.view(3)), (t[:], t), (torch.ones(3), t)):
        yield f(a, b)
