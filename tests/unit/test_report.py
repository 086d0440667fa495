"""explain, dump, stats, Unsupported: what was captured, and why not more."""
import pickle

import pytest

import jedlik

torch = pytest.importorskip("torch")
X = torch.arange(4.0)


def two_parts(x):
    y = x.sin()
    jedlik.graph_break()
    return y.cos()


def test_explain_a_whole_graph():
    told = jedlik.explain(lambda x: x.sin().cos())(X)
    assert (told.graph_count, told.graph_break_count, told.op_count) == (1, 0, 2)
    assert torch.equal(told.result, X.sin().cos())
    assert told.guards and "1 graphs, 0 breaks, 2 operations" in str(told)


def test_explain_a_break():
    told = jedlik.explain(two_parts)(X)
    assert told.graph_count == 2 and told.graph_break_count == 1
    found = told.breaks[0]
    assert found.id == "ASKED" and found.reason and found.hint
    line = two_parts.__code__.co_firstlineno + 2
    assert found.place.endswith(f"test_report.py:{line}")
    assert torch.equal(told.result, X.sin().cos())


def test_explain_leaves_what_was_compiled_alone(captures):
    f = jedlik.compile(two_parts, backend=captures)
    f(X)
    jedlik.explain(two_parts)(X)
    f(X)
    assert len(captures.graphs) == 2


def test_stats_count():
    before = jedlik.stats()
    jedlik.compile(two_parts, backend="eager")(X)
    now = jedlik.stats()
    assert now["graphs"] - before["graphs"] == 2
    assert now["ops"] - before["ops"] == 2
    assert now["frames"] - before["frames"] == 1  # its two parts are one frame
    assert now["breaks"].get("ASKED", 0) - before["breaks"].get("ASKED", 0) == 1


def test_recompiles_are_told_with_a_reason():
    f = jedlik.compile(lambda x: x + 1, backend="eager")
    f(X)
    f(X.double())
    reasons = jedlik.stats()["recompiles"]
    assert len(reasons) == 1 and "x" in str(reasons[0])


def test_dump():
    text = jedlik.dump(lambda x: x * 2, (X,), "g")
    assert "mul" in text
    assert jedlik.dump(lambda x, k: x * k, (X,), "u", {"k": 2})
    with pytest.raises(ValueError):
        jedlik.dump(two_parts, (X,), "gz")


def test_fullgraph_raises_with_place_reason_and_hint():
    f = jedlik.compile(two_parts, backend="eager", fullgraph=True)
    with pytest.raises(jedlik.Unsupported) as caught:
        f(X)
    error = caught.value
    assert error.reason and error.hint and error.id == "ASKED"
    assert error.stack[-1].filename == __file__ and error.stack[-1].lineno == two_parts.__code__.co_firstlineno + 2
    assert "from user code" in str(error) and "jedlik.graph_break()" in str(error)


def test_unsupported_is_stocks_too():
    import torch._dynamo.exc
    error = jedlik.Unsupported("no", "try", [("a.py", 3, "f")], "NO_SLOT")
    assert isinstance(error, torch._dynamo.exc.Unsupported) and isinstance(error, jedlik.Unsupported)
    assert error.gb_type == "NO_SLOT"
    again = pickle.loads(pickle.dumps(error))
    assert (again.reason, again.hint, again.id) == ("no", "try", "NO_SLOT")
    with pytest.raises(torch._dynamo.exc.Unsupported):
        jedlik.compile(two_parts, backend="eager", fullgraph=True)(X)
