"""Inference by a trial on made-up data: what it gives is what eager gives, and it imports nothing."""
import operator
import os
import pathlib
import subprocess
import sys
import textwrap

import pytest
import torch
import torch.nn.functional as F
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path += [str(pathlib.Path(__file__).resolve().parents[2] / "tools"), str(pathlib.Path(__file__).resolve().parent)]
from compare_inference import compare  # noqa: E402
from layouts import FLOATS, tensors  # noqa: E402

CPU = torch.device("cpu")
PLAIN = FLOATS[:2]


def one(f, n, *args, **kwargs):
    """f of a tensor of n dims, of any layout."""
    return lambda draw: (f, (draw(tensors(PLAIN, min_dim=n, max_dim=n, counts=(1, 2, 3, 4))), *args), kwargs)


def alike(f, n, count, *args, dtypes=PLAIN, **kwargs):
    """f of so many tensors of one shape and dtype, each of any layout."""
    def make(draw):
        shape = draw(st.lists(st.sampled_from((1, 2, 3, 4)), min_size=n, max_size=n))
        dtype = [draw(st.sampled_from(dtypes))]
        return f, (*(draw(tensors(dtype, sizes=shape)) for _ in range(count)), *args), kwargs
    return make


def square(f, **kwargs):
    """What is made up is no singular matrix."""
    def make(draw):
        n = draw(st.sampled_from((1, 2, 3)))
        x = draw(tensors(PLAIN, sizes=[*draw(st.sampled_from([(), (2,)])), n, n]))
        eye = torch.eye(n, dtype=x.dtype).expand(x.shape)
        return f, ((x.detach() + eye).as_strided(x.shape, torch.empty_like(x).stride()).requires_grad_(x.requires_grad),), kwargs
    return make


def classes(f):
    """Rows of scores and their classes."""
    def make(draw):
        n = draw(st.sampled_from((1, 2, 3)))
        x = draw(tensors(PLAIN, sizes=[n, 4]))
        return f, (x, torch.zeros(n, dtype=torch.int64)), {"reduction": draw(st.sampled_from(["none", "mean", "sum"]))}
    return make


CALLS = {
    "softmin": one(F.softmin, 2, dim=-1), "nan_to_num": one(torch.nan_to_num, 2), "threshold": one(F.threshold, 2, 0.1, 0.0),
    "lerp": alike(torch.lerp, 2, 2, 0.5), "polar": alike(torch.polar, 2, 2), "std_mean": one(torch.std_mean, 2, -1),
    "kthvalue": one(torch.kthvalue, 2, 1), "count_nonzero": one(torch.count_nonzero, 2, 0), "diff": one(torch.diff, 2),
    "rot90": one(torch.rot90, 2), "fft": one(torch.fft.fft, 2), "rfft": one(torch.fft.rfft, 2), "cdist": alike(torch.cdist, 2, 2),
    "kron": alike(torch.kron, 2, 2), "block_diag": alike(torch.block_diag, 2, 2), "triplet": alike(F.triplet_margin_loss, 2, 3),
    "poisson": alike(F.poisson_nll_loss, 2, 2), "soft_margin": alike(F.soft_margin_loss, 2, 2), "huber": alike(F.huber_loss, 2, 2, "none"),
    "hinge": alike(F.hinge_embedding_loss, 2, 2, reduction="none"), "gaussian": alike(lambda x, y, v: F.gaussian_nll_loss(x, y, v), 2, 3),
    "reflect": one(F.pad, 4, (0, 0, 0, 0), mode="reflect"), "unfold": one(F.unfold, 4, 1), "adaptive_max": one(F.adaptive_max_pool2d, 4, 1),
    "instance_norm": lambda draw: (F.instance_norm, (draw(tensors(PLAIN, sizes=[2, 3, 4, 4])),), {}),
    "median": one(torch.nanmedian, 2, 0), "inv": square(torch.linalg.inv), "cholesky": square(torch.linalg.eigvalsh),
    "slogdet": square(torch.linalg.slogdet), "svd": one(torch.linalg.svd, 2), "multi_margin": classes(F.multi_margin_loss),
    "nll": classes(F.nll_loss), "cross_entropy": classes(F.cross_entropy),
    "take_along": lambda draw: (torch.take_along_dim, (draw(tensors(PLAIN, sizes=[2, 3])), torch.zeros(2, 1, dtype=torch.int64), 1), {}),
    "searchsorted": alike(torch.searchsorted, 2, 2, dtypes=PLAIN[:1]),
    "lerp_": lambda draw: (torch.Tensor.lerp_, (draw(tensors(PLAIN, sizes=[2, 3], grad=False)).clone(), torch.zeros(2, 3, dtype=torch.float32), 0.5), {}),
}


@pytest.mark.parametrize("name", CALLS)
def test_as_eager(engine, name):
    @settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    def run(data):
        f, args, kwargs = CALLS[name](data.draw)
        what = compare(engine, f, args, kwargs)
        assert what in (None, "declined") or what.startswith("eager raises"), (what, [(t.shape, t.stride(), t.dtype) if isinstance(t, torch.Tensor) else t for t in args])
    run()


def twins(engine, *args):
    return tuple(engine.torch_twin(a) if isinstance(a, torch.Tensor) else twins(engine, *a) if type(a) is tuple else a for a in args)


def shapes(result):
    return [t.shape for t in ((result,) if isinstance(result, torch.Tensor) else result)]


def test_data_decides_nothing(engine):
    """Operations whose results depend on values are not tried: they decline."""
    x, mask = torch.ones(4), torch.tensor([True, False, True, False])
    for f, args in [(torch.nonzero, (x,)), (torch.where, (mask,)), (torch.masked_select, (x, mask)), (torch.unique, (x,)),
                    (torch.repeat_interleave, (x, torch.ones(4, dtype=torch.int64))), (operator.getitem, (x, mask)),
                    (F.one_hot, (torch.arange(3),)), (torch.bincount, (torch.arange(3),)), (torch.equal, (x, x)),
                    (torch.allclose, (x, x)), (torch.linalg.lstsq, (torch.eye(2), torch.eye(2)))]:
        assert engine.torch_infer(f, twins(engine, *args), {}, CPU, True)[0] == "decline", f


def test_tensors_as_numbers(engine):
    """Torch takes a tensor of one integer for a size, a count or a dim, and one float for a scale: what they say is not known."""
    taken = 0
    x, n, one, scale = torch.ones(4, 4), torch.tensor(2), torch.tensor([2]), torch.tensor(2.0)
    for f, args in [(torch.Tensor.new_zeros, (x, (n, 3))), (torch.Tensor.new_zeros, (x, (one, 3))), (torch.Tensor.new_ones, (x, n)), (torch.roll, (x, n, 0)),
                    (torch.topk, (x, n)), (torch.kthvalue, (x, n)), (torch.diff, (x, n)), (torch.cumsum, (x, n)), (torch.tile, (x, (n, n))),
                    (torch.rot90, (x, n)), (F.pad, (x, (n, n))), (F.pad, (x, (one, one))), (torch.combinations, (x[0], n)), (torch.fft.fft, (x, n)),
                    (F.unfold, (x[None, None], n)), (torch.std_mean, (x, n)), (F.interpolate, (x[None, None], None, scale)), (torch.histc, (x, n)),
                    (torch.linalg.matrix_power, (x, n)), (F.adaptive_max_pool2d, (x[None], n))]:
        try:
            eager = f(*args)
        except Exception:
            continue
        taken += 1
        result = engine.torch_infer(f, twins(engine, *args), {}, CPU, True)
        assert result[0] == "decline" or shapes(result[1]) == shapes(eager), f
    assert taken > 12  # torch does take them


def test_leaves_no_trace(engine):
    """Generators, grad mode and arguments are as before."""
    state = torch.get_rng_state()
    a, b = twins(engine, torch.ones(2, 3), torch.ones(2, 3, requires_grad=True))
    out = engine.torch_infer(torch.lerp, (a, b, 0.5), {}, CPU, True)
    assert out[0] == "ok" and out[1].requires_grad and out[1].device.type == "meta"
    assert not engine.torch_infer(torch.lerp, (a, b, 0.5), {}, CPU, False)[1].requires_grad
    assert a._version == b._version == 0 and torch.is_grad_enabled() and torch.equal(state, torch.get_rng_state())


def test_written(engine):
    """What a trial writes is written in the twins: versions, and what requires grad from then on."""
    a, b = twins(engine, torch.ones(2, 3), torch.ones(2, 3, requires_grad=True))
    out = engine.torch_infer("lerp_", (a, b, 0.5), {}, CPU, True)
    assert out[1] is a and a._version == 1 and a.requires_grad and not a.is_leaf and b._version == 0
    x, mean, var = twins(engine, torch.ones(2, 3, 4), torch.zeros(3), torch.ones(3))
    out = engine.torch_infer(F.instance_norm, (x, mean, var), {}, CPU, True)
    assert out[0] == "ok" and (x._version, mean._version, var._version) == (0, 1, 1)


FIRST_CALLS = """
nn.Bilinear(4, 4, 2) | v, v
nn.InstanceNorm2d(4) | img
nn.AdaptiveMaxPool2d((2, 2)) | img
nn.LPPool2d(2, 2) | img
nn.EmbeddingBag(10, 4) | ids
nn.ReflectionPad2d(1) | img
nn.Unfold(2) | img
nn.Fold((3, 3), 2) | torch.ones(2, 16, 4)
nn.Softmin(-1) | v
nn.Threshold(0.1, 0.0) | v
nn.CosineEmbeddingLoss() | v, v, torch.ones(3)
nn.TripletMarginLoss() | v, v, v
nn.MarginRankingLoss() | v, v, v
nn.GaussianNLLLoss() | v, v, v.exp()
nn.PoissonNLLLoss() | v, v
nn.HingeEmbeddingLoss() | v, v
nn.MultiMarginLoss() | v, ids[0]
nn.SoftMarginLoss() | v, v
lambda x: torch.lerp(x, x, 0.5) | v
lambda x: torch.cdist(x, x) | v
lambda x: torch.linalg.inv(x) | torch.eye(3)
lambda x: torch.linalg.svd(x) | v
lambda x: torch.fft.fft(x) | v
lambda x: torch.searchsorted(x, x) | v
lambda x: F.grid_sample(x, torch.zeros(2, 2, 2, 2)) | img
lambda x: x.kthvalue(2) | v
lambda x: x.diff() | v
lambda x: torch.kron(x, x) | v
lambda x: torch.tensordot(x, x, ([1], [1])) | v
lambda x: torch.isin(x, x) | v
lambda x: torch.isin(x.long(), torch.tensor([1])) | v
lambda x: x.clone().index_put((torch.tensor([0]), torch.tensor([1])), torch.tensor(1.0)) | v
lambda x: torch._foreach_mul([x, x], torch.tensor(2.0)) | v
lambda x: nn.utils.clip_grad_norm_([P], 1.0) + x | v
lambda x: x.count_nonzero(-1) | v
lambda x: torch.polar(x, x) | v
lambda x: torch.std_mean(x, -1) | v
lambda x: x.rot90() | v
lambda x: torch.block_diag(x, x) | v
lambda x: x.clone().index_put((ids[0],), x[0]) | v
lambda x: x.nan_to_num() | v
lambda x: torch.take_along_dim(x, x.argsort(), 1) | v
lambda x: F.rrelu(x, training=True) | v
lambda x: torch.linspace(0, 1, 5) + x[0, 0] | v
lambda x: torch.multinomial(x.softmax(-1), 2) | v
lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None]) | v
lambda x: torch.arange(0.5, 3.5, dtype=torch.float32) + x[0, :3] | v
lambda x: F.gumbel_softmax(x) | v
lambda x: torch.eye(3) @ x | v
"""


def test_first_calls_import_nothing():
    """Each in a process of its own: neither sympy nor torch._dynamo is imported, and nothing breaks."""
    code = textwrap.dedent("""
        import os, sys, torch, jedlik
        import torch.nn as nn, torch.nn.functional as F
        P = nn.Parameter(torch.ones(3))
        P.grad = torch.ones(3)
        v, img, ids = torch.randn(3, 4), torch.randn(2, 4, 8, 8), torch.tensor([[1, 0, 2]])
        bad = []
        for line in sys.stdin.read().strip().splitlines():
            f, args = line.split(" | ")
            f, args = eval(f), eval("(" + args + ",)")
            f(*args)
            pid = os.fork()
            if pid == 0:
                jedlik.compile(f, backend="eager")(*args)
                rc = ("sympy" in sys.modules) + 2 * ("torch._dynamo" in sys.modules) + 4 * bool(jedlik.stats()["breaks"])
                os._exit(rc)
            rc = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            if rc:
                bad.append((line, rc))
        print(bad)
        assert not bad
    """)
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    r = subprocess.run([sys.executable, "-c", code], input=FIRST_CALLS, capture_output=True, text=True, env=env, timeout=300)
    assert r.returncode == 0, r.stdout + r.stderr[-2000:]
