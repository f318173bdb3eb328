"""The numbers of a chip that show in a trace: the emulator asks for no other, and for these only where they matter."""

from types import SimpleNamespace

import pytest

from gpuprof.device.memory import AddressSpace
from gpuprof.device.module import load
from gpuprof.emulate.chip_numbers import EVERY, chip_numbers
from gpuprof.isa.encoding import make
from tests.support import emulate_harness
from tests.support.emulate_harness import ADDR64, jump, program_of, run, special

EXIT = make("EXIT")
TAKE = make("ATOMG.ADD.U32", dst=4, a=0, b=7, mods=ADDR64)


@pytest.mark.parametrize(
    "code, numbers",
    [
        ([special("clock", 4), special("tid.x", 5), EXIT], set()),
        ([special("nsmid", 4), EXIT], {"sms"}),
        ([special("smid", 4), EXIT], {"sms"}),
        ([make("REDG.ADD.U32", a=0, b=7, mods=ADDR64), jump(1, 0, guard=0), EXIT], set()),
        ([TAKE, EXIT], set()),  # once: no loop takes its work so
        ([TAKE, jump(1, 0, guard=0), EXIT], {EVERY}),
        ([special("nsmid", 4), TAKE, jump(2, 0, guard=0), EXIT], {"sms", EVERY}),
    ],
)
def test_where_they_matter(code, numbers):
    module = load(program_of(code), AddressSpace())
    assert chip_numbers(module, module.program.functions[:1]) == numbers


@pytest.mark.parametrize(
    "code, chip, missing",
    [
        ([special("tid.x", 4), EXIT], {}, None),
        ([special("nsmid", 4), EXIT], {}, "sms"),
        ([TAKE, jump(1, 0, guard=0), EXIT], {"sms": 2}, "values"),
    ],
)
def test_a_chip_without_them_will_do_where_they_do_not_matter(monkeypatch, code, chip, missing):
    monkeypatch.setattr(emulate_harness, "CHIP", SimpleNamespace(name="bare", **chip))
    if missing is None:
        assert len(run(code).pieces) == 1
    else:
        with pytest.raises(AttributeError, match=missing):
            run(code)
