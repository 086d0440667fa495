import subprocess
import sys
import threading

import pytest
import torch


def tensors():
    base = torch.arange(120.)
    yield "plain", torch.zeros(3, 4)
    yield "scalar", torch.tensor(2)
    yield "strided", base.as_strided((3, 5), (11, 2), 7)
    yield "six dims", torch.zeros(1, 2, 1, 2, 1, 2).permute(5, 4, 3, 2, 1, 0)
    yield "grad", torch.zeros(2, requires_grad=True)
    yield "result", torch.zeros(2, requires_grad=True) * 2
    yield "parameter", torch.nn.Parameter(torch.zeros(2))
    yield "buffer", torch.nn.Buffer(torch.zeros(2))
    yield "half", torch.zeros(2, dtype=torch.float16)
    yield "bool", torch.zeros(2, 0, dtype=torch.bool)
    yield "conj", torch.zeros(2, dtype=torch.complex64).conj()
    yield "meta", torch.zeros(2, 3, device="meta")
    yield "view", torch.zeros(4, requires_grad=True)[1:]
    with torch.inference_mode():
        t = torch.zeros(2, 2)
    yield "inference", t


@pytest.mark.parametrize("t", [pytest.param(t, id=n) for n, t in tensors()])
def test_reading(engine, t):
    m = engine.torch_meta(t)
    assert m["size"] == tuple(t.size()) and m["stride"] == t.stride()
    assert m["storage_offset"] == t.storage_offset() and m["numel"] == t.numel()
    assert m["requires_grad"] == t.requires_grad and m["is_leaf"] == t.is_leaf
    assert m["has_grad_fn"] == (t.grad_fn is not None) and m["is_view"] == t._is_view()
    assert m["keys"] == torch._C._dispatch_keys(t).raw_repr()
    assert m["storage"] == t.untyped_storage()._cdata
    assert engine.torch_dtype(t) is t.dtype


@pytest.mark.parametrize("a", [pytest.param(t, id=n) for n, t in tensors()])
def test_guard(engine, a):
    block = engine.torch_tensor_block(a)
    assert engine.torch_tensor_check(a, block)
    for name, b in tensors():
        same = type(a) is type(b) and (a.shape, a.stride(), a.dtype, a.device, a.requires_grad) == (
            b.shape, b.stride(), b.dtype, b.device, b.requires_grad) and (
            torch._C._dispatch_keys(a).raw_repr() == torch._C._dispatch_keys(b).raw_repr())
        assert engine.torch_tensor_check(b, block) == same, name
        if not same:
            assert engine.torch_tensor_why(b, block) != "nothing differs"


def test_guard_says_why(engine):
    block = engine.torch_tensor_block(torch.zeros(2, 3))
    why = lambda t: engine.torch_tensor_why(t, block)
    assert why(torch.zeros(2, 3, dtype=torch.float64)) == "dtype float64, was float32"
    assert why(torch.zeros(3, 3)) == "sizes (3, 3), was (2, 3)"
    assert why(torch.zeros(3, 2).t()) == "strides (1, 2), was (3, 1)"
    assert why(torch.zeros(2, 3, requires_grad=True)) == "requires_grad True, was False"
    assert why(3) == "type int, was Tensor"


def test_in_place_changes_are_seen(engine):
    t = torch.zeros(2, 3)
    block = engine.torch_tensor_block(t)
    t.requires_grad_()
    assert not engine.torch_tensor_check(t, block)
    t.requires_grad_(False)
    assert engine.torch_tensor_check(t, block)
    t.data = torch.zeros(2, 3, dtype=torch.float64)
    assert not engine.torch_tensor_check(t, block)
    t.data = torch.zeros(2, 4)
    assert not engine.torch_tensor_check(t, block)


@pytest.mark.parametrize("make", [
    lambda: torch.zeros(2).to_sparse(),
    lambda: torch.zeros(2).to_mkldnn(),
    lambda: torch.quantize_per_tensor(torch.zeros(2), 0.1, 0, torch.quint8),
    lambda: torch._to_functional_tensor(torch.zeros(2)),
    lambda: torch._efficientzerotensor((2,)),
    lambda: torch.nested.nested_tensor([torch.zeros(2)]),
    lambda: torch.zeros([1] * 30),
    lambda: torch.zeros(2).as_subclass(type("Mine", (torch.Tensor,), {})),
    lambda: 3,
])
def test_what_is_not_described(engine, make):
    assert engine.torch_meta(make()) is None


def test_batched_is_not_described(engine):
    seen = []
    torch.vmap(lambda x: (seen.append(engine.torch_meta(x)), x)[1])(torch.zeros(2, 3))
    assert seen == [None]


def pushed(mode):
    return mode


AMBIENT = {
    "no_grad": torch.no_grad,
    "inference": torch.inference_mode,
    "autocast": lambda: torch.autocast("cpu"),
    "autocast half": lambda: torch.autocast("cpu", dtype=torch.float16),
    "device": lambda: torch.device("meta"),
    "no function": torch._C.DisableTorchFunction,
    "hooks": lambda: torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x),
    "no hooks": lambda: torch.autograd.graph.disable_saved_tensors_hooks("no"),
    "dual": torch.autograd.forward_ad.dual_level,
}


@pytest.mark.parametrize("name", AMBIENT)
def test_ambient(engine, name):
    block = engine.torch_ambient()
    assert engine.torch_ambient_check(block)
    with AMBIENT[name]():
        assert not engine.torch_ambient_check(block)
        inside = engine.torch_ambient()
        assert engine.torch_ambient_check(inside)
    assert engine.torch_ambient_check(block) and not engine.torch_ambient_check(inside)


def test_ambient_process_state(engine):
    n = torch.get_num_threads()
    settings = [
        (lambda: torch.set_default_dtype(torch.float64), lambda: torch.set_default_dtype(torch.float32)),
        (lambda: torch.use_deterministic_algorithms(True), lambda: torch.use_deterministic_algorithms(False)),
        (lambda: torch.set_num_threads(n + 1), lambda: torch.set_num_threads(n)),
        *[(lambda p=p: torch.set_float32_matmul_precision(p), lambda: torch.set_float32_matmul_precision("highest")) for p in ("high", "medium")],
        *[(lambda f=f: f(False), lambda f=f: f(True)) for f in (
            torch.backends.cuda.enable_flash_sdp, torch.backends.cuda.enable_math_sdp, torch.backends.cuda.enable_mem_efficient_sdp,
            torch._C._set_mkldnn_enabled, torch._C._set_cudnn_allow_tf32, torch._C._set_deterministic_fill_uninitialized_memory)],
    ]
    for on, off in settings:  # precisions say "none" until they are set once
        on()
        off()
    block = engine.torch_ambient()
    for on, off in settings:
        on()
        changed = not engine.torch_ambient_check(block)
        off()
        assert changed and engine.torch_ambient_check(block)


def test_ambient_is_per_thread(engine):
    block = engine.torch_ambient()
    seen = []

    def other():
        seen.append(engine.torch_ambient_check(block))
        with torch.no_grad():
            seen.append(engine.torch_ambient_check(block))

    with torch.no_grad():
        t = threading.Thread(target=other)
        t.start()
        t.join()
    assert seen == [True, False]


def test_tracable(engine):
    from torch.utils._python_dispatch import TorchDispatchMode

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    assert engine.torch_tracable() is None
    class Functions(torch.overrides.TorchFunctionMode):
        pass

    with torch.device("cpu"):
        assert engine.torch_tracable() is None
        with Functions():
            assert "function mode" in engine.torch_tracable()
    with Functions():
        assert "function mode" in engine.torch_tracable()
    with Mode():
        assert "dispatch mode" in engine.torch_tracable()
    seen = []
    torch.func.grad(lambda x: (seen.append(engine.torch_tracable()), x)[1])(torch.tensor(1.))
    assert "functorch" in seen[0]
    for ok in (torch.no_grad(), torch.inference_mode(), torch.autocast("cpu")):
        with ok:
            assert engine.torch_tracable() is None


def test_attaching_imports_nothing():
    code = ("import torch, sys; before = set(sys.modules); from jedlik import _engine; assert _engine.selftest.torch_attach();"
            "print(sorted(set(sys.modules) - before))")
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "_engine" in out and "dynamo" not in out and "sympy" not in out


def test_graph_text(engine):
    rows = [
        ("input", torch.zeros(2)), ("input", torch.zeros(2)), ("input", torch.zeros(1)),
        ("function", torch.sin, ({0},)),
        ("function", torch.cos, ({0},)),
        ("method", "view", ({3}, 2, -1)),
        ("function", __import__("operator").getitem, ({5}, (slice(None, 3), slice(1, None, 2), None, ...))),
        ("function", torch.nn.functional.dropout, ({6},), {"p": 0.5, "training": True}, False),
        ("function", torch.zeros, ((2, 3),), {"dtype": torch.float64, "device": torch.device("cpu")}),
        ("function", torch.cat, ([{8}, {7}],), {"dim": 0}),
        ("function", torch.fft.fft, ({9},)),
        ("function", torch.ops.aten.add.Tensor, ({10}, {1})),
    ]
    assert engine.torch_graph_text(rows, [11]) == """\
8
v0 = input L[0]
v1 = input L[1]
v2 = torch.sin v0
v3 = .view v2 2 -1
v4 = operator.getitem v3 (:3, 1::2, None, Ellipsis)
v5 = torch.nn.functional.dropout v4 p=0.5 training=True
v6 = torch.zeros (2, 3) dtype=torch.float64 device=device(type='cpu')
v7 = torch.cat [v6, v5] dim=0
v8 = torch.fft.fft v7
v9 = torch.ops.aten.add.Tensor v8 v1
return v9
"""
    # Impure nodes stay, whoever reads them.
    assert engine.torch_graph_text(rows, []).startswith("4\n")
