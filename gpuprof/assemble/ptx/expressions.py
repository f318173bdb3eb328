"""Constant expressions (PTX ISA 4.6): the operators of C over 64-bit integers, signed unless something says otherwise,
and over doubles.

expression: binary [ ? expression : expression ]
binary:     unary { operator binary of a higher precedence }
unary:      ( + | - | ! | ~ ) unary | ( .s64 | .u64 ) unary in parentheses | ( expression ) | number
"""

import math
import struct
from collections.abc import Callable
from typing import NamedTuple

from gpuprof.assemble.ptx import ast
from gpuprof.assemble.ptx.tokens import Token

WORD = (1 << 64) - 1


class Value(NamedTuple):
    """An integer or a double while it is worked out."""

    number: int | float
    unsigned: bool = False


def _quotient(a: int, b: int) -> int:
    """C divides towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_ARITHMETIC: dict[str, Callable] = {
    "*": lambda a, b: a * b, "+": lambda a, b: a + b, "-": lambda a, b: a - b, "&": lambda a, b: a & b, "^": lambda a,
    b: a ^ b,
    "|": lambda a, b: a | b, "/": _quotient, "%": lambda a, b: a - b * _quotient(a, b),
}  # fmt: skip
_SHIFTS: dict[str, Callable] = {"<<": lambda a, b: a << b, ">>": lambda a, b: a >> b}
_COMPARISONS: dict[str, Callable] = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b, "&&": lambda a, b: a != 0 and b != 0, "||": lambda a, b: a != 0 or b != 0,
}  # fmt: skip
_FLOAT = frozenset(["+", "-", "*", "/", *_COMPARISONS])
PRECEDENCE = {
    op: level
    for level, ops in enumerate(("||", "&&", "|", "^", "&", "== !=", "< <= > >=", "<< >>", "+ -", "* / %"))
    for op in ops.split()
}
PRODUCT = PRECEDENCE["*"]
CONTINUES = frozenset([*PRECEDENCE, "?"])  # what may follow a literal that is only the beginning


def expression(parser, lowest: int = 0) -> ast.Number:
    """The constant at the parser's token, down to operators of precedence `lowest`. Raises PtxError."""
    value = _ternary(parser) if lowest == 0 else _binary(parser, lowest)
    if isinstance(value.number, float):
        return ast.Number(struct.unpack("<Q", struct.pack("<d", value.number))[0], "f64")
    return ast.Number(value.number)


def _ternary(parser) -> Value:
    parser.enter()
    value = _binary(parser, 0)
    if parser.accept("?"):
        chosen = _ternary(parser)
        parser.expect(":")
        other = _ternary(parser)
        value = chosen if value.number else other
    parser.depth -= 1
    return value


def is_remainder(token: Token) -> bool:
    """`7 %5`: what looks like a register is an operator and a number."""
    return token.text[:1] == "%" and token.text[1:].isdigit()


def _binary(parser, lowest: int) -> Value:
    left = _unary(parser)
    while PRECEDENCE.get(_operator(parser), -1) >= lowest:
        token = parser.advance()
        left = _combine(parser, token, left, _binary(parser, PRECEDENCE[token.text] + 1))
    return left


def _operator(parser) -> str:
    token = parser.token
    if is_remainder(token):
        parts = [Token("punct", "%", token.offset), Token("number", token.text[1:], token.offset + 1)]
        parser.tokens[parser.index : parser.index + 1] = parts
        parser.token = parts[0]
    return parser.token.text if parser.token.kind != "string" else ""


def _combine(parser, token, a: Value, b: Value) -> Value:
    op = token.text
    if isinstance(a.number, float) or isinstance(b.number, float):
        if op not in _FLOAT or (op == "/" and b.number == 0):
            raise parser.error(f"{op} does not take these floating-point constants", token)
        if op == "/":
            return Value(a.number / b.number)
        return (
            Value(int(_COMPARISONS[op](a.number, b.number)))
            if op in _COMPARISONS
            else Value(float(_ARITHMETIC[op](a.number, b.number)))
        )
    if op in _SHIFTS:
        if not 0 <= b.number < 64:
            raise parser.error(f"a shift by {b.number}", token)
        return _wrapped(_SHIFTS[op](a.number, b.number), a.unsigned)
    unsigned = a.unsigned or b.unsigned
    x, y = (value.number & WORD if unsigned else value.number for value in (a, b))
    if op in _COMPARISONS:
        return Value(int(_COMPARISONS[op](x, y)))
    if op in "/%" and y == 0:
        raise parser.error("division by zero", token)
    return _wrapped(_ARITHMETIC[op](x, y), unsigned)


def _wrapped(number: int, unsigned: bool) -> Value:
    number &= WORD
    return Value(number if unsigned or number < 1 << 63 else number - (1 << 64), unsigned)


def _unary(parser) -> Value:
    parser.enter()
    token = parser.token
    if token.kind == "punct" and token.text in "+-!~":
        parser.advance()
        value = _negated(parser, token, _unary(parser))
    elif parser.accept("("):
        cast = parser.token.text if parser.token.text in (".s64", ".u64") else ""
        if cast:
            parser.advance()
            parser.expect(")")
            value = _cast(parser, token, _unary(parser), cast == ".u64")
        else:
            value = _ternary(parser)
            parser.expect(")")
    elif token.text == "WARP_SZ":
        parser.advance()
        value = Value(32)
    else:
        value = _literal(parser)
    parser.depth -= 1
    return value


def _negated(parser, token, value: Value) -> Value:
    op = token.text
    if isinstance(value.number, float):
        if op == "~":
            raise parser.error("~ does not take a floating-point constant", token)
        return Value({"+": value.number, "-": -value.number, "!": int(not value.number)}[op])
    if op == "!":
        return Value(int(not value.number))
    return _wrapped({"+": value.number, "-": -value.number, "~": ~value.number}[op], value.unsigned)


def _cast(parser, token, value: Value, unsigned: bool) -> Value:
    if isinstance(value.number, float) and not math.isfinite(value.number):
        raise parser.error(f"{value.number} is not an integer", token)
    return _wrapped(int(value.number), unsigned)


def _literal(parser) -> Value:
    unsigned = parser.token.text.endswith("U")
    number = parser.number()
    if number.kind != "int":
        form = "<d" if number.kind == "f64" else "<f"
        return Value(struct.unpack(form, number.value.to_bytes(struct.calcsize(form), "little"))[0])
    return Value(number.value, unsigned or number.value >= 1 << 63)
