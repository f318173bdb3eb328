"""Large PTX texts for measuring the assembler: the kernels of tests/register_kernels many times over, and one very long
kernel.
"""

import re
from random import Random

from gpuprof.compile.cuda import compile_cuda
from gpuprof.compile.module import PtxModule
from tests.paths import TESTS

KERNELS = TESTS / "register_kernels"
_ONCE_A_MODULE = re.compile(
    r"^\.(?:version|target|address_size) .*$|^\s*\.file\s.*$|^\s*\.section\s[^{]*\{[^}]*\}", re.M
)
_HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"


def module_of(text: str, name: str) -> PtxModule:
    return PtxModule(name=name, ptx=text, sources={}, display={}, compiler="test", arch="sm_80")


def many_kernels(n_lines: int) -> PtxModule:
    """At least so many lines of different kernels, copies with other names."""
    bodies = [_ONCE_A_MODULE.sub("", compile_cuda(path).ptx) for path in sorted(KERNELS.glob("*.cu"))]
    once = "\n".join(bodies)
    copies = -(-n_lines // once.count("\n"))
    return module_of(_HEADER + "\n".join(re.sub(r"\b_Z\w+", rf"\g<0>_{i}", once) for i in range(copies)), "large.ptx")


def long_kernel(n_instructions: int, *, n_live: int = 32, block: int = 0) -> PtxModule:
    """One kernel of about so many instructions, each of which reads some of the `n_live` values before it, loads and
    stores among them.
    `block`: a branch over the next instructions after every so many."""
    random = Random(1)
    lines = [f"ld.global.f32 %f{i}, [%rd1+{4 * i}];" for i in range(n_live)]
    n = n_live
    while len(lines) < n_instructions:
        a, b, c = (f"%f{random.randrange(n - n_live, n)}" for _ in range(3))
        kind = random.randrange(16)
        if kind == 0:
            lines.append(f"ld.global.f32 %f{n}, [%rd1+{4 * random.randrange(1000)}];")
        elif kind == 1:
            lines += [f"st.global.f32 [%rd1+{4 * random.randrange(1000)}], {a};", f"add.f32 %f{n}, {a}, {b};"]
        else:
            lines.append(f"fma.rn.f32 %f{n}, {a}, {b}, {c};" if kind < 9 else f"mul.f32 %f{n}, {a}, {b};")
        n += 1
        if block and len(lines) // block > (len(lines) - 1) // block:
            end = f"L{len(lines)}"
            skipped = "".join(f"st.global.f32 [%rd1+{4 * i}], {a};\n" for i in range(8))
            lines.append(f"setp.lt.f32 %p1, {a}, {b};\n@%p1 bra {end};\n{skipped}{end}:")
    body = "\n".join([*lines, *(f"st.global.f32 [%rd1+{4 * i}], %f{n - n_live + i};" for i in range(n_live))])
    registers = f".reg .pred %p<2>; .reg .f32 %f<{n}>; .reg .b64 %rd<2>;"
    return module_of(
        f"{_HEADER}.visible .entry k(.param .u64 p) {{\n{registers}\nld.param.u64 %rd1, [p];\n{body}\nret;\n}}\n",
        "long.ptx",
    )
