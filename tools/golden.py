#!/usr/bin/env python3
"""Compares what the engine writes for small programs with what stands in tests/golden.

golden.py [--update] [names ...]: names are parts of paths. A case is a file <topic>/<name>.py with a function f, args() that
gives fresh arguments, and optionally LETTERS, the dumps it is about; <name>.exp has a section each. --update writes them anew: the
diff is what is reviewed. Needs jedlik and torch.
"""

import difflib
import importlib.util
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden"
SECTIONS = {"t": "break", "g": "graph", "u": "guards", "e": "effects", "c": f"code {sys.version_info[0]}.{sys.version_info[1]}"}


def cases(names=()):
    found = sorted(ROOT.rglob("*.py"))
    return [p for p in found if not names or any(n in str(p.relative_to(ROOT)) for n in names)]


def load(path):
    spec = importlib.util.spec_from_file_location("golden_" + path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def produce(path):
    import jedlik

    case = load(path)
    parts = []
    for letter in getattr(case, "LETTERS", "gue"):
        text = jedlik.dump(case.f, case.args(), letter).rstrip("\n")
        if text:
            parts.append(f"[{SECTIONS[letter]}]\n{text}\n")
    return "\n".join(parts)


def compare(path, update=False):
    """The difference as lines; none: as expected."""
    expected = path.with_suffix(".exp")
    made = produce(path)
    old = expected.read_text() if expected.exists() else ""
    if update and made != old:
        expected.write_text(made)
    return list(difflib.unified_diff(old.splitlines(), made.splitlines(), str(expected), "now", lineterm=""))


def main(argv):
    update = "--update" in argv
    wrong = 0
    chosen = cases([a for a in argv if not a.startswith("-")])
    for path in chosen:
        diff = compare(path, update)
        wrong += bool(diff)
        print("\n".join(diff), end="\n" if diff else "")
    print(f"{len(chosen) - wrong} as expected, {wrong} {'updated' if update else 'different'}")
    return bool(wrong and not update)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
