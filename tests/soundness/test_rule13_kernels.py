"""Rule 13: operations that kernels refuse, or accept, whatever inference says of them: after a write, the exception comes from its place,
and the effects before it have happened.

Each row is an expression: dtypes that a kernel lacks, numbers it does not take, dimensions without elements, data of which no result can be made.
"""
import traceback

import pytest
import torch
import torch.nn.functional as F

import jedlik

LOG = []
T3, E0, I3 = torch.ones(3), torch.zeros(0), torch.arange(3)
B2, H3, U3 = torch.ones(2, dtype=torch.bool), torch.ones(3, dtype=torch.float16), torch.ones(3, dtype=torch.uint8)
M22, C2, MASK3 = torch.ones(2, 2), torch.ones(2, dtype=torch.complex64), torch.ones(3, dtype=torch.bool)
NANS = M22 / 0 - M22 / 0
CELL = []

EXPRESSIONS = [
    'T3.masked_scatter(MASK3, torch.zeros(1))', 'T3.as_strided((5,), (1,))', 'T3.as_strided((2,), (1,), 2)', 'torch.cdist(M22, M22, p=-1.0)',
    'torch.linalg.vector_norm(E0, float("inf"))', 'torch.linalg.matrix_norm(NANS, "nuc")', 'torch.norm(NANS, "nuc")', 'E0.mode()',
    'E0.median()', 'T3.kthvalue(7)', 'T3.topk(9)', 'F.softshrink(T3, -1.0)', 'F.celu(T3, 0.0)', 'torch.logit(I3, 0.1)', 'I3.lerp(I3, 0.5)',
    'B2.clamp(0)', '-B2', 'B2 - B2', '~T3', 'T3 & T3', 'C2.max(0)', 'C2 > C2', 'C2.floor()', 'torch.sign(C2)', 'I3.mean()', 'I3.std()',
    'I3.softmax(0)', 'H3.dot(H3)', 'B2.view(1, 2) @ B2.view(2, 1)', 'B2.relu()', 'F.gelu(I3)', 'F.silu(I3)', 'F.elu(I3)', 'F.celu(I3)',
    'F.leaky_relu(I3)', 'F.softplus(I3)', 'F.hardswish(I3)', 'F.threshold(B2, 1, 1)', 'F.logsigmoid(I3)', 'F.mish(I3)',
    'F.layer_norm(I3, (3,))', 'F.avg_pool1d(I3.view(1, 1, 3), 2)', 'F.max_pool1d(B2.view(1, 1, 2), 2)',
    'F.conv1d(I3.view(1, 1, 3), I3.view(1, 1, 3))', 'F.linear(U3, U3)',
    'F.bilinear(I3.view(1, 3), I3.view(1, 3), torch.ones(1, 3, 3, dtype=torch.int64))', 'B2.cumsum(0)', 'C2.cummax(0)', 'I3.logcumsumexp(0)',
    'B2.logsumexp(0)', 'B2.prod()', 'B2.var()', 'torch.dist(I3, I3)', 'torch.trace(B2.view(1, 2))', 'torch.diff(B2)',
    'torch.heaviside(T3, I3)', 'torch.copysign(C2, C2)', 'torch.hypot(I3, I3)', 'torch.nextafter(I3, I3)', 'torch.xlogy(C2, C2)',
    'torch.atan2(C2, C2)', 'I3.frac()', 'C2.lgamma()', 'B2.digamma()', 'C2.erf()', 'C2.sort()', 'C2.msort()', 'C2.argsort()',
    'T3.round(decimals=400)', 'I3.round(decimals=2)', 'T3.tril()', 'M22.repeat(2)', 'torch.complex(I3, I3)', 'torch.polar(H3, H3)',
    'torch.view_as_complex(I3.view(1, 3)[:, :2])', 'T3.view(torch.float64)', 'torch.eye(-1)', 'torch.linspace(0, 1, -1)',
    'torch.arange(0, 5, -1)', 'torch.arange(0, 5, 0)', 'torch.full((-1,), 1.0)', 'torch.full((2,), C2)', 'torch.cross(M22, M22)',
    'F.fold(torch.ones(1, 4, 3), (2, 2), (2, 2))', 'F.unfold(torch.ones(1, 1, 2, 2), (3, 3))', 'F.pixel_shuffle(torch.ones(1, 3, 2, 2), 2)',
    'F.huber_loss(T3, T3, delta=-1.0)', 'F.smooth_l1_loss(T3, T3, beta=-1.0)', 'F.mse_loss(I3, I3)', 'F.cosine_similarity(I3, I3, 0)',
    'F.pairwise_distance(I3, I3)', 'F.normalize(I3, dim=0)', 'torch._weight_norm(M22, M22, 5)',
    'F.affine_grid(torch.ones(1, 2, 3), (1, 1, 0, 2))', 'F.local_response_norm(M22, 2)', 'F.group_norm(I3.view(1, 3, 1), 3)',
    'F.rms_norm(I3, (3,))', 'torch.isclose(T3, T3, rtol=-1)', 'torch.where(T3, T3, T3)', 'T3.masked_fill(T3, 1)', 'T3.masked_fill(U3, 1)',
    'torch.combinations(T3, -1)', 'torch.diag(torch.ones(1, 1, 1))', 'T3.roll(1, 3)', 'torch.addcdiv(I3, I3, I3)',
    'torch.add(B2, B2, alpha=True)', 'torch.sub(T3, T3, alpha=1j)', 'torch.add(I3, I3, alpha=1.5)', 'T3.lerp(T3, H3)', 'C2.aminmax()',
    'C2.argmax()', 'E0.amax()', 'B2.argmin()', 'C2.any()', 'C2.count_nonzero()', 'torch.histc(I3)', 'torch.bincount(-I3)',
    'torch.einsum("ij,jk->ik", B2.view(1, 2), B2.view(2, 1))', 'torch.inner(B2, B2)', 'torch.outer(B2, B2)', 'torch.kron(B2, B2)',
    'torch.addmm(I3, I3.view(1, 3), I3.view(3, 1), beta=0.5)', 'torch.mv(U3.view(1, 3), U3)',
    'torch.bmm(B2.view(1, 1, 2), B2.view(1, 2, 1))',
    'torch.baddbmm(B2.view(1, 1, 2), B2.view(1, 1, 2), torch.ones(1, 2, 2, dtype=torch.bool))', 'torch.tensordot(B2, B2, 1)',
    'torch.vdot(B2, B2)', 'torch.sigmoid(C2)', 'torch.expm1(U3)', 'torch.special.ndtr(C2)', 'torch.i0(C2)', 'torch.sinc(B2)',
    'torch.isposinf(C2)', 'torch.fmax(C2, C2)', 'torch.maximum(C2, C2)', 'I3 % 0', 'I3 // 0', 'torch.div(I3, 0, rounding_mode="floor")',
    'torch.div(I3, torch.zeros(3, dtype=torch.int64), rounding_mode="trunc")', 'I3 ** (-1)', 'torch.gcd(T3, T3)', 'T3 << 1',
    'torch.bitwise_and(T3, T3)', 'torch.nan_to_num(C2)', 'F.hardtanh(U3, -1, 1)', 'F.hardtanh(B2)', 'F.relu6(B2)', 'F.prelu(I3, I3[:1])',
    'F.glu(I3[:2])', 'F.selu(I3)', 'F.hardsigmoid(I3)', 'F.softsign(B2)', 'F.tanhshrink(B2)', 'torch.cosh(B2)',
]


def plain(x):
    x.add_(1)
    LOG.append("before")
    r = CELL[0]()
    LOG.append("after")
    return r


def handled(x):
    x.add_(1)
    LOG.append("before")
    try:
        r = CELL[0]()
        LOG.append("after")
    except Exception as e:
        return type(e).__name__, str(e)
    return r


def unused(x):
    x.add_(1)
    LOG.append("before")
    CELL[0]()
    LOG.append("after")


def dropped(x):
    CELL[0]()
    return x + 1


def observed(f):
    LOG.clear()
    x = torch.ones(3)
    try:
        result = f(x)
    except Exception as e:
        result = type(e).__name__, str(e), [line.name for line in traceback.extract_tb(e.__traceback__) if line.filename == __file__][1:]
    return str(result), LOG[:], x.tolist()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", EXPRESSIONS)
def test_each(text):
    CELL[:] = [eval(f"lambda: {text}")]
    for f in (plain, handled, unused, dropped):
        jedlik.reset()
        expected, compiled = observed(f), jedlik.compile(f, backend="eager")
        assert observed(compiled) == expected
        assert observed(compiled) == expected


def overlaps_all():
    z = torch.zeros(1, 3).expand(2, 3)
    z += 1


def overlaps_by_index():
    z = torch.zeros(1, 3).expand(2, 3)
    z[0] = 1
    z[:] = 2


def overlaps_in_place():
    F.relu(torch.zeros(1, 3).expand(2, 3), inplace=True)


def overlaps_copy():
    torch.zeros(1, 3).expand(2, 3).copy_(torch.ones(2, 3))


def overlaps_a_part():
    z = torch.zeros(4)
    z[1:].add_(z[:-1])


def overlaps_itself_turned():
    z = torch.zeros(3, 3)
    z.add_(z.t())


def overlaps_out():
    z = torch.zeros(4)
    torch.add(z[1:], 1, out=z[:-1])


def overlaps_the_same():
    z = torch.ones(4)
    z[1:].add_(z[1:])
    z[:2].add_(z[2:])
    z.view(2, 2)[0].mul_(z[:2])
    return z


@pytest.mark.parametrize("make", [overlaps_all, overlaps_by_index, overlaps_in_place, overlaps_copy, overlaps_a_part, overlaps_itself_turned, overlaps_out, overlaps_the_same])
def test_memory_that_is_written_and_read(make):
    CELL[:] = [make]
    for f in (plain, handled, unused):
        jedlik.reset()
        expected, compiled = observed(f), jedlik.compile(f, backend="eager")
        assert observed(compiled) == expected
        assert observed(compiled) == expected


def test_an_argument_that_overlaps():
    def f(x, y):
        LOG.append("before")
        x.mul_(2)
        LOG.append("between")
        y.add_(1)
        return y
    for turn in (lambda x: x.expand(2, 3), lambda x: x[1:], lambda x: x[0]):
        jedlik.reset()
        compiled = jedlik.compile(f, backend="eager")
        expected = observed(lambda x: f(x, turn(x[None])))
        assert observed(lambda x: compiled(x, turn(x[None]))) == expected
        assert observed(lambda x: compiled(x, turn(x[None]))) == expected


def test_arguments_that_overlap_each_other():
    def f(x, y):
        LOG.append("before")
        x.mul_(2)
        LOG.append("between")
        y.add_(x[: y.shape[0]])
        return y
    for turn in (lambda x: x[1:], lambda x: x[:2], lambda x: x, lambda x: torch.ones(2)):
        jedlik.reset()
        compiled = jedlik.compile(f, backend="eager")
        expected = observed(lambda x: f(x, turn(x)))
        assert observed(lambda x: compiled(x, turn(x))) == expected
        assert observed(lambda x: compiled(x, turn(x))) == expected
