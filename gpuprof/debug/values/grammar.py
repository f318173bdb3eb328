"""The grammar of expressions: text -> tree.

expression  binary [? expression : expression]
binary      unary {operator unary}                 by _LEVELS, the weakest first
unary       sign unary | sizeof unary | sizeof ( type ) | ( type ) unary | postfix
postfix     primary { [ expression ] | . name | -> name }
primary     number | 'c' | name | ( expression )
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from gpuprof.debug.values.c_types import (
    BASIC,
    CHAR,
    DOUBLE,
    INT,
    LONG,
    UNSIGNED,
    UNSIGNED_LONG,
    CType,
    Value,
    pointer_to,
    value_of,
)
from gpuprof.errors import DebugError

_TOKEN = re.compile(
    r"\s*(?:(?P<float>(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?[fF]?)|(?P<int>0[xX][\da-fA-F]+|\d+)(?P<suffix>[uUlL]*)"
    r"|(?P<char>'(?:\\.|[^\\'])')|(?P<name>[$@]?[A-Za-z_][\w$]*(?:::[A-Za-z_]\w*)*|\$\$?\d*)"
    r"|(?P<sign><<=|>>=|->|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%&|^~!<>=?:()\[\].,@]))"
)
_LEVELS = (("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>"), ("+", "-"),
           ("*", "/", "%"), ("@",))  # fmt: skip
_ESCAPES = {"n": 10, "t": 9, "r": 13, "0": 0, "\\": 92, "'": 39, '"': 34}
_WORDS = ("unsigned", "signed", "long", "short", "int", "char", "float", "double", "bool", "void", "const", "struct")
_QUALIFIERS = {"const", "struct"}
SPACES = {"@global": "global", "@shared": "shared", "@local": "local", "@parameter": "param", "@constant": "const"}
MOST_DEPTH = 40  # of brackets and signs: each level takes about 14 calls

TypeOf = Callable[[str], CType | None]  # a type by its name


class Number(NamedTuple):
    value: Value


class Name(NamedTuple):
    name: str


class Binary(NamedTuple):
    sign: str
    left: "Tree"
    right: "Tree"


class Unary(NamedTuple):
    """`sign`: also `sizeof`."""

    sign: str
    operand: "Tree"


class Choice(NamedTuple):
    condition: "Tree"
    chosen: "Tree"
    other: "Tree"


class Cast(NamedTuple):
    """`space`: the state space of a pointer's target, "" for none."""

    type: CType
    space: str
    operand: "Tree"


class Element(NamedTuple):
    array: "Tree"
    index: "Tree"


class Member(NamedTuple):
    """`is_arrow`: a member of a pointer's target."""

    owner: "Tree"
    name: str
    is_arrow: bool


Tree: TypeAlias = Number | Name | Binary | Unary | Choice | Cast | Element | Member


def names_in(tree: Tree) -> Iterator[Name]:
    if isinstance(tree, Name):
        yield tree
        return
    for each in tree if not isinstance(tree, Number) else ():
        if isinstance(each, Tree):
            yield from names_in(each)


class _Token(NamedTuple):
    kind: str
    text: str
    suffix: str = ""


def parse(text: str, type_of: TypeOf) -> Tree:
    """The tree of an expression. Raises DebugError for other text. Where a type is possible, a name is one if `type_of`
    knows it.
    """
    known = _parsed.get(text)
    if known is None or any(type_of(name) is not type for name, type in known[1].items()):
        if len(_parsed) >= MOST_PARSED:
            _parsed.clear()
        asked: dict[str, CType | None] = {}

        def noted(name: str) -> CType | None:
            asked[name] = type_of(name)
            return asked[name]

        parser = _Parser(_tokens(text), noted, text)
        known = _parsed[text] = parser.complete(), asked
    return known[0]


MOST_PARSED = 256
_parsed: dict[str, tuple[Tree, dict[str, CType | None]]] = {}  # the trees of texts, and the types that they depend on


@lru_cache(maxsize=256)
def _tokens(text: str) -> tuple[_Token, ...]:
    tokens, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if not match:
            raise DebugError(f"{text[at:].strip()!r:.40} is not understood")
        kind = match.lastgroup if match.lastgroup != "suffix" else "int"
        tokens.append(_Token(kind, match[kind], (match["suffix"] or "").lower()))
        at = match.end()
    return tuple(tokens)


class _Parser:
    def __init__(self, tokens: tuple[_Token, ...], type_of: TypeOf, text: str):
        self.tokens, self.type_of, self.text, self.at, self.depth = tokens, type_of, text, 0, 0

    def peek(self) -> str:
        return self.tokens[self.at].text if self.at < len(self.tokens) else ""

    def take(self) -> _Token:
        if self.at == len(self.tokens):
            raise DebugError(f"{self.text!r:.60} is not complete")
        self.at += 1
        return self.tokens[self.at - 1]

    def expect(self, text: str) -> None:
        if self.peek() != text:
            before = f" before {self.peek()!r}" if self.peek() else ""
            raise DebugError(f"{self.text!r:.60}: {text!r} is missing{before}")
        self.at += 1

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise DebugError("the expression is nested too deeply")

    def complete(self) -> Tree:
        tree = self.expression()
        if self.peek():
            raise DebugError(f"{self.text!r:.60}: {self.peek()!r} is unexpected")
        return tree

    def expression(self) -> Tree:
        self.deeper()
        tree = self.binary(0)
        if self.peek() == "?":
            self.at += 1
            chosen = self.expression()
            self.expect(":")
            tree = Choice(tree, chosen, self.expression())
        self.depth -= 1
        return tree

    def binary(self, level: int) -> Tree:
        if level == len(_LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while self.peek() in _LEVELS[level]:
            left = Binary(self.take().text, left, self.binary(level + 1))
        return left

    def unary(self) -> Tree:
        sign = self.peek()
        if sign in ("*", "&", "-", "+", "~", "!"):
            self.at += 1
            self.deeper()
            operand = self.unary()
            self.depth -= 1
            return Unary(sign, operand)
        if sign == "sizeof":
            self.at += 1
            if self.peek() == "(" and (cast := self._cast()):
                return Number(value_of(UNSIGNED_LONG, cast[0].nbytes))
            return Unary(sign, self.unary())
        if sign == "(" and (cast := self._cast()):
            return Cast(*cast, self.unary())
        return self.postfix(self.primary())

    def _cast(self) -> tuple[CType, str] | None:
        """A type in parentheses and its state space; None, without taking a token, if there is no such type."""
        start = self.at
        self.at += 1
        space, words = "", []
        while self.peek():
            word = self.peek()
            if word in SPACES:
                space = SPACES[word]
            elif word in _WORDS or (not {*words} - _QUALIFIERS and self.type_of(word) is not None):
                words.append(word)
            else:
                break
            self.at += 1
        type = _named([word for word in words if word not in _QUALIFIERS], self.type_of)
        while type is not None and self.peek() == "*":
            type = pointer_to(type)
            self.at += 1
        if type is None or self.peek() != ")":
            self.at = start
            return None
        self.at += 1
        return type, space

    def postfix(self, tree: Tree) -> Tree:
        while (sign := self.peek()) in ("[", ".", "->"):
            self.at += 1
            if sign == "[":
                tree = Element(tree, self.expression())
                self.expect("]")
            else:
                tree = Member(tree, self.take().text, sign == "->")
        return tree

    def primary(self) -> Tree:
        token = self.take()
        if token.text == "(":
            tree = self.expression()
            self.expect(")")
            return tree
        if token.kind == "name":
            if token.text in ("true", "false"):
                return Number(value_of(BASIC["bool"], token.text == "true"))
            if self.peek() == "(":
                raise DebugError(f"{token.text}(...) is not called: expressions run no functions of the program")
            return Name(token.text)
        if token.kind in _LITERALS:
            return Number(_LITERALS[token.kind](token))
        raise DebugError(f"{self.text!r:.60}: expected a value before {token.text!r}")


def _integer(token: _Token) -> Value:
    if token.text.isdigit() and token.text[0] == "0" and token.text.strip("01234567"):
        raise DebugError(f"{token.text:.40} is not an octal number")
    number = (
        int(token.text, 0) if token.text[:2].lower() == "0x" else int(token.text, 8 if token.text[0] == "0" else 10)
    )
    types = (INT, UNSIGNED, LONG, UNSIGNED_LONG)
    if "u" in token.suffix:
        types = (UNSIGNED, UNSIGNED_LONG)
    elif token.text[:2].lower() != "0x":
        types = (INT, LONG, UNSIGNED_LONG)
    types = [type for type in types if type.nbytes == 8 or "l" not in token.suffix]
    for type in types:
        if number < 1 << 8 * type.nbytes - type.is_signed:
            return value_of(type, number)
    raise DebugError(f"{token.text} is too large")


def _float(token: _Token) -> Value:
    is_float = token.text[-1] in "fF"
    return value_of(BASIC["float"] if is_float else DOUBLE, float(token.text.rstrip("fF")))


def _char(token: _Token) -> Value:
    text = token.text[1:-1]
    if not text.isascii():
        raise DebugError(f"{token.text} is not an ASCII character")
    return value_of(CHAR, _ESCAPES.get(text[1], ord(text[1])) if text[0] == "\\" else ord(text) & 0xFF)


_LITERALS = {"int": _integer, "float": _float, "char": _char}


def _named(words: list[str], type_of: TypeOf) -> CType | None:
    if not words:
        return None
    if len(words) == 1 and words[0] not in _WORDS:
        return type_of(words[0])
    rest = sorted(words)
    is_unsigned = "unsigned" in rest
    plain = [word for word in rest if word not in ("unsigned", "signed")] or ["int"]
    if plain.count("long") == 1 and plain != ["double", "long"]:
        plain = ["long"]
    elif plain.count("long") == 2:
        plain = ["long long"]
    elif "short" in plain:
        plain = ["short"]
    name = " ".join(plain)
    if is_unsigned:
        name = f"unsigned {name}"
    elif name == "char" and "signed" in rest:
        name = "signed char"
    return BASIC.get(name)
