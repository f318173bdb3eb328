"""Structures passed by value to device functions: the function copies what it is given the address of.

LLVM has the caller copy (`byval`), into the parameters of the PTX function, and cannot generate that when local
addresses have 32 bits: it ends the process on a mismatch of the two widths. A copy in the callee means the same, and
needs no such parameters. Kernels keep theirs: that is where the launch's parameters are.
"""

import re
from collections.abc import Callable

from gpuprof.compile.llvm.functions import FUNCTION

_BYVAL = re.compile(r'\bbyval\(((?:"[^"]*"|\([^()]*\)|[^()"])*)\) ')
_KERNEL = re.compile(r"\bptx_kernel\b")
_PARAMETER = re.compile(_BYVAL.pattern + r'(?:[\w()]+ )*?align (\d+) [^,%]*(%(?:"[^"]*"|[\w.$-]+))')
_LABEL = re.compile(r'^(?:"[^"]*"|[\w.$-]+):.*\n')
_LOCATION = re.compile(r", !dbg !\d+")


def copy_in_callee(ir: str, for_debugger: bool = False) -> str:
    """Clang's IR, not optimized yet, without `byval` outside of kernels. `for_debugger`: the copies are no loop and
    have no line, so that they belong to what comes before the first statement.
    """
    return FUNCTION.sub(lambda match: _rewrite(match[0], _plain_copy if for_debugger else _copy), ir)


def _rewrite(function: str, make_copy: Callable[[str, str, str, str, str], str]) -> str:
    head, _, body = function.partition("\n")
    if _KERNEL.search(head):
        return head + "\n" + _BYVAL.sub("", body)
    location = _LOCATION.search(body)
    copies = []
    for number, (kind, align, value) in enumerate(_PARAMETER.findall(head)):
        copy = f"%gpuprof.byval.{number}"
        body = re.sub(re.escape(value) + r"(?![\w.$-])", copy, body)
        copies.append(make_copy(copy, value, kind, align, location[0] if location else ""))
    label = _LABEL.match(body)
    start = label.end() if label else 0
    return _BYVAL.sub("", f"{head}\n{body[:start]}{''.join(copies)}{body[start:]}")


def _plain_copy(copy: str, value: str, kind: str, align: str, location: str) -> str:
    return (
        f"  {copy} = alloca {kind}, align {align}\n"
        f"  {copy}.value = load {kind}, ptr {value}, align {align}\n"
        f"  store {kind} {copy}.value, ptr {copy}, align {align}\n"
    )


def _copy(copy: str, value: str, kind: str, align: str, location: str) -> str:
    nbytes = f"i64 ptrtoint (ptr getelementptr ({kind}, ptr null, i32 1) to i64)"
    return (
        f"  {copy} = alloca {kind}, align {align}\n"
        f"  call void @llvm.memcpy.p0.p0.i64(ptr align {align} {copy}, ptr align {align} {value}, {nbytes}, i1 "
        f"false){location}\n"
    )
