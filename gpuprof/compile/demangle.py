"""Names and parameter types of C++ kernels in PTX that carries none of its own: _Z4scanILi256EEvPi is scan<256> and
takes an `int *`.

The part of the Itanium C++ ABI's mangling (itanium-cxx-abi.github.io, chapter 5.1) that kernels use. Whatever else
comes up (lambdas, expressions, pointers to members) leaves the symbol as it is.

    symbol    = "_Z" name [type, the result of a template] {type}
    name      = nested | one                   one  = ("St" | substitution)? source [arguments]
    nested    = "N" [cv] {one} "E"             source = length characters
    arguments = "I" {argument} "E"             argument = type | "L" type value "E" | "J" {argument} "E"
    type      = letter | name | cv type | ("P" | "R" | "O") type | "A" number "_" type | "F" {type} "E"
                | "T" [number] "_" | "Dp" type
    substitution = "S" [number in base 36] "_"   an earlier part: every prefix of a name, template,
                                                 and type with a modifier
"""

import re
from typing import NamedTuple

BUILTIN = {
    "v": "void", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char", "s": "short",
    "t": "unsigned short", "i": "int",
    "j": "unsigned int", "l": "long", "m": "unsigned long", "x": "long long", "y": "unsigned long long", "f": "float",
    "d": "double",
    "n": "__int128", "o": "unsigned __int128", "w": "wchar_t", "e": "long double",
}  # fmt: skip
_LONG_BUILTIN = {
    "Dh": "_Float16",
    "DF16_": "_Float16",
    "DF16b": "__bf16",
    "Ds": "char16_t",
    "Di": "char32_t",
    "Du": "char8_t",
    "Dn": "nullptr_t",
}
_POINTERS = {"P": "*", "R": "&", "O": "&&"}
_QUALIFIERS = {"r": "", "V": "volatile", "K": "const"}  # `restrict` is not written: it says nothing about the type
_NUMBER = re.compile(r"n?\d+")
_LENGTH = re.compile(r"\d+")
_BASE_36 = re.compile(r"[0-9A-Z]*_")
_DEEPEST = 100
_UNNAMED = re.compile(r"_GLOBAL__N_\w*|_INTERNAL_\w+")  # an unnamed namespace; the second is nvcc's


class _Unknown(Exception):
    """Something this reader has no rule for."""


class Signature(NamedTuple):
    """`types` is None where they could not be read, and for a symbol that is not mangled."""

    name: str
    types: tuple[str, ...] | None


def demangle(symbol: str) -> str:
    """The name in the source, or the symbol itself when it is not mangled or not of the simple kind."""
    return signature(symbol).name


def signature(symbol: str) -> Signature:
    """Name and parameter types of a function: "_Z5saxpyfPKf" is ("saxpy", ("float", "const float *"))."""
    if not symbol.startswith("_Z"):
        return Signature(symbol, None)
    reader = _Reader(symbol)
    try:
        name = reader.name(of_function=True)
    except _Unknown:
        return Signature(symbol, None)
    try:
        return Signature(name, reader.parameters())
    except _Unknown:
        return Signature(name, None)


class _Reader:
    def __init__(self, text: str):
        self.text, self.at = text, len("_Z")
        self.seen: list[str] = []  # what a substitution may refer to
        self.arguments: list[list[str]] = []  # of the function template; a pack has any number of types, others one
        self.is_template = False  # whether the name read last ends in template arguments
        self.expanding = 0  # which element of a pack a template parameter stands for
        self.depth = 0

    def accept(self, literal: str) -> bool:
        is_there = self.text.startswith(literal, self.at)
        self.at += len(literal) if is_there else 0
        return is_there

    def match(self, pattern: re.Pattern) -> str:
        matched = pattern.match(self.text, self.at)
        if not matched:
            raise _Unknown
        self.at = matched.end()
        return matched.group()

    def remember(self, text: str) -> str:
        self.seen.append(text)
        return text

    def name(self, of_function: bool = False) -> str:
        name = self.nested(of_function) if self.accept("N") else self.unscoped(of_function)
        return name if of_function else self.remember(name)

    def nested(self, of_function: bool) -> str:
        self.match(re.compile("[rVK]*"))
        prefix = ""
        while True:
            if self.text.startswith("S", self.at) and not self.text.startswith("St", self.at):
                prefix = self.substitution()
            elif self.accept("St"):
                prefix = "std"
                continue
            elif self.accept("I"):
                prefix = self.with_arguments(prefix, of_function)
            else:
                part = self.source()
                prefix = prefix if _UNNAMED.fullmatch(part) else f"{prefix}::{part}" if prefix else part
                self.is_template = False
            if self.accept("E"):
                return prefix
            self.remember(prefix)  # the whole name is no prefix of itself

    def unscoped(self, of_function: bool) -> str:
        prefix = "std::" if self.accept("St") else ""
        name = prefix + self.source()
        self.is_template = False
        if not self.accept("I"):
            return name
        return self.with_arguments(self.remember(name), of_function)

    def source(self) -> str:
        self.accept("L")  # internal linkage
        length = int(self.match(_LENGTH))
        name = self.text[self.at : self.at + length]
        if not name or len(name) < length:
            raise _Unknown
        self.at += length
        return name

    def with_arguments(self, name: str, of_function: bool) -> str:
        """The name of a template with the arguments that follow an "I"."""
        arguments = self.argument_list()
        self.is_template = True
        if of_function:
            self.arguments = arguments
        return f"{name}<{', '.join(each for pack in arguments for each in pack)}>"

    def argument_list(self) -> list[list[str]]:
        arguments = []
        while not self.accept("E"):
            if self.accept("J"):
                arguments.append([each for pack in self.argument_list() for each in pack])
            else:
                arguments.append([self.literal()] if self.accept("L") else self.types())
        return arguments

    def literal(self) -> str:
        kind = self.type()
        value = self.match(_NUMBER).replace("n", "-")
        if not self.accept("E"):
            raise _Unknown
        if kind == "bool":
            return "true" if value == "1" else "false"
        return value

    def parameters(self) -> tuple[str, ...]:
        """The parameter types that follow a function's name."""
        if self.is_template:
            self.type()  # the result
        types: list[str] = []
        while self.at < len(self.text):
            types += self.types()
        return () if types == ["void"] else tuple(types)

    def types(self) -> list[str]:
        """One type, or those that a pack stands for."""
        if not self.accept("Dp"):
            return [self.type()]
        start, seen = self.at, len(self.seen)
        length = self.pack_length()
        if length is None:
            raise _Unknown
        result = []
        for index in range(length):
            self.at, self.expanding = start, index
            del self.seen[seen:]
            result.append(self.type())
        if not length:
            self.type()
        self.expanding = 0
        return result

    def pack_length(self) -> int | None:
        parameter = re.compile(r"[PROrVK]*T(\d*)_").match(self.text, self.at)
        index = (int(parameter[1]) + 1 if parameter[1] else 0) if parameter else len(self.arguments)
        return len(self.arguments[index]) if index < len(self.arguments) else None

    def type(self) -> str:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise _Unknown
        result = self.plain_type()
        self.depth -= 1
        return result

    def plain_type(self) -> str:
        code = self.text[self.at : self.at + 1]
        if code in BUILTIN:
            self.at += 1
            return BUILTIN[code]
        for long_code, name in _LONG_BUILTIN.items():
            if self.accept(long_code):
                return name
        if code in _POINTERS:
            self.at += 1
            return self.remember(_pointer(self.type(), _POINTERS[code]))
        if code in _QUALIFIERS:
            words = [_QUALIFIERS[each] for each in self.match(re.compile("[rVK]+")) if _QUALIFIERS[each]]
            return self.remember(_qualified(self.type(), words))
        if code == "A":
            self.at += 1
            extent = self.match(re.compile(r"\d*_"))[:-1]
            return self.remember(f"{self.type()} [{extent}]")
        if code == "F":
            self.at += 1
            return self.remember(self.function_type())
        if code == "T":
            return self.remember(self.template_parameter())
        if code == "S" and not self.text.startswith("St", self.at):
            name = self.substitution()
            return self.remember(self.with_arguments(name, False)) if self.accept("I") else name
        return self.name()

    def function_type(self) -> str:
        result, parameters = self.type(), []
        while not self.accept("E"):
            parameters += self.types()
        return f"{result} ({'' if parameters == ['void'] else ', '.join(parameters)})"

    def template_parameter(self) -> str:
        self.accept("T")
        digits = self.match(_BASE_36)[:-1]
        index = int(digits, 36) + 1 if digits else 0
        if index >= len(self.arguments) or self.expanding >= max(len(self.arguments[index]), 1):
            raise _Unknown
        return self.arguments[index][self.expanding] if self.arguments[index] else ""

    def substitution(self) -> str:
        self.accept("S")
        digits = self.match(_BASE_36)[:-1]
        index = int(digits, 36) + 1 if digits else 0
        if index >= len(self.seen):
            raise _Unknown
        return self.seen[index]


def _pointer(inner: str, mark: str) -> str:
    result, opening, rest = inner.partition(" (")
    if opening and not rest.startswith("*"):
        return f"{result} ({mark})({rest}"
    return f"{inner}{mark}" if inner.endswith(("*", "&")) else f"{inner} {mark}"


def _qualified(inner: str, words: list[str]) -> str:
    for word in words:
        inner = f"{inner}{word}" if inner.endswith(("*", "&")) else f"{word} {inner}"
    return inner
