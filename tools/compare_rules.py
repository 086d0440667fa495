"""Our classification of torch's callables beside the one stock's front-end uses, and where the two disagree.

Run by hand: `python tools/compare_rules.py [-v]`. It imports torch._dynamo, whose tables are read as facts to compare
with, and never by jedlik itself.
"""
import collections
import importlib
import pathlib
import sys

import torch

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path += [str(ROOT / "tests/torch"), str(ROOT / "python")]

PLACES = ["torch", "torch.nn.functional", "torch.functional", "torch.linalg", "torch.fft", "torch.special",
          "torch.sparse", "torch._C", "torch._C._VariableFunctions", "torch._C._nn", "torch.autograd",
          "torch.cuda", "torch.random", "torch.amp", "torch.backends.cuda", "torch.signal.windows", "torch.nn.init",
          "torch.nested", "torch.masked", "torch.compiler", "operator"]


def engine():
    from conftest import load
    module = load()
    module.torch_attach()
    return module


def stock_class(rules, f):
    kind = rules.lookup(f)
    name = getattr(kind, "__name__", "None")
    return {"TorchInGraphFunctionVariable": "node", "UserFunctionVariable": "none", "SkipFunctionVariable": "break",
            "PolyfilledFunctionVariable": "none", "BuiltinVariable": "none"}.get(name, name)


def callables():
    seen = set()
    for place in PLACES:
        parts = place.split(".")
        try:
            where = importlib.import_module(place)
        except ImportError:
            where = getattr(importlib.import_module(".".join(parts[:-1])), parts[-1])
        for name in sorted(dir(where)):
            f = getattr(where, name, None)
            if not callable(f) or name.startswith("__") or id(f) in seen:
                continue
            if isinstance(f, type) and issubclass(f, (Exception, torch.nn.Module)):
                continue
            seen.add(id(f))
            yield f"{place}.{name}", f


def main(verbose):
    ours = engine()
    from torch._dynamo import trace_rules as rules
    table, total = collections.defaultdict(list), 0
    for path, f in callables():
        mine = ours.torch_classify(f).split()[0]
        theirs = stock_class(rules, f)
        total += 1
        # Constants and functions with handlers are "in graph" there; a break is as good as a skip.
        if mine == theirs or theirs == "node" and mine in ("const", "special"):
            continue
        table[mine, theirs].append(path)
    for (mine, theirs), paths in sorted(table.items()):
        shown = paths if verbose else paths[:12]
        print(f"{mine:8} here, {theirs} there: {len(paths)}\n    " + "\n    ".join(shown) + ("\n    …" if len(shown) < len(paths) else ""))
    print(f"{total} callables, {sum(map(len, table.values()))} disagreements")


if __name__ == "__main__":
    main("-v" in sys.argv)
