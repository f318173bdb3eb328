"""Names of C++ kernels in PTX that carries no names of its own: _Z4scanILi256EEvPi is scan<256>.

The part of the Itanium C++ ABI's mangling that names of kernels use: nested and template names, numbers and simple types as
template arguments. The parameters' types that follow the name are not read. Whatever else comes up leaves the symbol as it is.

    name      = "_Z" (nested | one)            one  = ("St")? source [arguments]
    nested    = "N" [cv] {one} "E"             source = length characters
    arguments = "I" {argument} "E"             argument = type | "L" type value "E" | "J" {argument} "E"
"""

import re

BUILTIN = {
    "v": "void", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char", "s": "short", "t": "unsigned short", "i": "int",
    "j": "unsigned int", "l": "long", "m": "unsigned long", "x": "long long", "y": "unsigned long long", "f": "float", "d": "double",
}  # fmt: skip
_NUMBER = re.compile(r"n?\d+")
_UNNAMED = re.compile(r"_GLOBAL__N_\w*|_INTERNAL_\w+")  # an unnamed namespace; the second is nvcc's


class _Unknown(Exception):
    """Something this reader has no rule for."""


def demangle(symbol: str) -> str:
    """The name in the source, or the symbol itself when it is not mangled or not of the simple kind."""
    if not symbol.startswith("_Z"):
        return symbol
    try:
        return _Reader(symbol).name()
    except _Unknown:
        return symbol


class _Reader:
    def __init__(self, text: str):
        self.text, self.at = text, len("_Z")

    def accept(self, literal: str) -> bool:
        found = self.text.startswith(literal, self.at)
        self.at += len(literal) if found else 0
        return found

    def match(self, pattern: re.Pattern) -> str:
        found = pattern.match(self.text, self.at)
        if not found:
            raise _Unknown
        self.at = found.end()
        return found.group()

    def name(self) -> str:
        return self.nested() if self.accept("N") else self.one()

    def nested(self) -> str:
        self.accept("K")
        parts = []
        while not self.accept("E"):
            parts.append(self.one())
        return "::".join(part for part in parts if not _UNNAMED.fullmatch(part))

    def one(self) -> str:
        prefix = "std::" if self.accept("St") else ""
        self.accept("L")  # internal linkage
        length = int(self.match(re.compile(r"\d+")))
        name = self.text[self.at : self.at + length]
        if not name or len(name) < length:
            raise _Unknown
        self.at += length
        return prefix + name + (f"<{', '.join(self.list())}>" if self.accept("I") else "")

    def list(self) -> list[str]:
        arguments = []
        while not self.accept("E"):
            arguments += self.list() if self.accept("J") else [self.literal() if self.accept("L") else self.type()]
        return arguments

    def literal(self) -> str:
        kind = self.type()
        value = self.match(_NUMBER).replace("n", "-")
        if not self.accept("E"):
            raise _Unknown
        if kind == "bool":
            return "true" if value == "1" else "false"
        return value

    def type(self) -> str:
        if self.accept("P"):
            inner = self.type()
            return f"{inner}*" if inner.endswith("*") else f"{inner} *"
        if self.accept("K"):
            inner = self.type()
            return f"{inner}const" if inner.endswith("*") else f"const {inner}"
        code = self.text[self.at : self.at + 1]
        if code in BUILTIN:
            self.at += 1
            return BUILTIN[code]
        return self.name()
