#!/usr/bin/env python3
"""Checks that the engine's folders keep to their walls. Fails on the first four; the last two are told.

    direction   an #include points to the same folder or to one earlier in the pipeline
    versions    CPython's version macros, internal headers and opcode constants occur in src/cpy/ only
    guards      guard/check.c calls nothing that can run Python code (a line may say why it cannot: `no user code: ...`)
    marks       no marks of unfinished work
    ownership   no reference counting where the trace's arena owns everything (trace/ var/ builtin/ emit/)
    sizes       functions over 60 lines, files over 900

    check_layers.py [--strict]    with --strict all of them fail
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src"

ORDER = "base bytecode cpy source guard graph torch effect var builtin trace emit run".split()
# Headers that are contracts between neighbours, and may be included from earlier folders too.
CONTRACTS = {
    "trace/tx.h": "the trace that every slot and handler is given",
    "builtin/handler.h": "how values ask for the handler of a built-in",
    "trace/torchcall.h": "calls that become graph nodes",
    "builtin/help.h": "folding, which values and handlers share",
    "builtin/str.h": "the % operator of strings",
    "builtin/register.h": "functions that Python has told the engine about",
    "run/run.h": "what an entry is, which emit/ makes",
}

VERSIONS = re.compile(r"^\s*#\s*(if|elif|ifdef|ifndef|define|include)\b.*"
                      r"(PY_VERSION_HEX|PY_MINOR_VERSION|Py_BUILD_CORE|\binternal/|<opcode\.h>|\"opcode\.h\")")

# What may run user code: calls, attribute and item access by protocol, comparison, hashing, truth, iteration, imports.
RUNS_PYTHON = re.compile(
    r"\b(PyObject_(Call\w*|Vectorcall\w*|Get\w*Attr\w*|Set\w*Attr\w*|HasAttr\w*|GetItem|SetItem|DelItem|RichCompare\w*|Hash"
    r"|IsTrue|Not|Repr|Str|ASCII|Bytes|GetIter|IsInstance|IsSubclass|Length|Size|Dir|Format)"
    r"|PyDict_(GetItem\w*|Contains|SetItem\w*|DelItem\w*)|PySet_(Contains|Add|Discard)|PyIter_\w+|PyNumber_\w+"
    r"|PySequence_(?!Fast_)\w+|PyMapping_\w+|PyImport_\w+|PyEval_EvalCode\w*|PyRun_\w+|_PyObject_Call\w*"
    r"|PyType_GetSlot|Py_BuildValue|PyList_Sort|PyUnicode_Format|PyErr_(Warn\w*|Print\w*|CheckSignals))\s*\(")

MARKS = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
COUNTING = re.compile(r"\b(Py_X?DECREF|Py_CLEAR|Py_SETREF)\s*\(")
ARENA_FOLDERS = {"trace", "var", "builtin", "emit"}


def code_lines(text):
    """Lines with comments and strings blanked, so that only code is searched."""
    blank = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
    keep_includes = re.compile(r"^\s*#\s*include")
    cleaned = blank.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text).split("\n")
    return [raw if keep_includes.match(raw) else line for raw, line in zip(text.split("\n"), cleaned)]


def folder_of(path):
    parts = path.relative_to(SRC).parts
    return parts[0] if len(parts) > 1 else None  # files at the top see everything


def direction(path, lines):
    folder = folder_of(path)
    if folder is None:
        return
    if folder not in ORDER:
        yield 1, f"folder {folder}/ has no place in the pipeline's order"
        return
    for number, line in enumerate(lines, 1):
        match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if not match:
            continue
        target = match.group(1)
        if not (SRC / target).exists():
            yield number, f'"{target}" is not a path from src/'
        elif "/" in target and target not in CONTRACTS:
            if ORDER.index(target.split("/")[0]) > ORDER.index(folder):
                yield number, f"{folder}/ includes {target}, which comes later"
        elif "/" not in target:
            yield number, f"{folder}/ includes {target} of the top"


def versions(path, lines):
    if folder_of(path) != "cpy":
        for number, line in enumerate(lines, 1):
            if VERSIONS.match(line):
                yield number, "depends on the version of CPython outside src/cpy/: " + line.strip()


def guards(path, lines):
    if path.relative_to(SRC).as_posix() != "guard/check.c":
        return
    raw = path.read_text().split("\n")
    for number, line in enumerate(lines, 1):
        match = RUNS_PYTHON.search(line)
        if match and "no user code:" not in "".join(raw[max(0, number - 2):number]):
            yield number, f"{match.group(1)} can run Python code"


def marks(path, lines):
    for number, line in enumerate(path.read_text().split("\n"), 1):
        if MARKS.search(line):
            yield number, "mark of unfinished work: " + line.strip()[:80]


def ownership(path, lines):
    if folder_of(path) in ARENA_FOLDERS:
        for number, line in enumerate(lines, 1):
            if COUNTING.search(line):
                yield number, "counts references by hand: " + line.strip()


def sizes(path, lines):
    if len(lines) > 900:
        yield 1, f"{len(lines)} lines"
    start = None
    for number, line in enumerate(lines, 1):
        if line.startswith("{"):
            start = number
        elif line.startswith("}") and start:
            if number - start - 1 > 60:
                yield start, f"a function of {number - start - 1} lines: {lines[start - 2].strip()[:60]}"
            start = None


GATES = (direction, versions, guards, marks)
TOLD = (ownership, sizes)


def main():
    strict = "--strict" in sys.argv[1:]
    files = sorted(p for suffix in ("*.c", "*.h", "*.def") for p in SRC.rglob(suffix))
    failed, told = 0, 0
    for path in files:
        lines = code_lines(path.read_text())
        for check in GATES + TOLD:
            gate = strict or check in GATES
            for number, problem in check(path, lines):
                failed, told = failed + gate, told + (not gate)
                print(f"{path.relative_to(ROOT)}:{number}: {'' if gate else 'note: '}{check.__name__}: {problem}")
    print(f"layers: {len(files)} files, {failed} problems, {told} notes")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
