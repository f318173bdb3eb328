"""Runs PTX instructions on rows of operands, one lane an element: from PTX text through the assembler and the emulator
to numbers.
"""

import re

import numpy as np

from tests.support.ptx_support import assemble_text, run_kernel

DTYPES = {"c": np.uint8, "h": np.uint16, "r": np.uint32, "d": np.uint64, "p": np.uint8}
_REGISTER = re.compile(r"(?<![.\w%])([chrdp])(\d)\b")
_BLOCK = 128


def run_lanes(instructions: list[str], sources: dict[str, np.ndarray]) -> list[list[np.ndarray]]:
    """For each instruction the rows it wrote, in the order of its destinations.

    Registers are written without `%`: c 8 bits, h 16, r 32, d 64, p predicate. `sources`: register -> row, all of one
    length; predicates as 0 and 1. A destination may be read as well.
    """
    n = len(next(iter(sources.values())))
    padded = -(-n // _BLOCK) * _BLOCK
    rows = {name: np.resize(np.asarray(row).astype(DTYPES[name[0]]), padded) for name, row in sources.items()}
    written = [destinations(text) for text in instructions]
    outputs = [np.zeros(padded, DTYPES[name[0]]) for names in written for name in names]
    found = run_kernel(
        assemble_text(_text(instructions, rows, written)),
        "k",
        [*rows.values(), *outputs],
        grid=padded // _BLOCK,
        block=_BLOCK,
    )
    results = iter(
        np.frombuffer(data, output.dtype)[:n] for data, output in zip(found[len(rows) :], outputs, strict=True)
    )
    return [[next(results) for _ in names] for names in written]


def destinations(text: str) -> list[str]:
    """Registers an instruction writes: what stands before its first comma outside braces."""
    operands = text.split(None, 1)[1]
    first = operands[: operands.index("}") + 1] if operands.startswith("{") else operands.split(",")[0]
    return [kind + number for kind, number in _REGISTER.findall(first)]


def _text(instructions: list[str], rows: dict[str, np.ndarray], written: list[list[str]]) -> str:
    pointers = [f"i{k}" for k in range(len(rows))] + [f"o{k}" for k in range(sum(map(len, written)))]
    lines = [
        ".version 9.0\n.target sm_100a\n.address_size 64",
        f".visible .entry k({', '.join(f'.param .u64 {name}' for name in pointers)})\n{{",
        ".reg .pred %p<8>; .reg .b8 %c<8>; .reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .b64 %a<4>; .reg "
        ".b32 %t<4>;",
        "mov.u32 %t0, %ctaid.x; mov.u32 %t1, %ntid.x; mov.u32 %t2, %tid.x; mad.lo.u32 %t0, %t0, %t1, %t2;",
    ]
    number = 0
    for text, names in zip(instructions, written, strict=True):
        lines += [_load(register, f"i{k}", rows[register].itemsize) for k, register in enumerate(rows)]
        lines.append(_REGISTER.sub(r"%\1\2", text) + ";")
        for name in names:
            lines.append(_store(name, f"o{number}"))
            number += 1
    return "\n".join([*lines, "ret;\n}\n"])


def _address(parameter: str, nbytes: int) -> str:
    return f"ld.param.u64 %a0, [{parameter}]; mad.wide.u32 %a0, %t0, {nbytes}, %a0;"


def _load(register: str, parameter: str, nbytes: int) -> str:
    if register[0] == "p":
        return f"{_address(parameter, 1)} ld.global.u8 %t3, [%a0]; setp.ne.u32 %{register}, %t3, 0;"
    return f"{_address(parameter, nbytes)} ld.global.b{8 * nbytes} %{register}, [%a0];"


def _store(register: str, parameter: str) -> str:
    nbytes = np.dtype(DTYPES[register[0]]).itemsize
    if register[0] == "p":
        return f"{_address(parameter, 1)} selp.u32 %t3, 1, 0, %{register}; st.global.u8 [%a0], %t3;"
    return f"{_address(parameter, nbytes)} st.global.b{8 * nbytes} [%a0], %{register};"
