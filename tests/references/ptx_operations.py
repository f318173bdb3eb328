"""Arithmetic operations of a PTX kernel, counted one thread after another. It shares nothing with the program.

It executes the integers and predicates that steer a thread, and counts the float instructions that the thread comes by
with a true predicate. No optimiser, no warps, no instruction table.
"""

import re
from collections import Counter

# PTX opcode -> precision and operations.
COUNTS = {
    "add.f32": ("f32", 1), "mul.f32": ("f32", 1), "fma.rn.f32": ("f32", 2), "add.f64": ("f64", 1),
    "mul.f64": ("f64", 1), "fma.rn.f64": ("f64", 2), "add.f16": ("f16", 1), "fma.rn.f16": ("f16", 2),
    "add.f16x2": ("f16", 2), "fma.rn.f16x2": ("f16", 4), "fma.rn.bf16": ("bf16", 2), "fma.rn.bf16x2": ("bf16", 4),
    "div.rn.f32": ("special", 1), "sqrt.rn.f64": ("special", 1), "sin.approx.f32": ("special", 1),
    "min.f32": ("", 0), "neg.f32": ("", 0), "cvt.rn.f32.f64": ("", 0),
}  # fmt: skip
WORD = (1 << 32) - 1
INTEGERS = {
    "mov.u32": lambda a: a,
    "add.u32": lambda a, b: a + b & WORD,
    "and.b32": lambda a, b: a & b,
    "mad.lo.u32": lambda a, b, c: a * b + c & WORD,
    "setp.ge.u32": lambda a, b: a >= b,
    "setp.lt.u32": lambda a, b: a < b,
    "setp.ne.u32": lambda a, b: a != b,
}
LINE = re.compile(r"(?:@(!?)(%\w+)\s+)?([\w.]+)\s*(.*);")


def count(body: str, blocks: int, threads: int, parameters: dict[str, int]) -> Counter[str]:
    """Operations by precision of a grid in x. `parameters`: values of the u32 parameters by name."""
    lines = [line.strip() for line in body.strip().splitlines()]
    labels = {line[:-1]: index for index, line in enumerate(lines) if line.endswith(":")}
    found: Counter[str] = Counter()
    for block in range(blocks):
        for thread in range(threads):
            start = {"%ctaid.x": block, "%ntid.x": threads, "%tid.x": thread} | parameters
            _run(lines, labels, start, found)
    return found


def _run(lines: list[str], labels: dict[str, int], values: dict[str, int], found: Counter[str]) -> None:
    place = 0
    while place < len(lines):
        line = lines[place]
        place += 1
        if not line or line.endswith(":") or line.startswith("."):
            continue
        negated, guard, opcode, operands = LINE.fullmatch(line).groups()
        if guard and bool(values[guard]) == bool(negated):
            continue
        names = [name.strip() for name in operands.split(",")]
        if opcode == "ret":
            return
        if opcode == "bra":
            place = labels[names[0]]
        elif opcode == "ld.param.u32":
            values[names[0]] = values[names[1].strip("[]")]
        elif opcode in INTEGERS:
            values[names[0]] = INTEGERS[opcode](*(values[n] if n in values else int(n) for n in names[1:]))
        elif opcode in COUNTS:
            precision, n = COUNTS[opcode]
            found[precision] += n
        else:
            assert opcode.split(".")[0] in ("ld", "st", "mov", "mul", "add", "cvta"), opcode  # addresses and copies
