"""Inference under FakeTensorMode, for what tensors on the meta device cannot tell: autocast, and operations without a
meta kernel. Importing this costs nothing; the first call imports torch._dynamo (FakeTensorMode does).

Takes: a call whose tensors are meta twins. Gives: (result with tensors on the meta device, device) or None. A tensor that
is one of the arguments comes back as that very twin; arguments that were written have their version bumped.
"""
import logging

import torch

mode = None


def fake_mode():
    """One for the process: it has no shape environment, so operations whose sizes depend on data raise."""
    global mode
    if mode is None:
        from torch._subclasses.fake_tensor import FakeTensorMode
        mode = FakeTensorMode(allow_non_fake_inputs=False)
    return mode


def strided(like, device="meta"):
    return torch.empty_strided(like.size(), like.stride(), dtype=like.dtype, device=device)


class Fakes:
    """Twins and the fakes that stand for them during one call."""

    def __init__(self, device):
        from torch._subclasses.fake_tensor import FakeTensor
        self.make, self.device = FakeTensor, device
        self.fake_of, self.twin_of, self.versions = {}, {}, []

    def to_fake(self, twin):
        fake = self.fake_of.get(id(twin))
        if fake is None:
            fake = self.make(mode, strided(twin), self.device, requires_grad=twin.requires_grad and twin.is_leaf)
            if twin.requires_grad and not twin.is_leaf:
                with mode, torch.enable_grad():
                    fake = self.result(twin, fake)
            self.fake_of[id(twin)] = fake
            self.twin_of[id(fake)] = twin
            self.versions.append((twin, fake, fake._version, self.shape(fake)))
        return fake

    def result(self, twin, fake):
        """A result of autograd: what something that requires grad was copied into, or, where that cannot be written to, a view."""
        one = torch.empty((), dtype=twin.dtype, device=self.device, requires_grad=True)
        try:
            return fake.copy_(one)
        except RuntimeError:
            return self.make(mode, strided(twin), self.device, requires_grad=True).view_as(fake)

    @staticmethod
    def shape(t):
        return t.size(), t.stride(), t.dtype, t.requires_grad

    def to_twin(self, fake):
        twin = self.twin_of.get(id(fake))
        if twin is not None:
            return twin
        with torch.no_grad():
            twin = strided(fake)
        if fake.requires_grad:
            if fake.is_leaf:
                twin.requires_grad_()
            else:
                with torch.enable_grad():
                    twin = twin.copy_(torch.empty((), dtype=twin.dtype, device="meta", requires_grad=True))
        self.twin_of[id(fake)] = twin
        return twin

    def settle(self):
        """What was written: versions follow; a change of shape cannot be followed."""
        for twin, fake, version, shape in self.versions:
            if self.shape(fake) != shape:
                return False
            if fake._version != version:
                with torch.no_grad():
                    twin.zero_()
        return True


def walk(value, one):
    if isinstance(value, torch.Tensor):
        return one(value)
    if type(value) in (tuple, list):
        return type(value)(walk(v, one) for v in value)
    if type(value) is dict:
        return {k: walk(v, one) for k, v in value.items()}
    if isinstance(value, tuple) and hasattr(type(value), "n_sequence_fields"):
        return type(value)(walk(v, one) for v in value)
    return value


def on_fakes(fakes, target, is_method, args, kwargs):
    """The call with fakes in place of twins: callable, arguments, keywords."""
    with torch.no_grad():
        args, kwargs = walk(args, fakes.to_fake), walk(kwargs, fakes.to_fake)
    kwargs.pop("generator", None)
    return (getattr(args[0], target), args[1:], kwargs) if is_method else (target, args, kwargs)


def run(target, is_method, args, kwargs, device):
    fm = fake_mode()
    fakes = Fakes(device)
    target, args, kwargs = on_fakes(fakes, target, is_method, args, kwargs)
    from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException, UnsupportedFakeTensorException
    try:
        with fm:
            result = target(*args, **kwargs)
    except (DataDependentOutputException, DynamicOutputShapeException, UnsupportedFakeTensorException):
        return None
    lazy = []
    walk(result, lambda t: lazy.append(t.is_conj() or t.is_neg()))
    if any(lazy):
        return None
    seen = []
    twins = walk(result, lambda t: (seen.append(t.device), fakes.to_twin(t))[1])
    if not fakes.settle():
        return None
    return twins, seen[0] if seen else None


# Rules beside FakeTensorMode: config.verify_shapes.

checked = 0
differences = []  # (name, what the rule gave, what FakeTensorMode gave)


def describe(value):
    """What a result is, but for its data."""
    found = []
    walk([value], lambda t: found.append((tuple(t.size()), t.dtype, t.requires_grad, tuple(t.stride()) if t.numel() else None)))
    return found


def expect(target, is_method, args, kwargs, device):
    """Description of the result by FakeTensorMode, the text of an exception, or None: it cannot tell. The twins stay as they are."""
    fm = fake_mode()
    fakes = Fakes(device)
    target, args, kwargs = on_fakes(fakes, target, is_method, args, kwargs)
    from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException, UnsupportedFakeTensorException
    try:
        with fm:
            return describe(target(*args, **kwargs))
    except (DataDependentOutputException, DynamicOutputShapeException, UnsupportedFakeTensorException):
        return None
    except Exception as e:
        return f"{type(e).__name__}: {e}"


def agrees(target, expected, result, loose):
    """Whether a rule gave what is expected, strides only if it knows them."""
    global checked
    if expected is None:
        return True
    checked += 1
    given = describe(result)
    same = isinstance(expected, list) and len(given) == len(expected) and all(
        a[:3] == b[:3] and (loose & 1 or a[3] == b[3]) for a, b in zip(given, expected))
    if not same:
        name = target if isinstance(target, str) else getattr(target, "__name__", repr(target))
        differences.append((name, given, expected))
        logging.getLogger("jedlik").warning("the shape rule of %s gives %s, FakeTensorMode %s", name, given, expected)
    return same
