"""Tensors: views, in-place, out=, assignment by index, aliasing, questions, numbers, numpy, random."""
import math

import numpy
import torch
from kit import T, program

LOG = []
STATE = torch.zeros(3)
VIEW = torch.arange(6.0).reshape(2, 3)
ROW = VIEW[1]
CACHE = {}


def two():
    return T(2, 3)


def grad():
    return T(2, 3, grad=True)


def pair():
    x = T(2, 3)
    return x, x


def view_pair():
    x = T(2, 3)
    return x, x[0]


def apart():
    return T(2, 3), T(2, 3, at=5)


@program(two, grad)
def views(x):
    a, b, c = x.view(-1), x.t(), x[:, None]
    d = x.expand(2, 2, 3)
    return a, b, c, d, a[1:], b.reshape(-1), x.unbind(1)[0], torch.split(x, 2, dim=1)[1], x.as_strided((2, 2), (1, 2)), b._base is x, a.is_contiguous()


@program(two)
def inplace_through_a_view(x):
    row = x[0]
    flat = x.view(-1)
    row.add_(10)
    flat[4] = -1
    col = x[:, 1]
    col.mul_(2).sub_(1)
    del row
    return x, flat is x, flat.sum(), col, x._version, flat._version == x._version


@program(T)
def inplace_on_a_global(x):
    before = STATE._version
    STATE.add_(x)
    ROW.mul_(2)
    y = VIEW.sum() + STATE
    VIEW[0] = x
    return y, STATE._version - before, ROW is VIEW[1], ROW


@program(pair, view_pair, apart)
def aliased_arguments(x, y):
    x.add_(1)
    z = y * 2
    y.mul_(3)
    w = x + z[0] if z.dim() == 1 else x + z
    return x, y, z, w, x is y, x.data_ptr() == y.data_ptr(), y._base is x


@program(apart, pair)
def out_argument(x, y):
    got = torch.add(x, 1, out=y)
    buf = torch.empty(0)
    torch.mul(x, y, out=buf)
    pos, idx = torch.empty(2), torch.empty(2, dtype=torch.long)
    torch.max(x, dim=1, out=(pos, idx))
    return got is y, buf, pos, idx, y._version


@program(two, grad)
def index_reading(x):
    mask = x > 2
    return (x[1], x[-1, 0], x[..., 1], x[:, ::2], x[None, :, -1], x[[1, 0]], x[torch.tensor([0, 0])], x[mask], x[mask.any(1)], x[x.dim() - 1],
            x[(0, 1)], x[True], x[0].item() if not x.requires_grad else 0)


@program(two)
def index_writing(x):
    x[0] = 5
    x[1, 1:] = torch.tensor([7.0, 8.0])
    x[x > 6] = 0
    x[[0, 1], [2, 0]] += 1
    x[..., 0] *= -1
    x[:, 1], x[:, 2] = x[:, 2].clone(), x[:, 1].clone()
    y = torch.zeros(4)
    y[:3][1:] = 9
    y[None] = y + 1
    return x, y, y._version


@program(two, graphs=0)
def index_that_raises(x):
    x[0] += 1
    told = []
    for k in (5, (0, 9), (0, 0, 0), "a", 1.5):
        try:
            x[k]
        except (IndexError, TypeError) as e:
            told.append((type(e).__name__, str(e)[:40]))
    LOG.append(told)
    x[1] += 1
    x[7] = 3
    x[0] += 100


@program(two, grad)
def questions(x):
    y = x.double() + 1
    return (y.dtype, y.dtype.is_floating_point, x.device.type, x.device == y.device, x.layout, y.shape, y.size(0), y.size()[-1], y.stride(), y.ndim, x.numel(),
            len(x), x.is_floating_point(), x.element_size(), x.requires_grad, y.requires_grad, x.is_leaf, y.grad_fn is None, x.shape == torch.Size([2, 3]),
            x.shape[:1] + (4,), list(x.shape), x.is_cuda, y.storage_offset(), x.dtype == torch.float, torch.is_tensor(x), x.nbytes, x.itemsize)


@program(two, grad)
def conversions(x):
    y = x.to(torch.float64)
    z = x.to(x)
    w = x.long().to(device="cpu", dtype=torch.int8)
    return (y, z is x, x.float() is x, x.cpu() is x, x.contiguous() is x, x.t().contiguous(), w, x.type(torch.half), x.bool(), x.type_as(w), x.int().float().dtype,
            torch.promote_types(torch.int8, torch.half), (x.int() / 2).dtype, (x.int() + 1.5).dtype, (w + 1).dtype)


@program(two, lambda: T(2, 3, at=-4))
def items_and_lists(x):
    s = x.sum().item()
    n = int(x[0, 0])
    rows = x.tolist()
    y = x * s + n
    return y, s, n, rows, float(x[1, 1]), [v.item() for v in x[0]], bool(x[0, 1]), x.argmax().item(), f"{x[0, 2].item():.2f}", math.floor(x.mean()), round(s, 1)


@program(T, two, graphs=0)
def item_that_raises(x):
    told = []
    for f in (x.item, lambda: bool(x), lambda: int(x + 1), lambda: x.view(7), lambda: x @ torch.ones(9), lambda: x + torch.ones(8), lambda: x.add_(torch.ones(2, 2, 8))):
        try:
            f()
        except (RuntimeError, ValueError, TypeError) as e:
            told.append(type(e).__name__)
    return x + len(told), told


@program(two)
def with_numpy(x):
    a = x.numpy()
    a[0, 0] = 50
    y = x * 2
    b = torch.from_numpy(a)
    b.add_(1)
    c = numpy.ones(3, dtype=numpy.float32)
    z = y + torch.as_tensor(c)
    c[0] = 9
    return y, z, x, a.sum().item(), (y.detach().numpy() > 60).tolist(), torch.tensor(c), numpy.float32(2) * 3, float(numpy.sqrt(4.0)) * x


@program(two)
def random_numbers(x):
    a = torch.rand(3)
    b = torch.randn_like(x) * x
    torch.manual_seed(3)
    c = torch.randint(0, 10, (2,))
    torch.manual_seed(3)
    d = torch.randint(0, 10, (2,))
    e = torch.nn.functional.dropout(x, 0.5, training=True)
    g = torch.Generator().manual_seed(5)
    f = torch.rand(2, generator=g), torch.rand(2, generator=g)
    unused = torch.rand(4)
    return a, b, c.equal(d), e, f, torch.randperm(4), torch.bernoulli(torch.full((3,), 0.5)), x.clone().uniform_()


@program(two)
def random_state(x):
    state = torch.get_rng_state()
    a = torch.rand(2)
    torch.set_rng_state(state)
    b = torch.rand(2) + x[0, :2]
    with torch.random.fork_rng():
        torch.manual_seed(1)
        c = torch.rand(1)
    if a.sum() > 0.5:
        torch.rand(1)
    return a, b, c, torch.rand(1), torch.initial_seed() == 1


@program(two, grad)
def detach_clone_data(x):
    d, c = x.detach(), x.clone()
    c.mul_(2)
    with torch.no_grad():
        x[0, 0] = 9
        x.add_(1)
    d[1, 1] = -7
    e = x.data
    e[0] = 4
    return x, d, c, e, x._version, d.requires_grad, c.requires_grad, d._version


@program(grad, lambda: T(3, grad=True))
def backward_inside(x):
    y = (x * x).sum()
    y.backward()
    first = x.grad.clone()
    (g,) = torch.autograd.grad((x ** 3).sum(), x, create_graph=True)
    (g.sum() * 2).backward()
    LOG.append(x.grad is not None)
    seen = x.grad
    x.grad = None
    return first, g.detach(), seen, x.grad


@program(grad, graphs=0)
def inplace_on_a_leaf(x):
    y = x * 2
    y.add_(1)
    y[0] = 0
    z = y.sum()
    try:
        x.add_(1)
    except RuntimeError as e:
        LOG.append(str(e)[:30])
    z.backward()
    w = x.exp()
    w.mul_(2)
    w.sum().backward()


@program(T, two)
def made_inside(x):
    n = x.dim()
    return (torch.zeros(n, 2) + x.shape[0], torch.arange(n), torch.full_like(x, 3), x.new_ones(2), torch.tensor([[1, n]]), torch.tensor(2.5), torch.eye(n),
            torch.empty(0), torch.linspace(0, n, 3), torch.ones(()), torch.tensor(x.shape), torch.Size((n, 1)), torch.stack([x, x]), torch.tensor([x.sum(), 1.0]))


@program(two)
def grown_caches(x):
    key = tuple(x.shape)
    if key not in CACHE:
        CACHE[key] = torch.triu(torch.ones(key))
        LOG.append("made")
    mask = CACHE[key]
    mask[0, 0] += 1
    return x * mask, mask is CACHE[key]


@program(two, grad)
def attributes_on_tensors(x):
    x.tag = "input"
    y = x + 1
    y.tag = x.tag + "!"
    y.more = [x]
    z = y * 2
    return y, y.tag, hasattr(z, "tag"), y.more[0] is x, getattr(x, "none", 3), x.__dict__["tag"]


@program(two)
def swapped_storage(x):
    a, b = x[0], x[1]
    a.data, b.data = b.data, a.data
    x.set_(x.clone())
    y = x + a
    a.resize_(2)
    x.transpose_(0, 1).unsqueeze_(0)
    return y, a, b, x, x.shape


@program(apart, pair)
def comparisons(x, y):
    same = x is y, x.equal(y), torch.allclose(x, y), (x == y).all().item(), x.shape == y.shape, id(x) == id(y)
    a, b = torch.max(x, y), torch.where(x > 2, x, -y)
    return same, a, b, x in (y,) if x is y else None, [x, y].index(x), {x: 1}.get(y), x.eq(y).sum(), hash(x) == hash(y), max(x[0, 0], y[1, 1]), (x < 3) & (y > 1) | ~(x > y)


@program(two)
def scalars_and_tensors(x):
    s = x.sum()
    n = 3
    n += s
    k = 2 ** x[0, 1]
    y = 1 - x / s
    y //= 2
    y **= 2
    t = -s % 4
    return n, k, y, t, abs(-x), 1 / s, s.item() * 2, divmod(7, x[0, 2]) if False else None, pow(x, 2), x @ x.t(), round(float(s)), sum(x), s.int() << 1, 5 - s


@program(two)
def chunked_loops(x):
    out = []
    for row in x:
        row = row + 1
        out.append(row)
        for v in row:
            if v > 4:
                out.append(v)
                break
    rows = list(x)
    rows[0].zero_()
    a, b = x
    (c, *d), e = x
    return out, x, a is rows[0], b, d, len(rows), [*zip(x, range(5))], max(rows[1].tolist()), dict(enumerate(x))[1]
