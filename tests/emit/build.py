"""Builds the helpers of segment code alone, as module _emittest.

python tests/emit/build.py [gcc options ...] prints the path of the module."""

import pathlib
import subprocess
import sys
import sysconfig
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ["base", "bytecode", "cpy"]
WARN = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"]


def build(options=()):
    place = pathlib.Path(tempfile.gettempdir()) / ("jedlik-emittest" + "".join(options).replace("/", "_"))
    place = place.with_name(place.name + "-" + ROOT.name)
    place.mkdir(exist_ok=True)
    sources = [p for f in FOLDERS for p in sorted((ROOT / "src" / f).glob("*.c"))]
    sources += sorted((ROOT / "src" / "emit").glob("helpers*.c"))
    sources.append(ROOT / "tests" / "emit" / "engine.c")
    headers = [p for p in (ROOT / "src").rglob("*") if p.suffix in (".h", ".def")]
    newest = max(p.stat().st_mtime for p in headers)
    flags = ["-std=gnu11", "-O2", "-g", "-fPIC", "-fvisibility=hidden", *WARN, *options,
             f"-I{ROOT / 'src'}", f"-I{sysconfig.get_paths()['include']}"]
    objects = []
    for src in sources:
        obj = place / ("_".join(src.relative_to(ROOT).parts) + ".o")
        objects.append(str(obj))
        if not obj.exists() or obj.stat().st_mtime < max(newest, src.stat().st_mtime):
            subprocess.run(["gcc", *flags, "-c", str(src), "-o", str(obj)], check=True)
    out = place / "_emittest.so"
    if not out.exists() or out.stat().st_mtime < max(pathlib.Path(o).stat().st_mtime for o in objects):
        subprocess.run(["gcc", "-shared", *options, *objects, "-o", str(out), "-ldl"], check=True)
    return out


if __name__ == "__main__":
    print(build(sys.argv[1:]))
