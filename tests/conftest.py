"""What every test starts from: nothing compiled, stock settings, torch.compile as torch made it."""
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # tensors are small here: threads that wait for work cost more than the work

import hypothesis  # noqa: E402
import pytest  # noqa: E402

import jedlik  # noqa: E402


# The same draws each time, so that a change is judged by itself; --slow draws anew.
hypothesis.settings.register_profile("same", derandomize=True)


def pytest_configure(config):
    if not config.getoption("--slow"):
        hypothesis.settings.load_profile("same")


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="run the tests marked slow too")


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--slow"):
        for item in items:
            if item.get_closest_marker("slow"):
                item.add_marker(pytest.mark.skip(reason="slow; --slow runs it"))


@pytest.fixture(autouse=True)
def fresh():
    """Leaves no compiled code, no setting and no redirection behind."""
    jedlik.reset()
    before = jedlik.config.to_dict()
    yield
    jedlik.uninstall()
    for name, value in before.items():
        if getattr(jedlik.config, name) != value:
            setattr(jedlik.config, name, value)


class Captures:
    """A backend that keeps the graphs it is given and runs them as they are."""

    def __init__(self):
        self.graphs = []

    def __call__(self, gm, example_inputs):
        self.graphs.append(gm)
        return gm.forward

    @property
    def ops(self):
        return [[n.target for n in gm.graph.nodes if n.op in ("call_function", "call_method", "call_module")]
                for gm in self.graphs]


@pytest.fixture
def captures():
    return Captures()
