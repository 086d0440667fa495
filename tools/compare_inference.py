"""Inference on meta twins beside eager, over torch's own samples of its operators: where sizes, dtype, requires_grad,
strides, offset, identity or view-ness differ.

Run by hand (a minute or so): `python tools/compare_inference.py [name …]`. Its findings stand in ops.def as LOOSE rows and
in infer.c; it exits with 1 if there are differences that inference did not announce.
"""
import collections
import importlib.util
import pathlib
import sys
import types
import unittest
import warnings

import torch

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path += [str(ROOT / "tests/torch"), str(ROOT / "python")]
CPU = torch.device("cpu")


def tree(value, one):
    if isinstance(value, torch.Tensor):
        return one(value)
    if type(value) in (tuple, list):
        return type(value)(tree(v, one) for v in value)
    if type(value) is dict:
        return {k: tree(v, one) for k, v in value.items()}
    return value


def tensors(value):
    out = []
    tree(value if isinstance(value, (tuple, list, dict)) and type(value) in (tuple, list, dict) else
         tuple(value) if isinstance(value, tuple) else value, out.append)
    return out


UNSURE_STRIDES, UNSURE_VIEW = 1, 2


def describe(t, args, unsure):
    d = {"shape": tuple(t.shape), "dtype": t.dtype, "requires_grad": t.requires_grad, "leaf": t.is_leaf,
         "argument": next((i for i, a in enumerate(args) if a is t), None)}
    if not unsure & UNSURE_STRIDES:
        d["stride"] = t.stride() if t.numel() else None
        d["offset"] = t.storage_offset()
        d["shares"] = next((i for i, a in enumerate(args) if a.untyped_storage()._cdata == t.untyped_storage()._cdata), None)
    if not unsure & UNSURE_VIEW:
        d["view"] = t._is_view() and d["argument"] is None
    return d


def compare(engine, f, args, kwargs):
    """None, 'declined', or what differs: of the first answer, and of the second, which is remembered."""
    return compare_once(engine, f, args, kwargs) or compare_once(engine, f, args, kwargs, "remembered: ")


def compare_once(engine, f, args, kwargs, note=""):
    real = tensors([args, kwargs])
    memo = {}
    twins = [memo.setdefault(id(t), engine.torch_twin(t)) for t in real]
    if any(t is None for t in twins):
        return "declined"
    to_twin = lambda v: tree(v, lambda t: memo[id(t)])
    name = getattr(f, "__name__", str(f))
    inferred = engine.torch_infer(f, tuple(to_twin(list(args))), to_twin(kwargs), CPU, True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            eager = f(*args, **kwargs)
        except Exception as e:
            return None if inferred[0] != "ok" else f"eager raises {type(e).__name__}: {str(e)[:60]}"
    if inferred[0] == "decline":
        return "declined"
    if inferred[0] == "raise":
        return f"inference raises {inferred[1]!r}"[:160]
    unsure = inferred[3]
    a, b = tensors(inferred[1]), tensors(eager)
    if len(a) != len(b) or type(inferred[1]) is not type(eager) and not isinstance(eager, torch.Tensor):
        return f"structure {type(inferred[1])} {type(eager)}"
    for x, y in zip(a, b):
        dx, dy = describe(x, twins, unsure), describe(y, real, unsure)
        if dx != dy:
            return note + ", ".join(f"{k}: {dx[k]} eager {dy[k]}" for k in dx if dx[k] != dy[k])
    return None


def swapped(t):
    """The same values with the last two dims exchanged in memory."""
    r = t.detach().transpose(-1, -2).contiguous().transpose(-1, -2) if t.dim() > 1 else t.detach()
    return r.requires_grad_(t.requires_grad)


def channels_last(t):
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    r = t.detach()
    r = r.contiguous(memory_format=formats[t.dim()]) if t.dim() in formats else r
    return r.requires_grad_(t.requires_grad)


def spread(t):
    """With gaps: neither contiguous nor dense."""
    if t.dim() == 0 or t.numel() == 0:
        return t
    big = torch.zeros(*t.shape[:-1], t.shape[-1] * 2, dtype=t.dtype)
    big[..., ::2] = t.detach()
    return big[..., ::2].detach().requires_grad_(t.requires_grad)


LAYOUTS = [lambda t: t, swapped, channels_last, spread]


def samples():
    if importlib.util.find_spec("expecttest") is None:  # torch's test helpers import it; the samples do without
        stub = sys.modules["expecttest"] = types.ModuleType("expecttest")
        stub.TestCase = unittest.TestCase
    from torch.testing._internal.common_methods_invocations import op_db
    for op in op_db:
        for dtype in (torch.float32, torch.int64, torch.complex64):
            if not op.supports_dtype(dtype, "cpu"):
                continue
            for grad in (False, True):
                if grad and not (dtype.is_floating_point and op.supports_autograd):
                    continue
                try:
                    for n, s in enumerate(op.sample_inputs("cpu", dtype, requires_grad=grad)):
                        if n == 12:
                            break
                        yield op, s
                except Exception:
                    continue


def main(only):
    from jedlik._engine import selftest as engine
    engine.torch_attach()
    found, declined, total = collections.defaultdict(collections.Counter), collections.Counter(), collections.Counter()
    for op, s in samples():
        name = op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")
        if only and not any(o in name for o in only):
            continue
        f = op.op
        if engine.torch_classify(f).split()[0] != "node":
            declined["not a node: " + name] += 1
            continue
        total[name] += 1
        try:
            for layout in LAYOUTS:
                memo = {}
                args, kwargs = tree([[s.input, *s.args], s.kwargs], lambda t: memo.setdefault(id(t), layout(t)))
                what = compare(engine, f, tuple(args), kwargs)
                if what and what != "declined":
                    break
        except Exception as e:
            what = f"harness {type(e).__name__} {str(e)[:80]}"
        if what == "declined":
            declined[name] += 1
        elif what:
            found[name][what] += 1
    for name, whats in sorted(found.items()):
        print(name, sum(whats.values()), "of", total[name])
        for what, n in whats.most_common(3):
            print("     ", n, what)
    print("declined:", " ".join(sorted(declined)))
    print(sum(total.values()), "calls of", len(total), "operators,", len(found), "operators differ")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
