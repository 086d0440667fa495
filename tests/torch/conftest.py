import pytest
import torch  # noqa: F401  (the engine looks torch up in sys.modules)


@pytest.fixture(scope="session")
def engine():
    from jedlik._engine import selftest
    assert selftest.torch_attach()
    return selftest
