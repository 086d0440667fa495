import importlib.util
import pathlib
import sys
import tempfile
import types

import pytest
import torch  # noqa: F401  (the engine looks torch up in sys.modules)



def load():
    try:
        from jedlik._engine import selftest
        if hasattr(selftest, "torch_attach"):
            return selftest
    except ImportError:
        pass
    # Without the engine the package cannot be imported; its torch side can.
    package = types.ModuleType("jedlik")
    package.__path__ = [str(pathlib.Path(__file__).resolve().parents[2] / "python/jedlik")]
    sys.modules["jedlik"] = package
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    from build import build
    to = pathlib.Path(tempfile.gettempdir()) / "jedlik-torch-selftest"
    to.mkdir(exist_ok=True)
    spec = importlib.util.spec_from_file_location("torch_selftest", build(to))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def engine():
    module = load()
    assert module.torch_attach()
    return module
