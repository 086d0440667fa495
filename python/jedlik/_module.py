"""CompiledModule: an nn.Module that stands in front of another one and is called through jedlik.

Takes: the module, what compile() was asked for, the callable that runs it. Gives: a module whose state lies under
`_orig_mod.`, as stock's does, and that passes everything else on.

A call goes to the callable without a Python frame: `__call__` is a *slot* of the class that holds it, and the
interpreter's call of an instance reads that slot. Whatever has to be seen by a call of this module itself (hooks on
it, a forward of its own, a lazy original) moves the slot to nn.Module's own way of calling.
"""
import copy

import torch

HOOKS = ("register_forward_hook", "register_forward_pre_hook", "register_backward_hook",
         "register_full_backward_hook", "register_full_backward_pre_hook")
OWN = frozenset(["_orig_mod", "forward", "__dict__"])
CALLED = frozenset(["forward", "_compiled_call_impl", "__call__"])


class CompiledModule(torch.nn.Module):
    __slots__ = ("__call__", "_wishes", "_run", "_ready")

    def __init__(self, mod, wishes, run):
        put = object.__setattr__
        put(self, "_ready", False)
        put(self, "_wishes", wishes)
        put(self, "_run", run)
        super().__init__()
        del self.__dict__["training"]  # the original's counts
        self._modules["_orig_mod"] = mod
        put(self, "forward", run)
        put(self, "__call__", self._call_lazy if hasattr(mod, "_initialize_hook") else run)
        put(self, "_ready", True)

    def _call_as_module(self):
        """From now on calls take nn.Module's way, with the hooks of this module around forward."""
        object.__setattr__(self, "__call__", super().__call__)

    def _call_lazy(self, *args, **kwargs):
        """Lazy parameters are made before anything is traced."""
        mod = self._modules["_orig_mod"]
        if hasattr(mod, "_initialize_hook"):
            mod._infer_parameters(mod, args, kwargs or None)
        object.__setattr__(self, "__call__", self._run)
        return self._run(*args, **kwargs)

    # -- Passing on ------------------------------------------------------------------

    @property
    def training(self):
        return self._modules["_orig_mod"].training

    @training.setter
    def training(self, value):
        if self._ready:
            self._modules["_orig_mod"].training = value
        else:
            self.__dict__["training"] = value

    def __getattr__(self, name):
        modules = self.__dict__.get("_modules")
        if not modules:
            raise AttributeError(name)
        if name == "_orig_mod":
            return modules["_orig_mod"]
        if name == "__signature__":  # what inspect.signature(module) shows
            import inspect
            return inspect.signature(modules["_orig_mod"].forward)
        return getattr(modules["_orig_mod"], name)

    def __setattr__(self, name, value):
        if not self._ready:
            return super().__setattr__(name, value)
        if name in OWN or hasattr(type(self), name):
            super().__setattr__(name, value)
            if name in CALLED and name != "__call__":
                self._call_as_module()
        else:
            setattr(self._orig_mod, name, value)

    def __delattr__(self, name):
        if name in OWN or hasattr(type(self), name):
            super().__delattr__(name)
        else:
            delattr(self._orig_mod, name)

    def __dir__(self):
        return sorted({*dir(self._orig_mod), *super().__dir__()})

    def __len__(self):
        if not hasattr(type(self._orig_mod), "__len__"):
            raise TypeError(f"{type(self._orig_mod).__name__} does not support len()")
        return len(self._orig_mod)

    def __bool__(self):
        return bool(self._orig_mod)

    # -- Copies ----------------------------------------------------------------------

    def __reduce__(self):
        return rebuild, (self._orig_mod, self._wishes)

    def __reduce_ex__(self, protocol):
        return self.__reduce__()

    def __deepcopy__(self, memo):
        return rebuild(copy.deepcopy(self._orig_mod, memo), self._wishes)


def rebuild(mod, wishes):
    """A copy of a compiled module is compiled as the original was; of a disabled one, disabled."""
    from jedlik import _api
    return _api.disable(mod) if wishes is None else _api.compile(mod, **wishes)


def with_hooks(name):
    """A method of nn.Module that registers a hook; calls then have to see it."""
    register = getattr(torch.nn.Module, name)

    def method(self, *args, **kwargs):
        handle = register(self, *args, **kwargs)
        self._call_as_module()
        return handle

    method.__name__, method.__doc__ = name, register.__doc__
    return method


for name in HOOKS:
    setattr(CompiledModule, name, with_hooks(name))
