"""Rules 13 and 15: the graph raises after it has changed something outside: the exception comes from the right place, goes to the
right handler, and the effects before it, no others, have happened once."""
import traceback

import pytest
import torch
import torch.nn.functional as F

import jedlik

LOG = []


class State:
    def __init__(self):
        self.n, self.seen = 0, []


def index(x, i):
    return x[i]


def embedding(x, i):
    return F.embedding(i, x.unsqueeze(1) * 1)


def nll(x, i):
    return F.nll_loss(F.log_softmax(x.unsqueeze(0) * 1.0, -1), i[:1])


def cross_entropy(x, i):
    return F.cross_entropy(x.unsqueeze(0) * 1.0, i[:1])


def cholesky(x, i):
    return torch.linalg.cholesky(torch.eye(2) * (3.5 - i[0].float()))


def inverse(x, i):
    return torch.linalg.inv(torch.eye(2) * (9 - i[0].float()))


def asserted(x, i):
    torch._assert_async((i < 4).all())
    return x * 1


def index_select(x, i):
    return x.index_select(0, i)


def gather(x, i):
    return torch.gather(x, 0, i)


def put(x, i):
    y = x * 1
    y[i] = 2.0
    return y


def index_add_(x, i):
    return x.index_add_(0, i, torch.ones(i.shape[0]))


@torch.library.custom_op("jedlik_tests::checked", mutates_args=())
def checked(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    LOG.append("checked")
    if int(i.max()) > 3:
        raise IndexError("no such place")
    return x + 1


@checked.register_fake
def _(x, i):
    return torch.empty_like(x)


class Checked(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, i):
        return x[i] * 2

    @staticmethod
    def backward(ctx, g):
        return g, None


def autograd_function(x, i):
    return Checked.apply(x, i)


def custom_op(x, i):
    return checked(x, i)


RAISERS = [index, embedding, nll, cross_entropy, cholesky, inverse, asserted, index_select, gather, put, index_add_, custom_op,
           autograd_function]


def write_input(x):
    x.add_(1)


def write_view(x):
    x[1:].mul_(2)


def write_data(x):
    x.data.sub_(1)


def write_random(x):
    x.add_(torch.rand(4))


def write_custom(x):
    x.copy_(checked(x, torch.zeros(1, dtype=torch.int64)))


def write_nothing(x):
    pass


WRITERS = [write_input, write_view, write_data, write_random, write_custom, write_nothing]


def plain_body(raiser, writer):
    def fn(s, x, i):
        s.n += 1
        s.seen.append("before")
        writer(x)
        y = x * 3
        s.mid = y
        z = raiser(x, i)
        s.seen.append("after")
        writer(x)
        s.n += 1
        return y, z
    return fn


def handled_body(raiser, writer):
    def fn(s, x, i):
        s.n += 1
        writer(x)
        kept = x * 3
        unused = kept + 1
        try:
            s.seen.append("try")
            z = raiser(x, i)
            s.seen.append("after")
        except (IndexError, RuntimeError) as e:
            s.seen.append(type(e).__name__)
            writer(x)
            z = unused
        finally:
            s.seen.append("finally")
        return kept, z, x + 1
    return fn


def inner_body(raiser, writer):
    def inner(s, x, i):
        s.seen.append("inner")
        writer(x)
        with torch.no_grad():
            return raiser(x, i)

    def fn(s, x, i):
        s.n += 1
        y = x + 1
        try:
            z = inner(s, x, i)
        except Exception:
            s.grad_on = torch.is_grad_enabled()
            z = y
        s.seen.append(float(y.sum()) < 0)
        return y, z
    return fn


BODIES = [plain_body, handled_body, inner_body]


def values(v):
    if isinstance(v, torch.Tensor):
        return v.detach().clone()
    if isinstance(v, (tuple, list)):
        return [values(x) for x in v]
    return v


def equal(a, b):
    if isinstance(a, torch.Tensor):
        return isinstance(b, torch.Tensor) and torch.equal(a, b)
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(equal, a, b))
    return type(a) is type(b) and a == b


def observe(fn, i, state=None):
    torch.manual_seed(7)
    LOG.clear()
    s, x = State(), torch.arange(4.0)
    try:
        result = values(fn(s, x, i))
    except Exception as e:
        names = [f.name for f in traceback.extract_tb(e.__traceback__) if f.filename == __file__]
        lines = [f.lineno for f in traceback.extract_tb(e.__traceback__) if f.filename == __file__]
        result = [type(e), str(e), names[1:], lines[1:]]
    return result, values(x), {k: values(v) for k, v in vars(s).items()}, list(LOG), torch.rand(2)


def check(a, b):
    assert equal(a[0], b[0]), (a[0], b[0])
    assert equal(a[1], b[1]), (a[1], b[1])
    assert a[2].keys() == b[2].keys() and all(equal(v, b[2][k]) for k, v in a[2].items()), (a[2], b[2])
    assert a[3] == b[3] and torch.equal(a[4], b[4]), (a[3:], b[3:])


GOOD, BAD = torch.tensor([0, 1, 2, 3]), torch.tensor([9, 1, 2, 3])


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("raiser", RAISERS)
def test_each_combination(raiser, writer, body):
    fn = body(raiser, writer)
    compiled = jedlik.compile(fn, backend="eager")
    for i in (GOOD, BAD, GOOD, BAD, BAD):
        check(observe(compiled, i), observe(fn, i))


@pytest.mark.parametrize("raiser", [index, cross_entropy, custom_op])
def test_backends_that_give_back_what_they_were_given(raiser):
    fn = handled_body(raiser, write_view)
    compiled = jedlik.compile(fn, backend=lambda gm, inputs: gm.forward)
    for i in (GOOD, BAD, GOOD, BAD):
        check(observe(compiled, i), observe(fn, i))


def test_it_is_one_graph():
    """Nothing is cut: what a graph needs in order to raise is made when it does."""
    def fn(bn, w, x, t):
        y = F.linear(F.batch_norm(x, bn[0], bn[1], training=True), w)
        return F.cross_entropy(y, t)
    compiled = jedlik.compile(fn, backend="eager", fullgraph=True)

    def fresh():
        return (torch.zeros(4), torch.ones(4)), torch.ones(3, 4), torch.arange(8.0).reshape(2, 4)
    for t in (torch.tensor([0, 1]), torch.tensor([0, 7]), torch.tensor([2, 1])):
        a, b = fresh(), fresh()
        results = []
        for f, args in ((compiled, a), (fn, b)):
            try:
                results.append(f(*args, t))
            except (IndexError, RuntimeError) as e:
                results.append(str(e))
        assert equal(*results) and equal(values(a), values(b))


def test_numbers_drawn_before_are_drawn_once():
    def fn(x, i):
        y = F.dropout(x, 0.5, True)
        try:
            z = y[i]
        except IndexError:
            z = torch.rand(4)
        return y, z
    compiled = jedlik.compile(fn, backend="eager")
    for i in (GOOD, BAD, GOOD, BAD):
        torch.manual_seed(1)
        a = values(compiled(torch.ones(4), i))
        torch.manual_seed(1)
        assert equal(a, values(fn(torch.ones(4), i)))


def test_values_die_as_before_where_nothing_may_raise():
    """Only graphs that may need them keep their values."""
    import weakref
    alive = []

    @torch.library.custom_op("jedlik_tests::watch", mutates_args=())
    def watch(x: torch.Tensor) -> torch.Tensor:
        alive.append(weakref.ref(x))
        return x + 1

    def fn(x, p):
        y = torch.sin(x)
        z = y + 1
        p.add_(1)
        return z * 2
    compiled = jedlik.compile(fn, backend="eager", fullgraph=True)
    p = torch.zeros(3)
    for _ in range(3):
        compiled(torch.ones(3), p)
    assert p.tolist() == [3, 3, 3]


def test_embedding_that_writes_its_weight_and_raises():
    def fn(s, w, i):
        s.n += 1
        try:
            y = F.embedding(i, w, max_norm=0.5)
            z = w[i.sum()]
        except IndexError:
            s.seen.append("caught")
            y = z = w * 2
        return y, z
    compiled = jedlik.compile(fn, backend="eager")
    for i in ([0, 1], [1, 3], [0, 9], [2, 0], [0, 1]):
        results = []
        for f in (compiled, fn):
            s, w = State(), torch.arange(12.0).reshape(4, 3)
            results.append([*values(f(s, w, torch.tensor(i))), w, s.n, s.seen])
        assert equal(*results), i


@pytest.mark.parametrize("training", [True, False])
def test_statistics_are_written_once(training):
    def fn(bn, x, i):
        y = F.batch_norm(x, bn[0], bn[1], training=training)
        return y[i]
    compiled = jedlik.compile(fn, backend="eager", fullgraph=True)
    a, b = (torch.zeros(3), torch.ones(3)), (torch.zeros(3), torch.ones(3))
    for i in (0, 1, 9, 1):
        results = []
        for f, bn in ((compiled, a), (fn, b)):
            try:
                results.append(f(bn, torch.arange(12.0).reshape(4, 3), torch.tensor([i])))
            except IndexError as e:
                results.append(str(e))
        assert equal(*results) and equal(values(a), values(b))


def grad_into_input(s, x, i):
    w = torch.ones(4, requires_grad=True)
    s.n += 1
    flag = x.requires_grad
    x.mul_(w)
    try:
        z = x[i] if not flag else x
    except IndexError:
        s.seen.append(x.requires_grad)
        z = x * 2
    return z.detach()


def shape_of_input(s, x, i):
    s.n += 1
    rows = x.dim()
    x.unsqueeze_(0)
    try:
        z = x[i] * rows
    except IndexError:
        s.seen.append(tuple(x.shape))
        z = x * 2
    return z


@pytest.mark.parametrize("fn", [grad_into_input, shape_of_input])
def test_inputs_that_turn_into_others(fn):
    compiled = jedlik.compile(fn, backend="eager")
    for i in (torch.tensor([0]), BAD, torch.tensor([0]), BAD):
        check(observe(compiled, i), observe(fn, i))


class Managed:
    def __init__(self, s):
        self.s = s

    def __enter__(self):
        self.s.seen.append("enter")
        return self

    def __exit__(self, kind, value, tb):
        self.s.seen.append(("exit", kind and kind.__name__))
        return kind is not None and issubclass(kind, IndexError) and self.s.n > 2


def in_a_loop(s, x, i):
    parts = []
    for k in range(3):
        s.n += 1
        x.add_(k)
        parts.append(x * k)
        with Managed(s):
            parts.append(x[i + k])
        s.seen.append(len(parts))
    return parts


def in_a_comprehension(s, x, i):
    x.mul_(2)
    try:
        return [(s.seen.append(k), x[i - k] + k)[1] for k in range(3)]
    except IndexError:
        return x + len(s.seen)


def in_a_generator(s, x, i):
    def rows():
        for k in range(3):
            s.n += 1
            x.add_(1)
            yield x[i - k]
            s.seen.append(k)
    out = []
    try:
        for r in rows():
            out.append(r)
    except IndexError:
        out.append(x * 10)
    return out


def in_nested_handlers(s, x, i):
    d = {"a": 1}
    try:
        try:
            x.sub_(1)
            d["b"] = x * 2
            d["c"] = x[i]
        except KeyError:
            s.seen.append("never")
        finally:
            s.seen.append(sorted(d))
            x.add_(3)
    except IndexError as e:
        s.kept = e.args
        d.pop("a")
    return d.get("b"), len(d), x + 1


def in_a_callback(s, x, i):
    x.add_(1)
    try:
        order = sorted([2, 0, 1], key=lambda k: (s.seen.append(k), x[i].sum() * 0, k)[2])
    except IndexError:
        order = [s.n]
    return order, x * 2


def in_a_method(s, x, i):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.calls = 0
            self.register_buffer("seen", torch.zeros(4))

        def forward(self, v, j):
            self.calls += 1
            self.seen.add_(v)
            return F.embedding(j, self.seen[:, None]) + v.sum()
    net = Net()
    try:
        y = net(x, i)
    except IndexError:
        y = net(x, i * 0)
    return y, net.calls, net.seen * 1


@pytest.mark.parametrize("fn", [in_a_loop, in_a_comprehension, in_a_generator, in_nested_handlers, in_a_callback, in_a_method])
def test_wherever_it_is(fn):
    compiled = jedlik.compile(fn, backend="eager")
    for i in (torch.tensor([0, 1]), torch.tensor([3, 1]), torch.tensor([2, 9]), torch.tensor([0, 0]), torch.tensor([9, 9])):
        check(observe(compiled, i), observe(fn, i))


def subtract_a_bool(s, x, i):
    torch.mul(1, 1, out=x)
    try:
        if x - (i.dim() > 5):
            s.n += 1
    except RuntimeError:
        s.seen.append(i.dim())
    return x


def test_what_torch_infers_but_does_not_run():
    compiled = jedlik.compile(subtract_a_bool, backend="eager")
    for size in (6, 1, 6):
        worlds = [(State(), torch.arange(float(size)), torch.ones(2)) for _ in range(2)]
        a, b = (f(*w) for f, w in zip((subtract_a_bool, compiled), worlds))
        assert torch.equal(a, b) and vars(worlds[0][0]) == vars(worlds[1][0]) and worlds[0][0].seen == [1]


SET = {1, 2, "s"}


def a_set_of_hidden_history():
    return {"a"} | SET


def an_exception_that_was_raised():
    try:
        raise ValueError(1)
    except ValueError as e:
        return [e]


def a_group_that_was_split():
    try:
        raise ExceptionGroup("g", [ValueError(1)])
    except* ValueError as e:
        kept = e
    return kept


def an_attribute_error():
    try:
        return LOG.missing
    except AttributeError as e:
        return e


def holding_body(make):
    def fn(s, x, i):
        s.seen.append("before")
        held = make()
        write_input(x)
        s.seen.append("between")
        y = x[i]
        s.seen.append(type(held).__name__)
        return y
    return fn


@pytest.mark.parametrize("make", [a_set_of_hidden_history, an_exception_that_was_raised, a_group_that_was_split, an_attribute_error])
def test_values_that_no_break_could_hold(make):
    """What a plain exit would break for, the exit at the failed operation makes: nobody can wait for its effects."""
    fn = holding_body(make)

    def handled(s, x, i):
        try:
            return fn(s, x, i)
        except IndexError as e:
            s.seen.append(str(e))
    for f in (fn, handled):
        compiled = jedlik.compile(f, backend="eager")
        for i in (GOOD, BAD, BAD, GOOD):
            check(observe(compiled, i), observe(f, i))


def beyond_clamp(x, i):
    t = torch.ones(2)
    t.clamp_(max=1e300)
    return 1


def beyond_fill(x, i):
    torch.ones(2, dtype=torch.float16).fill_(70000)
    return 1


def beyond_mask(x, i):
    t = torch.ones(2, dtype=torch.uint8)
    t.masked_fill_(t > 0, 300)
    return 1


def beyond_alpha(x, i):
    x.add_(x * 2, alpha=2.0 ** 200)
    return 1


def beyond_integers(x, i):
    i.clone().clamp_(min=2.0 ** 70)
    return 1


def beyond_default(x, i):
    return torch.full((2,), 1e39)


def beyond_asked(x, i):
    return torch.full((2,), 300, dtype=torch.uint8) + x[0]


def beyond_slope(x, i):
    F.leaky_relu(x, 1e300, inplace=True)


def beyond_nothing(x, i):
    return x.clamp(max=float("inf")), i.clamp(-1, 2 ** 60), x.double().fill_(1e300), torch.ones(2).fill_(3e38), i.fill_(-5)


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("raiser", [beyond_clamp, beyond_fill, beyond_mask, beyond_alpha, beyond_integers, beyond_default, beyond_asked, beyond_slope, beyond_nothing])
def test_numbers_beyond_a_dtype(raiser, body):
    """Neither shape rules nor meta kernels refuse them."""
    fn = body(raiser, write_input)
    compiled = jedlik.compile(fn, backend="eager")
    for _ in range(3):
        check(observe(compiled, GOOD.clone()), observe(fn, GOOD.clone()))


def on_two_devices(x, y, log):
    x.add_(1)
    log.append(1)
    z = x + y
    return z


def test_operations_on_several_devices():
    """The twins are all on meta: they do not say that such an operation raises."""
    fast = jedlik.compile(on_two_devices, backend="eager")
    seen = []
    for f in (on_two_devices, fast, fast):
        x, log = torch.ones(3), []
        with pytest.raises(RuntimeError) as raised:
            f(x, torch.ones(3, device="meta"), log)
        own = [(e.name, e.lineno) for e in traceback.extract_tb(raised.value.__traceback__) if e.name == "on_two_devices"]
        seen.append((own, x.tolist(), x._version, log))
    assert seen[0] == seen[1] == seen[2] and len(seen[0][0]) == 1


@pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.float32, torch.complex64])
def test_views_of_any_dtype_raise_for_no_data(dtype):
    """After a write to an input, where a raise could not be taken back: views, padding and casts need no break."""
    def fn(x, m):
        x.add_(1)
        parts = [t.reshape(t.shape[0], -1) for t in m.split(2, dim=1)]
        a, b = (t[:, None].expand(-1, 3, -1) for t in parts)
        c = [torch.nn.functional.pad(t, (1, 1)).to(device=m.device, dtype=torch.float64) for t in (a.real, b.real)]
        return a.transpose(1, 2), b.select(2, 0).t(), c[0] + c[1] + x

    compiled, out = jedlik.compile(fn, backend="eager"), []
    before = jedlik.stats()["graphs"]
    for f in (fn, compiled):
        x, m = torch.zeros(()), torch.arange(8).reshape(2, 4).to(dtype)
        out.append((f(x, m), x))
    torch.testing.assert_close(out[0], out[1], rtol=0, atol=0)
    assert jedlik.stats()["graphs"] - before == 1


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
def test_padding_of_anything_behind_a_write(mode):
    """Modes, dtypes and sizes that kernels refuse are refused where the program pads."""
    for dtype in (torch.bool, torch.int64, torch.float32, torch.complex64):
        for shape in ((2, 3, 4), (2, 1, 4), (0, 3, 4), (2, 3, 0)):
            for widths in ((1, 1), (5, 0), (-1, 1), (1, 1, 1, 1)):
                def fn(x, t, widths=widths):
                    x.add_(1)
                    try:
                        return [F.pad(v, widths, mode=mode) for v in (t,)][0] + 0
                    except (RuntimeError, NotImplementedError, IndexError) as e:
                        x.mul_(3)
                        return type(e).__name__
                out = []
                for f in (fn, jedlik.compile(fn, backend="eager")):
                    x = torch.zeros(())
                    out.append((f(x, torch.zeros(shape, dtype=dtype)), x))
                assert repr(out[0]) == repr(out[1]), (dtype, shape, widths)
                jedlik.reset()


def asserts(s, x, i):
    if not (i < 4).all():  # as `assert`, which pytest makes something else of
        raise AssertionError("too large", i.max().item())
    return x * 2


def raises_if(s, x, i):
    if (i >= 4).any():
        s.n += 10
        raise KeyError(i.tolist())
    return x * 2


def asserts_inside(s, x, i):
    return [asserts(s, x, i) for _ in range(2)]


def asserts_as_a_value(s, x, i):
    ok = (i < 4).all()
    s.seen.append("asked")
    if not ok:
        raise AssertionError
    return ok


def checks(s, x, i):
    torch._check_tensor_all(i < 4, lambda: f"no {i.max().item()}")
    return x * 2


def guarded(s, x, i):
    try:
        return asserts(s, x, i)
    except AssertionError as e:
        s.seen.append(str(e))
        x.sub_(1)
    finally:
        s.seen.append("finally")
    return x + 1


@pytest.mark.parametrize("check_of", [asserts, raises_if, asserts_inside, asserts_as_a_value, checks, guarded])
def test_checks_of_data_behind_a_write(check_of):
    """The node that stands for a branch fails; the exception is the program's own."""
    def fn(s, x, i):
        s.seen.append("before")
        x.mul_(2)
        s.n += 1
        y = check_of(s, x, i)
        s.seen.append("after")
        return y
    compiled = jedlik.compile(fn, backend="eager")
    for i in (GOOD, BAD, GOOD, BAD, BAD):
        check(observe(compiled, i), observe(fn, i))
