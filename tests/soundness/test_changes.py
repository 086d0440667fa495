"""One thing of the world changes between calls, for each world of worlds.py: what is compiled shows what is not compiled shows."""
import pytest
import torch
from changes import PLANS, SECTIONS, World, changes, plainly, run

pytestmark = [pytest.mark.filterwarnings("ignore::UserWarning"), pytest.mark.filterwarnings("ignore::FutureWarning")]
FEW = 5  # changes a world that every run looks at; they differ from world to world


@pytest.fixture(autouse=True)
def all_warnings():
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(False)


def labels(world):
    return [label for label, _ in changes(World(world, plainly))]


def some(world):
    """Evenly out of all, beginning somewhere else in each world."""
    all_ = labels(world)
    step = max(1, len(all_) // FEW)
    return all_[list(SECTIONS).index(world) % step::step]


def check(world, jobs, plan, **options):
    wrong = []
    for job in jobs:
        lines, _ = run(world, job, plan, **options)
        wrong += [f"{' + '.join(job)} | {plan} {options}"] + lines if lines else []
    assert not wrong, "\n".join(wrong[:40])


@pytest.mark.parametrize("world", SECTIONS)
def test_a_change_between_calls(world):
    check(world, [(label,) for label in some(world)], "between")


@pytest.mark.parametrize("world", list(SECTIONS)[::4])
def test_two_changes(world):
    chosen = some(world)
    check(world, list(zip(chosen, chosen[1:]))[::2], "mixed")


@pytest.mark.slow
@pytest.mark.parametrize("plan", ["between", "before"])
@pytest.mark.parametrize("world", SECTIONS)
def test_all_changes(world, plan):
    check(world, [(label,) for label in labels(world)], plan)


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 9, 31, 90])
@pytest.mark.parametrize("world", SECTIONS)
def test_with_breaks(world, n):
    check(world, [(label,) for label in some(world)], "between", break_at=n)


@pytest.mark.slow
@pytest.mark.parametrize("world", SECTIONS)
def test_other_backends(world):
    check(world, [(label,) for label in some(world)], "between", backend="aot_eager")


def test_that_a_difference_is_seen(monkeypatch):
    """The comparison can fail: a compiler that forgets a change is found."""
    import changes as driver
    monkeypatch.setattr(driver, "through", lambda backend: lambda f: (lambda x, old=f.weight.detach().clone(): torch.nn.functional.linear(x, old, f.bias)))
    lines, _ = run("linear", ("fn.weight data",), "between")
    assert lines and set(PLANS) == {"between", "before", "pair", "mixed"}
