"""What a program calls: compile, disable, graph_break and their relatives.

Takes: functions, methods, modules, callables. Gives: the engine's Compiled objects, or a CompiledModule.
"""
import functools
import sys
import types

from jedlik import _backends, _core, _errors
from jedlik._config import config

engine = _core.engine


# -- compile -----------------------------------------------------------------------

def compile(model=None, *, fullgraph=False, dynamic=None, backend=None, mode=None, options=None, name=None,
            disable=False, recompile_limit=None, isolate_recompiles=False, shapes_spec=None):
    """Captures what a function or module computes into graphs for a backend. Takes what torch.compile takes.

    model        function, method, nn.Module, class or other callable; without it the result is a decorator
    fullgraph    a graph break raises jedlik.Unsupported instead of going on in plain Python
    dynamic      as torch.compile
    backend      None (Inductor), "eager", "aot_eager", another name of torch's registry, or a callable
                 (gm, example_inputs) -> callable
    mode, options, name   for the backend, as torch.compile
    disable      returns the model as it is
    recompile_limit, isolate_recompiles   how often it may be compiled anew, and whether that is counted by itself
    shapes_spec  as torch.compile
    """
    wishes = dict(fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode, options=options, name=name,
                  disable=disable, recompile_limit=recompile_limit, isolate_recompiles=isolate_recompiles,
                  shapes_spec=shapes_spec)
    if model is None:
        return Decorator(wishes)
    if dynamic is not None and shapes_spec is not None:
        raise ValueError("`dynamic` and `shapes_spec` cannot both be set. `shapes_spec` controls dynamic behavior.")
    if disable:
        return model
    return wrap(model, wishes, make_options(wishes))


class Decorator:
    """compile(...) without a model: waits for it."""

    def __init__(self, wishes):
        self.wishes = wishes

    def __call__(self, model):
        if model is None:
            raise RuntimeError("Model can't be None")
        return compile(model, **self.wishes)


def make_options(wishes):
    """The engine's form of what was asked for. Equal requests have equal keys, and so share what was compiled."""
    _core.torch_module()  # too old a torch is told here
    dynamic, limit = wishes["dynamic"], wishes["recompile_limit"]
    backend, key = _backends.resolve(wishes["backend"], wishes["mode"], wishes["options"], dynamic, wishes["name"])
    fullgraph = bool(wishes["fullgraph"])
    limit = config.recompile_limit if limit is None else limit
    own = object() if wishes["isolate_recompiles"] else None
    return _core.call("make_options", backend, fullgraph, dynamic, limit, (key, fullgraph, dynamic, limit, own))


def compiled(function, options):
    return _core.call("Compiled", function, options)


def wrap(target, wishes, options):
    """The compiled form of a target of any kind."""
    target = innermost(target)
    if isinstance(target, (types.FunctionType, types.MethodType)):
        return compiled(target, options)
    if isinstance(target, (staticmethod, classmethod)):
        return type(target)(wrap(target.__func__, wishes, options))
    if isinstance(target, type):
        return wrap_class(target, wishes, options)
    if is_module(target):
        from jedlik._module import CompiledModule
        return CompiledModule(target, wishes, compiled(target.__call__, options))
    if not callable(target):
        raise TypeError(f"jedlik.compile takes a callable, not {type(target).__name__}")
    call = getattr(type(target), "__call__", None)
    if isinstance(call, types.FunctionType):
        return compiled(types.MethodType(call, target), options)
    return compiled(calling(target), options)


def wrap_class(cls, wishes, options):
    """A class is changed in place: its instances' calls are compiled."""
    def replace(name):
        method = getattr(cls, name)
        if isinstance(method, types.FunctionType):
            setattr(cls, name, compiled(method, options))

    torch = _core.torch_module()
    if torch is not None and issubclass(cls, torch.nn.Module):
        replace("_call_impl")
    elif "__call__" in dir(cls):
        replace("__call__")
    return cls


def calling(target):
    """A Python function that calls a callable without one (a partial, a built-in): the frame to trace. It has
    a code object of its own, so that what is compiled for one callable is not counted against another."""
    def call(*args, **kwargs):
        return target(*args, **kwargs)

    own = types.FunctionType(call.__code__.replace(), call.__globals__, getattr(target, "__name__", "call"), None,
                             call.__closure__)
    return functools.update_wrapper(own, target, updated=())


def is_module(target):
    torch = _core.torch_module()
    if torch is None or not isinstance(target, torch.nn.Module):
        return False
    if isinstance(target, torch.jit.ScriptModule) and not hasattr(target, "_orig_mod"):
        raise RuntimeError(f"jedlik.compile takes Python modules, and {type(target).__name__} is a scripted one: "
                           "compile the module it was made from.")
    return True


def innermost(target):
    """What a compiled or disabled callable was made from: asking again replaces the first request."""
    while True:
        inner = unwrapped(target)
        if inner is target:
            return target
        target = inner


def unwrapped(target):
    kind = getattr(engine, "Compiled", None)
    if kind is not None and isinstance(target, kind):
        return target.__wrapped__
    fields = getattr(target, "__dict__", None)
    if type(target).__name__ in ("CompiledModule", "OptimizedModule") and hasattr(target, "_orig_mod"):
        return target._orig_mod
    if isinstance(fields, dict) and fields.get("_torchdynamo_wrapper_id") == id(target):
        return fields["_torchdynamo_orig_callable"]
    return target


# -- Leaving parts out ----------------------------------------------------------------

class disable:
    """Keeps a function, module or class, and all that it calls, out of every graph. As a decorator, with or without
    arguments, and as a context manager. recursive=False leaves out only the function itself."""

    def __new__(cls, fn=None, recursive=True, *, reason=None):
        self = super().__new__(cls)
        self.recursive, self.reason, self.before = recursive, reason, []
        return self if fn is None else self(fn)

    def __call__(self, fn):
        fn = innermost(fn)
        if isinstance(fn, type):
            return self.disable_class(fn)
        if is_module(fn):
            from jedlik._module import CompiledModule
            return CompiledModule(fn, None, self(fn.__call__))
        if not callable(fn):
            raise TypeError(f"jedlik.disable takes a callable, not {type(fn).__name__}")
        return self.mark(fn)

    def __enter__(self):
        self.before.append(suspend(True))

    def __exit__(self, *exc):
        suspend(self.before.pop())

    def mark(self, fn):
        """A function that calls fn outside of any trace, with the marks by which tracers know it."""
        recursive = self.recursive

        def disabled(*args, **kwargs):
            before = suspend(recursive)
            try:
                return fn(*args, **kwargs)
            finally:
                suspend(before)

        functools.update_wrapper(disabled, fn)
        disabled._torchdynamo_disable = True
        disabled._torchdynamo_disable_msg = self.reason
        disabled._torchdynamo_disable_recursive = recursive
        disabled._torchdynamo_orig_callable = fn
        disabled._torchdynamo_wrapper_id = id(disabled)
        return disabled

    def disable_class(self, cls):
        torch = _core.torch_module()
        names = ["__init__", "__call__"]
        if torch is not None and issubclass(cls, torch.nn.Module):
            names.append("_call_impl")
        for name in names:
            if isinstance(getattr(cls, name, None), types.FunctionType):
                setattr(cls, name, self.mark(getattr(cls, name)))
        return cls


def suspend(on):
    """Whether frames entered from now on in this thread are left alone; gives what held before."""
    function = getattr(engine, "suspend", None)
    return function(bool(on)) if function else False


def graph_break(msg=""):
    """In a trace: ends the graph here. In plain Python: nothing."""


def is_compiling():
    """True in code that is being captured; torch.compiler.is_compiling() means the same."""
    torch = _core.torch_module()
    return torch is not None and torch.compiler.is_compiling()


# -- The engine's tables and state -----------------------------------------------------

KINDS = ("graph_op", "inline", "disable", "break", "true")


def register(fn, kind):
    """Says how a trace treats a function: "graph_op" a node of the graph, "inline" traced like the caller's own
    code, "disable" called for real after a break, "break" a break and nothing more, "true" the constant True.
    Returns fn, so that it serves as functools.partial(register, kind=...) decorators do."""
    if kind not in KINDS:
        raise ValueError(f"kind is one of {', '.join(KINDS)}, not {kind!r}")
    if not callable(fn):
        raise TypeError(f"jedlik.register takes a callable, not {type(fn).__name__}")
    _core.call("register", fn, kind)
    return fn


def reset():
    """Forgets all that was compiled, and counts from zero again."""
    _core.call("reset")
    _backends.reset_used()


def introduce():
    """Tells the engine of the Python objects that it has to know."""
    if hasattr(engine, "register"):
        engine.register(graph_break, "break")
        engine.register(is_compiling, "true")
    if hasattr(engine, "set_unsupported"):
        engine.set_unsupported(_errors.Unsupported)


introduce()
