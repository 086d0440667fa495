"""Builds src/torch, src/graph and src/base alone, for tests that run before (or without) the whole engine."""

import pathlib
import subprocess
import sysconfig

ROOT = pathlib.Path(__file__).resolve().parents[2]


def build(to: pathlib.Path) -> pathlib.Path:
    files = [*ROOT.glob("src/base/*.c"), *ROOT.glob("src/graph/*.c"), *ROOT.glob("src/torch/*.c"),
             ROOT / "tests/torch/stub.c"]
    out = to / ("torch_selftest" + sysconfig.get_config_var("EXT_SUFFIX"))
    newest = max(p.stat().st_mtime for p in [*files, *ROOT.glob("src/*/*.h"), *ROOT.glob("src/*/*.def")])
    if not out.exists() or out.stat().st_mtime < newest:
        subprocess.run(
            ["gcc", "-shared", "-fPIC", "-O2", "-g", "-std=gnu11", "-Wall", "-Wextra", "-Werror",
             "-Wno-unused-parameter", f"-I{ROOT}/src", f"-I{sysconfig.get_paths()['include']}",
             *map(str, files), "-ldl", "-o", str(out)],
            check=True)
    return out
