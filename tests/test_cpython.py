"""CPython's own tests as a detector of wrong traces: each of its 6,800 methods, compiled with a break at every n-th instruction of a trace,
has to come out as it does plainly.

With --slow; a run takes two minutes. tests/suites/cpython/run.py says how a method is run and what is left out. JEDLIK_BREAKS="3 7" runs other n.
"""
import json
import os
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("torch")
RUN = pathlib.Path(__file__).parent / "suites" / "cpython" / "run.py"
SECONDS = 20  # of processor time that a test may take; all of them are done in one second plainly

# What differs for a reason of docs/limits.md. Any other test that does not pass is a wrong result.
KNOWN = {
    "test_dict.DictTest.test_splittable_popitem": "sizes of objects",
    "test_descr.SharedKeyTests.test_subclasses": "sizes of objects",
    "test_descr.ClassPropertiesAndMethods.test_slots": "counts what gc.get_objects() gives, while the code in between is compiled",
    "test_exceptions.ExceptionTests.test_recursion_error_cleanup": "near the recursion limit: looks at a local of the frame that meets it",
}
BREAKS = [int(n) for n in os.environ.get("JEDLIK_BREAKS", "0 1 4 6 9 17 24 60").split()]
SETTINGS = {"graphs only": (6, ["keep_empty_graphs=False"]), "no class bodies": (13, ["capture_class_bodies=False"]),
            "tensors only": (0, ["capture_without_tensors=False", "keep_empty_graphs=False"])}


def differences(out, at, *options):
    """Tests that do not come out as they do plainly: id -> outcome and why."""
    env = {**os.environ, "JEDLIK_BREAK_AT": str(at)}
    done = subprocess.run([sys.executable, str(RUN), "--compile", "jedlik:compile", "--mode", "default", "--seed", "0", "--timeout", str(SECONDS),
                           "--out", str(out), *options], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    with open(out) as f:
        modules = json.load(f)["modules"]
    assert sum(len(m["tests"]) for m in modules.values()) > 6000
    return {f"{name}.{test}": (row, m["why"][test]["default"]) for name, m in modules.items() for test, row in m["tests"].items()
            if row[1] not in "PV"}


def check(found):
    wrong = {test: why for test, why in found.items() if test not in KNOWN}
    assert not wrong, "\n".join(f"{row} {test}: {why}" for test, (row, why) in wrong.items())


@pytest.mark.slow
@pytest.mark.parametrize("at", BREAKS)
def test_with_a_break(at, tmp_path):
    check(differences(tmp_path / "out.json", at))


@pytest.mark.slow
@pytest.mark.parametrize("name", SETTINGS)
def test_with_other_settings(name, tmp_path):
    at, settings = SETTINGS[name]
    check(differences(tmp_path / "out.json", at, *(part for s in settings for part in ("--set", s))))
