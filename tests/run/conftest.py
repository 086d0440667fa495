"""After each test here the real compiler is back."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))


@pytest.fixture(autouse=True)
def unfaked():
    yield
    from engine import selftest
    selftest.unfake()
