"""Every row of src/bytecode/ops.def that has a handler stands in a program of ops_programs.py that is captured as a whole and
gives what plain Python gives; the programs are small, so that a failing one names its instruction."""
import dis
import pathlib
import re
import types

import ops_programs
import pytest
from ops_programs import PROGRAMS

import jedlik


def codes(code):
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from codes(const)


# What 3.11's compiler calls the rows' instructions.
SAME = {"JUMP_FORWARD": "JUMP", "JUMP_BACKWARD": "JUMP",
        "JUMP_BACKWARD_NO_INTERRUPT": "JUMP_NO_INTERRUPT"}
# Made by no source text for a function, or by the assembler alone.
UNWRITTEN = {"NOP", "RESUME", "PRECALL", "CACHE", "EXTENDED_ARG", "PRINT_EXPR"}


def row_of(name):
    name = name.replace("POP_JUMP_FORWARD_IF", "POP_JUMP_IF").replace("POP_JUMP_BACKWARD_IF", "POP_JUMP_IF")
    return SAME.get(name, name)


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda f: f.__name__)
def test_program(fn, monkeypatch):
    monkeypatch.setattr(jedlik.config, "capture_class_bodies", True)
    expected = fn(4)
    compiled = jedlik.compile(fn, backend="eager", fullgraph=True)
    for n in (4, 4, 5):
        assert repr(compiled(n)) == repr(fn(n))
    assert repr(expected) == repr(fn(4)) and ops_programs.PLACE == 3


def test_every_instruction_stands_in_a_program():
    table = (pathlib.Path(__file__).parents[2] / "src/bytecode/ops.def").read_text()
    rows = dict(re.findall(r"^OP\((\w+),.*,\s*(\w+)\)", table, flags=re.M))
    helpers = [ops_programs.numbers, ops_programs.delegates, ops_programs.Point.__init__]
    met = {row_of(i.opname) for fn in PROGRAMS + helpers for code in codes(fn.__code__)
           for i in dis.get_instructions(code)}
    assert {name for name, handler in rows.items() if handler != "nyi"} - UNWRITTEN - met == set()
    assert not {name for name in met if rows.get(name) == "nyi"}
