"""The corpus through the whole engine: nothing in it has a tensor, so every point is idle; with
JEDLIK_KEEP_EMPTY=1 the empty graphs are kept, and what is traced runs in segments."""

import os

import pytest

try:
    import jedlik
except ImportError as reason:
    pytest.skip(f"no engine to test: {reason}", allow_module_level=True)

from observe import each_case, observe, plain, same


@each_case
def test_case(case):
    fn, args, kwargs = case
    want = plain(case)
    jedlik.config.keep_empty_graphs = os.environ.get("JEDLIK_KEEP_EMPTY") == "1"
    compiled = jedlik.compile(fn, backend="eager")

    def call():
        return compiled(*(args() if callable(args) else args), **kwargs)

    for _ in range(4):
        same(observe(call), want)
