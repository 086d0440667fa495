import operator
import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F

NODE = "node"
CASES = [
    (torch.sin, "node pure"),
    (torch.sin_, "node mutates alias"),
    (torch.add, "node pure"),
    (torch.special.erf, "node pure"),
    (torch.zeros, "node factory pure"),
    (torch.rand, "node factory random"),
    (torch.rand_like, "node random"),
    (torch.nonzero, "node syncs"),
    (torch.unique, "node syncs"),
    (torch.split, "node view structured pure"),
    (torch.linalg.inv, "node"),
    (torch.linalg.slogdet, "node structured"),
    (torch.fft.fft, "node"),
    (F.linear, "node pure"),
    (F.relu, "node alias pure"),
    (F.dropout, "node random alias"),
    (F.batch_norm, "node mutates"),
    (F.embedding, "node"),
    (F.scaled_dot_product_attention, "node random"),
    (F.multi_head_attention_forward, "node random structured"),
    (F._canonical_mask, "none"),
    (torch.einsum, "node alias pure"),
    (torch.finfo, "const"),
    (torch.Size, "const"),
    (torch.promote_types, "const"),
    (torch.is_grad_enabled, "special"),
    (torch.is_tensor, "special"),
    (torch.no_grad, "special"),
    (torch.seed, "break"),
    (torch.save, "break"),
    (torch.autograd.grad, "break"),
    (torch.from_numpy, "break"),
    (torch._C._jit_init, "break"),
    (torch.nn.Linear, "none"),
    (torch.ops.aten.add.Tensor, "node structured"),
    (torch.ops.aten.add_, "node mutates alias structured"),
    (torch.ops.aten.bernoulli.p, "node random structured"),
    (torch.ops.aten.nonzero, "node syncs structured"),
    (torch.ops.higher_order.cond, "break"),
    (operator.add, "node pure"),
    (operator.iadd, "node mutates alias"),
    (operator.getitem, "node view"),
    (torch.Tensor.add, "node pure"),
    (torch.Tensor.add_, "node mutates alias"),
    (torch.Tensor.__getitem__, "node view"),
    (torch.Tensor.split, "node view structured pure"),
    (torch.Tensor.__pow__, "node"),
    (len, "none"),
    (print, "none"),
    (object(), "none"),
    (lambda: 0, "none"),
]


@pytest.mark.parametrize("f,want", CASES, ids=str)
def test_callables(engine, f, want):
    assert engine.torch_classify(f) == want


@pytest.mark.parametrize("name,want", [
    ("add", "node pure"), ("add_", "node mutates alias"), ("to", "node alias"), ("contiguous", "node alias pure"),
    ("view", "node view pure"), ("item", "node syncs"), ("tolist", "node syncs"), ("__bool__", "node syncs"),
    ("size", "special"), ("numel", "special"), ("backward", "break"), ("register_hook", "break"),
    ("requires_grad_", "special"), ("__setitem__", "node mutates"), ("__iadd__", "node mutates alias"),
    ("no_such_method", "none"), ("norm", "node pure"), ("unflatten", "node view pure"), ("index_add_", "node mutates alias"),
    ("numpy", "node syncs"), ("__len__", "special"), ("new_zeros", "node pure"), ("bernoulli_", "node random mutates alias"),
])
def test_methods(engine, name, want):
    assert engine.torch_classify_method(name) == want


@pytest.mark.parametrize("name,want", [
    ("T", "node pure"), ("real", "node pure"), ("shape", "special"), ("grad", "special"), ("data", "node"), ("_cdata", "break"),
    ("whatever", "break"),
])
def test_attributes(engine, name, want):
    assert engine.torch_classify_attr(name) == want


def test_every_node_name_exists():
    """A row that names nothing of this torch is a typing error (or of another version: listed here)."""
    import pathlib
    import re
    text = (pathlib.Path(__file__).parents[2] / "src/torch/ops.def").read_text()
    known = set(dir(torch.Tensor)) | set(dir(torch)) | set(dir(F)) | set(dir(operator))
    for m in (torch._C._VariableFunctions, torch._C._nn, torch._C._fft, torch._C._linalg, torch._C._special, torch.functional,
              torch._lowrank, torch.nested, torch.random):
        known |= set(dir(m))
    other = set("convolution fix lift_fresh slice im2col col2im _batch_norm_with_update native_dropout_backward".split())
    unknown = []
    for body in re.findall(r'^OPS\(\w+,((?:\s*"[^"]*")+)\)', text, re.M):
        for word in re.sub(r'["\s]+', " ", body).split():
            if word not in known and word not in other:
                unknown.append(word)
    assert not unknown, unknown


def test_every_torch_function_is_decided(engine):
    """Nothing in C that torch exports is 'not torch's business'."""
    for m in (torch._C._VariableFunctions, torch._C._nn, torch._C._fft, torch._C._linalg, torch._C._special):
        for name in dir(m):
            f = getattr(m, name)
            if not name.startswith("__") and callable(f):
                assert engine.torch_classify(f) != "none", name
