"""Changes of what a world is called with and in: arguments, torch's ambient state, patches of torch and of the builtins.

Takes: a World. Gives: pairs of a label and a function that makes the change and gives one that takes it back.
"""
import builtins
import contextlib
import functools
import itertools
import types

import numpy as np
import torch
import torch.nn.functional as F
from change_kit import OTHER_TENSORS, containers, other_numbers, put, put_item
from torch import nn

def leaves(args, kwargs):
    """(path, holder, key) of the tensors, numbers and containers in arguments."""
    def walk(holder, key, value, path):
        yield path, holder, key, value
        if isinstance(value, (list, tuple)):
            box = list(value)
            for i, v in enumerate(value):
                for p, h, k, x in walk(box, i, v, f"{path}[{i}]"):
                    yield p, (holder, key, type(value), box, h), k, x
        elif isinstance(value, dict):
            for n, v in value.items():
                yield from walk(value, n, v, f"{path}[{n!r}]")
        elif hasattr(value, "__dict__") and not isinstance(value, (torch.Tensor, nn.Module, type)):
            for n, v in vars(value).items():
                yield from walk(value, n, v, f"{path}.{n}")
    for i, v in enumerate(args):
        yield from walk(args, i, v, f"{i}")
    for n, v in kwargs.items():
        yield from walk(kwargs, n, v, n)


def store(holder, key, value):
    if type(holder) is tuple:  # an item of a list or tuple
        outer, at, kind, box, inner = holder
        store(inner, key, value) if inner is not box else box.__setitem__(key, value)
        store(outer, at, kind(box) if kind in (list, tuple) else kind(*box))
    elif isinstance(holder, (list, dict)):
        holder[key] = value
    else:
        setattr(holder, key, value)


def argument(w, path, make):
    """A turn that replaces what lies at a path."""
    def turn(args, kwargs):
        for p, holder, key, value in leaves(args, kwargs):
            if p == path:
                with contextlib.suppress(RuntimeError, ValueError, TypeError, IndexError, AttributeError):  # a change that is none for this value
                    store(holder, key, make(value))
                break
        return args, kwargs
    return lambda: turned(w, turn)


def turned(w, turn):
    w.turns.append(turn)
    return lambda: w.turns.remove(turn)


def argument_changes(w):
    given = w.g["args"](0)
    args, kwargs = given if len(given) == 2 and type(given[0]) is tuple and type(given[1]) is dict else (given, {})
    places = list(leaves(list(args), dict(kwargs)))
    found = [p for p, _, _, v in places if isinstance(v, torch.Tensor)]
    for path, _, _, v in places:
        if isinstance(v, torch.Tensor):
            for name, make in OTHER_TENSORS.items():
                yield f"arg {path} {name}", argument(w, path, make)
        elif isinstance(v, np.ndarray):
            for name, make in {"float32": lambda a: a.astype("f4"), "int": lambda a: a.astype(int), "2d": lambda a: a[None],
                               "tensor": torch.from_numpy, "step": lambda a: np.repeat(a, 2)[::2]}.items():
                yield f"arg {path} {name}", argument(w, path, make)
        else:
            for name in other_numbers(v):
                yield f"arg {path} {name}", argument(w, path, lambda v, name=name: other_numbers(v)[name] if name in other_numbers(v) else v)
            for name, make in containers(v).items():
                yield f"arg {path} {name}", argument(w, path, make)
    for a, b in itertools.combinations(found, 2):
        def alias(args, kwargs, a=a, b=b, view=False):
            at = {p: (h, k, v) for p, h, k, v in leaves(args, kwargs)}
            if a in at and b in at:
                x = at[a][2]
                store(at[b][0], at[b][1], x[:] if view and x.dim() else x)
            return args, kwargs
        yield f"args {b} is {a}", lambda alias=alias: turned(w, alias)
        yield f"args {b} views {a}", lambda alias=alias: turned(w, functools.partial(alias, view=True))
        yield f"args both of a leaf {a} {b}", lambda a=a, b=b: turned(w, functools.partial(both_of_a_leaf, a=a, b=b))
    if isinstance(w.fn, types.FunctionType) and args and w.fn.__code__.co_argcount >= len(args):
        names = w.fn.__code__.co_varnames

        def by_name(args, kwargs):
            return args[:-1], {**kwargs, names[len(args) - 1]: args[-1]}
        yield "args by name", lambda: turned(w, by_name)
    yield "args one less", lambda: turned(w, lambda args, kwargs: (args[:-1], kwargs))
    yield "args one more", lambda: turned(w, lambda args, kwargs: ([*args, 1], kwargs))
    yield "args unknown name", lambda: turned(w, lambda args, kwargs: (args, {**kwargs, "unknown": 1}))
    yield "args no names", lambda: turned(w, lambda args, kwargs: (args, {}))
    kept = []

    def same(args, kwargs):
        kept.append((args, kwargs))
        return kept[0]
    yield "args the same objects", lambda: turned(w, same)


def both_of_a_leaf(args, kwargs, a, b):
    at = {p: (h, k, v) for p, h, k, v in leaves(args, kwargs)}
    if a in at and b in at and getattr(at[a][2], "shape", 0) == getattr(at[b][2], "shape", 1):
        with torch.enable_grad():
            base = torch.cat([at[a][2], at[b][2]]).detach().requires_grad_()
            parts = (base * 1).chunk(2)
        store(*at[a][:2], parts[0])
        store(*at[b][:2], parts[1])
    return args, kwargs


# Torch's ambient state: contexts around the calls.

class Doubling(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        return out + 1 if func in (F.relu, torch.Tensor.mul, torch.mul, F.linear) and isinstance(out, torch.Tensor) else out


def dispatch_mode():
    from torch.utils._python_dispatch import TorchDispatchMode

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            out = func(*args, **(kwargs or {}))
            return out * 2 if func is torch.ops.aten.addmm.default else out
    return Mode()


@contextlib.contextmanager
def setting(read, write, value):
    old = read()
    write(value)
    try:
        yield
    finally:
        write(old)


CONTEXTS = {
    "no_grad": torch.no_grad, "enable_grad": torch.enable_grad, "inference_mode": torch.inference_mode,
    "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16), "autocast half": lambda: torch.autocast("cpu", dtype=torch.float16),
    "autocast off": lambda: torch.autocast("cpu", enabled=False),
    "autocast no cache": lambda: torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=False),
    "default dtype": lambda: setting(torch.get_default_dtype, torch.set_default_dtype, torch.float64),
    "default half": lambda: setting(torch.get_default_dtype, torch.set_default_dtype, torch.bfloat16),
    "deterministic": lambda: setting(torch.are_deterministic_algorithms_enabled, torch.use_deterministic_algorithms, True),
    "fill uninitialized": lambda: setting(lambda: torch.utils.deterministic.fill_uninitialized_memory,
                                          lambda v: setattr(torch.utils.deterministic, "fill_uninitialized_memory", v), False),
    "threads": lambda: setting(torch.get_num_threads, torch.set_num_threads, 2),
    "precision": lambda: setting(torch.get_float32_matmul_precision, torch.set_float32_matmul_precision, "medium"),
    "device meta": lambda: torch.device("meta"), "device cpu": lambda: torch.device("cpu"),
    "function mode": Doubling, "two function modes": lambda: stacked(Doubling, Doubling), "dispatch mode": dispatch_mode,
    "no torch_function": torch._C.DisableTorchFunctionSubclass, "no torch_function at all": torch._C.DisableTorchFunction,
    "saved tensor hooks": lambda: torch.autograd.graph.saved_tensors_hooks(lambda t: t * 1, lambda t: t * 2),
    "no saved hooks": lambda: torch.autograd.graph.disable_saved_tensors_hooks("no"), "save on cpu": lambda: torch.autograd.graph.save_on_cpu(),
    "anomaly": lambda: torch.autograd.set_detect_anomaly(True), "anomaly no nan": lambda: torch.autograd.set_detect_anomaly(True, check_nan=False),
    "no multithreading": lambda: torch.autograd.set_multithreading_enabled(False), "forward ad": lambda: torch.autograd.forward_ad.dual_level(),
    "no version counter": lambda: torch.autograd._unsafe_preserve_version_counter(()),
    "mkldnn off": lambda: torch.backends.mkldnn.flags(enabled=False),
    "seed": lambda: setting(torch.initial_seed, torch.manual_seed, 11),
    "sdpa math": lambda: torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH),
    "allow mutation": lambda: torch.autograd.graph.allow_mutation_on_saved_tensors(),
    "swap params": lambda: setting(torch.__future__.get_swap_module_params_on_conversion, torch.__future__.set_swap_module_params_on_conversion,
                                   True),
    "profiler": lambda: torch.autograd.profiler.record_function("p"),
    "parametrizations cached": lambda: torch.nn.utils.parametrize.cached(),
    "flush denormal": lambda: setting(lambda: False, torch.set_flush_denormal, True),
}


@contextlib.contextmanager
def stacked(*makers):
    with contextlib.ExitStack() as stack:
        for m in makers:
            stack.enter_context(m())
        yield


def around(w, make):
    w.around.append(make)
    return lambda: w.around.remove(make)


def ambient_changes(w):
    for name, make in CONTEXTS.items():
        yield f"ambient {name}", lambda make=make: around(w, make)

    relu, linear, tanh = F.relu, F.linear, torch.tanh
    patches = {
        "F.relu": (F, "relu", lambda x, *a, **k: relu(x) + 1), "F.linear": (F, "linear", lambda x, w, b=None: linear(x, w, b) * 2),
        "torch.tanh": (torch, "tanh", lambda x: tanh(x) - 1),
        "F.dropout": (F, "dropout", lambda x, *a, **k: x * 5), "Linear.forward": (nn.Linear, "forward", lambda self, x: linear(x, self.weight) * 3),
        "Linear.extra": (nn.Linear, "extra", 3), "Module.extra": (nn.Module, "extra", 3), "Tensor.extra": (torch.Tensor, "extra", 3),
        "Tensor.sum": (torch.Tensor, "sum", lambda self, *a, **k: self.mean()), "Tensor.add": (torch.Tensor, "__add__", lambda self, o: self.sub(o)),
        "Tensor.mul": (torch.Tensor, "__mul__", lambda self, o: self.div(o)),
        "Tensor.view": (torch.Tensor, "view", lambda self, *a: self.reshape(*a)),
        "Tensor.shape": (torch.Tensor, "shape", property(lambda self: (7, 7))), "Tensor.grad": (torch.Tensor, "grad", property(lambda self: 7)),
        "Tensor.dtype": (torch.Tensor, "dtype", property(lambda self: torch.float64)), "Tensor.__len__": (torch.Tensor, "__len__", lambda self: 1),
        "Tensor.__iter__": (torch.Tensor, "__iter__", lambda self: iter([self])), "Tensor.is_leaf": (torch.Tensor, "is_leaf", 7),
        "torch.rand": (torch, "rand", torch.ones),
        "Module.__call__": (nn.Module, "__call__", lambda self, *a, **k: (self.forward(*a, **k), "patched")),
        "Module._call_impl": (nn.Module, "_call_impl", lambda self, *a, **k: self.forward(*a, **k)),
        "Module.__getattr__": (nn.Module, "__getattr__",
                               functools.wraps(nn.Module.__getattr__)(lambda self, n, old=nn.Module.__getattr__: old(self, n))),
                               "Module.training": (nn.Module, "training", False),
        "torch.where": (torch, "where", lambda c, a, b: a), "torch.no_grad": (torch, "no_grad", torch.enable_grad),
        "F.scaled": (F, "scaled_dot_product_attention", lambda q, k, v, *a, **kw: q),
        "Sequential.forward": (nn.Sequential, "forward", lambda self, x: self[0](x)),
        "Dropout.forward": (nn.Dropout, "forward", lambda self, x: x * 2), "Linear.__call__": (nn.Linear, "__call__", lambda self, x: x),
    }
    for name, (holder, key, value) in patches.items():
        yield f"patch {name}", lambda holder=holder, key=key, value=value: briefly(w, holder, key, value)
    for name, fake in {"len": lambda v: 7, "sum": lambda *a: 8, "isinstance": lambda *a: False, "print": None, "list": tuple, "range": lambda n: [0],
                       "enumerate": lambda v: [(0, v[0])], "type": lambda v: int, "hasattr": lambda *a: False,
                       "getattr": lambda *a: None, "max": min, "float": int, "super": None, "sorted": list, "dict": lambda *a: 0,
                       "bool": int}.items():
        yield f"shadow {name}", lambda name=name, fake=fake: put_item(w.g, name, fake)
    for name, fake in {"len": lambda v: 7, "sum": lambda *a: 8}.items():
        yield f"builtins {name}", lambda name=name, fake=fake: briefly(w, builtins, name, fake)
    m = nn.modules.module
    hooks = {"forward": lambda: m.register_module_forward_hook(lambda mod, a, out: out * 2 if isinstance(out, torch.Tensor) else None),
             "pre": lambda: m.register_module_forward_pre_hook(lambda mod, a: None),
             "always": lambda: m.register_module_forward_hook(lambda mod, a, out: None, always_call=True),
             "kwargs": lambda: m.register_module_forward_hook(lambda mod, a, kw, out: None, with_kwargs=True),
             "backward": lambda: m.register_module_full_backward_hook(lambda mod, gi, go: None),
             "backward pre": lambda: m.register_module_full_backward_pre_hook(lambda mod, go: None),
             "parameter": lambda: m.register_module_parameter_registration_hook(lambda mod, n, p: None)}
    for name, make in hooks.items():
        yield f"all modules {name} hook", lambda make=make: make().remove


@contextlib.contextmanager
def patched(holder, name, value):
    back = put(holder, name, value)
    try:
        yield
    finally:
        back()


def briefly(w, holder, name, value):
    """During calls only: the observer needs the real ones."""
    return around(w, lambda: patched(holder, name, value))


# Modules.
