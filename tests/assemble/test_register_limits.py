"""What long straight code needs of registers: an 8 x 8 tile of a product, with and without a limit, and sums that share
what they load.
"""

import re
import subprocess

import pytest

from tests.support.nvidia_tools import PTXAS, needs_ptxas
from tests.support.ptx_support import PREAMBLE, assemble_text

N_SIDE, N_STEPS = 8, 4


def tile() -> str:
    """64 sums; four steps of a row of A are one wide load, a column of B are eight loads a step."""
    lines = [".shared .align 16 .b8 tile[8192];", ".reg .f32 %s<64>, %a<32>, %b<32>; .reg .b32 %r<2>; .reg .b64 %out;"]
    lines += ["ld.param.u64 %out, [out];", "mov.u32 %r0, %tid.x;", "shl.b32 %r1, %r0, 4;"]
    lines += [f"mov.f32 %s{i}, 0f00000000;" for i in range(N_SIDE * N_SIDE)]
    for i in range(N_SIDE):
        lines.append(f"ld.shared.v4.f32 {{{', '.join(f'%a{4 * i + k}' for k in range(4))}}}, [%r1+{256 * i}];")
    for k in range(N_STEPS):
        lines += [f"ld.shared.f32 %b{8 * k + j}, [%r1+{4096 + 512 * k + 64 * j}];" for j in range(N_SIDE)]
        for i in range(N_SIDE):
            for j in range(N_SIDE):
                s = f"%s{N_SIDE * i + j}"
                lines.append(f"fma.rn.f32 {s}, %a{4 * i + k}, %b{8 * k + j}, {s};")
    lines += [f"st.global.f32 [%out+{4 * i}], %s{i};" for i in range(N_SIDE * N_SIDE)]
    return f"{PREAMBLE}.visible .entry k(.param .u64 out)\n{{ {' '.join(lines)} ret; }}\n"


@pytest.mark.parametrize(
    "limit, most",  # registers
    [
        (None, 128),  # four warps a partition
        (128, 128),
        (96, 96),  # five: the wide loads are done word by word
        (84, 84),
    ],
)
def test_a_tile_fits_without_spills(limit, most):
    function = assemble_text(tile(), max_registers=limit).functions[0]
    assert function.registers <= most
    assert function.spill_nbytes == 0


def filtered(n_sums: int, n_rows_apart: int, size: int = 15, width: int = 16) -> str:
    """Sums over `size` x `size` words, each so many rows below the one before. A word that several sums need is loaded
    once, where the first of them needs it, so in this order it is held until the last has come down to its row.
    """
    row_nbytes = 4 * (size - 1 + width)
    lines = [".shared .align 16 .b8 tile[8192];", ".reg .f32 %s<9>, %w<4096>; .reg .b32 %r<2>; .reg .b64 %out;"]
    lines += ["ld.param.u64 %out, [out];", "mov.u32 %r0, %tid.x;", "shl.b32 %r1, %r0, 2;"]
    lines += [f"mov.f32 %s{y}, 0f00000000;" for y in range(n_sums)]
    loaded: set[int] = set()
    for i in range(size):
        for j in range(size):
            for y in range(n_sums):
                row = i + n_rows_apart * y
                word = row * size + j
                if word not in loaded:
                    lines.append(f"ld.shared.f32 %w{word}, [%r1+{row * row_nbytes + 4 * j}];")
                    loaded.add(word)
                weight = f"0f3f8{i * size + j:05x}"
                lines.append(f"fma.rn.f32 %s{y}, %w{word}, {weight}, %s{y};")
    lines += [f"st.global.f32 [%out+{4 * y}], %s{y};" for y in range(n_sums)]
    return f"{PREAMBLE}.visible .entry k(.param .u64 out)\n{{ {' '.join(lines)} ret; }}\n"


def tree(n_words: int = 512) -> str:
    """The sum of words in pairs, in pairs of pairs and so on, all of them loaded first."""
    lines = [".shared .align 16 .b8 tile[8192];", f".reg .f32 %w<{2 * n_words}>; .reg .b32 %r<2>; .reg .b64 %out;"]
    lines += ["ld.param.u64 %out, [out];", "mov.u32 %r0, %tid.x;", "shl.b32 %r1, %r0, 2;"]
    lines += [f"ld.shared.f32 %w{k}, [%r1+{4 * k}];" for k in range(n_words)]
    lines += [f"add.f32 %w{n_words + k}, %w{2 * k}, %w{2 * k + 1};" for k in range(n_words - 1)]
    lines += [f"st.global.f32 [%out], %w{2 * n_words - 2};"]
    return f"{PREAMBLE}.visible .entry k(.param .u64 out)\n{{ {' '.join(lines)} ret; }}\n"


# As they stand, they keep hundreds of words live; in a better order each sum needs a register, and the words few.
FILTERS = {f"filter-{n}-{apart}": filtered(n, apart) for n, apart in ((2, 4), (3, 2), (4, 8), (8, 2))}
SUMS = FILTERS | {"tree": tree()}


@pytest.mark.parametrize("text", SUMS.values(), ids=SUMS.keys())
def test_sums_take_few_registers_whatever_order_they_stand_in(text):
    function = assemble_text(text).functions[0]
    assert (function.registers <= 32, function.spill_nbytes) == (True, 0)


@needs_ptxas
@pytest.mark.parametrize("text", FILTERS.values(), ids=FILTERS.keys())
def test_ptxas_takes_as_few_for_filters(text, tmp_path):
    (tmp_path / "k.ptx").write_text(text)
    command = [PTXAS, "-v", "-arch=sm_90", "k.ptx", "-o", "k.cubin"]
    said = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path).stderr
    assert "0 bytes spill stores" in said
    assert int(re.search(r"Used (\d+) registers", said)[1]) <= 32


def sums_in_a_loop(n_sums: int) -> str:
    """Each sum has a load of its own in each turn, which may stand far in front of it."""
    lines = [f".reg .f32 %s<{n_sums}>, %x<{n_sums}>; .reg .b32 %n; .reg .b64 %in; .reg .pred %p;"]
    lines += ["ld.param.u64 %in, [out];", "mov.u32 %n, %tid.x;"]
    lines += [f"mov.f32 %s{k}, 0f00000000;" for k in range(n_sums)]
    lines += ["TURN:"]
    for k in range(n_sums):
        lines.append(f"ld.global.f32 %x{k}, [%in+{4096 + 4 * k}];")
        lines.append(f"fma.rn.f32 %s{k}, %x{k}, %s{(k + 1) % n_sums}, %s{k};")
    lines += ["add.u32 %n, %n, 1;", "setp.ne.u32 %p, %n, 77;", "@%p bra TURN;"]
    lines += [f"st.global.f32 [%in+{4 * k}], %s{k};" for k in range(n_sums)]
    return f"{PREAMBLE}.visible .entry k(.param .u64 out)\n{{ {' '.join(lines)} ret; }}\n"


@pytest.mark.parametrize("n_sums", [48, 50, 56])
def test_a_kernel_that_fits_into_64_registers_takes_no_more(n_sums):
    """A block of 1024 threads of 72 registers cannot be launched, whatever the room for loads in flight is worth."""
    function = assemble_text(sums_in_a_loop(n_sums)).functions[0]
    assert (function.registers <= 64, function.spill_nbytes) == (True, 0)
