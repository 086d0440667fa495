#!/usr/bin/env python3
"""Which rows of the engine's tables does a test name? A row that no test and no golden file mentions is untested.

    check_tables.py            a report; fails for a table in COMPLETE that has such a row
    check_tables.py --missing  lists the rows too

A row also has to be used by the engine's code, else it is dead.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# bytecode/ops.def has a test of its own, by what programs compile to: tests/unit/test_ops.py.
# table, macro, prefix of the enum in C, whether tests know the row by the name with its prefix only
TABLES = [
    ("base/breaks.def", "BREAK", "BRK_"),
    ("guard/guards.def", "GUARD", "GUARD_"),
    ("source/sources.def", "SRC", "SRC_"),
]
COMPLETE = frozenset({"base/breaks.def", "guard/guards.def", "source/sources.def"})  # tables in which every row has its test, and has to keep it


def rows(table, macro):
    text = (ROOT / "src" / table).read_text()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return re.findall(rf"^\s*{macro}\(\s*(\w+)", text, flags=re.M)


def words(folder, suffixes):
    """Every identifier in the files below a folder, with the files it stands in."""
    found = set()
    for path in sorted((ROOT / folder).rglob("*")):
        if path.suffix in suffixes and path.is_file():
            found.update(re.findall(r"\w+", path.read_text(errors="replace")))
    return found


def main():
    tested = words("tests/golden", {".py", ".exp"}) | words("tests/unit", {".py"}) | words("tests/stage", {".py"}) \
        | words("tests/soundness", {".py"}) | words("tests/diff", {".py"})
    code = words("src", {".c", ".h"})
    failed = 0
    for table, macro, prefix in TABLES:
        if not (ROOT / "src" / table).exists():
            continue
        names = rows(table, macro)
        untested = [n for n in names if n not in tested and prefix + n not in tested]
        dead = [n for n in names if prefix + n not in code]
        print(f"{table:22} {len(names):3} rows, {len(names) - len(untested):3} named by a test"
              + (f", {len(dead)} not named in C" if macro != "OP" else ""))
        if "--missing" in sys.argv[1:]:
            print("    no test: " + " ".join(untested))
            if macro != "OP":
                print("    not in C: " + " ".join(dead))
        failed += table in COMPLETE and bool(untested)
    print(f"tables: {len(TABLES)} read, {failed} below their gate")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
