#!/usr/bin/env python3
"""Lists what belongs to the build, one path a line, relative to the project's root.

    sources.py c | headers | python | format
"""
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

PATTERNS = {
    "c": [("src", "*.c")],
    "headers": [("src", "*.h"), ("src", "*.def")],
    "python": [("python/jedlik", "*.py"), ("python/jedlik", "py.typed")],
    "format": [("src", "*.c"), ("src", "*.h")],
}


def find(kind):
    """Paths of one kind, sorted, as strings."""
    found = (path for folder, pattern in PATTERNS[kind] for path in (ROOT / folder).rglob(pattern))
    return sorted(str(path.relative_to(ROOT)) for path in found)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in PATTERNS:
        sys.exit(__doc__)
    print("\n".join(find(sys.argv[1])))
