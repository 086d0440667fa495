"""Rule 15: operators in Python that keep state stand in the graph; where they may see what is pending, or change what is read next, the
trace ends before or behind them, and the next graph begins there."""
import logging

import pytest
import torch

import jedlik

T = torch.Tensor
LOGGER = logging.getLogger("jedlik_cuts")
CACHE, LOG = {}, []
COUNT = 0


class Config:
    scale, made = 2, 0

    def __init__(self):
        self.seen = []

    def bump(self):
        type(self).made += 1
        self.seen.append(self.made)
        return self.made


CFG = Config()


def defined(f):
    made = torch.library.custom_op(f"jedlik_cuts::{f.__name__}", f, mutates_args=())
    made.register_fake(lambda x, *args: torch.empty_like(x))
    return made


@defined
def logged(x: T) -> T:
    LOGGER.debug("called with %s", x.shape)
    return x * 2


@defined
def cached(x: T) -> T:
    key = tuple(x.shape)
    if key not in CACHE:
        CACHE[key] = len(CACHE) + 1
    return x + CACHE[key]


@defined
def configured(x: T) -> T:
    return x * CFG.scale


@defined
def bumped(x: T) -> T:
    return x + CFG.bump()


@defined
def class_counter(x: T) -> T:
    Config.made += 1
    return x + Config.made


@defined
def by_name(x: T) -> T:
    setattr(CFG, "late", getattr(CFG, "late", 0) + 1)
    return x + CFG.late


@defined
def global_counter(x: T) -> T:
    global COUNT
    COUNT += 1
    return x * COUNT


def closure():
    n = 0

    @defined
    def closure_counter(x: T) -> T:
        nonlocal n
        n += 1
        return x + n

    def get():
        return n

    def clear():
        nonlocal n
        n = 0
    return closure_counter, get, clear


closure_counter, closure_get, closure_clear = closure()


def with_attribute(x):
    with_attribute.calls += 1
    return with_attribute.calls


@defined
def function_attribute(x: T) -> T:
    return x + with_attribute(x)


@defined
def picky(x: T) -> T:
    LOG.append("picky")
    CFG.late = len(LOG)
    if float(x.sum()) > 40:
        raise ValueError("too large")
    return x + 1


OPS = [logged, cached, configured, bumped, class_counter, by_name, global_counter, closure_counter, function_attribute, picky]


def state():
    return (CFG.scale, CFG.made, list(CFG.seen), getattr(CFG, "late", None), COUNT, closure_get(), with_attribute.calls, len(LOG),
            sorted(CACHE.values()))


def reads_before_and_behind(f):
    def fn(x):
        a = CFG.made, COUNT, closure_get(), with_attribute.calls
        y = f(x) * 2
        return y, a, (CFG.made, COUNT, closure_get(), with_attribute.calls, getattr(CFG, "late", -1), len(LOG), len(CACHE))
    return fn


def writes_before(f):
    def fn(x):
        CFG.made += 10
        CFG.scale = 5
        CFG.late = 7
        with_attribute.calls += 3
        LOG.append("before")
        y = f(x)
        CFG.scale = 2
        return y, f(y) + 1, CFG.late
    return fn


def in_a_loop(f):
    def fn(x):
        parts = []
        for k in range(4):
            x = f(x) + k
            parts.append((CFG.made + COUNT, closure_get(), with_attribute.calls))
            CFG.seen.append(k)
        return x, parts
    return fn


def in_a_callee(f):
    def inner(x, factor=1):
        LOG.append("inner")
        y = f(x)
        return y * factor + len(CFG.seen) + Config.made

    def fn(x):
        y = inner(x, factor=3) + inner(x)
        try:
            return inner(y, factor=COUNT), len(LOG)
        finally:
            CFG.seen.append(closure_get())
    return fn


def in_a_callback(f):
    def fn(x):
        out = []
        order = sorted([3, 1, 2], key=lambda k: (LOG.append(k), out.append(f(x) * k), CFG.made + k)[2])
        return order, out, len(LOG)
    return fn


def in_a_generator(f):
    def rows(x):
        for k in range(3):
            CFG.late = k
            yield f(x) + CFG.late
            LOG.append(k)

    def fn(x):
        return [r + CFG.made for r in rows(x)], [*LOG]
    return fn


def handled(f):
    def fn(x):
        LOG.append("start")
        try:
            for _ in range(5):
                CFG.scale += 1
                x = f(x) * 2
                LOG.append(CFG.made)
        except ValueError as e:
            return x, str(e), CFG.late, len(LOG)
        finally:
            CFG.scale = 2
        return x, CFG.scale
    return fn


def list_of_state(f):
    def fn(x):
        box = [CFG, LOG]
        y = f(x)
        box[1].append("late")
        return y + len(box[1]), box[0].made
    return fn


BODIES = [reads_before_and_behind, writes_before, in_a_loop, in_a_callee, in_a_callback, in_a_generator, handled, list_of_state]


def flat(v):
    return [flat(e) for e in v] if isinstance(v, (tuple, list)) else v.tolist() if isinstance(v, torch.Tensor) else v


def observe(fn, times=4):
    global COUNT
    COUNT, CFG.scale, Config.made, with_attribute.calls = 0, 2, 0, 0
    for c in (CFG.seen, LOG, CACHE):
        c.clear()
    vars(CFG).pop("late", None)
    vars(CFG).pop("made", None)
    closure_clear()
    out = []
    for k in range(times):
        try:
            out.append(flat(fn(torch.ones(2) * (k + 1))))
        except ValueError as e:
            out.append(str(e))
        out.append(state())
    return out


def wrapped(gm, inputs):
    return lambda *args: gm.forward(*args)


@pytest.mark.parametrize("backend", ["eager", wrapped])
@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("f", OPS, ids=lambda f: f._name)
def test_each(f, body, backend):
    if f is picky and backend is wrapped and body is not reads_before_and_behind:
        backend = "eager"  # another backend's operator runs twice if it raises: limits.md
    fn = body(f)
    want = observe(fn)
    assert observe(jedlik.compile(fn, backend=backend)) == want


@pytest.mark.parametrize("body", [reads_before_and_behind, writes_before, in_a_loop])
@pytest.mark.parametrize("f", [logged, cached, bumped, global_counter], ids=lambda f: f._name)
def test_aot_eager(f, body):
    fn = body(f)
    want = observe(fn, 2)
    assert observe(jedlik.compile(fn, backend="aot_eager"), 2) == want


@pytest.mark.parametrize("backend", ["eager", "aot_eager", wrapped])
@pytest.mark.parametrize("f", [f for f in OPS if f not in (picky, global_counter)], ids=lambda f: f._name)
def test_one_graph_where_nothing_is_shared(f, backend):
    """Nothing is pending, nothing that the operator may reach is looked at before or behind it."""
    layer = torch.nn.Linear(2, 2).requires_grad_(False)

    def fn(x):
        y = f(layer(x).relu()).sin()
        return torch.cat([y, layer(y)])
    want = observe(lambda x: fn(x).detach(), 2)
    compiled = jedlik.compile(fn, backend=backend, fullgraph=True)
    got = observe(lambda x: compiled(x).detach(), 2)
    assert len(want) == len(got)
    for a, b in zip(want, got):
        assert a == b if isinstance(a, tuple) else torch.allclose(torch.tensor(a), torch.tensor(b)), (a, b)


def test_effects_on_what_the_operator_cannot_reach_stay_pending():
    class Counter:
        n = 0
    c = Counter()

    def fn(x):
        c.n += 1
        y = logged(x)
        c.n += 1
        return y * 2, [c.n]
    compiled = jedlik.compile(fn, backend="eager", fullgraph=True)
    assert [compiled(torch.ones(1))[1] for _ in range(3)] == [[2], [4], [6]] and c.n == 6


def test_a_cut_says_where_and_why():
    def fn(x):
        LOG.append(1)
        return picky(x) + 1
    with pytest.raises(Exception, match="picky, which refers to") as e:
        jedlik.compile(fn, backend="eager", fullgraph=True)(torch.ones(2))
    assert "CUT" in str(e.value) or getattr(e.value, "id", "") == "CUT"


def test_a_cut_is_two_graphs_and_nothing_run_plainly():
    """The operator is a node of the second graph."""
    graphs = []

    def backend(gm, inputs):
        graphs.append([str(n.target) for n in gm.graph.nodes if n.op == "call_function"])
        return gm.forward

    def fn(x):
        y = x.sin()
        LOG.append(1)
        return picky(y).cos()
    LOG.clear()
    fn_c = jedlik.compile(fn, backend=backend)
    for _ in range(3):
        fn_c(torch.ones(2))
    assert len(graphs) == 2 and LOG == [1, "picky"] * 3


def test_library_operators_and_allowed_functions_are_cut_behind_effects():
    lib = torch.library.Library("jedlik_cuts_library", "FRAGMENT")
    lib.define("scaled(Tensor x) -> Tensor")
    lib.impl("scaled", lambda x: x * CFG.scale, "CPU")
    lib.impl("scaled", torch.empty_like, "Meta")

    @torch.compiler.allow_in_graph
    def allowed(x):
        return x + CFG.scale

    def fn(x, op):
        y = x.sin()
        CFG.scale += 1
        return op(y) * 2
    for op in (torch.ops.jedlik_cuts_library.scaled, allowed):
        seen = []
        for make in (lambda f: f, lambda f: jedlik.compile(f, backend="eager")):
            CFG.scale = 2
            f = make(fn)
            seen.append([f(torch.ones(2), op).tolist() for _ in range(3)] + [CFG.scale])
        assert seen[0] == seen[1]
    CFG.scale = 2
