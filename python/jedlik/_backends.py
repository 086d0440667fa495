"""Backends: what `backend=`, `mode=` and `options=` come to, a callable (gm, example_inputs) -> callable.

Takes: a name or a callable. Gives: the callable, and a key that is equal for requests that are the same. Nothing of
torch's compiler is imported before a graph asks for it, and never for "eager".
"""
import sys
import warnings
import weakref

used = weakref.WeakSet()  # those with a reset(), for jedlik.reset()


def eager(gm, example_inputs):
    """Runs the graph as it was captured."""
    return gm.forward


class Named:
    """A backend of torch's registry, looked up when the first graph comes."""

    def __init__(self, name, extra):
        self.name, self.extra, self.found = name, extra, None
        self.compiler_name = name

    def __call__(self, gm, example_inputs):
        if self.found is None:
            self.found = self.look_up()
        return self.found(gm, example_inputs, **self.extra)

    def look_up(self):
        from torch._dynamo.backends.registry import lookup_backend
        return lookup_backend(self.name)

    def reset(self):
        if hasattr(self.found, "reset"):
            self.found.reset()


class Inductor(Named):
    """Inductor with torch.compile's modes and options, which it checks itself."""

    def __init__(self, mode, options, dynamic, name):
        super().__init__("inductor", {})
        self.request = (mode, options, dynamic) + ((name,) if name is not None else ())

    def look_up(self):
        import torch
        mode, options, *rest = self.request
        options = dict(options) if options else options
        kind = torch._TorchCompileInductorWrapper
        if options:
            options.pop("guard_filter_fn", None)
            if options.pop("use_aoti", False):
                kind = torch._TorchCompileAOTInductorWrapper
        return kind(mode, options, *rest)


class Given:
    """A callable of the user's with the keywords that torch.compile would pass on."""

    def __init__(self, function, extra):
        self.function, self.extra = function, extra
        self.compiler_name = getattr(function, "__name__", str(function))

    def __call__(self, gm, example_inputs):
        return self.function(gm, example_inputs, **self.extra)

    def reset(self):
        if hasattr(self.function, "reset"):
            self.function.reset()


def default_backend():
    """What torch.compiler.set_default_backend said, else Inductor."""
    registry = sys.modules.get("torch._dynamo.backends.registry")
    ask = getattr(registry, "get_default_backend", None)
    return ask() if ask else "inductor"


class Same:
    """Stands for an object without a hash: equal if that is the same one."""

    def __init__(self, it):
        self.it = it

    def __eq__(self, other):
        return isinstance(other, Same) and other.it is self.it

    def __hash__(self):
        return id(self.it)


def resolve(backend, mode=None, options=None, dynamic=None, name=None):
    """(callable, key). Raises for a name that nobody registered and for options that Inductor does not know."""
    if mode is not None and options is not None:
        raise RuntimeError(
            "Either mode or options can be specified, but both can't be specified at the same time.")
    if backend is None:
        backend = default_backend()
    key = (Same(backend) if backend.__hash__ is None else backend, mode if mode != "default" else None, tuple(sorted(options.items())) if options else None, name)
    found = make(backend, mode, options, dynamic, name)
    if hasattr(found, "reset"):
        used.add(found)
    return found, key


def make(backend, mode, options, dynamic, name):
    extra = {}
    if mode and mode != "default":
        extra["mode"] = mode
    if options:
        extra["options"] = options
    if backend == "inductor" and isinstance(backend, str):
        found = Inductor(mode, options, dynamic, name)
        if extra:
            found.found = found.look_up()  # wrong options are told where they were given
        return found
    if backend == "eager" and isinstance(backend, str):
        if extra:
            warnings.warn(f"the eager backend ignores {', '.join(extra)}", stacklevel=4)
        return eager
    if isinstance(backend, str):
        found = Named(backend, extra)
        if backend != "aot_eager":
            found.found = found.look_up()  # an unknown name is told at once
        return found
    if not callable(backend):
        raise TypeError(f"backend is a name or a callable (gm, example_inputs) -> callable, not {backend!r}")
    return Given(backend, extra) if extra or hasattr(backend, "reset") else backend


def reset_used():
    for backend in list(used):
        backend.reset()
