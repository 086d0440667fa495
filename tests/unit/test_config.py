"""jedlik.config: names, types, patches."""
import pytest

import jedlik
from jedlik._config import SETTINGS


def test_has_what_language_tests_ask_for():
    for name in ("capture_without_tensors", "keep_empty_graphs", "capture_unittest", "capture_class_bodies"):
        assert getattr(jedlik.config, name) is False
        setattr(jedlik.config, name, True)
        assert getattr(jedlik.config, name) is True


def test_unknown_names_and_wrong_values_raise():
    with pytest.raises(AttributeError, match="recompile_limit"):
        jedlik.config.recompile_limits = 3
    with pytest.raises(AttributeError):
        jedlik.config.nothing
    assert not hasattr(jedlik.config, "nothing")
    with pytest.raises(TypeError):
        jedlik.config.recompile_limit = True
    with pytest.raises(TypeError):
        jedlik.config.keep_empty_graphs = 1
    with pytest.raises(ValueError):
        jedlik.config.recompile_limit = 0
    assert jedlik.config.recompile_limit == 8


def test_patch_nests_and_restores():
    with jedlik.config.patch(recompile_limit=3):
        with jedlik.config.patch("recompile_limit", 4):
            assert jedlik.config.recompile_limit == 4
        assert jedlik.config.recompile_limit == 3
    assert jedlik.config.recompile_limit == 8


def test_patch_restores_after_an_error_and_decorates():
    @jedlik.config.patch({"keep_empty_graphs": True})
    def f():
        assert jedlik.config.keep_empty_graphs
        raise KeyError

    with pytest.raises(KeyError):
        f()
    assert not jedlik.config.keep_empty_graphs
    with pytest.raises(AttributeError):
        jedlik.config.patch(nothing=1)


def test_delete_is_the_default():
    jedlik.config.loop_budget = 5
    del jedlik.config.loop_budget
    assert jedlik.config.loop_budget == SETTINGS["loop_budget"][0]


def test_repr_tells_all():
    assert all(name in repr(jedlik.config) for name in SETTINGS)
