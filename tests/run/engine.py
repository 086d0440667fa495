"""The selftest methods: of the installed engine, else of a private build of src/run."""

import importlib.util
import os

try:
    if os.environ.get("JEDLIK_RUNTEST"):
        raise ImportError
    from jedlik._engine import selftest

    selftest.unfake
    from jedlik import _engine as module
except (ImportError, AttributeError):
    import build

    path = build.build(os.environ.get("JEDLIK_RUNTEST", "").split())
    spec = importlib.util.spec_from_file_location("_runtest", path)
    selftest = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(selftest)
    module = selftest
