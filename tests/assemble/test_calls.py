"""Calls of device functions: arguments in registers, and those for which there are none left."""

import numpy as np
import pytest

from gpuprof.errors import PtxError
from tests.support.ptx_support import PREAMBLE, assemble_text, run_kernel


def sum_of(n: int, kind: str, space: str) -> tuple[str, str]:
    """A function that weights and adds n arguments, and what calls it with tid + k."""
    if space == "param":
        params = ", ".join(f".param .{kind} a{k}" for k in range(n))
        reads = "".join(f"ld.param.{kind} %v, [a{k}]; mad.lo.{kind} %s, %v, {k + 1}, %s;\n" for k in range(n))
        store = f"st.param.{kind} [r], %s;"
        function = (
            f".func (.param .{kind} r) f({params})\n{{ .reg .{kind} %v, %s; mov.{kind} %s, 0;\n{reads}{store} ret; }}\n"
        )
        before = "".join(
            f".param .{kind} p{k}; add.{kind} %v, %t, {k}; st.param.{kind} [p{k}], %v;\n" for k in range(n)
        )
        names = ", ".join(f"p{k}" for k in range(n))
        return function, f"{{ .param .{kind} q; {before} call (q), f, ({names}); ld.param.{kind} %s, [q]; }}"
    params = ", ".join(f".reg .{kind} a{k}" for k in range(n))
    reads = "".join(f"mad.lo.{kind} r, a{k}, {k + 1}, r;\n" for k in range(n))
    return (
        f".func (.reg .{kind} r) f({params})\n{{ mov.{kind} r, 0;\n{reads} ret; }}\n",
        f"call (%s), f, ({', '.join(['%t'] * n)});",
    )


def text_of_call(function: str, call: str, kind: str) -> str:
    wide = kind == "u64"
    index = "cvt.u64.u32 %t, %i;" if wide else "mov.u32 %t, %i;"
    return f"""{PREAMBLE}{function}.visible .entry k(.param .u64 out)
{{ .reg .u32 %i; .reg .{kind} %t, %v, %s; .reg .u64 %p, %o;
mov.u32 %i, %tid.x; {index} {call}
ld.param.u64 %p, [out]; mul.wide.u32 %o, %i, {8 if wide else 4}; add.u64 %p, %p, %o; st.global.{kind} [%p], %s; ret; }}
"""


@pytest.mark.parametrize("kind", ["u32", "u64"])
@pytest.mark.parametrize("n", [5, 12, 13, 20, 300])
@pytest.mark.parametrize("most", [24, 255])
def test_arguments_that_do_not_fit_the_registers_are_in_memory(n, kind, most):
    dtype = np.dtype(f"u{int(kind[1:]) // 8}")
    program = assemble_text(text_of_call(*sum_of(n, kind, "param"), kind), max_registers=most)
    (found,) = run_kernel(program, "k", [np.zeros(32, dtype)])
    expected = [sum((lane + k) * (k + 1) for k in range(n)) for lane in range(32)]
    assert np.frombuffer(found, dtype).tolist() == expected


def test_register_arguments():
    program = assemble_text(text_of_call(*sum_of(12, "u32", "reg"), "u32"))
    (found,) = run_kernel(program, "k", [np.zeros(32, np.uint32)])
    assert np.frombuffer(found, np.uint32).tolist() == [lane * 78 for lane in range(32)]
    with pytest.raises(PtxError, match=r"a12: its \.reg parameters need too many registers"):
        assemble_text(text_of_call(*sum_of(13, "u32", "reg"), "u32"))


def test_registers_as_arguments_for_parameters_in_memory():
    function, _ = sum_of(20, "u32", "param")
    program = assemble_text(
        text_of_call(
            function, f".param .u32 q; call (q), f, ({', '.join(['%t', '7'] * 10)}); ld.param.u32 %s, [q];", "u32"
        )
    )
    (found,) = run_kernel(program, "k", [np.zeros(32, np.uint32)])
    assert np.frombuffer(found, np.uint32).tolist() == [100 * lane + 7 * 110 for lane in range(32)]
