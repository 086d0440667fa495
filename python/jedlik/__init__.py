"""jedlik: graph capture for PyTorch, in C.

    import jedlik

    fast = jedlik.compile(model)          # takes what torch.compile takes
    print(jedlik.explain(model)(x))       # graphs, breaks, guards
    jedlik.install()                      # from now on torch.compile is jedlik's

The engine does the work; these modules are its thin Python side. Importing jedlik imports neither torch nor
anything of it: tensor support attaches itself when a program uses torch.
"""
from jedlik._api import compile, disable, graph_break, is_compiling, register, reset
from jedlik._config import config
from jedlik._errors import Unsupported
from jedlik._install import install, uninstall
from jedlik._report import dump, explain, stats

__version__ = "0.1.0"
__all__ = [
    "Unsupported", "compile", "config", "disable", "dump", "explain", "graph_break", "install", "is_compiling",
    "register", "reset", "stats", "uninstall",
]
