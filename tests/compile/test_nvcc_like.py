"""What makes the code of our own front end stand beside nvcc's: unrolling, local arrays, branches at the end of loops.

`python -m tests.silicon.front` compares the cycles of both.
"""

import re
import subprocess

import pytest

from gpuprof.compile import compile_cuda
from gpuprof.compile.nvcc import compile_nvcc
from gpuprof.compile.passes.branches import turn_branches
from gpuprof.compile.passes.contraction import keep_shared_products
from gpuprof.compile.passes.divisions import hide_divisions, show_divisions
from gpuprof.compile.passes.local_arrays import unroll_over_local_arrays
from tests.support.matrices import long_from
from tests.support.nvidia_tools import NVCC, needs_nvcc

TWO_BRANCHES = """\
.visible .entry k()
{
	.reg .pred 	%p<3>;
$L__BB0_8:
	setp.{comparison} 	%p1, %r1, %r2;
	.loc	1 3 5
	{guard} bra 	$L__BB0_3;
	.loc	1 4 5
	bra.uni 	$L__BB0_8;
$L__BB0_3:
	ret;

}
"""
ONE_BRANCH = """\
.visible .entry k()
{
	.reg .pred 	%p<3>;
$L__BB0_8:
	setp.{comparison} 	%p1, %r1, %r2;
	.loc	1 3 5
	{guard} bra 	$L__BB0_8;
	.loc	1 4 5
$L__BB0_3:
	ret;

}
"""


def filled(text: str, comparison: str, guard: str) -> str:
    return text.replace("{comparison}", comparison).replace("{guard}", guard)


@pytest.mark.parametrize(
    "comparison, guard, opposite, turned",
    [
        ("eq.b32", "@%p1", "ne.b32", "@%p1"),
        ("lt.s32", "@%p1", "ge.s32", "@%p1"),
        ("gt.u64", "@%p1", "le.u64", "@%p1"),
        ("lt.f32", "@%p1", "lt.f32", "@!%p1"),  # of a NaN neither holds
        ("eq.b32", "@!%p1", "eq.b32", "@%p1"),
    ],
)
def test_a_loop_ends_in_one_branch(comparison, guard, opposite, turned):
    ptx = filled(TWO_BRANCHES, comparison, guard)
    assert turn_branches(ptx) == filled(ONE_BRANCH, opposite, turned)


def test_a_comparison_that_others_read_stays():
    also = "\tselp.b32 \t%r3, 1, 0, %p1;\n\tret;"
    ptx = filled(TWO_BRANCHES, "eq.b32", "@%p1").replace("\tret;", also)
    assert turn_branches(ptx) == filled(ONE_BRANCH, "eq.b32", "@!%p1").replace("\tret;", also)


def test_a_branch_over_other_instructions_stays():
    ptx = filled(TWO_BRANCHES, "eq.b32", "@%p1").replace("\tbra.uni", "\tmov.b32 \t%r1, 0;\n\tbra.uni")
    assert turn_branches(ptx) == ptx


# for (int i = 0; i < 8; i++) a[i] = 0;
LOOPS = """\
define void @k(ptr %0, i32 %1) {
  %2 = alloca [8 x float], align 4
  %3 = alloca i32, align 4
  br label %4
4:
  %5 = load i32, ptr %3, align 4
  %6 = icmp slt i32 %5, BOUND
  br i1 %6, label %7, label %12
7:
  %8 = load i32, ptr %3, align 4
  %9 = sext i32 %8 to i64
  %10 = getelementptr inbounds ELEMENT
  store float 0.0, ptr %10, align 4
  %11 = add nsw i32 %8, 1
  store i32 %11, ptr %3, align 4
  br label %4, !llvm.loop !0
12:
  ret void
}
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.mustprogress"}
"""
OF_ARRAY = "[8 x float], ptr %2, i64 0, i64 %9"


def loops(bound: str = "8", element: str = OF_ARRAY) -> str:
    return LOOPS.replace("BOUND", bound).replace("ELEMENT", element)


def test_a_loop_over_a_local_array_is_unrolled_whole():
    assert unroll_over_local_arrays(loops()) == loops().replace(
        "!0 = distinct !{!0, !1}", '!0 = distinct !{!0, !1, !{!"llvm.loop.unroll.full"}}'
    )


@pytest.mark.parametrize(
    "ir",
    [
        loops(bound="%1"),  # an unknown number of turns
        loops(element="float, ptr %0, i64 %9"),  # not a local array
        loops(element="[8 x float], ptr %2, i64 0, i64 0"),  # always the same element
        loops().replace("[8 x", "[384 x"),  # nvcc leaves it in memory
        loops().replace("mustprogress", "unroll.disable"),  # #pragma unroll 1
    ],
)
def test_other_loops_stay(ir):
    assert unroll_over_local_arrays(ir) == ir


PRODUCT = """\
define float @f(float %0, float %1) {
  %3 = fmul FLAGfloat %0, %1
USES
  ret float %4
}
"""
SUM = "  %{} = fadd contract float %3, %0"
DIFFERENCE = "  %{} = fsub contract float %3, %0"
STORE = "  store float %3, ptr %{}, align 4"


# What `nvcc -ptx` has: fma where the product has one use, or up to four sums and no other; else mul. A product in no
# sum keeps its flag: nvcc has mul for it, and LLVM has mul.rn for one without the flag.
@pytest.mark.parametrize(
    "uses, fuses",
    [
        ([SUM], True),
        ([DIFFERENCE], True),
        ([SUM, SUM], True),
        ([SUM] * 4, True),
        ([SUM] * 5, False),
        ([SUM, DIFFERENCE], False),
        ([DIFFERENCE, DIFFERENCE], False),
        ([SUM, STORE], False),
        ([STORE, STORE], True),
    ],
)
def test_products_that_may_be_fused_into_sums(uses, fuses):
    text = "\n".join(use.format(number) for number, use in enumerate(uses, 4))
    before = PRODUCT.replace("USES", text).replace("FLAG", "contract ")
    assert keep_shared_products(before) == PRODUCT.replace("USES", text).replace("FLAG", "contract " if fuses else "")


@pytest.mark.long
def test_a_loop_with_a_step_of_32_is_done_four_turns_at_a_time(tmp_path):
    """nvcc has five loads: four and one left over. A step of blockDim.x needs a division, and the loop stays."""
    sums = "float v = 0; for (int i = threadIdx.x; i < n; i += {}) v += x[i]; x[0] = v;"
    assert ptx_of(tmp_path, sums.format(32)).count("ld.global") == 5
    assert ptx_of(tmp_path, sums.format("blockDim.x")).count("ld.global") == 1


def ptx_of(tmp_path, body: str) -> str:
    path = tmp_path / "k.cu"
    path.write_text(f"__global__ void k(float *x, int n)\n{{\n{body}\n}}\n")
    return compile_cuda(path).ptx


def test_accumulators_of_a_product_stay_in_registers(tmp_path):
    """The nest of 8 x 8 turns with its two loads is far beyond LLVM's bound for a loop of known turns."""
    ptx = ptx_of(
        tmp_path,
        """
    float sums[64] = {0}, a[8], b[8];
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < 8; i++) a[i] = x[k * n + i];
        for (int i = 0; i < 8; i++) b[i] = x[k + i * n];
        for (int r = 0; r < 8; r++)
            for (int s = 0; s < 8; s++) sums[r * 8 + s] += a[r] * b[s];
    }
    for (int r = 0; r < 8; r++)
        for (int s = 0; s < 8; s++) x[r * n + s] = 2 * sums[r * 8 + s] + 3 * x[r * n + s];
""",
    )
    assert ".local" not in ptx


# nvcc 13.0's turns at once, by multiplications in a turn: what `nvcc -ptx -arch=sm_80` has. (nvcc unrolls whole up to
# some 410 instructions, LLVM up to 300: nvcc counts instructions that widen 32-bit addresses, where ours has none.)
KNOWN_TURNS = {(8, 54): 2, (8, 36): 8, (16, 18): 16, (4096, 30): 4, (4096, 60): 2, (4096, 100): 1}
UNKNOWN_TURNS = {2: 5, 48: 5, 50: 3, 92: 3, 102: 1}  # with those left over


def multiplications(ptx: str) -> int:
    return len(re.findall(r"\tmul(?:\.rn)?\.f32", ptx))


def product(n: int) -> str:
    return "".join(f"v *= {number}.5f;" for number in range(1, n + 1))


@pytest.mark.parametrize("turns, n", long_from(1, KNOWN_TURNS))
def test_a_loop_of_known_turns(tmp_path, turns, n):
    ptx = ptx_of(tmp_path, f"float v = x[0]; for (int i = 0; i < {turns}; i++) {{ {product(n)} }} x[0] = v;")
    assert multiplications(ptx) == n * KNOWN_TURNS[turns, n]


@pytest.mark.parametrize("n", long_from(1, UNKNOWN_TURNS))
def test_a_loop_of_unknown_turns(tmp_path, n):
    ptx = ptx_of(tmp_path, f"float v = x[0]; for (int i = 0; i < n; i++) {{ {product(n)} }} x[0] = v;")
    assert multiplications(ptx) == n * UNKNOWN_TURNS[n]


# for (unsigned s = 1; ...; s *= 2) ... x % (2 * s) ...
REMAINDER = """\
define void @k(i32 %0) {
  %2 = alloca i32, align 4
  store i32 1, ptr %2, align 4
  br label %3
3:
  %4 = load i32, ptr %2, align 4
  %5 = mul i32 2, %4
  %6 = urem i32 %0, %5, !dbg !7
  %7 = load i32, ptr %2, align 4
  %8 = STEP
  store i32 %8, ptr %2, align 4
  br label %3
}
"""
CALL = "call i32 @gpuprof.urem.i32(i32 %0, i32 %5)"
DECLARATION = "declare i32 @gpuprof.urem.i32(i32, i32) nounwind willreturn memory(none)\n"


@pytest.mark.parametrize(
    ("step", "arch", "hidden"),
    [
        ("mul i32 %7, 2", "sm_80", True),
        ("shl i32 %7, 1", "sm_90a", True),
        ("mul i32 %7, 2", "sm_100", False),
        ("add i32 %7, 2", "sm_80", False),
    ],
)
def test_divisions_by_a_variable_that_doubles_are_hidden(step, arch, hidden):
    ir = REMAINDER.replace("STEP", step)
    changed = ir.replace("urem i32 %0, %5", CALL) + DECLARATION
    assert hide_divisions(ir, arch) == (changed if hidden else ir)


@pytest.mark.parametrize("call", [CALL, "tail call i32 @gpuprof.urem.i32(i32 noundef %0, i32 range(i32 0, 9) %5) #4"])
def test_hidden_divisions_come_back(call):
    ir = REMAINDER.replace("STEP", "shl i32 %7, 1")
    assert show_divisions(ir.replace("urem i32 %0, %5", call) + DECLARATION) == ir


# Divisions and masks in nvcc 13.0's PTX, for sm_80 and sm_100.
DOUBLINGS = [
    ("int t = threadIdx.x; for (int s = 1; s < blockDim.x; s *= 2) if (t % (2 * s) == 0) x[t] += x[t + s];", 1, 0),
    ("unsigned t = threadIdx.x; for (unsigned s = 1; s < n; s <<= 1) { int r = s << 1; if (t % r == 0) x[t] = s; }",
     1, 0),
    ("unsigned t = threadIdx.x; for (unsigned s = n; s > 1; s /= 2) if (t % s == 0) x[t] += x[t + s];", 1, 1),
    ("unsigned t = threadIdx.x; for (unsigned s = 1; s < 64; s *= 2) if (t % (2 * s) == 0) x[t] += x[t + s];", 0, 0),
    ("unsigned t = threadIdx.x; x[t] = t % (1u << n);", 0, 0),
]  # fmt: skip


def divisions(ptx: str) -> int:
    return len(re.findall(r"\t(?:rem|div)\.[us]32", ptx))


@pytest.mark.parametrize(("body", "on_80", "on_100"), long_from(1, DOUBLINGS))
def test_remainders_by_powers_of_two(tmp_path, body, on_80, on_100):
    path = tmp_path / "k.cu"
    path.write_text(f"__global__ void k(float *x, int n)\n{{\n{body}\n}}\n")
    assert [divisions(compile_cuda(path, arch=arch).ptx) for arch in ("sm_80", "sm_100")] == [on_80, on_100]


@needs_nvcc
@pytest.mark.long
@pytest.mark.parametrize(("body", "on_80", "on_100"), DOUBLINGS)
def test_nvcc_has_the_same_remainders(tmp_path, body, on_80, on_100):
    path = tmp_path / "k.cu"
    path.write_text(f"__global__ void k(float *x, int n)\n{{\n{body}\n}}\n")
    assert [divisions(compile_nvcc(path, arch=arch).ptx) for arch in ("sm_80", "sm_100")] == [on_80, on_100]


# Body of a kernel -> its divisions, sums, branches and stores in order, as nvcc 13.0 has them for sm_80.
GUARDED = {
    # What one branch alone needs is done there,
    "float t = threadIdx.x, v = t / 7, w = (t + 3) / n;"
    " if (t > 3) x[1] = v; if (t < 9) x[2] = w;": "bra div st bra div st",
    # also an address,
    "int i = threadIdx.x + n; if (i < 9) x[i] = x[i] * n;": "bra st",
    # and two conditions are one branch,
    "int i = threadIdx.x * n, j = threadIdx.y * n; if (i < 9 && j < n) x[j] = i;": "bra st",
    # but not the sums of a loop that is unrolled.
    "float v = 0; for (int i = 0; i < 4; i++) v += x[i] * n; if (n > 3) x[4] = v;": "fma fma fma fma bra st",
    "float v = 0, w = 0; for (int i = 0; i < 3; i++) { v += x[i] * n; w += x[i] * x[9]; }"
    " if (n > 3) x[4] = v; if (n < 9) x[5] = w;": "fma fma fma fma fma fma bra st bra st",
}
SHOWN = re.compile(r"\t(?:@\S+ )?(div|fma|bra|st)\.?\S* ")


@pytest.mark.parametrize("body", long_from(1, GUARDED))
def test_what_is_done_in_front_of_a_guard(tmp_path, body):
    assert " ".join(SHOWN.findall(ptx_of(tmp_path, body))) == GUARDED[body]


@needs_nvcc
@pytest.mark.parametrize("body", long_from(1, GUARDED))
def test_nvcc_does_the_same_in_front_of_a_guard(tmp_path, body):
    ptx_of(tmp_path, body)
    command = [NVCC, "-arch=sm_80", "-ptx", "k.cu", "-o", "k.ptx"]
    subprocess.run(command, check=True, cwd=tmp_path)
    assert " ".join(SHOWN.findall((tmp_path / "k.ptx").read_text())) == GUARDED[body]


# What stands behind `x < m &&`, and how many branches there are.
CONDITIONS = {
    "y < n": 1,
    "y + 1 < n": 1,
    "(((y + 1) * 3 ^ 5) + m) < n": 1,
    "((((y + 1) * 3 ^ 5) + m) * 7) < n": 2,
    "y + 1 < n && y * 3 > m": 1,
    "a[x + n] < 3.0f": 2,  # a load is not made before it is known to be wanted
}


def conditions_file(folder):
    path = folder / "k.cu"
    kernels = [
        f"__global__ void k{number}(float *a, int n, int m, int y) "
        f"{{ int x = threadIdx.x; y += x >> 3; if (x < m && {condition}) a[x] = a[x + n] * 2; }}\n"
        for number, condition in enumerate(CONDITIONS)
    ]
    path.write_text("".join(kernels))
    return path


def branches_by_condition(ptx: str) -> dict[str, int]:
    kernels = ptx.split(".entry ")[1:]
    return dict(zip(CONDITIONS, (len(re.findall(r"@!?%p\d+ bra", kernel)) for kernel in kernels), strict=True))


def test_two_conditions_are_one_branch_where_the_second_is_cheap(tmp_path):
    assert branches_by_condition(compile_cuda(conditions_file(tmp_path)).ptx) == CONDITIONS


@needs_nvcc
def test_nvcc_has_as_many_branches(tmp_path):
    assert branches_by_condition(compile_nvcc(conditions_file(tmp_path), arch="sm_80").ptx) == CONDITIONS
