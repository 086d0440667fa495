"""The selftest methods of the engine's run-time part."""
from jedlik import _engine as module  # noqa: F401
from jedlik._engine import selftest  # noqa: F401
