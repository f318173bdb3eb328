"""The order of exponentials and the additions that need them: the pipe of the first takes one in eight cycles, and
ptxas 13.0 places an addition between two of them.
"""

import re
import subprocess

import pytest

from gpuprof.isa.encoding import decode
from tests.ptxas.sass_slots import find_nvdisasm
from tests.support.nvidia_tools import PTXAS
from tests.support.ptx_support import assemble_text, kernel_text, ptxas

VALUES = range(8)
ORDER = "MUFU MUFU MUFU FADD MUFU FADD MUFU FADD MUFU FADD MUFU FADD MUFU FADD FADD FADD"


def text() -> str:
    """Eight values become exponentials; these are stored, and their sum."""
    loads = "".join(f"ld.global.f32 %v{k}, [%rd1+{512 * k}];\n" for k in VALUES)
    powers = "".join(
        f"fma.rn.f32 %v{k}, %v{k}, %s1, 0fBFC00000; ex2.approx.ftz.f32 %v{k}, %v{k}; add.f32 %s0, %s0, %v{k};\n"
        for k in VALUES
    )
    stores = "".join(f"st.global.f32 [%rd1+{512 * k}], %v{k};\n" for k in VALUES)
    return kernel_text(
        ".reg .f32 %v<8>; .reg .f32 %s<2>;\n"
        "ld.param.u64 %rd0, [p0]; ld.param.f32 %s1, [p1]; mov.u32 %r0, %tid.x;\n"
        "mul.wide.u32 %rd1, %r0, 4; add.u64 %rd1, %rd0, %rd1; mov.f32 %s0, 0f00000000;\n"
        f"{loads}bar.sync 0;\n{powers}{stores}st.global.f32 [%rd1+20000], %s0;\n"
    )


def order(names: list[str]) -> str:
    return " ".join(name.partition(".")[0] for name in names if name.startswith(("MUFU", "FADD")))


def test_additions_come_between_exponentials():
    assert order([decode(row).op.name for row in assemble_text(text()).code]) == ORDER


@pytest.mark.skipif(not (PTXAS and find_nvdisasm()), reason="ptxas or nvdisasm is not installed")
def test_ptxas_has_the_same_order(tmp_path):
    ptxas(tmp_path, text())
    shown = subprocess.run([find_nvdisasm(), "-c", tmp_path / "k.cubin"], capture_output=True, text=True, check=True)
    assert order(re.findall(r"(?:MUFU|FADD)[.\w]*", shown.stdout)) == ORDER
