"""What a program says of a tensor's data: nodes that fail, and then the program's own exception. PYTEST_DONT_REWRITE"""
import pytest

import jedlik

torch = pytest.importorskip("torch")
GOOD, BAD = torch.ones(3), torch.tensor([1.0, float("nan"), 1.0])


def by_assert(x, log):
    log.append("in")
    assert torch.isfinite(x).all(), f"not finite: {x}"
    return x + 1


def by_raise(x, log):
    log.append("in")
    if torch.isnan(x).any():
        raise ValueError(f"{x.isnan().sum()} bad of {x.numel()}")
    return x * 2


def by_not(x, log):
    log.append("in")
    if not torch._is_all_true(x > 0):
        raise KeyError("negative")
    else:
        y = x - 1
    return y


def by_check(x, log):
    log.append("in")
    torch._check_tensor_all_with(ValueError, x > 0, lambda: "not positive")
    return x / 2


def in_callee(x, log):
    y = by_assert(x, log)
    try:
        y = by_raise(y, log)
    except ValueError as e:
        log.append(str(e))
    return y


def outcome(f, x):
    log = []
    try:
        return f(x, log).tolist(), log
    except Exception as e:
        return type(e), str(e), e.__traceback__.tb_next is not None, log


@pytest.mark.parametrize("f", [by_assert, by_raise, by_not, by_check, in_callee])
def test_one_graph_and_the_programs_exception(f, captures):
    g = jedlik.compile(f, backend=captures, fullgraph=True)
    for x in (GOOD, BAD, -GOOD, GOOD, BAD):
        assert outcome(g, x) == outcome(f, x)
    assert len(captures.graphs) == 1


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("f", [by_assert, by_raise, by_check])
def test_compiling_backends_keep_them(f, grad):
    g = jedlik.compile(f, backend="aot_eager", fullgraph=True)
    for x in (GOOD, BAD, -GOOD, GOOD):
        a, b = (x.clone().requires_grad_(grad) for _ in range(2))
        expected = outcome(f, a)
        assert outcome(g, b) == expected


def test_ambiguous_truth_is_a_type_of_error_of_its_own():
    def f(x, log):
        assert x > 0
        return x
    assert outcome(jedlik.compile(f, backend="eager"), GOOD) == outcome(f, GOOD)


def test_branches_that_both_go_on_are_breaks(captures):
    def f(x, log):
        return x + 1 if x.sum() > 0 else x - 1
    g = jedlik.compile(f, backend=captures)
    for x in (GOOD, -GOOD):
        assert outcome(g, x) == outcome(f, x)


def test_text_of_a_tensor(captures):
    def f(x, log):
        text = f"sum {x.sum()} of {x.numel()}"
        log.append(isinstance(text, str))
        y = x + 1
        if x.numel() > 3:
            log.append(text + "!")
        return y
    g = jedlik.compile(f, backend=captures)
    for x in (GOOD, torch.ones(5), GOOD):
        assert outcome(g, x) == outcome(f, x)

    def kept(x, log):
        log.append(f"{x * 2}")
        x += 1
        return x
    assert outcome(jedlik.compile(kept, backend=captures), GOOD.clone()) == outcome(kept, GOOD.clone())


def test_distributions(captures):
    def f(loc, scale):
        q = torch.distributions.Normal(loc, scale)
        return torch.distributions.kl_divergence(q, torch.distributions.Normal(0.0, 1.0)) + q.log_prob(loc)
    g = jedlik.compile(f, backend=captures, fullgraph=True)
    assert torch.equal(g(GOOD, GOOD), f(GOOD, GOOD)) and len(captures.graphs) == 1
    for bad in (-GOOD, BAD):
        with pytest.raises(ValueError) as expected:
            f(GOOD, bad)
        with pytest.raises(ValueError) as actual:
            g(GOOD, bad)
        assert str(actual.value) == str(expected.value)
