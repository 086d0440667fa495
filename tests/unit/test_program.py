"""Whole programs: imports, install, python -m jedlik, life without torch."""
import os
import subprocess
import sys
import textwrap

import pytest

import jedlik


def run(code, *args, **env):
    """Runs a program in a fresh interpreter; its output."""
    child = subprocess.run([sys.executable, *args, "-c", textwrap.dedent(code)], capture_output=True, text=True,
                           env={**os.environ, **env}, timeout=120)
    assert child.returncode == 0, child.stderr
    return child.stdout.strip()


def test_import_is_light():
    out = run("""
        import sys, jedlik
        print([m for m in ("torch", "sympy", "inspect") if m in sys.modules])
    """)
    assert out == "[]"


def test_first_call_with_eager_loads_no_compiler():
    pytest.importorskip("torch")
    out = run("""
        import sys, torch, jedlik
        before = set(sys.modules)
        x = torch.ones(3)
        assert torch.equal(jedlik.compile(lambda x: x + 1, backend="eager")(x), x + 1)
        print([m for m in ("torch._dynamo", "sympy", "torch._inductor") if m in set(sys.modules) - before])
    """)
    assert out == "[]"


WITHOUT_TORCH = """
    import sys
    sys.modules["torch"] = None
"""


def test_without_torch():
    out = run(WITHOUT_TORCH + """
    import jedlik
    jedlik.config.capture_without_tensors = jedlik.config.keep_empty_graphs = True
    print(jedlik.compile(lambda a, b: [i * b for i in range(a)], backend="eager")(4, 2))
    print(jedlik.stats()["frames"] > 0)
    """)
    assert out == "[0, 2, 4, 6]\nTrue"


def test_too_old_a_torch_is_told():
    out = run("""
        import sys, types
        torch = sys.modules["torch"] = types.ModuleType("torch")
        torch.__version__ = "2.7.1"
        import jedlik
        try:
            jedlik.compile(len, backend="eager")
        except ImportError as error:
            print(error)
    """)
    assert out == "jedlik needs torch 2.8 or newer; this is torch 2.7.1."


def test_install_redirects_and_uninstall_restores():
    torch = pytest.importorskip("torch")
    stock = torch.compile
    jedlik.install()
    jedlik.install()
    try:
        assert torch.compile is jedlik.compile
        module = torch.nn.Linear(2, 2)
        module.compile(backend="eager")
        assert type(module._compiled_call_impl).__module__.startswith("jedlik")
        f = torch.compiler.compile(lambda x: x + 1, backend="eager")
        assert type(f).__module__.startswith("jedlik")
        x = torch.ones(2)
        assert torch.equal(module(x), torch.nn.functional.linear(x, module.weight, module.bias))
    finally:
        jedlik.uninstall()
    jedlik.uninstall()
    assert torch.compile is stock


def test_running_a_script(tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "beside.py").write_text("VALUE = 7\n")
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent("""
        import sys, torch, beside
        f = torch.compile(lambda x: x + beside.VALUE, backend="eager")
        if __name__ == "__main__":
            print(sys.argv[1:], f(torch.zeros(1)).item(), type(f).__module__.split(".")[0])
            print(sys.modules["__main__"].f is f)
            sys.exit(3)
    """))
    child = subprocess.run([sys.executable, "-m", "jedlik", str(script), "-a", "b"], capture_output=True, text=True)
    assert child.stdout == "['-a', 'b'] 7.0 jedlik\nTrue\n", child.stderr
    assert child.returncode == 3


def test_running_a_module(tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "program.py").write_text("import sys, torch, jedlik\nprint(torch.compile is jedlik.compile, sys.argv[1:])\n")
    child = subprocess.run([sys.executable, "-m", "jedlik", "-m", "program", "x"], capture_output=True, text=True,
                           cwd=tmp_path)
    assert child.stdout == "True ['x']\n", child.stderr


def test_usage():
    child = subprocess.run([sys.executable, "-m", "jedlik"], capture_output=True, text=True)
    assert child.returncode == 2 and "script.py" in child.stdout
