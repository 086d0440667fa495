"""The engine, and the version of torch it can work with.

Takes: nothing. Gives: `engine`, the extension module; `call`, for what only some builds of it have; `torch_module`.
"""
import sys

try:
    from jedlik import _engine as engine
except ImportError as error:
    raise ImportError(
        f"jedlik's engine cannot be loaded ({error}). jedlik is built with `make dev` or `pip install .`, for the "
        f"interpreter that runs it; this one is CPython {sys.version.split()[0]}."
    ) from error

OLDEST_TORCH = (2, 8)
checked = None


def version_pair(text):
    """(2, 13) of '2.13.0+cpu'."""
    numbers = []
    for part in text.split("+")[0].split(".")[:2]:
        digits = "".join(c for c in part if c.isdigit())
        numbers.append(int(digits or 0))
    return tuple(numbers)


def torch_module(load=False):
    """torch, if the program has imported it (or it is to be loaded now), else None. Too old a torch raises."""
    global checked
    torch = sys.modules.get("torch")
    if torch is None and load:
        import torch
    if torch is not None and torch is not checked and hasattr(torch, "__version__"):
        if version_pair(torch.__version__) < OLDEST_TORCH:
            oldest = ".".join(map(str, OLDEST_TORCH))
            raise ImportError(f"jedlik needs torch {oldest} or newer; this is torch {torch.__version__}.")
        if hasattr(torch, "nn"):  # not in the middle of its own import
            checked = torch
    return torch


def call(name, *args):
    """Calls a function of the engine, or says clearly that this build has none of that name."""
    function = getattr(engine, name, None)
    if function is None:
        raise RuntimeError(f"jedlik's engine has no {name}(): it is older than its Python side. Build it again.")
    return function(*args)
