"""Recursive descent over the text of a launch itself: places in it, errors with a caret, and numbers with their
arithmetic, which is C's.
"""

import math
import operator
import re
from typing import NoReturn

from gpuprof.errors import UsageError

_SPACE = re.compile(r"\s*", re.ASCII)
IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*", re.ASCII)
_FLOAT = re.compile(r"(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?[fF]?|\d+[eE][+-]?\d+[fF]?", re.ASCII)
_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)[uUlL]{0,3}", re.ASCII)
MAX_NESTING = 50


class NumberParser:
    """A position in a text, and the methods that read numbers there. A method that fails raises UsageError."""

    def __init__(self, text: str, place: str):
        self.text, self.place = text, place
        self.at = 0
        self.depth = 0

    def integer(self, what: str) -> int:
        self.space()
        start = self.at
        value = self.number()
        if not isinstance(value, int):
            self.fail(f"{what} must be an integer, not {value}", start)
        return value

    # number = product {("+" | "-") product}
    def number(self) -> int | float:
        value = self.product()
        while sign := self.accept("+") or self.accept("-"):
            value = self.apply(sign, value, self.product())
        return value

    # product = factor {("*" | "//" | "/") factor}
    def product(self) -> int | float:
        value = self.factor()
        while sign := self.accept("*") or self.accept("//") or self.accept("/"):
            value = self.apply(sign, value, self.factor())
        return value

    # factor = ["-" | "+"] factor | literal | "inf" | "nan" | "(" number ")"
    def factor(self) -> int | float:
        self.space()
        self.depth += 1
        if self.depth > MAX_NESTING:
            self.fail(f"more than {MAX_NESTING} levels of signs and parentheses")
        value = self.signed_or_bracketed()
        self.depth -= 1
        return value

    def signed_or_bracketed(self) -> int | float:
        if self.accept("-"):
            return -self.factor()
        if self.accept("+"):
            return self.factor()
        if self.accept("("):
            value = self.number()
            self.expect(")")
            return value
        return self.literal()

    def literal(self) -> int | float:
        start = self.at
        if match := self.match(_FLOAT):
            value = float(match.group().rstrip("fF"))
            if math.isinf(value):
                self.fail(f"{match.group()} is too large for a double; write inf if that is intended", start)
        elif match := self.match(_INTEGER):
            value = self.integer_literal(match.group(1), start)
        elif (match := self.match(IDENTIFIER)) and match.group() in ("inf", "nan"):
            value = float(match.group())
        else:
            self.fail("expected a number", start)
        if following := IDENTIFIER.match(self.text, self.at):
            self.fail(f"{following.group()!r} cannot follow a number")
        return value

    def integer_literal(self, digits: str, start: int) -> int:
        if len(digits) > 1 and digits[0] == "0" and digits[1] not in "xX":
            self.fail("a leading 0 means octal in C; write the number in decimal or as 0x...", start)
        value = int(digits, 0) if len(digits) <= 40 else 1 << 64
        return self.in_range(value, start)

    def apply(self, sign: str, left: int | float, right: int | float) -> int | float:
        start = self.at
        if sign in ("/", "//") and right == 0:
            self.fail("division by zero", start)
        result = _OPERATORS[sign](left, right)
        if _infinite(result) and not (_infinite(left) or _infinite(right)):
            self.fail("the number is too large for a double", start)
        return self.in_range(result, start)

    def in_range(self, value: int | float, start: int) -> int | float:
        if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
            self.fail("the number does not fit into 64 bits", start)
        return value

    def space(self) -> None:
        self.at = _SPACE.match(self.text, self.at).end()

    def match(self, pattern: re.Pattern) -> re.Match | None:
        match = pattern.match(self.text, self.at)
        if match:
            self.at = match.end()
        return match

    def looking_at(self, chars: str) -> bool:
        self.space()
        return self.at < len(self.text) and self.text[self.at] in chars

    def accept(self, literal: str) -> str:
        """The literal when it comes next (blanks before and after it are skipped), else ""."""
        self.space()
        if not self.text.startswith(literal, self.at):
            return ""
        self.at += len(literal)
        self.space()
        return literal

    def expect(self, literal: str, where: str = "") -> None:
        if not self.accept(literal):
            self.fail(f"expected {literal!r}{' ' + where if where else ''}")

    def since(self, start: int) -> str:
        return self.text[start : self.at].strip()

    def fail(self, message: str, at: int | None = None) -> NoReturn:
        at = self.at if at is None else at
        shown = re.sub(r"[\x00-\x1f\x7f-\x9f]", " ", self.text)
        origin = self.place or "launch"
        raise UsageError(f"{origin}: {message}\n    {shown}\n    {' ' * at}^")


def _infinite(value: int | float) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def _quotient(left: int | float, right: int | float) -> int | float:
    if isinstance(left, float) or isinstance(right, float):
        return left / right
    exact = abs(left) // abs(right)  # C truncates towards zero
    return exact if (left < 0) == (right < 0) else -exact


def _floor_quotient(left: int | float, right: int | float) -> int | float:
    return left // right


_OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": _quotient, "//": _floor_quotient}
