"""The functions of a module of LLVM's IR, as text."""

import re

FUNCTION = re.compile(r"^define .*?^\}$", re.MULTILINE | re.DOTALL)


def functions(ir: str) -> list[str]:
    return FUNCTION.findall(ir)
