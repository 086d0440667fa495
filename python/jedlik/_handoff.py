"""From a captured graph to what runs it: the GraphModule a backend is given, torch's surroundings for its compilers,
and what a backend may give back.

Takes: a torch.fx.Graph, the real inputs, a backend. Gives: a callable that takes the same inputs and returns a tuple or
list of the outputs. torch._dynamo and sympy are imported only if the backend is one of torch's compilers, or if the
program has imported them. Called by the engine (torch/handoff.c); "eager" never comes here.
"""
import collections
import contextlib
import itertools
import random
import sys
import types

import torch
from torch.fx._lazy_graph_module import _LazyGraphModule

from jedlik._nodes import out_of_graph

frame_ids = itertools.count()


class BackendError(RuntimeError):
    """A backend raised, or returned something that cannot be called.

    backend_name, inner_exception (also __cause__). Where stock's front-end is loaded, it is an instance of its
    BackendCompilerFailed too.
    """

    def __new__(cls, *args):
        return super().__new__(matching(cls), *args)

    def __init__(self, backend_name, inner_exception):
        text = f"{type(inner_exception).__name__}: {inner_exception}"
        RuntimeError.__init__(self, f"backend={backend_name!r} raised:\n{text}")
        self.backend_name, self.inner_exception = backend_name, inner_exception
        self.msg = str(self)

    def __reduce__(self):
        return BackendError, (self.backend_name, self.inner_exception)


joined = {}  # stock's class -> the class that is both


def matching(cls):
    stock = getattr(sys.modules.get("torch._dynamo.exc"), "BackendCompilerFailed", None)
    if cls is not BackendError or stock is None:
        return cls
    if stock not in joined:
        joined[stock] = type("BackendError", (BackendError, stock), {
            "__module__": __name__, "__doc__": BackendError.__doc__, "__init__": BackendError.__init__})
    return joined[stock]


def name_of(backend):
    return getattr(backend, "compiler_name", None) or getattr(backend, "__name__", type(backend).__name__)


# -- The module ---------------------------------------------------------------


def graph_module(graph):
    """Generates no code until somebody asks for it."""
    return _LazyGraphModule(torch.nn.Module(), graph)


def snapshot(graph):
    """What tells an untouched graph: the nodes, and the very objects they refer to."""
    return [(n, n.op, n.target, n.args, n.kwargs) for n in graph.nodes]


def untouched(graph, before):
    nodes = list(graph.nodes)
    return len(nodes) == len(before) and all(
        n is m and n.op == op and n.target is target and n.args is args and n.kwargs is kwargs
        for n, (m, op, target, args, kwargs) in zip(nodes, before))


def real_forward(compiled, gm, before, runner):
    """gm.forward of a lazy module is a stub for ever; the engine's own function, or the generated one, is what it means."""
    if not isinstance(compiled, types.MethodType) or compiled.__self__ is not gm:
        return compiled
    if compiled.__func__ is not _LazyGraphModule._lazy_forward:
        return compiled
    if before is not None and untouched(gm.graph, before) and not gm._modules and not hooked(gm):
        return runner
    gm.real_recompile()
    return types.MethodType(type(gm).forward, gm)


def hooked(gm):
    return any((gm._forward_hooks, gm._forward_pre_hooks, gm._backward_hooks, gm._backward_pre_hooks))


# -- Torch's surroundings -------------------------------------------------------


def is_torch_compiler(backend):
    """Ours of _backends (names of torch's registry), and what torch itself defines."""
    kind = backend if isinstance(backend, (types.FunctionType, type)) else type(backend)
    module = getattr(kind, "__module__", None) or ""
    return module == "jedlik._backends" or module.split(".")[0] == "torch"


def writes_late(backend):
    """Those that run a functional graph operation by operation: inputs are written in its last nodes."""
    from . import _backends
    return isinstance(backend, _backends.Named) and backend.name.startswith("aot_eager")


def plain(t):
    """Whether a FakeTensor may be made of sizes and strides alone."""
    return (type(t) in (torch.Tensor, torch.nn.Parameter) and t.layout is torch.strided and t.is_leaf and
            t.storage_offset() == 0 and not t._is_view() and not t.is_conj() and not t.is_neg() and not t.is_inference())


def storage(t):
    return t.untyped_storage()._cdata if isinstance(t, torch.Tensor) and t.layout is torch.strided else None


def shared_storages(inputs):
    """Those that more than one of the inputs is on."""
    seen = collections.Counter(map(storage, inputs))
    return {key for key, n in seen.items() if n > 1 and key is not None}


class Surroundings:
    """FakeTensorMode with a ShapeEnv, TracingContext and compile id, as AOTAutograd and both of its caches want them."""

    def __init__(self):
        from torch._guards import CompileContext, CompileId, TracingContext
        from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
        from torch.fx.experimental.symbolic_shapes import ShapeEnv
        self.make_fake = FakeTensor
        self.fake_mode = FakeTensorMode(shape_env=ShapeEnv())
        self.tracing = TracingContext(self.fake_mode)
        self.compiling = CompileContext(CompileId(frame_id=next(frame_ids), frame_compile_id=0))

    def fakes(self, inputs):
        """On one storage where the real tensors are."""
        shared = shared_storages(inputs)
        return [self.fake(t, shared) for t in inputs]

    def fake(self, t, shared):
        if not isinstance(t, torch.Tensor):
            return t
        if not plain(t) or storage(t) in shared:
            return self.fake_mode.from_tensor(t, static_shapes=True)
        with torch.no_grad():
            meta = torch.empty_strided(t.size(), t.stride(), dtype=t.dtype, device="meta")
        return self.make_fake(self.fake_mode, meta, t.device, requires_grad=t.requires_grad)

    def pin_sizes(self, t, name):
        """Real tensors that AOTAutograd turns into fakes keep their sizes as numbers."""
        from torch._dynamo.source import LocalSource
        from torch.fx.experimental.symbolic_shapes import DimDynamic, StatefulSymbolicContext
        static = [DimDynamic.STATIC] * t.dim()
        self.tracing.tensor_to_context[t] = StatefulSymbolicContext(
            dynamic_sizes=static, dynamic_strides=[DimDynamic.INFER_STRIDE] * t.dim(), constraint_sizes=[None] * t.dim(),
            constraint_strides=[None] * t.dim(), view_base_context=None, tensor_source=LocalSource(name),
            shape_env_to_source_to_symbol_cache={})

    @contextlib.contextmanager
    def installed(self, inputs):
        from torch._guards import compile_context, tracing
        with contextlib.ExitStack() as stack:
            stack.enter_context(compile_context(self.compiling))
            stack.enter_context(tracing(self.tracing))
            if shared_storages(inputs):
                # The cache's key does not say which inputs overlap; its entries do depend on it.
                import torch._functorch.config as config
                stack.enter_context(config.patch(enable_autograd_cache=False))
            yield


def annotate(gm, values):
    """The caches want the key on every node; sizes they find themselves."""
    inputs = iter(values)
    for node in gm.graph.nodes:
        if node.op == "placeholder":
            node.meta["example_value"] = next(inputs)
        elif node.op != "output":
            node.meta.setdefault("example_value", None)


@contextlib.contextmanager
def same_random_numbers():
    """A backend may draw some; the program must not notice."""
    generator = torch._C.default_generator
    before, python = generator.get_state(), random.getstate()
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else None
    try:
        yield
    finally:
        generator.set_state(before)
        random.setstate(python)
        if cuda is not None:
            torch.cuda.set_rng_state_all(cuda)


# -- The hand-off ---------------------------------------------------------------


def call_torch_compiler(backend, gm, inputs):
    """With fakes for inputs: torch's compilers need no data, and would take sizes of real tensors for variable."""
    around = Surroundings()
    fakes = around.fakes(inputs)
    annotate(gm, fakes)
    with around.installed(inputs):
        return without_disable(backend(gm, fakes))


def without_disable(compiled):
    """torch._dynamo.disable around the result keeps stock's hook off, which is not on."""
    inner = getattr(compiled, "_torchdynamo_orig_callable", None)
    return inner if callable(inner) else compiled


def call_user_backend(backend, gm, inputs):
    """With the real inputs. If the program uses torch._dynamo, it may call AOTAutograd: the surroundings are there."""
    if "torch._dynamo" not in sys.modules or not hasattr(sys.modules["torch._dynamo"], "optimize"):
        return backend(gm, list(inputs))
    around = Surroundings()
    names = [n.target for n in gm.graph.nodes if n.op == "placeholder"]
    for t, name in zip(inputs, names):
        if isinstance(t, torch.Tensor):
            around.pin_sizes(t, name)
    annotate(gm, around.fakes(inputs))
    with around.installed(inputs):
        return backend(gm, list(inputs))


def compile_graph(graph, inputs, backend, runner):
    """What runs the graph. `runner` is the engine's own function for it: what gm.forward means as long as nobody edits it.

    BackendError with the original as __cause__ if the backend raises (KeyboardInterrupt and the like pass).
    """
    gm = graph_module(graph)
    own = is_torch_compiler(backend)
    before = None if own else snapshot(graph)
    try:
        with same_random_numbers():
            compiled = (call_torch_compiler if own else call_user_backend)(backend, gm, inputs)
        if not callable(compiled):
            raise TypeError(f"a backend returns a callable, this one returned {type(compiled).__name__}")
    except BackendError:
        raise
    except Exception as error:
        refused = out_of_graph(error)
        if refused is not None:
            raise refused
        raise BackendError(name_of(backend), error) from error
    return real_forward(compiled, gm, before, runner)
