"""config.verify_shapes: answers of shape rules beside FakeTensorMode."""
import logging

import torch
import torch.nn.functional as F

import jedlik
from jedlik import _fakes


def program(x, w, b, i, t):
    y = F.relu(F.linear(x, w, b)).reshape(2, -1)
    z = torch.cat([y, y * 2], 1).softmax(-1)[:, i].sum(0, keepdim=True)
    q = F.scaled_dot_product_attention(*(x.reshape(1, 2, 3, 4),) * 3)
    y = y.clone()
    y += 1.5
    return z, q.transpose(1, 2).contiguous(), F.cross_entropy(y, t), y


def arguments():
    return (torch.ones(2, 3, 4, requires_grad=True), torch.ones(5, 4, requires_grad=True), torch.ones(5), torch.tensor([0, 1]),
            torch.tensor([1, 2]))


def test_rules_agree():
    before, found = _fakes.checked, len(_fakes.differences)
    with jedlik.config.patch(verify_shapes=True):
        compiled = jedlik.compile(program, backend="eager", fullgraph=True)
        a, b = compiled(*arguments()), program(*arguments())
    assert all(map(torch.equal, a, b))
    assert _fakes.checked - before >= 12 and _fakes.differences[found:] == []


def test_it_is_off_unless_asked_for():
    before = _fakes.checked
    jedlik.compile(program, backend="eager")(*arguments())
    assert _fakes.checked == before


def test_a_difference_is_told(monkeypatch):
    told = []
    monkeypatch.setattr(logging.getLogger("jedlik"), "warning", lambda text, *args: told.append(text % args))
    given = torch.empty(2, 3, device="meta")
    found = len(_fakes.differences)
    try:
        assert not _fakes.agrees(torch.sin, _fakes.describe(torch.empty(3, 2)), given, 0)
        assert not _fakes.agrees(torch.sin, "RuntimeError: no", given, 0)
        assert not _fakes.agrees(torch.sin, _fakes.describe(torch.empty(3, 2).t()), given, 0)
        assert _fakes.agrees(torch.sin, _fakes.describe(torch.empty(3, 2).t()), given, 1)  # strides are not certain
        assert _fakes.agrees(torch.sin, None, given, 0)  # it cannot tell
        assert len(_fakes.differences) == found + 3 and len(told) == 3 and all("sin" in text for text in told)
    finally:
        del _fakes.differences[found:]
