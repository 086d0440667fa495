"""install() and uninstall(): torch.compile and everything that goes through it becomes jedlik's.

Module.compile and torch.compiler.compile look torch.compile up when they are called, so one name redirects all three.
"""
from jedlik import _api, _core

stock = None  # torch.compile as it was, while redirected


def install():
    """From now on torch.compile, Module.compile and torch.compiler.compile are jedlik's. Twice is once."""
    global stock
    torch = _core.torch_module(load=True)
    if torch.compile is not _api.compile:
        stock = torch.compile
        torch.compile = _api.compile


def uninstall():
    """Puts back what install() replaced; nothing if another has replaced it since."""
    global stock
    torch = _core.torch_module()
    if stock is not None and torch.compile is _api.compile:
        torch.compile = stock
        stock = None
