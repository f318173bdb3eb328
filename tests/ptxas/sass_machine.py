"""Runs the machine code that ptxas makes of a kernel, and counts how often each instruction issues: an oracle for
values and for issue slots.

The text is nvdisasm's, of sm_80. One instruction at a time is done for all warps of some blocks that stand at it (numpy
rows over lanes).
Lanes of a warp part where they branch apart and meet again only where the code says so (BSYNC, WARPSYNC, BAR), as on
hardware since Volta.
What it does not know it refuses by name. Rounding of `MUFU` is the best there is, not the hardware's.
"""

import re
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np

U32, U64, I32, I64, F32, F64 = np.uint32, np.uint64, np.int32, np.int64, np.float32, np.float64
ZERO, TRUE = 255, 7  # rows of RZ and PT
N_ROWS, UNIFORM = 256 + 64, 256
RUNS, MEETS, WAITS, GONE = range(4)
MOST_STEPS = 4_000_000
LANES_AT_ONCE = 1 << 15


class Unknown(Exception):
    """An instruction, or a form of one, that this machine does not have."""


class Code(NamedTuple):
    """`guard` and `operands` as the disassembler writes them."""

    address: int
    guard: str
    op: str
    operands: tuple[str, ...]


class Kernel(NamedTuple):
    name: str
    code: list[Code]
    labels: dict[str, int]  # -> index in `code`
    banks: dict[int, bytes]  # constants that the assembler made: bank 2
    pointers: list[str]  # symbols whose addresses are the words of bank 4


# -- reading ---------------------------------------------------------------------------------------

_LINE = re.compile(r"/\*([0-9a-f]{4,})\*/\s+(?:@(!?U?P\w+)\s+)?([A-Z][\w.]*)\s*([^;]*);")
_LABEL = re.compile(r"^([.$\w]+):")
_BYTES = re.compile(r"\.byte\s+(.*)")
_WORD = re.compile(r"\.(dword|word)\s+(\S+)")


def disassemble(nvdisasm: str, cubin: Path) -> dict[str, Kernel]:
    """The kernels of a cubin by their (mangled) names."""
    said = subprocess.run([nvdisasm, str(cubin)], capture_output=True, text=True, check=True).stdout
    sections: dict[str, list[str]] = {}
    for line in said.splitlines():
        if found := re.match(r"\s*\.section\s+([^,\s]+)", line):
            lines = sections.setdefault(found[1], [])
        elif sections:
            lines.append(line)
    pointers = [found[2] for line in sections.get(".nv.constant4", ()) if (found := _WORD.search(line))]
    return {
        name.removeprefix(".text."): _kernel(name.removeprefix(".text."), lines, sections, pointers)
        for name, lines in sections.items()
        if name.startswith(".text.")
    }


def _kernel(name: str, lines: list[str], sections: dict[str, list[str]], pointers: list[str]) -> Kernel:
    code, labels = [], {}
    for line in lines:
        if found := _LABEL.match(line):
            labels[found[1]] = len(code)
        elif found := _LINE.search(line):
            operands = tuple(each.strip() for each in re.split(r",(?![^\[]*\])", found[4]) if each.strip())
            code.append(Code(int(found[1], 16), found[2] or "", found[3], operands))
    banks = {
        bank: _data(sections.get(f".nv.constant{bank}{suffix}", [])) for bank, suffix in ((2, "." + name), (3, ""))
    }
    return Kernel(name, code, labels, banks, pointers)


def _data(lines: list[str]) -> bytes:
    data = b""
    for line in lines:
        if found := _BYTES.search(line):
            data += bytes(int(each, 16) for each in found[1].split(","))
        elif (found := _WORD.search(line)) and found[2].startswith("0x"):
            data += int(found[2], 16).to_bytes(8 if found[1] == "dword" else 4, "little")
        elif found := re.search(r"\.zero\s+(\d+)", line):
            data += bytes(int(found[1]))
    return data


# -- running ---------------------------------------------------------------------------------------


class Grid(NamedTuple):
    """A launch. `params` begin at c[0x0][0x160]; `memory` is bytes from the address `base` on and is changed."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    params: bytes
    shared_nbytes: int
    local_nbytes: int
    memory: np.ndarray
    base: int
    symbols: dict[str, int]


def run(kernel: Kernel, launch: Grid) -> np.ndarray:
    """int64: how many warps executed each instruction of `kernel.code`."""
    counts = np.zeros(len(kernel.code), I64)
    n_blocks = launch.grid[0] * launch.grid[1] * launch.grid[2]
    threads = launch.block[0] * launch.block[1] * launch.block[2]
    at_once = max(1, LANES_AT_ONCE // (-(-threads // 32) * 32))
    with np.errstate(all="ignore"):
        for first in range(0, n_blocks, at_once):
            _Machine(kernel, launch, first, min(at_once, n_blocks - first), counts).run()
    return counts


class _Machine:
    """Some blocks of a launch. Everything is a row over lanes; a warp is 32 neighbours."""

    def __init__(self, kernel: Kernel, launch: Grid, first_block: int, n_blocks: int, counts: np.ndarray):
        self.kernel, self.launch, self.counts = kernel, launch, counts
        threads = launch.block[0] * launch.block[1] * launch.block[2]
        per_block = -(-threads // 32) * 32
        n = n_blocks * per_block
        lane = np.arange(n)
        self.n, self.per_block = n, per_block
        self.block = lane // per_block
        self.warp = lane // 32
        thread = lane % per_block
        number = first_block + self.block
        bx, by, _ = launch.block
        gx, gy, _ = launch.grid
        self.special = {
            "SR_TID.X": thread % bx, "SR_TID.Y": thread // bx % by, "SR_TID.Z": thread // (bx * by),
            "SR_LANEID": lane % 32,
            "SR_CTAID.X": number % gx, "SR_CTAID.Y": number // gx % gy, "SR_CTAID.Z": number // (gx * gy),
            "SR_LTMASK": (np.int64(1) << (lane % 32)) - 1, "SR_EQMASK": np.int64(1) << (lane % 32), "SRZ": lane * 0,
        }  # fmt: skip
        self.regs = np.zeros((N_ROWS, n), U32)
        self.preds = np.zeros((16, n), bool)
        self.preds[TRUE] = True
        self.pc = np.zeros(n, I64)
        self.state = np.where(thread < threads, RUNS, GONE)
        self.split = np.zeros(n, I64)  # lanes of a warp with the same number run together
        self.meeting = np.zeros((17, n), bool)  # members of the barriers B0 to B15, and of WARPSYNC
        self.meets_at = np.zeros(n, I64)
        self.shared = np.zeros((n_blocks * max(launch.shared_nbytes, 16),), np.uint8)
        self.local = np.zeros((n * max(launch.local_nbytes, 16),), np.uint8)
        self.banks = {0: self._bank0(), **kernel.banks}
        self.banks[4] = b"".join(launch.symbols.get(symbol, 0).to_bytes(8, "little") for symbol in kernel.pointers)
        self.decoded: dict[int, tuple] = {}
        self.current = np.zeros(n // 32, I64)  # the split that each warp is at
        self.n_splits = 1

    def _bank0(self) -> bytes:
        head = np.zeros(0x160, np.uint8)
        head[:24].view(U32)[:] = (*self.launch.block, *self.launch.grid)
        return head.tobytes() + self.launch.params + bytes(64)

    def run(self):
        for _ in range(MOST_STEPS):
            idx, at = self._choose()
            if idx is None:
                return
            n_warps = len(np.unique(self.warp[idx]))
            while True:  # as far as these lanes stay together
                self.counts[at] += n_warps
                inst = self.kernel.code[at]
                name = inst.op.split(".")[0]
                active = self._guarded(inst.guard, idx)
                if name in _CONTROL:
                    self.pc[idx] = at
                    _CONTROL[name](self, inst, idx, active, at)
                    break
                if len(active):
                    execute(self, inst, active)
                at += 1
        raise Unknown(f"{self.kernel.name}: no end after {MOST_STEPS} turns")

    def _choose(self):
        """(lanes, index of their instruction): of the warps' current splits, those that stand lowest."""
        runs = self.state == RUNS
        if not runs.any():
            assert (self.state == GONE).all(), f"{self.kernel.name}: deadlock"
            return None, 0
        here = runs & (self.split == self.current[self.warp])
        stuck = ~here.reshape(-1, 32).any(1)
        if stuck.any():  # those warps turn to their lowest other split
            pc = np.where(runs, self.pc, 1 << 40).reshape(-1, 32)
            best = pc.argmin(1) + 32 * np.arange(len(pc))
            self.current[stuck] = self.split[best][stuck]
            here = runs & (self.split == self.current[self.warp])
        at = self.pc[here].min()
        return np.flatnonzero(here & (self.pc == at)), int(at)

    def _guarded(self, guard: str, idx: np.ndarray) -> np.ndarray:
        if not guard:
            return idx
        return idx[self.predicate(guard, idx)]

    # operands

    def predicate(self, text: str, idx):
        value = self.preds[_predicate_row(text.lstrip("!"))][idx]
        return ~value if text.startswith("!") else value

    def set_predicate(self, text: str, idx, value):
        if (row := _predicate_row(text)) != TRUE:
            self.preds[row, idx] = value

    def bits(self, text: str, idx, kind: str = "i", wide: bool = False):
        """The bits of a source, without its sign: uint32, or uint64 if `wide`. `kind` says how a literal is written:
        integer or float.
        """
        name = text.strip("-~|!+").replace(".reuse", "").rstrip("|")
        if name[0] == "R" or name[:2] == "UR":
            row = _register_row(name)
            low = self.regs[row, idx]
            if not wide:
                return low
            return low.astype(U64) | self.regs[_next(row), idx].astype(U64) << U64(32)
        if found := re.match(r"c\[0x(\w+)\]\[0x(\w+)\]$", name):
            data = self.banks[int(found[1], 16)]
            offset = int(found[2], 16)
            return (U64 if wide else U32)(int.from_bytes(data[offset : offset + (8 if wide else 4)], "little"))
        if found := re.match(r"c\[0x(\w+)\]\[(U?R\w+)(?:\+(-?0x\w+))?\]$", name):
            return self._indexed_constant(int(found[1], 16), found[2], int(found[3] or "0", 16), idx, wide)
        if name.startswith("0x"):
            value = int(name, 16) * (-1 if text.startswith("-") else 1)
            return (U64 if wide else U32)(value & (0xFFFFFFFFFFFFFFFF if wide else 0xFFFFFFFF))
        if kind == "f":
            text = (
                text.replace("+QNAN", "nan")
                .replace("-QNAN", "-nan")
                .replace("QNAN", "nan")
                .replace("INF", "inf")
                .strip("|")
            )
            return np.array([float(text)], F64).view(U64)[0] if wide else np.array([float(text)], F32).view(U32)[0]
        raise Unknown(f"operand {text}")

    def _indexed_constant(self, bank: int, register: str, offset: int, idx, wide: bool):
        """Words of a constant bank at a register's address and an offset."""
        nbytes = 8 if wide else 4
        data = np.frombuffer(self.banks[bank] + bytes(nbytes), np.uint8)
        at = self.regs[_register_row(register), idx].astype(I32).astype(I64) + offset
        assert at.min() >= 0 and at.max() < len(self.banks[bank]), f"{self.kernel.name}: constant address outside"
        return data[at[:, None] + np.arange(nbytes)].copy().view(U64 if wide else U32)[:, 0]

    def integer(self, text: str, idx, wide: bool = False):
        value = self.bits(text, idx, "i", wide)
        if re.match(r"-?0x", text):
            return value
        if text[0] == "-":
            return (~value + value.dtype.type(1)).astype(value.dtype)
        return ~value if text[0] == "~" else value

    def number(self, text: str, idx, wide: bool = False):
        value = np.asarray(self.bits(text, idx, "f", wide)).view(F64 if wide else F32)
        if not re.search(r"R|c\[", text):
            return value
        if "|" in text:
            value = np.abs(value)
        return -value if text[0] == "-" else value

    def write(self, text: str, idx, value, wide: bool = False):
        row = _register_row(text)
        if row == ZERO:
            return
        if wide:
            value = np.asarray(value).view(U64) if np.asarray(value).dtype != U64 else np.asarray(value)
            self.regs[row, idx] = (value & U64(0xFFFFFFFF)).astype(U32)
            self.regs[row + 1, idx] = (value >> U64(32)).astype(U32)
        else:
            value = np.asarray(value)
            self.regs[row, idx] = (
                value.view(U32) if value.dtype.itemsize == 4 else (value & value.dtype.type(0xFFFFFFFF)).astype(U32)
            )

    def address(self, text: str, idx):
        """int64 byte addresses of `[...]`."""
        total = np.zeros(len(idx), I64)
        for part in re.findall(r"[+-]?-?[^+\-\[\]]+", text):
            name = part.lstrip("+")
            if name.lstrip("-").startswith("0x"):
                total += int(name.replace("--", ""), 16)
                continue
            name, _, scale = name.partition(".")
            row = _register_row(name)
            if row == ZERO:
                continue
            if scale == "64":
                total += self.bits(name, idx, wide=True).astype(I64)
            else:
                total += self.regs[row, idx].astype(I64) * (int(scale[1:]) if scale.startswith("X") else 1)
        return total

    def place(self, space: str, address: np.ndarray, idx, nbytes: int):
        """(bytes, index) of an address in a state space."""
        if space == "global":
            index = address - self.launch.base
            assert index.min() >= 0 and index.max() + nbytes <= len(self.launch.memory), (
                f"{self.kernel.name}: {address.min() - self.launch.base}..{address.max() - self.launch.base} is "
                "outside global memory"
            )
            return self.launch.memory, index
        if space == "shared":
            address = address & 0xFFFFFF
            size = max(self.launch.shared_nbytes, 16)
            assert address.max() + nbytes <= size, f"{self.kernel.name}: shared address outside"
            return self.shared, self.block[idx] * size + address
        size = max(self.launch.local_nbytes, 16)
        index = address & 0xFFFFFF
        assert index.max() + nbytes <= size, f"{self.kernel.name}: local address outside"
        return self.local, idx * size + index

    def go(self, lanes, pc: int):
        self.pc[lanes] = pc

    def part(self, lanes):
        """These lanes leave the others of their warps."""
        self.split[lanes] = self.n_splits
        self.n_splits += 1

    def meet(self, idx, number: int):
        """Lanes arrive at a meeting; it opens where all its members that are left have come."""
        self.state[idx] = MEETS
        self.meets_at[idx] = number
        self.open_meetings(np.unique(self.warp[idx]))

    def open_meetings(self, warps):
        lanes = (warps[:, None] * 32 + np.arange(32)).ravel()
        for number in np.unique(self.meets_at[lanes[self.state[lanes] == MEETS]]):
            member = self.meeting[number, lanes] & (self.state[lanes] != GONE)
            come = (self.state[lanes] == MEETS) & (self.meets_at[lanes] == number)
            full = ~(member & ~come).reshape(-1, 32).any(1)
            opened = lanes[(come.reshape(-1, 32) & full[:, None]).ravel()]
            if len(opened):
                self.state[opened] = RUNS
                self.pc[opened] += 1
                self.meeting[number, opened] = False
                self.part(opened)

    def open_block_barriers(self):
        waits = np.bincount(self.block, self.state == WAITS)
        left = np.bincount(self.block, self.state != GONE)
        opened = (waits > 0) & (waits == left)
        lanes = np.flatnonzero(opened[self.block] & (self.state == WAITS))
        if len(lanes):
            self.state[lanes] = RUNS
            self.pc[lanes] += 1
            self.part(lanes)


def _register_row(name: str) -> int:
    name = name.replace(".reuse", "").split(".")[0]
    if name in ("RZ", "URZ"):
        return ZERO
    return UNIFORM + int(name[2:]) if name[0] == "U" else int(name[1:])


def _next(row: int) -> int:
    return ZERO if row == ZERO else row + 1


def _predicate_row(name: str) -> int:
    name = name.lstrip("!")
    if name in ("PT", "UPT"):
        return TRUE
    return 8 + int(name[2:]) if name[0] == "U" else int(name[1:])


# -- control ---------------------------------------------------------------------------------------


def _jump(machine: _Machine, inst: Code, idx, taken, at: int):
    *conditions, target = inst.operands
    for condition in conditions:
        if re.fullmatch(r"!?U?P\w+", condition):
            taken = taken[machine.predicate(condition, taken)]
    goes = np.zeros(machine.n, bool)
    goes[taken] = True
    stays = idx[~goes[idx]]
    machine.go(stays, at + 1)
    machine.go(taken, machine.kernel.labels[re.search(r"\((.*?)\)", target)[1]])
    both = goes.reshape(-1, 32).any(1) & np.bincount(machine.warp[stays], minlength=machine.n // 32).astype(bool)
    if both.any():
        machine.part(taken[both[machine.warp[taken]]])


def _leave(machine: _Machine, inst: Code, idx, active, at: int):
    machine.go(idx, at + 1)
    machine.state[active] = GONE
    if (machine.state == WAITS).any():
        machine.open_block_barriers()
    warps = np.unique(machine.warp[active])
    if len(warps):
        machine.open_meetings(warps)


def _begin_meeting(machine: _Machine, inst: Code, idx, active, at: int):
    number = int(inst.operands[0][1:])
    lanes = (np.unique(machine.warp[active])[:, None] * 32 + np.arange(32)).ravel()
    machine.meeting[number, lanes] = False
    machine.meeting[number, active] = True
    machine.go(idx, at + 1)


def _meet(machine: _Machine, inst: Code, idx, active, at: int):
    machine.meet(idx, int(inst.operands[0][1:]))


def _break_meeting(machine: _Machine, inst: Code, idx, active, at: int):
    machine.meeting[int(inst.operands[0][1:]), active] = False
    machine.go(idx, at + 1)
    machine.open_meetings(np.unique(machine.warp[idx]))


def _warpsync(machine: _Machine, inst: Code, idx, active, at: int):
    lanes = (np.unique(machine.warp[idx])[:, None] * 32 + np.arange(32)).ravel()
    machine.meeting[16, lanes] = True
    machine.meet(idx, 16)


def _barrier(machine: _Machine, inst: Code, idx, active, at: int):
    machine.state[idx] = WAITS
    machine.open_block_barriers()


def _return(machine: _Machine, inst: Code, idx, active, at: int):
    address = machine.bits(inst.operands[0].split()[0], idx).astype(I64) // 16
    for target in np.unique(address):
        lanes = idx[address == target]
        machine.go(lanes, int(target))
        if len(lanes) < len(idx):
            machine.part(lanes)


_CONTROL = {"BRA": _jump, "CALL": _jump, "EXIT": _leave, "BSSY": _begin_meeting, "BSYNC": _meet,
    "BREAK": _break_meeting, "WARPSYNC": _warpsync,
            "BAR": _barrier, "RET": _return}  # fmt: skip


# -- what instructions compute
# -----------------------------------------------------------------------------------------------


IN_ORDER = ("S2R", "F2F")  # instructions whose words mean something by their order


def execute(m: _Machine, inst: Code, idx):
    name, *words = inst.op.split(".")
    action = _ACTIONS.get(name) or _ACTIONS.get(name.removeprefix("U"))
    if action is None:
        raise Unknown(f"{m.kernel.name}: {inst}")
    action(m, words if name in IN_ORDER else set(words), list(inst.operands), idx)


def _leading_predicates(operands: list[str]) -> list[str]:
    """Takes the predicates in front of a result or behind it away: carries out."""
    found = []
    while re.fullmatch(r"U?P[\dT]", operands[0]):
        found.append(operands.pop(0))
    return found


def _carries(operands: list[str]) -> list[str]:
    found = []
    while len(operands) > 1 and re.fullmatch(r"U?P[\dT]", operands[1]):
        found.append(operands.pop(1))
    return found


def _add3(m, words, o, idx):
    carries = _carries(o)
    total = np.zeros(len(idx), U64)
    for text in o[1:4]:
        value = np.asarray(m.bits(text, idx)).astype(U64)
        if text[0] in "-~" and not re.match(r"-0x", text):
            value = (value ^ U64(0xFFFFFFFF)) + U64(text[0] == "-")
        total = total + value
    for text in o[4:]:
        total = total + m.predicate(text, idx).astype(U64)
    for number, carry in enumerate(carries, 1):
        m.set_predicate(carry, idx, (total >> U64(32)) >= U64(number))
    m.write(o[0], idx, total)


def _product(m, a: str, b: str, idx, unsigned: bool):
    """uint64, the low half of the exact product of two 32-bit integers."""
    factors = []
    for text in (a, b):
        value = np.asarray(m.integer(text, idx))
        factors.append(value.astype(U64) if unsigned else value.view(I32).astype(I64).view(U64))
    return factors[0] * factors[1]


def _mad(m, words, o, idx):
    carries = _carries(o)
    product = _product(m, o[1], o[2], idx, "U32" in words and bool(words & {"WIDE", "HI"}))
    carry_in = m.predicate(o[4], idx).astype(U64) if "X" in words and len(o) > 4 else U64(0)
    if words & {"WIDE", "HI"}:
        addend = np.asarray(m.integer(o[3], idx, wide=True))
        total = product + addend + carry_in
        if carries:
            m.set_predicate(carries[0], idx, (total < product) | (total < addend))
        m.write(o[0], idx, total if "WIDE" in words else total >> U64(32), "WIDE" in words)
        return
    total = product + np.asarray(m.integer(o[3], idx)).astype(U64) + carry_in
    m.write(o[0], idx, total + np.zeros(len(idx), U64))


def _lea(m, words, o, idx):
    carries = _carries(o)
    a = np.asarray(m.integer(o[1], idx)).astype(U64)
    b = np.asarray(m.integer(o[2], idx)).astype(U64)
    if "HI" not in words:
        total = (a << U64(int(o[3], 16)) & U64(0xFFFFFFFF)) + b
    else:
        if "SX32" in words:
            high = np.where(a >> U64(31), U64(0xFFFFFFFF), U64(0))
            rest = o[3:]
        else:
            high = np.asarray(m.integer(o[3], idx)).astype(U64)
            rest = o[4:]
        total = (((high << U64(32) | a) << U64(int(rest[0], 16))) >> U64(32)) + b
        if "X" in words:
            total = total + m.predicate(rest[1], idx).astype(U64)
    if carries:
        m.set_predicate(carries[0], idx, total >> U64(32) > 0)
    m.write(o[0], idx, total + np.zeros(len(idx), U64))


def _lop3(m, words, o, idx):
    out = _leading_predicates(o)
    a, b, c = (m.integer(text, idx) for text in o[1:4])
    lut = int(o[4], 16)
    total = np.zeros(len(idx), U32)
    for index in range(8):
        if lut >> index & 1:
            total |= (a if index & 4 else ~a) & (b if index & 2 else ~b) & (c if index & 1 else ~c)
    if out:
        m.set_predicate(out[0], idx, (total != 0) | m.predicate(o[5], idx))
    m.write(o[0], idx, total)


def _plop3(m, words, o, idx):
    a, b, c = (m.predicate(text, idx).astype(I64) for text in o[2:5])
    for text, lut in zip(o[:2], o[5:7], strict=True):
        m.set_predicate(text, idx, (int(lut, 16) >> (a << 2 | b << 1 | c) & 1).astype(bool))


_COMPARE = {
    "EQ": np.equal,
    "NE": np.not_equal,
    "LT": np.less,
    "LE": np.less_equal,
    "GT": np.greater,
    "GE": np.greater_equal,
}
_COMBINE = {"AND": np.logical_and, "OR": np.logical_or, "XOR": np.logical_xor}


def _set_both(m, o, idx, holds, words):
    combine = next(_COMBINE[word] for word in _COMBINE if word in words)
    given = m.predicate(o[4], idx)
    m.set_predicate(o[0], idx, combine(holds, given))
    m.set_predicate(o[1], idx, combine(~holds, given))


def _isetp(m, words, o, idx):
    name = next(word for word in _COMPARE if word in words)
    a, b = (np.asarray(m.integer(text, idx)) for text in o[2:4])
    if "U32" not in words:
        a, b = a.view(I32), b.view(I32)
    holds = _COMPARE[name](a, b) + np.zeros(len(idx), bool)
    if "EX" in words:
        low = m.predicate(o[5], idx)
        strict = {"GE": np.greater, "GT": np.greater, "LE": np.less, "LT": np.less, "NE": np.not_equal}.get(name)
        holds = (strict(a, b) | (a == b) & low) if strict else (a == b) & low
    _set_both(m, o, idx, holds, words)


def _float_setp(wide):
    def setp(m, words, o, idx):
        a, b = (_flushed(m.number(text, idx, wide), words) for text in o[2:4])
        unordered = np.isnan(a) | np.isnan(b)
        if "NAN" in words:
            holds = unordered
        elif larger := {"MAX", "MIN"} & words:  # whether the first of the two is it
            holds = np.isnan(b) | (np.greater_equal if "MAX" in larger else np.less_equal)(a, b)
        else:
            word = next(w for w in words if w.removesuffix("U") in _COMPARE)
            holds = _COMPARE[word.removesuffix("U")](a, b)
            holds = holds | unordered if word.endswith("U") else holds & ~unordered
        _set_both(m, o, idx, holds + np.zeros(len(idx), bool), words)

    return setp


def _flushed(x, words):
    return np.where(np.abs(x) < np.finfo(F32).tiny, np.copysign(F32(0), x), x) if "FTZ" in words else x


def _odd(a, b, c):
    """a * b + c of float32 as a float64 that has been rounded to odd: rounding it once more gives the exact result's
    rounding.
    """
    product, c = a.astype(F64) * b.astype(F64), c.astype(F64)
    total = product + c
    part = total - product
    error = (product - (total - part)) + (c - part)
    even = (np.asarray(total).view(U64) & U64(1)) == 0
    towards = np.where(error > 0, np.inf, -np.inf)
    return np.where((error != 0) & even & np.isfinite(total), np.nextafter(total, towards), total)


def _rounded(exact, words):
    near = exact.astype(F32)
    for word, wrong in (("RM", near > exact), ("RP", near < exact), ("RZ", np.abs(near) > np.abs(exact))):
        if word in words:
            return np.where(
                wrong, np.nextafter(near, {"RM": F32(-np.inf), "RP": F32(np.inf), "RZ": F32(0)}[word]), near
            ).astype(F32)
    return near


def _float3(use):
    def action(m, words, o, idx):
        given = [_flushed(m.number(text, idx), words).astype(F32) for text in o[1:4]]
        result = _flushed(_rounded(_odd(*use(*given)), words), words)
        if "SAT" in words:
            result = np.where(np.isnan(result), 0, np.clip(result, 0, 1))
        m.write(o[0], idx, result.astype(F32) + np.zeros(len(idx), F32))

    return action


_NOTHING = np.array(-0.0, F32)


def _fused64(a, b, c) -> np.ndarray:
    """a * b + c rounded once; what is no finite number or zero as numpy has it."""
    a, b, c = np.broadcast_arrays(a, b, c)
    result = np.array(a * b + c)
    for at in np.flatnonzero(np.isfinite(result) & (result != 0)):
        exact = Fraction(float(a[at])) * Fraction(float(b[at])) + Fraction(float(c[at]))
        try:
            result[at] = float(exact)
        except OverflowError:  # rounded in two steps it was just below
            result[at] = np.inf if exact > 0 else -np.inf
    return result


def _double(use):
    def action(m, words, o, idx):
        given = [np.asarray(m.number(text, idx, True)).astype(np.longdouble) for text in o[1:4]]
        m.write(o[0], idx, (use(*given) + np.zeros(len(idx), np.longdouble)).astype(F64), True)

    return action


def _select(m, words, o, idx):
    take = m.number if "f" in words else m.integer
    m.write(o[0], idx, np.where(m.predicate(o[3], idx), take(o[1], idx), take(o[2], idx)))


def _fsel(m, words, o, idx):
    a, b = (np.asarray(m.number(text, idx)).view(U32) for text in o[1:3])
    m.write(o[0], idx, np.where(m.predicate(o[3], idx), a, b))


def _imnmx(m, words, o, idx):
    a, b = (np.asarray(m.integer(text, idx)) for text in o[1:3])
    if "U32" not in words:
        a, b = a.view(I32), b.view(I32)
    m.write(o[0], idx, np.where(m.predicate(o[3], idx), np.minimum(a, b), np.maximum(a, b)))


def _fmnmx(m, words, o, idx):
    a, b = (m.number(text, idx) for text in o[1:3])
    low, high = (np.minimum, np.maximum) if "NAN" in words else (np.fmin, np.fmax)
    m.write(o[0], idx, np.where(m.predicate(o[3], idx), low(a, b), high(a, b)).astype(F32))


def _extend(m, words, o, idx):
    """The lowest bits of a value, as many as the second operand says; signed unless U32."""
    value, nbits = (np.asarray(m.integer(text, idx)).astype(U64) for text in (o[1], o[2]))
    low = value & (U64(1) << nbits) - U64(1)
    sign = U64(0) if "U32" in words else low & U64(1) << nbits - U64(1)
    m.write(o[0], idx, low - U64(2) * sign + np.zeros(len(idx), U64))


def _shf(m, words, o, idx):
    low, by, high = (np.asarray(m.integer(text, idx)).astype(U64) for text in (o[1], o[2], o[3]))
    most = U64(63 if words & {"U64", "S64"} else 32)
    by = by & (most if most == 63 else U64(31)) if "W" in words else np.minimum(by, most)
    if "HI" not in words and not words & {"U64", "S64"}:
        high = low if "R" in words else high
    whole = high << U64(32) | low
    if "L" in words:
        total = np.where(by >= 64, U64(0), whole << by)
        total = total >> U64(32) if "HI" in words else total
    elif words & {"S32", "S64"}:
        total = (whole.view(I64) >> by.astype(I64)).view(U64)
        total = total >> U64(32) if "HI" in words else total
    else:
        total = whole >> by
        total = total >> U64(32) if "HI" in words else total
    m.write(o[0], idx, total + np.zeros(len(idx), U64))


def _prmt(m, words, o, idx):
    a, selector, b = (np.asarray(m.integer(text, idx)).astype(U64) for text in o[1:4])
    if words & {"F4E", "B4E", "RC8", "ECL", "ECR", "RC16"}:
        raise Unknown("PRMT mode")
    whole, total = b << U64(32) | a, np.zeros(len(idx), U64)
    for byte in range(4):
        chosen = selector >> U64(4 * byte) & U64(15)
        value = whole >> ((chosen & U64(7)) * U64(8)) & U64(255)
        value = np.where(chosen & U64(8), np.where(value & U64(128), U64(255), U64(0)), value)
        total = total | value << U64(8 * byte)
    m.write(o[0], idx, total)


_MUFU = {"RCP": lambda x: 1 / x, "RSQ": lambda x: 1 / np.sqrt(x), "EX2": np.exp2, "LG2": np.log2, "SQRT": np.sqrt,
    "TANH": np.tanh,
         "SIN": lambda x: np.sin(2 * np.pi * x), "COS": lambda x: np.cos(2 * np.pi * x)}  # fmt: skip


def _mufu(m, words, o, idx):
    (word,) = words
    if word in ("RCP64H", "RSQ64H"):
        x = (np.asarray(m.bits(o[1], idx)).astype(U64) << U64(32)).view(F64)
        m.write(o[0], idx, np.asarray(1 / x if word == "RCP64H" else 1 / np.sqrt(x)).view(U64) >> U64(32))
        return
    x = np.asarray(m.number(o[1], idx)).astype(F64)
    m.write(o[0], idx, (_MUFU[word](x) + np.zeros(len(idx))).astype(F32))


def _check_division(m, words, o, idx):
    """Whether the quotient needs the slow path: an operand, or the result's exponent, is near an end of the range."""
    a, b = (np.asarray(m.bits(text, idx)).astype(I64) >> 23 & 255 for text in o[1:3])
    slow = (
        (b == 0)
        | (b >= 253)
        | (a >= 254)
        | (a < 24) & (np.asarray(m.number(o[1], idx)) != 0)
        | (a - b >= 126)
        | (a - b <= -126) & (a > 0)
    )
    m.set_predicate(o[0], idx, slow)


_KINDS = {
    "U32": U32,
    "S32": I32,
    "U64": U64,
    "S64": I64,
    "U16": np.uint16,
    "S16": np.int16,
    "U8": np.uint8,
    "S8": np.int8,
}


def _int_to_float(m, words, o, idx):
    kind = next((_KINDS[word] for word in words if word in _KINDS), I32)
    wide = kind in (U64, I64)
    x = (np.asarray(m.integer(o[1], idx, wide)) + np.zeros(len(idx), U64 if wide else U32)).astype(kind)
    if "F64" in words:
        m.write(o[0], idx, x.astype(F64), True)
    else:
        m.write(o[0], idx, _rounded(x.astype(np.longdouble), words))


def _float_to_float(m, words, o, idx):
    """F2F.TO.FROM between float32 and float64."""
    if words[:2] == ["F64", "F32"]:
        m.write(o[0], idx, np.asarray(m.number(o[1], idx)).astype(F64) + np.zeros(len(idx)), True)
    else:
        m.write(o[0], idx, _rounded(np.asarray(m.number(o[1], idx, True)).astype(np.longdouble), words))


def _predicates_to_register(m, words, o, idx):
    mask = int(o[3], 16)
    packed = sum((m.preds[row, idx].astype(U32) << U32(row) for row in range(7)), np.zeros(len(idx), U32))
    m.write(o[0], idx, packed & U32(mask) | m.integer(o[2], idx) & U32(~mask & 0xFFFFFFFF))


def _register_to_predicates(m, words, o, idx):
    value, mask = m.integer(o[1], idx), int(o[2], 16)
    for row in range(7):
        if mask >> row & 1:
            m.preds[row, idx] = (value >> U32(row) & U32(1)).astype(bool)


def _float_to_int(m, words, o, idx):
    kind = next((_KINDS[word] for word in words if word in _KINDS), I32)
    x = _flushed(np.asarray(m.number(o[1], idx, "F64" in words)), words).astype(F64) + np.zeros(len(idx))
    how = next(
        (how for word, how in (("TRUNC", np.trunc), ("FLOOR", np.floor), ("CEIL", np.ceil)) if word in words), np.rint
    )
    low, high = np.iinfo(kind).min, np.iinfo(kind).max
    whole = how(np.where(np.isnan(x), 0, x))
    inside = np.clip(whole, float(low), np.nextafter(float(high) + 1, 0)).astype(kind)
    result = np.where(whole >= float(high), kind(high), inside)
    result = result if result.dtype.itemsize >= 4 else result.astype(I32)
    m.write(o[0], idx, result, kind in (U64, I64))


def _frnd(m, words, o, idx):
    how = next(
        (how for word, how in (("TRUNC", np.trunc), ("FLOOR", np.floor), ("CEIL", np.ceil)) if word in words), np.rint
    )
    m.write(o[0], idx, (how(m.number(o[1], idx)) + np.zeros(len(idx), F32)).astype(F32))


def _move(m, words, o, idx):
    m.write(o[0], idx, m.integer(o[1], idx) + np.zeros(len(idx), U32))


def _load_constant(m, words, o, idx):
    wide = "64" in words
    m.write(o[0], idx, m.integer(o[1], idx, wide) + np.zeros(len(idx), U64 if wide else U32), wide)


def _half_move(m, words, o, idx):
    if [o[1].lstrip("-"), o[2]] != ["RZ", "RZ"]:
        raise Unknown(f"HFMA2 {o}")
    high, low = (int(np.array([float(text)], np.float16).view(np.uint16)[0]) for text in o[3:5])
    m.write(o[0], idx, np.full(len(idx), high << 16 | low, U32))


def _special(m, words, o, idx):
    value = m.special[o[1]][idx].astype(U64)
    if m.kernel and "32" not in words and o[0][0] == "R" and o[1] == "SRZ":
        m.write(o[0], idx, value, True)  # CS2R writes two registers
    else:
        m.write(o[0], idx, value)


def _shuffle(m, words, o, idx):
    lane = m.special["SR_LANEID"][idx].astype(I64)
    by = np.asarray(m.integer(o[3], idx)).astype(I64) & 31
    clamp = np.asarray(m.integer(o[4], idx)).astype(I64)
    segment = clamp >> 8 & 31
    most = lane & segment | clamp & 31 & ~segment
    least = lane & segment
    source = {"IDX": least | by & ~segment, "UP": lane - by, "DOWN": lane + by, "BFLY": lane ^ by}[
        next(iter(words & {"IDX", "UP", "DOWN", "BFLY"}))
    ]
    good = source >= most if "UP" in words else source <= most
    source = np.where(good, source, lane)
    value = m.regs[_register_row(o[2]), m.warp[idx] * 32 + source].copy()
    m.set_predicate(o[0], idx, good)
    m.write(o[1], idx, value)


def _vote(m, words, o, idx):
    register = o.pop(0) if o[0][0] == "R" or o[0][:2] == "UR" else None
    source = m.predicate(o[-1], idx)
    ballot = np.zeros(m.n // 32, U64)
    here = np.zeros(m.n // 32, U64)
    bit = U64(1) << m.special["SR_LANEID"][idx].astype(U64)
    np.bitwise_or.at(ballot, m.warp[idx], np.where(source, bit, U64(0)))
    np.bitwise_or.at(here, m.warp[idx], bit)
    if register:
        m.write(register, idx, ballot[m.warp[idx]])
    holds = ballot == here if "ALL" in words else ballot != 0 if "ANY" in words else (ballot == here) | (ballot == 0)
    m.set_predicate(o[0], idx, holds[m.warp[idx]])


_NBYTES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}


def _load(space):
    def load(m, words, o, idx):
        nbytes = next((n for word, n in _NBYTES.items() if word in words), 4)
        data, index = m.place(space, m.address(o[1], idx), idx, nbytes)
        row = _register_row(o[0])
        if nbytes < 4:
            values = data[index].astype(U32) | (data[index + 1].astype(U32) << U32(8) if nbytes == 2 else U32(0))
            if words & {"S8", "S16"}:
                values = values.astype(np.int8 if nbytes == 1 else np.int16).astype(I32).view(U32)
            m.write(o[0], idx, values)
            return
        assert not (index % nbytes).any(), "misaligned"
        for word in range(nbytes // 4):
            m.regs[row + word, idx] = data.view(U32)[index // 4 + word]

    return load


def _store(space):
    def store(m, words, o, idx):
        nbytes = next((n for word, n in _NBYTES.items() if word in words), 4)
        data, index = m.place(space, m.address(o[0], idx), idx, nbytes)
        row = _register_row(o[1])
        if nbytes < 4:
            for byte in range(nbytes):
                data[index + byte] = (m.regs[row, idx] >> U32(8 * byte)).astype(np.uint8)
            return
        for word in range(nbytes // 4):
            data.view(U32)[index // 4 + word] = m.regs[ZERO if row == ZERO else row + word, idx]

    return store


_ATOMIC = {
    "ADD": np.add,
    "MIN": np.minimum,
    "MAX": np.maximum,
    "AND": np.bitwise_and,
    "OR": np.bitwise_or,
    "XOR": np.bitwise_xor,
}


def _atomic(space, returns):
    def atomic(m, words, o, idx):
        o = list(o)
        if returns:
            _leading_predicates(o)
            result = o.pop(0)
        wide = "64" in words
        data, index = m.place(space, m.address(o[0], idx), idx, 8 if wide else 4)
        cells = data.view(U64 if wide else U32)
        index = index // (8 if wide else 4)
        if "CAS" in words or "CAST" in words:
            compare, new = (m.integer(text, idx, wide) for text in o[1:3])
            old = np.empty(len(idx), cells.dtype)
            for k, cell in enumerate(index):
                old[k] = cells[cell]
                if old[k] == compare[k]:
                    cells[cell] = new[k]
        elif "POPC" in words:
            old = cells[index]
            np.add.at(cells, index, cells.dtype.type(1))
        else:
            kind = {"F32": F32, "F64": F64, "S32": I32}.get(next(iter(words & {"F32", "F64", "S32"}), ""), U32)
            values = np.asarray(m.bits(o[1], idx, "i", kind == F64)).view(kind)
            old = cells[index]
            action = next(_ATOMIC[word] for word in _ATOMIC if word in words)
            if returns and result != "RZ":  # one lane after the other, each gets what it found
                typed = data.view(kind)
                for k, cell in enumerate(index):
                    old[k] = cells[cell]
                    typed[cell] = action(typed[cell], values[k])
            else:
                action.at(data.view(kind), index if kind != F64 else index // 2, values)
        if returns:
            m.write(result, idx, old, wide)

    return atomic


def _unary(use):
    def action(m, words, o, idx):
        m.write(o[0], idx, use(np.asarray(m.integer(o[1], idx)) + np.zeros(len(idx), U32)))

    return action


def _reversed_bits(x):
    return sum((x >> U32(bit) & U32(1)) << U32(31 - bit) for bit in range(32)).astype(U32)


def _flo(m, words, o, idx):
    operands = [text for text in o if not re.fullmatch(r"U?PT", text)]
    x = np.asarray(m.integer(operands[1], idx)) + np.zeros(len(idx), U32)
    if "U32" not in words:
        x = np.where(x >> U32(31), ~x, x)
    top = np.where(x == 0, U32(0xFFFFFFFF), np.floor(np.log2(np.maximum(x, 1).astype(F64))).astype(U32))
    m.write(operands[0], idx, np.where((x != 0) & ("SH" in words), U32(31) - top, top))


_ACTIONS = {
    "IADD3": _add3, "IMAD": _mad, "LEA": _lea, "LOP3": _lop3, "PLOP3": _plop3, "ISETP": _isetp,
    "FSETP": _float_setp(False),
    "DSETP": _float_setp(True), "SEL": _select, "FSEL": _fsel,
    "IMNMX": _imnmx, "FMNMX": _fmnmx, "SHF": _shf, "SGXT": _extend, "PRMT": _prmt, "MUFU": _mufu,
    "FCHK": _check_division,
    "I2F": _int_to_float, "F2F": _float_to_float, "P2R": _predicates_to_register, "R2P": _register_to_predicates,
    "R2UR": _move,
    "F2I": _float_to_int, "FRND": _frnd, "MOV": _move, "LDC": _load_constant, "HFMA2": _half_move, "S2R": _special,
    "S2UR": _special, "CS2R": _special,
    "SHFL": _shuffle, "VOTE": _vote, "FLO": _flo, "NOP": lambda *_: None, "YIELD": lambda *_: None,
    "DEPBAR": lambda *_: None,
    "MEMBAR": lambda *_: None, "ERRBAR": lambda *_: None, "CCTL": lambda *_: None,
    "DADD": _double(lambda a, b, *_: a + b), "DMUL": _double(lambda a, b, *_: a * b), "DFMA": _double(_fused64),
    "LDG": _load("global"), "LD": _load("global"), "LDS": _load("shared"), "LDL": _load("local"),
    "STG": _store("global"), "ST": _store("global"), "STS": _store("shared"), "STL": _store("local"),
    "RED": _atomic("global", False), "ATOMG": _atomic("global", True), "ATOM": _atomic("global", True),
    "ATOMS": _atomic("shared", True),
    "IABS": _unary(lambda x: np.abs(x.view(I32)).view(U32)), "POPC": _unary(lambda x: np.bitwise_count(x).astype(U32)),
    "BREV": _unary(_reversed_bits),
}  # fmt: skip
_ONE = np.array(1, F32)
_ACTIONS["FADD"] = _float3(lambda a, b: (a, _ONE, b))
_ACTIONS["FMUL"] = _float3(lambda a, b: (a, b, np.where(np.signbit(a) == np.signbit(b), F32(0), F32(-0.0))))
_ACTIONS["FFMA"] = _float3(lambda a, b, c: (a, b, c))
