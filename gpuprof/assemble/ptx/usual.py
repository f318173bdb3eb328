"""The statements that make up nearly all of a function's text, each read with one regular expression: instructions with
simple operands, `.loc` directives, labels, comments.

Whatever these expressions do not match is left to the parser of tokens, and so is all that is wrong.
"""

import re

from gpuprof.assemble.ptx import ast

_WORD = r"[A-Za-z_$%][\w$]*(?:\.\w+)*"
_NUMBER = r"(?:0|[1-9]\d{0,8})"
STATEMENT = re.compile(
    rf"""
    (?: \s | //[^\n]*\n )*+
    (?:
      (?: @ (?P<negated>!?) (?P<guard>{_WORD}) [ \t]++ )?
      (?P<opcode>[a-z]\w*(?:(?:\.|::)\w+)*) (?: [ \t]++ (?P<operands>[^;"/:@\n]*+) )? ;
    | \.loc [ \t]+ (?P<file>{_NUMBER}) [ \t]+ (?P<line>{_NUMBER}) [ \t]+ (?P<column>{_NUMBER})
      (?: ,[ ] function_name [ ] (?P<function>{_WORD}) ,[ ] inlined_at
        [ ] (?P<at_file>{_NUMBER}) [ ] (?P<at_line>{_NUMBER}) [ ] (?P<at_column>{_NUMBER}) )?
      [ ]* \n (?! \s* , )
    | (?P<label>{_WORD}) : (?! : | \s*\. )
    )
    """,
    re.VERBOSE | re.ASCII,
)
OPCODE, OPERANDS, LABEL = (STATEMENT.groupindex[name] for name in ("opcode", "operands", "label"))

_OPERAND = re.compile(
    rf"""
    (?P<name>{_WORD})
    | \[ (?P<base>{_WORD}) (?: \+ (?P<offset>-?{_NUMBER}) )? \]
    | (?P<integer>-?(?:0|[1-9]\d{{0,17}}))
    | 0[fF] (?P<f32>[0-9a-fA-F]{{8}})
    | 0[dD] (?P<f64>[0-9a-fA-F]{{16}})
    """,
    re.VERBOSE | re.ASCII,
)
_OTHERWISE = ("WARP_SZ", "generic")  # words that are no names


def operand(text: str):
    """The value of a simple operand; None for another one."""
    match = _OPERAND.fullmatch(text)
    if match is None:
        return None
    name, base, offset, integer, f32, f64 = match.groups()
    if (name or base) in _OTHERWISE:
        return None
    if name:
        return ast.Name(name)
    if base:
        return ast.Memory(ast.Name(base), int(offset or 0))
    if integer:
        return ast.Number(int(integer))
    return ast.Number(int(f32, 16), "f32") if f32 else ast.Number(int(f64, 16), "f64")
