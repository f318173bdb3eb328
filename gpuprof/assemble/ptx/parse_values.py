"""The lowest level of the PTX parser: tokens one after another, numbers, constants, and symbols with offsets."""

import struct

from gpuprof.assemble.ptx import ast
from gpuprof.assemble.ptx.expressions import CONTINUES, PRODUCT, expression, is_remainder
from gpuprof.assemble.ptx.lines import LineTable
from gpuprof.assemble.ptx.tokens import Positions, Token, read_tokens, tokenize
from gpuprof.errors import PtxError

_DEEPEST = 100
_AT_ONCE = 8  # tokens: most statements that are read as tokens have fewer


class ValueParser:
    """The position of the parser in a text, and the module that it fills.

    `is_whole`: all tokens are there from the beginning. Otherwise they are read as they are needed, and what follows
    `token` can be read in another way (`continue_at`).
    """

    def __init__(self, text: str, name: str, is_whole: bool):
        self.name = name
        self.text = text
        self.where = Positions(text)
        self.is_whole = is_whole
        if is_whole:
            self.tokens = tokenize(text, name)
            self.index = 0
            self.token = self.tokens[0]
        else:
            self.continue_at(0)
        self.result = ast.Module(name)
        self.lines = LineTable(self.result.files, text)
        self.depth = 0
        self.aliases: list[tuple[str, str, Token]] = []
        self.functions: dict[str, ast.Function] = {}
        self.variables_by_name: dict[str, ast.Variable] = {}
        self.function_name = ""
        self.statics: list[dict[str, str]] = []  # symbols of the variables in memory, by name, a table for each block
        self.n_symbols = 0
        self.operands: dict[str, object] = {}  # simple ones, by text: most are there many times
        self.modifiers: dict[str, tuple[str, tuple[str, ...]]] = {}  # names of instructions, split
        self.in_call = False  # parentheses around operands hold arguments

    def error(self, message: str, token: Token | None = None) -> PtxError:
        offset = (token or self.token).offset
        # What a compiler made is wrong where a user wrote assembly: the line is that of the instruction being read.
        source = "" if self.name.endswith(".ptx") else str(self.lines.current or "")
        return PtxError(message, self.name, self.where.line(offset), self.where.column(offset), source)

    def advance(self) -> Token:
        token = self.token
        if token.kind != "end":
            self.index += 1
            if self.index + 1 >= len(self.tokens):
                self._read_on()
            self.token = self.tokens[self.index]
        return token

    def continue_at(self, position: int):
        """The next token is the first one from a position on."""
        self.read_to = position  # tokens are there up to this character
        self.tokens: list[Token] = []
        self.index = 0
        self._read_on()
        self.token = self.tokens[0]

    def _read_on(self):
        if not self.tokens or self.tokens[-1].kind != "end":
            self.read_to = read_tokens(self.text, self.name, self.read_to, self.tokens, _AT_ONCE)

    def accept(self, text: str) -> bool:
        if self.token.text == text and self.token.kind != "string":
            self.advance()
            return True
        return False

    def expect(self, text: str) -> Token:
        if self.token.text != text or self.token.kind == "string":
            raise self.missing(repr(text))
        return self.advance()

    def expect_kind(self, kind: str, what: str) -> str:
        if self.token.kind != kind:
            raise self.missing(what)
        return self.advance().text

    def missing(self, what: str) -> PtxError:
        """The error for a missing token: on the line that it would end or continue, after the last token."""
        text = self.token.text
        before = self.tokens[self.index - 1]
        end = before.offset + len(before.text)
        is_end = what == "';'" or self.where.line(self.token.offset) > self.where.line(end)
        at = Token("", "", end) if self.index and is_end else self.token
        return self.error(f"expected {what}, found {text!r}", at)

    def is_before(self, *version: int) -> bool:
        """True if the module is of an older version of PTX."""
        numbers = self.result.version.split(".")
        return len(numbers) == 2 and tuple(map(int, numbers)) < version

    def skip_parentheses(self):
        self.expect("(")
        depth = 1
        while depth:
            if self.token.kind == "end":
                raise self.error("')' is missing")
            depth += {"(": 1, ")": -1}.get(self.token.text, 0) if self.token.kind == "punct" else 0
            self.advance()

    def enter(self):
        """Deeper nesting than any compiler writes is refused, so that recursion cannot run out."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.error("nested too deeply")

    def integer(self) -> int:
        negative = self.accept("-")
        token = self.token
        number = self.number()
        if number.kind != "int":
            raise self.error("expected an integer", token)
        return -number.value if negative else number.value

    # number: [-] integer | float | 0fXXXXXXXX | 0dXXXXXXXXXXXXXXXX
    def number(self) -> ast.Number:
        token = self.token
        text = self.expect_kind("number", "a number")
        prefix = text[:2].lower()
        if prefix == "0f":
            return ast.Number(int(text[2:], 16), "f32")
        if prefix == "0d":
            return ast.Number(int(text[2:], 16), "f64")
        if "." in text or ("e" in text.lower() and prefix != "0x"):
            return ast.Number(struct.unpack("<Q", struct.pack("<d", float(text)))[0], "f64")
        digits = text.rstrip("U")
        octal = len(digits) > 1 and digits.isdigit() and digits[0] == "0"
        try:
            value = int(digits, 8 if octal else 0)
        except ValueError:
            raise self.error(f"{text!r} is not a number", token) from None
        return ast.Number(value)

    # constant: [-] number, or any expression of constants (see `expressions`)
    def constant(self) -> ast.Number:
        start = self.index
        negative = self.token.text == "-" and self.accept("-")
        if self.token.kind == "number":
            number = self.number()
            if self.token.text not in CONTINUES and not is_remainder(self.token):
                return _negative(number) if negative else number
        self.index, self.token = start, self.tokens[start]
        return expression(self)

    def symbol_value(self):
        name = self.advance().text
        generic = name == "generic" and self.accept("(")
        if generic:
            name = self.expect_kind("word", "a variable")
            self.expect(")")
        offset = self.signed_offset()
        if offset or generic:
            return ast.Offset(name, offset, generic)
        return ast.Name(name)

    def signed_offset(self) -> int:
        offset = 0
        while self.token.text in ("+", "-") and self.token.kind == "punct":
            sign = -1 if self.advance().text == "-" else 1
            token = self.token
            number = expression(self, PRODUCT)
            if number.kind != "int":
                raise self.error("expected an integer", token)
            offset += sign * number.value
        return offset


def _negative(number: ast.Number) -> ast.Number:
    sign = {"f32": 1 << 31, "f64": 1 << 63}.get(number.kind)
    return ast.Number(-number.value) if sign is None else ast.Number(number.value ^ sign, number.kind)
