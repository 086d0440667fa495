"""Black-box cases: real models and public bug reports, each in a process of its own.

The fast selection runs by default, all of them with --slow. A case is as its own module says: results, effects and
exceptions as in plain Python, and with strict at least what stock captures.
"""
import argparse
import importlib.util
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
CASES = Path(__file__).parent / "cases"

FAST_MODELS = {"llama", "roberta", "opt", "bart", "dinov2", "resnet", "timm_vit", "vit_pytorch_vit", "nn_transformer"}
FAST_TRAINING = {"llama", "resnet", "distilbert"}
FAST_BUGS = {"B009", "B023", "B047", "B049", "B055", "B057", "B067", "B083", "B085", "B091", "B105", "B107", "B111", "B115",
             "B147", "B161", "B163", "B177", "B185", "B215"}


def load(name):
    """A module of tests/cases, which is no package."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, CASES / f"{name}.py")
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]


def select(names, fast):
    return [pytest.param(n, marks=() if n in fast else pytest.mark.slow) for n in names]


pytest.importorskip("transformers")
models, bugs = load("models"), load("bug_cases")


def run_model(name, train):
    if models.missing(name):
        pytest.skip(f"{models.missing(name)} is not installed")
    options = argparse.Namespace(compile="jedlik:compile", backend="eager", train=train)
    report = models.run_in_child(name, options)
    problems = report["problems"] + list(models.shortfalls(name, report, train))
    assert not problems, "\n".join([models.describe(name, report, train), *problems])


@pytest.mark.parametrize("name", select(models.names(), FAST_MODELS))
def test_model(name):
    run_model(name, train=False)


@pytest.mark.parametrize("name", select(models.names(train=True), FAST_TRAINING))
def test_model_training(name):
    run_model(name, train=True)


@pytest.mark.parametrize("name", select(bugs.CASES, FAST_BUGS))
def test_bug_case(name):
    """Right is a must; captured is reported by `make cases`, for stock gives up on some of them too."""
    options = argparse.Namespace(compile="jedlik:compile", timeout=120.0, count_graphs=True, strict=False)
    status, text = bugs._run_child(name, options)
    assert status == "PASS", text
