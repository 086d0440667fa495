"""A compiled module stands in for the module everywhere."""
import copy
import inspect
import io
import pickle

import pytest

import jedlik

torch = pytest.importorskip("torch")
nn = torch.nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.register_buffer("seen", torch.zeros(()))
        self.note = "plain"

    def forward(self, x, *, scale=1.0):
        self.seen += 1
        return self.first(x).relu() * scale

    def helper(self):
        return self.note + "!"


X = torch.randn(2, 3)


@pytest.fixture
def net():
    torch.manual_seed(0)
    return Net()


@pytest.fixture
def compiled(net):
    return jedlik.compile(net, backend="eager")


def test_is_a_module_with_the_originals_state(net, compiled):
    assert isinstance(compiled, nn.Module)
    assert compiled._orig_mod is net
    assert list(compiled.state_dict()) == ["_orig_mod.seen", "_orig_mod.first.weight", "_orig_mod.first.bias"]
    assert dict(compiled.named_parameters()).keys() == {"_orig_mod.first.weight", "_orig_mod.first.bias"}
    assert list(map(id, compiled.parameters())) == list(map(id, net.parameters()))
    other = Net()
    jedlik.compile(other, backend="eager").load_state_dict(compiled.state_dict())
    assert torch.equal(other.first.weight, net.first.weight)


def test_calls(net, compiled, captures):
    expected = Net.forward(copy.deepcopy(net), X, scale=2.0)
    assert torch.equal(compiled(X, scale=2.0), expected)
    assert net.seen == 1
    fresh = jedlik.compile(net, backend=captures)
    fresh(X)
    assert len(captures.graphs) == 1


def test_attributes_pass_through(net, compiled):
    assert compiled.note == "plain" and compiled.helper() == "plain!" and compiled.first is net.first
    compiled.note = "other"
    compiled.extra = nn.Linear(4, 4)
    assert net.note == "other" and "extra" in net._modules
    del compiled.extra
    assert not hasattr(net, "extra") and "helper" in dir(compiled)
    with pytest.raises(AttributeError):
        compiled.nothing_of_that_name


def test_modes(net, compiled):
    assert compiled.training and compiled.eval() is compiled and not net.training and not net.first.training
    compiled.train()
    assert net.training
    compiled.requires_grad_(False)
    assert not net.first.weight.requires_grad
    compiled.to(torch.float64)
    assert net.first.weight.dtype is torch.float64


def test_signature_is_forwards(net, compiled):
    assert inspect.signature(compiled) == inspect.signature(net.forward)


def test_length_and_truth(compiled):
    assert bool(compiled)
    with pytest.raises(TypeError):
        len(compiled)
    assert len(jedlik.compile(nn.Sequential(nn.ReLU(), nn.ReLU()), backend="eager")) == 2


def test_hooks_on_the_compiled_module(net, compiled):
    seen = []
    compiled(X)
    handle = compiled.register_forward_hook(lambda mod, args, out: seen.append(mod))
    compiled(X)
    handle.remove()
    compiled(X)
    assert seen == [compiled]


def test_hooks_on_the_original(net, compiled):
    net.register_forward_hook(lambda mod, args, out: out + 1)
    assert torch.equal(compiled(X), net(X))


def test_forward_set_on_the_compiled_module(compiled):
    compiled.forward = lambda x: x * 5
    assert torch.equal(compiled(X), X * 5)


def test_inside_another_module(net, compiled):
    whole = nn.Sequential(compiled, nn.ReLU())
    assert torch.equal(whole(X), net(X).relu())
    assert "0._orig_mod.first.weight" in whole.state_dict()


def test_copies_and_pickles(net, compiled):
    expected = net(X)
    assert copy.copy(compiled)._orig_mod is net
    deep = copy.deepcopy(compiled)
    assert type(deep) is type(compiled) and deep._orig_mod is not net and torch.equal(deep(X), expected)
    assert torch.equal(pickle.loads(pickle.dumps(compiled))(X), expected)
    file = io.BytesIO()
    torch.save(compiled, file)
    file.seek(0)
    assert torch.equal(torch.load(file, weights_only=False)(X), expected)


def test_lazy_modules():
    compiled = jedlik.compile(nn.LazyLinear(4), backend="eager")
    assert compiled(X).shape == (2, 4)
    assert torch.equal(compiled(X), compiled._orig_mod(X))


def test_gradients(net, compiled):
    compiled(X).sum().backward()
    actual = net.first.weight.grad.clone()
    net.zero_grad()
    net(X).sum().backward()
    assert torch.equal(actual, net.first.weight.grad)


def test_compiling_again_starts_from_the_original(net, compiled):
    assert jedlik.compile(compiled, backend="eager")._orig_mod is net


def test_class_of_modules():
    @jedlik.compile(backend="eager")
    class Doubler(nn.Module):
        def forward(self, x):
            return x * 2

    assert torch.equal(Doubler()(X), X * 2)


def test_scripted_modules_are_refused():
    with pytest.raises(RuntimeError, match="scripted"):
        jedlik.compile(torch.jit.script(nn.Linear(2, 2)))
