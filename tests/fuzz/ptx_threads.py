"""Random kernels whose threads can run in any order: what one thread does never depends on how far the others are.

Beside the instructions of `ptx_mixes`, which here work on memory of the thread's own, there are functions that call
each other, and pieces in which threads take part together: atomics whose order cannot be seen, barriers with values
exchanged through shared memory, warp operations where all lanes are, on both sides of a branch, and among the lanes of
one side.
"""

import random
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import numpy as np

from tests.fuzz.ptx_mixes import (
    COUNTS,
    KINDS,
    LANE_NBYTES,
    LOADS,
    MEMORY,
    OFFSETS,
    SCALAR,
    WITH_OTHERS,
    Mix,
    memory_image,
)

THREADS = 40  # of a block; the second warp has eight lanes
OWN_NBYTES = 256  # of each thread, in global memory behind its registers and in shared memory
HOME_NBYTES = (LANE_NBYTES + 31) // 32 * 32 + OWN_NBYTES
CELL_NBYTES = 8  # for atomics: in global memory, and in each block's shared memory
# What the interpreter in tests/one_thread has no reference for.
_NOT_COVERED = re.compile(
    r"e[2-5]m[1-5]|ue8m0|\.rs\b|cvt\.pack|(rcp|rsqrt)\.approx\.ftz\.f64|rsqrt\.approx\.f64|div\.(approx|full)"
)


def _by_stem(forms) -> list[list[str]]:
    """Forms with the same first word, so that words with many forms are not most of a kernel."""
    groups = defaultdict(list)
    for form in forms:
        groups[re.match(r"(?:@!?%\w+ |add.cc.*; )?(\w+?)[24]?\b", form)[1]].append(form)
    return [groups[stem] for stem in sorted(groups)]


def _own(form: str) -> str:
    """Variables that all threads share are replaced by the thread's own memory."""
    return re.sub(r"\[([gs])var\b", r"[%\1", form)


def _with_carry(form: str) -> str:
    """What takes the carry comes after what makes it: no function says what the carry is when it is called."""
    return f"add.cc.u32 %t, %r2, %r3; {form}" if form.startswith(("addc", "subc", "madc")) else form


_COVERED = [_with_carry(form) for form in SCALAR if not _NOT_COVERED.search(form)]
_IN_MEMORY = [_own(form) for form in MEMORY]
_IN_MEMORY = [form for form in _IN_MEMORY if not re.search(r"[gs]var", form)]
ALONE = _by_stem(_COVERED)
IN_MEMORY = _by_stem(form for form in _IN_MEMORY if not WITH_OTHERS.search(form))
# Functions have other parameters than the kernel.
IN_FUNCTIONS = [[form for form in group if not re.search(r"\[p(0|struct)\b", form)] for group in IN_MEMORY]
IN_FUNCTIONS = [group for group in IN_FUNCTIONS if group]
# Lanes outside of their own member mask are undefined.
TOGETHER = _by_stem(form for form in _IN_MEMORY if WITH_OTHERS.search(form) and re.search(r", (%all|-1);", form))

_SIGNATURE = "(.param .b32 out) {name} (.param .b64 a0, .param .b64 a1, .param .b32 a2)"
_REGISTERS = (
    " ".join(f".reg .{KINDS[kind]} %{kind}<{n}>;" for kind, n in COUNTS.items())
    + """
    .reg .b64 %g, %s, %c, %l, %home, %common, %cells, %to, %to2, %size; .reg .b16 %byte; .reg .pred %again;
    .reg .b32 %tid, %zero, %one, %two, %all, %t, %sink, %mask, %n<4>;
    .local .align 32 .b8 lvar[64];
"""
)
_CONSTANTS = "    mov.u64 %c, cvar; mov.u64 %l, lvar; mov.u32 %zero, 0; mov.u32 %one, 1; mov.u32 %two, 2; "
_CONSTANTS += "mov.b32 %all, -1;\n    add.u64 %g, %home, " + str(HOME_NBYTES - OWN_NBYTES + 128) + ";\n"
_HEAD = f"""\
.version 9.0
.target sm_90
.address_size 64
.const .align 16 .b8 cvar[64] = {{{", ".join(str(7 * k % 256) for k in range(64))}}};
.shared .align 32 .b8 svar[{THREADS * OWN_NBYTES}];
"""
# Each order of these, with any operands, leaves the same.
_REDUCTIONS = (
    "red.{space}.add.u32 [{cell}], %r3;", "red.{space}.add.u64 [{cell}], %d3;", "red.{space}.min.s32 [{cell}], %r3;",
    "red.{space}.max.u32 [{cell}], %r3;", "red.{space}.max.s64 [{cell}], %d3;", "red.{space}.and.b32 [{cell}], %r3;",
    "red.{space}.or.b64 [{cell}], %d3;", "red.{space}.xor.b32 [{cell}], %r3;",
    "red.{space}.add.f32 [{cell}], 0f40400000;", "red.{space}.add.f64 [{cell}], 0d4014000000000000;",
)  # fmt: skip
# What these return is a set that does not depend on the order, and so is its sum.
_COUNTERS = (
    "atom.{space}.add.u32 %sink, [{cell}], 3;",
    "atom.{space}.inc.u32 %sink, [{cell}], 11;",
    "atom.{space}.dec.u32 %sink, [{cell}], 5;",
)
_GENERIC = (
    "st.b32 [%to+8], %r3;", "ld.b32 %r2, [%to+8];", "ld.v2.b64 {%d2, %d3}, [%to+16];",
    "st.v4.b32 [%to+16], {%r2, %r3, %r4, %r5};",
    "atom.add.u32 %r2, [%to+4], %r3;", "red.max.s32 [%to], %r3;", "ld.s8 %r2, [%to+3];", "st.u16 [%to+2], %h3;",
)  # fmt: skip
_AMONG = (
    "bar.warp.sync %mask;",
    "shfl.sync.bfly.b32 %r2, %r3, 1, 31, %mask;",
    "shfl.sync.up.b32 %r2|%p1, %r3, 3, 0, %mask;",
    "vote.sync.any.pred %p1, %p2, %mask;",
    "vote.sync.ballot.b32 %r2, %p2, %mask;",
    "match.any.sync.b32 %r2, %r3, %mask;",
    "redux.sync.add.s32 %r2, %r3, %mask;",
    "redux.sync.min.u32 %r2, %r3, %mask;",
)
_BOTH = (
    "bar.warp.sync -1;",
    "shfl.sync.idx.b32 %r2, %r3, 9, 31, -1;",
    "shfl.sync.down.b32 %r2, %r3, 2, 31, -1;",
    "vote.sync.ballot.b32 %r2, %p2, -1;",
    "redux.sync.xor.b32 %r2, %r3, -1;",
)


class _Body(Mix):
    """The statements of a function that may call those before it."""

    def __init__(self, seed, length: int, functions: list[str], cells: Iterator[int], is_kernel: bool):
        self.functions, self.cells, self.is_kernel = functions, cells, is_kernel
        self.together = is_kernel  # whether all threads of the block are here
        super().__init__(seed, length)

    # Where threads part

    @contextmanager
    def apart(self, is_together: bool = False):
        before, self.together = self.together, self.together and is_together
        yield
        self.together = before

    def branch(self, length: int, depth: int):
        with self.apart():
            super().branch(length, depth)

    def loop(self, length: int, depth: int):
        """Up to three rounds, the same for all threads or not."""
        start, counter, is_together = self.label(), f"%n{depth}", self.random.random() < 0.5
        self.lines.append(f"and.b32 {counter}, {'%two' if is_together else '%tid'}, 3;")
        self.lines.append(f"{start}:")
        with self.apart(is_together):
            self.statements(length, depth + 1)
        self.lines.append(f"sub.u32 {counter}, {counter}, 1; setp.gt.s32 %again, {counter}, 0;")
        self.lines.append(f"@%again bra {start};")

    def switch(self, depth: int):
        """Three ways by a lane's register."""
        ways, end, table = [self.label() for _ in range(3)], self.label(), self.label()
        self.lines.append(f"{table}: .branchtargets {', '.join(ways)};")
        self.lines.append(self.renamed(f"rem.u32 %t, {self.register('r')}, 3;"))
        self.lines.append(f"brx.idx %t, {table};")
        with self.apart():
            for way in ways:
                self.lines.append(f"{way}:")
                self.statements(self.random.randrange(1, 3), depth + 1)
                self.lines.append(f"bra {end};")
        self.lines.append(f"{end}:")

    def register(self, kind: str) -> str:
        return f"%{kind}{self.random.randrange(COUNTS[kind])}"

    # Pieces

    def instruction(self, depth: int):
        kind = self.random.random()
        pieces = [piece for share, piece in self.pieces(depth) if kind < share]
        if pieces:
            pieces[0](depth)
            return
        in_memory = IN_MEMORY if self.is_kernel else IN_FUNCTIONS
        groups = in_memory if self.random.random() < 0.3 else ALONE
        form = self.renamed(self.random.choice(self.random.choice(groups)))
        if not form.startswith("@") and ";" not in form[:-1] and self.random.random() < 0.15:
            form = self.guarded(form)
        self.lines.append(form)

    def pieces(self, depth: int):
        """(share of all statements up to here, piece); those for all threads only where they are."""
        yield 0.05, self.atomic
        if depth < 2:
            yield 0.07, self.switch
        if self.functions:
            yield 0.11, self.call
        if self.together:
            yield 0.14, self.exchange
            yield 0.18, self.warp_operation
            yield 0.20, self.on_both_sides
            yield 0.22, self.on_one_side
            yield 0.235, self.hand_over
        yield 0.26, self.generic
        yield 0.275, self.stack
        if self.is_kernel:
            yield 0.28, self.exit

    def guarded(self, form: str) -> str:
        return f"@{self.random.choice(('', '!'))}{self.register('p')} {form}"

    def exit(self, depth: int):
        """Some of the lanes, but not the first of a warp: a barrier for two warps needs both."""
        predicate = self.register("p")
        self.lines.append(f"and.b32 %t, %tid, 31; setp.ne.and.u32 %again, %t, 0, {predicate}; @%again exit;")

    def generic(self, depth: int):
        """Lanes of one instruction find global, shared and local memory."""
        first, second = self.register("p"), self.register("p")
        self.lines.append("mov.u64 %to, %g;")
        self.lines.append(f"@{first} cvta.shared.u64 %to, %s; @!{second} cvta.local.u64 %to, %l;")
        for form in self.random.sample(_GENERIC, 2):
            self.lines.append(self.renamed(form))

    def stack(self, depth: int):
        """Local memory that is taken, and mostly given back; functions that are called stand above it."""
        nbytes = self.random.choice(("%size", "24", "64"))
        self.lines.append(f"and.b32 %t, {self.register('r')}, 63; cvt.u64.u32 %size, %t; stacksave.u64 %to2;")
        self.lines.append(f"alloca.u64 %to, {nbytes}, {self.random.choice((8, 16, 64))};")
        if nbytes != "%size":
            self.lines.append(
                f"st.local.b64 [%to+8], {self.register('d')}; ld.local.b64 {self.register('d')}, [%to+8];"
            )
        if self.functions:
            self.call(depth)
        if self.random.random() < 0.7:
            self.lines.append("stackrestore.u64 %to2;")

    def hand_over(self, depth: int):
        """The first warp writes, arrives at a barrier and goes on; the second one waits there and reads."""
        second, end, number = self.label(), self.label(), self.random.randrange(1, 16)
        self.lines += [
            f"setp.ge.u32 %again, %tid, 32; @%again bra {second};",
            f"st.shared.b32 [%s+96], {self.register('r')}; bar.arrive {number}, 64; bra {end};",
            f"{second}: bar.sync {number}, 64; ld.shared.b32 {self.register('r')}, [%s+-{32 * OWN_NBYTES - 96}];",
            f"{end}: bar.sync 0;",
        ]

    def atomic(self, depth: int):
        space = self.random.choice(("global", "shared"))
        base = "%common" if space == "global" else "%cells"
        if self.random.random() < 0.6:
            form = self.renamed(self.random.choice(_REDUCTIONS))
            self.lines.append(form.format(space=space, cell=self.cell(base)))
        else:
            form = self.random.choice(_COUNTERS).format(space=space, cell=self.cell(base))
            self.lines.append(f"{form} red.{space}.add.u32 [{self.cell(base)}], %sink;")

    def cell(self, base: str) -> str:
        """One of its own for each atomic: different operations on one cell would have an order."""
        return f"{base}+{CELL_NBYTES * next(self.cells)}"

    def call(self, depth: int):
        name, guard = self.random.choice(self.functions), self.random.choice(("", "", "@%p1 "))
        result, given = self.register("r"), self.register("r")
        if len(self.functions) > 1 and self.random.random() < 0.3:
            other = self.random.choice(self.functions)
            prototype = self.label()
            self.lines.append(f"mov.u64 %to, {name}; @{self.register('p')} mov.u64 %to, {other};")
            self.lines.append(f"{prototype}: .callprototype {_SIGNATURE.format(name='_')};")
            self.lines.append(f"{guard}call ({result}), %to, (%home, %s, {given}), {prototype};")
        else:
            self.lines.append(f"{guard}call ({result}), {name}, (%home, %s, {given});")

    def exchange(self, depth: int):
        """Each thread reads what another one wrote before the barrier, and waits until its own was read."""
        by = self.random.randrange(1, THREADS)
        number = self.random.randrange(16)
        self.lines += [
            f"st.shared.b32 [%s+64], {self.register('r')};",
            f"bar.sync {number};",
            f"add.u32 %t, %tid, {by}; rem.u32 %t, %t, {THREADS}; mul.lo.u32 %t, %t, {OWN_NBYTES};",
            f"ld.shared.b32 {self.register('r')}, [%t+{64}];",  # svar is the first in shared memory
            self.random.choice(
                (
                    "bar.sync 0;",
                    f"bar.red.popc.u32 {self.register('r')}, 0, {self.register('p')};",
                    f"bar.red.or.pred {self.register('p')}, 0, {self.register('p')};",
                )
            ),
        ]

    def warp_operation(self, depth: int):
        self.lines.append(self.renamed(self.random.choice(self.random.choice(TOGETHER))))

    def on_both_sides(self, depth: int):
        """Lanes meet at two instructions."""
        form = self.random.choice(_BOTH)
        otherwise, end = self.label(), self.label()
        self.lines.append(f"@{self.register('p')} bra {otherwise};")
        with self.apart():
            self.statements(self.random.randrange(3), 3)
            self.lines += [self.renamed(form), f"bra {end};", f"{otherwise}:"]
            self.statements(self.random.randrange(3), 3)
            self.lines += [self.renamed(form), f"{end}:"]

    def on_one_side(self, depth: int):
        """The lanes of one side among themselves."""
        predicate, end = self.register("p"), self.label()
        self.lines.append(f"vote.sync.ballot.b32 %mask, {predicate}, -1;")
        self.lines.append(f"@!{predicate} bra {end};")
        with self.apart():
            self.statements(self.random.randrange(3), 3)
            self.lines.append(self.renamed(self.random.choice(_AMONG)))
        self.lines.append(f"{end}:")

    # Text

    def used(self) -> dict[str, int]:
        body = "\n".join(self.lines)
        return {name: offset for name, offset in OFFSETS.items() if re.search(rf"{name}\b", body)}

    def body(self) -> str:
        used = self.used()
        lines = [*_loads(used), *(f"    {line}\n" for line in self.lines), *_stores(used)]
        return "".join(lines)


def _loads(used: dict[str, int]):
    for name, offset in used.items():
        if name[1] == "p":
            yield f"    ld.global.u8 %byte, [%home+{offset}]; and.b16 %byte, %byte, 1; setp.ne.u16 {name}, %byte, 0;\n"
        else:
            yield f"    ld.global.{LOADS[name[1]]} {name}, [%home+{offset}];\n"
    yield "    mov.b64 %to, 0x0706050403020100;\n"
    yield from (f"    st.local.v2.b64 [%l+{at}], {{%to, %home}};\n" for at in range(0, 64, 16))


def _stores(used: dict[str, int]):
    for name, offset in used.items():
        if name[1] == "p":
            yield f"    selp.u16 %byte, 1, 0, {name}; st.global.u8 [%home+{offset}], %byte;\n"
        else:
            yield f"    st.global.{LOADS[name[1]]} [%home+{offset}], {name};\n"
    yield "    ld.local.b32 %t, [%l+4]; st.global.b32 [%g+64], %t;\n"


def _function(name: str, body: _Body, calls_itself: bool) -> str:
    """The result is of the argument and a register of each kind; what calls itself counts the argument down."""
    again = (
        f"    and.b32 %t, %tid, 3; setp.eq.u32 %again, %t, 0; @%again bra LAST; sub.u32 %t, %tid, 1;\n"
        f"    call (%t), {name}, (%home, %s, %t); ld.local.b32 %sink, [lvar]; add.u32 %tid, %tid, %sink;\n    LAST:\n"
    )
    return (
        f".func {_SIGNATURE.format(name=name)}\n{{\n    {_REGISTERS}"
        "    ld.param.b64 %home, [a0]; ld.param.b64 %s, [a1]; ld.param.b32 %tid, [a2]; mov.u64 %common, common; "
        f"mov.u64 %cells, cells;\n{_CONSTANTS}{body.body()}    st.local.b32 [lvar], %tid;\n"
        f"{again if calls_itself else ''}    ld.local.b32 %t, [lvar+8]; xor.b32 %t, %t, %tid;\n"
        "    st.param.b32 [out], %t; ret;\n}\n"
    )


class ThreadMix:
    """A kernel `k(p0: each thread's memory, p1: the blocks' shared cells, pstruct)` and its functions; the same seed
    gives the same text.
    """

    def __init__(self, seed, length: int):
        cells = count()
        rng = random.Random(seed)
        self.n_blocks = rng.choice((1, 1, 2))
        self.functions: dict[str, tuple[_Body, bool]] = {}
        for number in range(rng.randrange(3)):
            name = f"f{number}"
            body = _Body(f"{seed}:{name}", length // 4, list(self.functions), cells, False)
            self.functions[name] = body, rng.random() < 0.3
        self.kernel = _Body(f"{seed}:k", length, list(self.functions), cells, True)
        self.n_cells = next(cells)

    def text(self) -> str:
        functions = "".join(_function(name, *each) for name, each in self.functions.items())
        # All threads store the same.
        saved = "".join(
            f"    ld.shared.b64 %to2, [%cells+{at}]; st.global.b64 [%to+{at}], %to2;\n"
            for at in range(0, CELL_NBYTES * self.n_cells, CELL_NBYTES)
        )
        return f"""\
{_HEAD}.shared .align 8 .b8 cells[{self.cells_nbytes}];
.global .align 8 .b8 common[{self.cells_nbytes}];
{functions}.visible .entry k(.param .u64 p0, .param .u64 p1, .param .align 16 .b8 pstruct[32])
{{
    {_REGISTERS}
    ld.param.u64 %home, [p0]; mov.u32 %tid, %tid.x; mov.u32 %t, %ctaid.x; mad.lo.u32 %t, %t, {THREADS}, %tid;
    mad.wide.u32 %home, %t, {HOME_NBYTES}, %home; mov.u64 %s, svar; mad.wide.u32 %s, %tid, {OWN_NBYTES}, %s;
    mov.u64 %common, common; mov.u64 %cells, cells;
{_CONSTANTS}{self.kernel.body()}    bar.sync 0;
    ld.param.u64 %to, [p1]; mov.u32 %t, %ctaid.x; mad.wide.u32 %to, %t, {self.cells_nbytes}, %to;
{saved}    ret;
}}
"""

    @property
    def cells_nbytes(self) -> int:
        return CELL_NBYTES * max(self.n_cells, 1)

    def arrays(self) -> list[np.ndarray]:
        """The memory of the threads: random numbers, among them special ones; and room for the cells."""
        image = np.resize(memory_image(len(self.kernel.lines)), self.n_blocks * THREADS * HOME_NBYTES)
        return [image, np.zeros(self.n_blocks * self.cells_nbytes, np.uint8)]
