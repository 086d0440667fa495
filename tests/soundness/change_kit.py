"""What changes are made of: other values in place of a value, and how one is put somewhere and taken back."""
import collections
import contextlib

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

ABSENT = object()


def put(holder, name, value):
    """Sets an attribute (or deletes it); gives what takes it back."""
    old = vars(holder).get(name, ABSENT) if isinstance(holder, type) else getattr(holder, name, ABSENT)
    own = isinstance(holder, type) or not hasattr(holder, "__dict__") or name in holder.__dict__ or isinstance(holder, nn.Module)

    def set_(v):
        if v is ABSENT:
            with contextlib.suppress(AttributeError):
                delattr(holder, name)
        else:
            setattr(holder, name, v)
    set_(value)
    return lambda: set_(old if own else ABSENT)


def put_item(holder, key, value):
    old, order = holder.get(key, ABSENT), list(holder.items())

    def back():
        holder.clear()
        holder.update(order)
    if value is ABSENT:
        holder.pop(key, None)
    else:
        holder[key] = value
    return back if old is not ABSENT else lambda: holder.pop(key, None)


def other_numbers(v):
    """Values of other kinds, and of the same kind, in place of a number, text or None."""
    if isinstance(v, bool):
        return {"not": not v, "int": int(v), "none": None, "text": "x"}
    if isinstance(v, int):
        return {"plus": v + 1, "minus": v - 1, "zero": 0, "negative": -v, "float": float(v), "true": True, "none": None, "np": np.int64(v),
                "tensor": torch.tensor(v),
                "tensor1": torch.tensor([v]), "big": 2 ** 70 if v > 100 else v + 3, "np32": np.float32(v), "complex": complex(v), "sub": Int(v),
                "same": int(str(v)), "tensorf": torch.tensor(float(v)),
                "tensord": torch.tensor(float(v), dtype=torch.float64)}
    if isinstance(v, float):
        return {"twice": v * 2, "zero": 0.0, "minuszero": -0.0, "nan": float("nan"), "inf": float("inf"), "int": int(v), "none": None,
                "np": np.float64(v), "np32": np.float32(v),
                "tensor": torch.tensor(v), "tensor64": torch.tensor(v, dtype=torch.float64), "grad": torch.tensor(v, requires_grad=True),
                "true": True, "complex": complex(v, 1)}
    if isinstance(v, str):
        return {"other": v + "x", "tanh": "tanh", "empty": "", "none": None, "sub": Str(v)}
    if v is None:
        return {"zero": 0, "tensor": torch.ones(3), "false": False}
    return {}


class Int(int):
    def __mul__(self, other):
        return int(self) * other * 2
    __rmul__ = __mul__


class Str(str):
    pass


class Param(nn.Parameter):
    pass


class Sub(torch.Tensor):
    pass


class Loud(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        out = super().__torch_function__(func, types, args, kwargs or {})
        with torch._C.DisableTorchFunctionSubclass():
            return out * 2 if func in (torch.Tensor.mul, torch.Tensor.add, F.linear) and isinstance(out,
                                                                                                    torch.Tensor) and out.is_floating_point() else out


def inference(t):
    with torch.inference_mode():
        return t.detach().clone()


def hooked(t):
    t = t.detach().requires_grad_()
    t.register_hook(lambda g: g * 3)
    return t


def graded(t):
    t = t.detach().requires_grad_()
    t.grad = torch.ones_like(t)
    return t


def tagged(t):
    t.tag = 5
    return t


def in_grad(f):
    """A value with history, made whatever the mode."""
    def make(t):
        with torch.enable_grad():
            return f(t)
    return make


def transposed(t):
    """The same values, other strides."""
    if t.dim() < 2:
        return t.repeat_interleave(2)[::2] if t.dim() else t
    return t.transpose(-1, -2).contiguous().transpose(-1, -2)


OTHER_TENSORS = {
    "values": lambda t: t + 1 if not t.dtype == torch.bool else ~t,
    "float64": lambda t: t.double(), "bfloat16": lambda t: t.bfloat16(), "int": lambda t: t.int(), "bool": lambda t: t.bool(),
    "long": lambda t: t.long(),
    "complex": lambda t: t + 0j, "requires_grad": lambda t: t.detach().requires_grad_(),
    "nonleaf": in_grad(lambda t: t.detach().requires_grad_() * 1),
    "view": lambda t: t.view(t.shape), "view of leaf": in_grad(lambda t: t.detach().clone().requires_grad_().view(t.shape)),
    "transposed": transposed,
    "offset": lambda t: torch.cat([t, t])[len(t):] if t.dim() else t, "expanded": lambda t: t[:1].expand(t.shape) if t.dim() and len(t) else t,
    "longer": lambda t: torch.cat([t, t]) if t.dim() else t[None], "shorter": lambda t: t[:1] if t.dim() else t,
    "empty": lambda t: t[:0] if t.dim() else t,
    "unsqueezed": lambda t: t[None], "flat": lambda t: t.flatten(), "last one": lambda t: t[..., :1] if t.dim() else t, "zero-dim": lambda t: t.sum(),
    "parameter": lambda t: nn.Parameter(t.detach().clone()) if t.is_floating_point() else t,
    "frozen parameter": lambda t: nn.Parameter(t.detach().clone(), requires_grad=False),
    "param subclass": lambda t: Param(t.detach().clone()) if t.is_floating_point() else t, "subclass": lambda t: t.as_subclass(Sub),
    "loud subclass": lambda t: t.detach().as_subclass(Loud),
    "inference": inference, "hooked": hooked, "with grad": graded, "tagged": tagged,
    "nan": lambda t: t * float("nan") if t.is_floating_point() else t,
    "conj": lambda t: (t + 1j).conj(), "neg": lambda t: torch._neg_view(t),
    "channels_last": lambda t: t.contiguous(memory_format=torch.channels_last) if t.dim() == 4 else t,
    "sparse": lambda t: t.to_sparse(), "array": lambda t: t.detach().numpy(), "list": lambda t: t.tolist(), "number": lambda t: float(t.sum()),
    "none": lambda t: None,
    "as_strided": lambda t: t.detach().as_strided(t.shape, t.stride()),
    "detached": lambda t: t.detach(), "data": lambda t: t.data, "clone": lambda t: t.clone(), "version": lambda t: t.detach().clone().add_(0),
}


def containers(v):
    if isinstance(v, list):
        return {"tuple": tuple, "more": lambda v: v + v[-1:], "fewer": lambda v: v[:-1], "reversed": lambda v: v[::-1], "empty": lambda v: [],
                "sub": type("L", (list,), {})}
    if type(v) is tuple:
        return {"list": list, "more": lambda v: v + v[-1:], "fewer": lambda v: v[:-1], "sub": type("Tu", (tuple,), {})}
    if isinstance(v, dict):
        return {"reversed": lambda v: dict(reversed(v.items())), "fewer": lambda v: dict(list(v.items())[1:]),
                "more": lambda v: {**v, "new": torch.ones(2)},
                "ordered": collections.OrderedDict, "renamed": lambda v: {str(k) + "_": x for k, x in v.items()},
                "default": lambda v: collections.defaultdict(list, v)}
    return {}


def cleared(d):
    items = list(d.items())
    d.clear()
    return lambda: d.update(items)


def reordered(d):
    items = list(d.items())
    d.clear()
    d.update(items[::-1])

    def back():
        d.clear()
        d.update(items)
    return back


def filled(b):
    old = b.clone()
    b.fill_(1)
    return lambda: b.copy_(old)
