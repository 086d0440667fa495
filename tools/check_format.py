#!/usr/bin/env python3
"""Checks C files against .clang-format with the pinned clang-format; `make format` mends what it finds."""
import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

from sources import ROOT, find


def pinned():
    text = (Path(ROOT) / "requirements-test.txt").read_text()
    return re.search(r"^clang-format==(\S+)", text, re.M).group(1)


def main():
    version = importlib.metadata.version("clang-format")
    if version != pinned():
        sys.exit(f"format: clang-format {version} is installed, {pinned()} is pinned")
    program = Path(sys.executable).parent / "clang-format"
    bad = []
    for name in find("format"):
        path = Path(ROOT) / name
        wanted = subprocess.run([program, str(path)], capture_output=True, text=True, check=True).stdout
        if wanted != path.read_text():
            bad.append(name)
    for name in bad:
        print(f"{name}: not formatted")
    print(f"format: {len(find('format'))} files, {len(bad)} to format")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
