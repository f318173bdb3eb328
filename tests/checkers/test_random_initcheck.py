"""Random kernels under initcheck, beside what bits without a value mean: a result that changes when they change is
undefined. Each kernel runs with several contents of the memory that nothing has written; no bit that differs afterwards
may count as defined, and few that count as undefined may never differ. GPUPROF_FUZZ=1 (`make fuzz`) tries many more.
"""

import os
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gpuprof.device import commands as cmd
from gpuprof.device.memory import GLOBAL_BASE
from gpuprof.trace.checkers.initcheck import Initcheck
from tests.support.planted import Planted

THREADS, WORDS, STEPS, CONTENTS = 32, 4, 10, 8
# PTX with d, a, b, c for registers and i for an immediate below 32.
OPERATIONS = [
    *(f"{name}.b32 d, a, b;" for name in ("and", "or", "xor")),
    *(f"{name} d, a, b;" for name in ("add.u32", "sub.u32", "mul.lo.u32", "mul.hi.s32", "min.s32")),
    "and.b32 d, a, 0xff00;",
    "mad.lo.u32 d, a, b, c;",
    "lop3.b32 d, a, b, c, 0xca;",
    "lop3.b32 d, a, b, c, 0x1b;",
    *(f"{name} d, a, i;" for name in ("shl.b32", "shr.u32", "shr.s32")),
    "shf.l.wrap.b32 d, a, b, i;",
    "shf.r.clamp.b32 d, a, b, i;",
    "prmt.b32 d, a, b, 0x4c21;",
    "prmt.b32 d, a, b, 0x7530;",
    "bfe.u32 d, a, i, 5;",
    "bfe.s32 d, a, i, 9;",
    "bfi.b32 d, a, b, i, 6;",
    "brev.b32 d, a;",
    "clz.b32 d, a;",
    "popc.b32 d, a;",
    "{ .reg .s16 h; cvt.u16.u32 h, a; cvt.s32.s16 d, h; }",
    "{ .reg .b64 w; mul.wide.s32 w, a, b; shr.u64 w, w, i; cvt.u32.u64 d, w; }",
    ("{ .reg .b64 w; mov.b64 w, {a, b}; shl.b64 w, w, i; add.u64 w, w, 77; shr.u64 w, w, 32; "
     "cvt.u32.u64 d, w; }"),
    *(f"{{ .reg .pred p; setp.{how} p, a, b; selp.b32 d, b, c, p; }}"
      for how in ("lt.u32", "eq.u32", "ge.s32", "ne.s32", "gt.u32")),
    "{ .reg .pred p; setp.lt.u32 p, a, 0x1000000; selp.b32 d, 3, c, p; }",
    "add.rn.f16x2 d, a, b;",
    "abs.f32 d, a;",
    "shfl.sync.bfly.b32 d, a, 9, 31, -1;",
    "shfl.sync.up.b32 d, a, 3, 0, -1;",
    "{ .reg .pred p; setp.ne.u32 p, a, 0; vote.sync.ballot.b32 d, p, -1; }",
    "{ st.shared.u32 [own], a; ld.shared.s8 d, [own+1]; }",
    "{ st.shared.u32 [own], a; atom.shared.and.b32 d, [own], b; ld.shared.u32 d, [own]; }",
    "{ st.shared.u32 [own], a; atom.shared.add.u32 d, [own], b; ld.shared.u32 d, [own]; }",
]  # fmt: skip


def body(rng: random.Random) -> str:
    """WORDS registers hold the thread's words; what is made of them is stored in place."""
    lines = []
    for _ in range(STEPS):
        text = rng.choice(OPERATIONS)
        for letter in "dabc":
            text = _with(text, letter, lambda: f"%v{rng.randrange(WORDS)}")
        lines.append(_with(text, "i", lambda: str(rng.randrange(32))))
    return "\n".join(lines)


def _with(text: str, letter: str, make: Callable[[], str]) -> str:
    """With a word of one letter replaced, by the same everywhere."""
    made = make()
    pieces = "".join(each if each.isalnum() or each in "._%" else f"\0{each}\0" for each in text).split("\0")
    return "".join(made if each == letter else each for each in pieces)


def kernel(number: int, code: str) -> str:
    loads = "\n".join(f"ld.global.u32 %v{k}, [%at+{4 * k}];" for k in range(WORDS))
    stores = "\n".join(f"st.global.u32 [%at+{4 * k}], %v{k};" for k in range(WORDS))
    return f"""
.visible .entry k{number}(.param .u64 x)
{{
    .reg .b32 %v<{WORDS}>; .reg .b32 %t, own; .reg .b64 %at;
    .shared .align 4 .b8 room{number}[{4 * THREADS}];
    ld.param.u64 %at, [x];
    mov.u32 %t, %tid.x;
    mad.wide.u32 %at, %t, {4 * WORDS}, %at;
    mov.u32 own, room{number};
    mad.lo.u32 own, %t, 4, own;
    {loads}
    {code}
    {stores}
    ret;
}}
"""


def bits(planted: Planted, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Of what kernel `number` leaves, uint8 each: bits that differ, and bits that count as undefined."""
    rng = np.random.default_rng(number)
    nbytes = 4 * WORDS * THREADS
    start = rng.integers(0, 256, nbytes, np.uint8)
    start[rng.random(nbytes) < 0.3] = 0
    is_defined = rng.random(nbytes) < 0.8
    address = planted.device.submit(cmd.Allocate(nbytes, "x", is_undefined=True)).address
    memory, shadow = planted.device.executor.memory, planted.checkers[0].shadow
    left, doubt = [], np.zeros(nbytes, np.uint8)
    for _ in range(CONTENTS):
        content = np.where(is_defined, start, rng.integers(0, 256, nbytes, np.uint8))
        memory.arena[address - GLOBAL_BASE : address - GLOBAL_BASE + nbytes] = content
        shadow.put(address, np.where(is_defined, 0, 0xFF).astype(np.uint8))
        planted.run(f"k{number}", 1, THREADS, address)
        left.append(np.frombuffer(memory.read(address, nbytes), np.uint8))
        # A bit may be known with one content, and not with another: its doubt is that of all contents together.
        doubt |= shadow.get(address, nbytes)
    return np.bitwise_or.reduce([each ^ left[0] for each in left]), doubt


@pytest.mark.parametrize("seed, n_kernels", [(11, 3), pytest.param(12, 20, marks=pytest.mark.long)])
def test_what_differs_is_undefined(seed, n_kernels, tmp_path):
    check(seed, n_kernels, tmp_path)


@pytest.mark.long
@pytest.mark.skipif(not os.environ.get("GPUPROF_FUZZ"), reason="make fuzz runs it")
@pytest.mark.parametrize("seed", range(100, 140))
def test_fuzz_what_differs_is_undefined(seed, tmp_path):
    check(seed, 50, tmp_path)


def check(seed: int, n_kernels: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    text = ".version 8.0\n.target sm_80\n.address_size 64\n"
    text += "".join(kernel(number, body(rng)) for number in range(n_kernels))
    planted = Planted(tmp_path, text, Initcheck(), suffix=".ptx")
    differing = doubtful = 0
    for number in range(n_kernels):
        differs, doubt = bits(planted, number)
        assert not (differs & ~doubt).any(), number
        differing += int(np.bitwise_count(differs).sum())
        doubtful += int(np.bitwise_count(doubt).sum())
    assert differing > 300 * n_kernels
    # Some operations make all of a word undefined, and few contents do not change all that depends on them.
    assert differing > 0.35 * doubtful
