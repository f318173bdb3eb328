"""Instructions as text that is the same wherever their module was loaded."""

import re

from gpuprof.isa.opcodes import BY_NAME

_ADDRESS = re.compile(r"\b0x[0-9a-f]+\b")


def relative_text(opcode: str, text: str, pc: int) -> str:
    """The text of the instruction at `pc`; that of a branch or call with the distance to its target in bytes."""
    if opcode not in BY_NAME or BY_NAME[opcode].kind not in ("branch", "call"):  # a card has opcodes of its own
        return text
    return _ADDRESS.sub(lambda match: f"{int(match[0], 16) - pc:+d}", text)
