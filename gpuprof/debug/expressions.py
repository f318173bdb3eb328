"""C expressions as cuda-gdb takes them, worked out for one thread.

    sum > 2.5 && threadIdx.x == 3      *(@shared float *)0x10      x[0]@4      p->next->value      $R4

Integers are promoted and converted as C has it. Raises DebugError for what is no expression, or has no value here.
"""

import math
import re
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple, Protocol

from gpuprof.debug.types import (
    BASIC,
    BOOL,
    CHAR,
    DOUBLE,
    INT,
    LONG,
    UNSIGNED,
    UNSIGNED_LONG,
    CType,
    Place,
    Value,
    array_of,
    element_of,
    member_of,
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
MOST_DEPTH = 40  # of brackets and signs: each level is some 14 calls deep
MOST_NBYTES = 1 << 20  # that an expression may take from memory at once


class Scope(Protocol):
    """What names mean for one thread."""

    def variable(self, name: str) -> Value | None: ...

    def register(self, name: str) -> Value | None: ...

    def type(self, name: str) -> CType | None: ...

    def fetch(self, place: Place, nbytes: int) -> bytes:
        """Raises DebugError where there is no such memory."""

    def generic(self, place: Place) -> int:
        """The generic address of a place."""

    def place_of(self, address: int) -> Place:
        """Where a generic address leads."""


class _Token(NamedTuple):
    kind: str
    text: str
    suffix: str = ""


def evaluate(text: str, scope: Scope) -> Value:
    try:
        parser = _Parser(_tokens(text), scope, text)
        value = parser.expression()
        parser.end()
    except (ArithmeticError, MemoryError, RecursionError, ValueError) as error:
        raise DebugError(f"{text!r:.60} cannot be worked out: {type(error).__name__}") from None
    return value


def assignment(text: str) -> tuple[str, str]:
    """The two sides of `PLACE = VALUE`. Raises DebugError for another text."""
    found = re.search(r"(?<![=!<>+\-*/%&|^])=(?!=)", text)
    if not found:
        raise DebugError(f"{text!r} is no assignment, such as x = 3")
    return text[: found.start()].strip(), text[found.end() :].strip()


@lru_cache(maxsize=256)
def _tokens(text: str) -> tuple[_Token, ...]:
    found, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if not match:
            raise DebugError(f"{text[at:].strip()!r:.40} is not understood")
        kind = match.lastgroup if match.lastgroup != "suffix" else "int"
        found.append(_Token(kind, match[kind], (match["suffix"] or "").lower()))
        at = match.end()
    return tuple(found)


class _Parser:
    def __init__(self, tokens: tuple[_Token, ...], scope: Scope, text: str):
        self.tokens, self.scope, self.text, self.at, self.depth = tokens, scope, text, 0, 0
        self.unused = 0  # operands around this one that nobody wants: nothing is loaded for them

    def peek(self) -> str:
        return self.tokens[self.at].text if self.at < len(self.tokens) else ""

    def take(self) -> _Token:
        if self.at == len(self.tokens):
            raise DebugError(f"{self.text!r:.60} is not complete")
        self.at += 1
        return self.tokens[self.at - 1]

    def expect(self, text: str) -> None:
        if self.peek() != text:
            raise DebugError(
                f"{self.text!r:.60}: {text!r} is missing{f' before {self.peek()!r}' if self.peek() else ''}"
            )
        self.at += 1

    def end(self) -> None:
        if self.peek():
            raise DebugError(f"{self.text!r:.60}: {self.peek()!r} is one too many")

    def expression(self) -> Value:
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise DebugError("the expression is nested too deeply")
        condition = self.binary(0)
        if self.peek() == "?":
            self.at += 1
            holds = bool(condition.number)
            chosen = self.wanted(holds, self.expression)
            self.expect(":")
            other = self.wanted(not holds, self.expression)
            condition = chosen if holds else other
        self.depth -= 1
        return condition

    def wanted(self, is_wanted: bool, operand: Callable[[], Value]) -> Value:
        self.unused += not is_wanted
        try:
            return operand()
        finally:
            self.unused -= not is_wanted

    def binary(self, level: int) -> Value:
        if level == len(_LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while self.peek() in _LEVELS[level]:
            operator = self.take().text
            is_wanted = operator not in ("&&", "||") or bool(left.number) == (operator == "&&")
            right = self.wanted(is_wanted, lambda: self.binary(level + 1))
            if not self.unused:
                left = self._operated(operator, left, right)
        return left

    def _operated(self, operator: str, left: Value, right: Value) -> Value:
        if operator == "@":
            return self.repeated(left, right)
        return operate(operator, decayed(left, self.scope), decayed(right, self.scope))

    def unary(self) -> Value:
        sign = self.peek()
        if sign in ("*", "&", "-", "+", "~", "!"):
            self.at += 1
            self.depth += 1
            if self.depth > MOST_DEPTH:
                raise DebugError("the expression is nested too deeply")
            operand = self.unary()
            self.depth -= 1
            return self._one(sign, operand)
        if sign == "sizeof":
            self.at += 1
            return self._sizeof()
        if sign == "(" and (cast := self._cast()):
            return self._converted(cast, self.unary())
        return self.postfix(self.primary())

    def _one(self, sign: str, operand: Value) -> Value:
        if sign == "*":
            return self.target(operand)
        if sign == "&":
            if operand.place is None:
                raise DebugError("what has no address cannot stand behind '&'")
            return _address(operand, self.scope)
        if sign == "!":
            return value_of(BOOL, not operand.number)
        number, type = operand.number, promoted(operand.type)
        if sign == "~":
            _only_integers("~", operand)
            return value_of(type, ~number)
        return value_of(type, -number if sign == "-" else number)

    def _sizeof(self) -> Value:
        if self.peek() == "(" and (type := self._cast()):
            return value_of(UNSIGNED_LONG, type[0].nbytes)
        return value_of(UNSIGNED_LONG, self.unary().type.nbytes)

    def _cast(self) -> tuple[CType, str] | None:
        """A type in parentheses and its state space, or None, and nothing is taken."""
        start = self.at
        self.at += 1
        space, words = "", []
        while self.peek():
            word = self.peek()
            if word in SPACES:
                space = SPACES[word]
            elif word in _WORDS or (not {*words} - _QUALIFIERS and self.scope.type(word) is not None):
                words.append(word)
            else:
                break
            self.at += 1
        type = _named([word for word in words if word not in _QUALIFIERS], self.scope)
        while type is not None and self.peek() == "*":
            type = pointer_to(type)
            self.at += 1
        if type is None or self.peek() != ")":
            self.at = start
            return None
        self.at += 1
        return type, space

    def _converted(self, cast: tuple[CType, str], value: Value) -> Value:
        type, space = cast
        if space and type.kind == "pointer":
            return Value(type, value_of(type, value.number).data, Place(f"@{space}", 0))
        if type.kind == "array" or value.type.kind == "array":
            value = decayed(value, self.scope)
        return value_of(type, value.number)

    def primary(self) -> Value:
        token = self.take()
        if token.kind == "int":
            return _integer(token)
        if token.kind == "float":
            is_float = token.text[-1] in "fF"
            return value_of(BASIC["float"] if is_float else DOUBLE, float(token.text.rstrip("fF")))
        if token.kind == "char":
            text = token.text[1:-1]
            if not text.isascii():
                raise DebugError(f"{token.text} is no ASCII character")
            return value_of(CHAR, _ESCAPES.get(text[1], ord(text[1])) if text[0] == "\\" else ord(text) & 0xFF)
        if token.text == "(":
            value = self.expression()
            self.expect(")")
            return value
        if token.kind == "name":
            return self._name(token.text)
        raise DebugError(f"{self.text!r:.60}: {token.text!r} stands where a value should")

    def _name(self, name: str) -> Value:
        if name in ("true", "false"):
            return value_of(BOOL, name == "true")
        found = self.scope.register(name) if name.startswith("$") else self.scope.variable(name)
        if found is None and self.peek() == "(":
            raise DebugError(f"{name}(...) is not called: expressions run no functions of the program")
        if found is None:
            what = "there is no register" if name.startswith("$") else f'No symbol "{name}" in current context'
            raise DebugError(f"{what} {name}" if name.startswith("$") else what)
        return self._referred(found)

    def _referred(self, value: Value) -> Value:
        """What a reference stands for."""
        return self._loaded(value, value.number) if value.type.is_reference else value

    def postfix(self, value: Value) -> Value:
        while True:
            sign = self.peek()
            if sign == "[":
                self.at += 1
                index = self.expression()
                self.expect("]")
                value = self.element(value, index)
            elif sign in (".", "->"):
                self.at += 1
                value = self._referred(_member(self.target(value) if sign == "->" else value, self.take().text))
            else:
                return value

    def target(self, value: Value) -> Value:
        value = decayed(value, self.scope)
        if value.type.kind != "pointer":
            raise DebugError(f"a {value.type.name} is no pointer")
        return self._loaded(value, value.number)

    def element(self, value: Value, index: Value) -> Value:
        _only_integers("[]", index)
        if value.type.kind == "array" and 0 <= index.number < value.type.count:
            return element_of(value, index.number)
        value = decayed(value, self.scope)
        if value.type.kind != "pointer":
            raise DebugError(f"a {value.type.name} has no elements")
        return self._loaded(value, value.number + index.number * value.type.element.nbytes)

    def _loaded(self, pointer: Value, address: int) -> Value:
        type = pointer.type.element
        if type is None or type.kind in ("void", "function"):
            raise DebugError("a void pointer cannot be followed; convert it first")
        if self.unused:
            return Value(type, bytes(type.nbytes))
        place = self._place(pointer, address)
        return Value(type, self.scope.fetch(place, type.nbytes), place)

    def _place(self, pointer: Value, address: int) -> Place:
        if pointer.place is not None and pointer.place.space.startswith("@"):
            return Place(pointer.place.space[1:], address)
        return self.scope.place_of(address)

    def repeated(self, first: Value, count: Value) -> Value:
        """gdb's `first@count`: an array that begins with a value in memory."""
        _only_integers("@", count)
        if first.place is None:
            raise DebugError("only values in memory can be extended with '@'")
        if not 0 < count.number * first.type.nbytes <= MOST_NBYTES:
            raise DebugError(f"{count.number} elements cannot be shown")
        type = array_of(first.type, count.number)
        return Value(type, self.scope.fetch(first.place, type.nbytes), first.place)


def _integer(token: _Token) -> Value:
    if token.text.isdigit() and token.text[0] == "0" and token.text.strip("01234567"):
        raise DebugError(f"{token.text:.40} is no octal number")
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


def _named(words: list[str], scope: Scope) -> CType | None:
    if not words:
        return None
    if len(words) == 1 and words[0] not in _WORDS:
        return scope.type(words[0])
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


def _address(value: Value, scope: Scope) -> Value:
    address = scope.generic(value.place)
    return value_of(pointer_to(value.type), address)


def decayed(value: Value, scope: Scope) -> Value:
    """An array as a pointer to its first element."""
    if value.type.kind != "array":
        return value
    if value.place is None:
        raise DebugError("the array is not in memory")
    return value_of(pointer_to(value.type.element), scope.generic(value.place))


def _member(value: Value, name: str) -> Value:
    for member in value.type.members:
        if member.name == name:
            return member_of(value, member)
    for base in (member for member in value.type.members if member.name == member.type.name):
        with suppress(DebugError):
            return _member(member_of(value, base), name)
    raise DebugError(f"There is no member named {name}.")


def _only_integers(sign: str, *values: Value) -> None:
    for value in values:
        if not value.type.is_integer:
            raise DebugError(f"{sign!r} takes integers, and a {value.type.name} is none")


def promoted(type: CType) -> CType:
    """Of an operand of arithmetic: integers have at least an int's size."""
    if type.kind == "float":
        return type if type.nbytes >= 4 else BASIC["float"]
    if not type.is_integer:
        return type
    if type.nbytes < 4:
        return INT
    if type.kind == "enum":
        types = (INT, LONG) if type.is_signed else (UNSIGNED, UNSIGNED_LONG)
        return types[type.nbytes > 4]
    return type


def common(left: CType, right: CType) -> CType:
    """C's usual arithmetic conversions."""
    left, right = promoted(left), promoted(right)
    if "float" in (left.kind, right.kind):
        return max((each for each in (left, right) if each.kind == "float"), key=lambda each: each.nbytes)
    if left.nbytes != right.nbytes:
        return max(left, right, key=lambda each: each.nbytes)
    return left if not left.is_signed else right


def operate(sign: str, left: Value, right: Value) -> Value:
    if "pointer" in (left.type.kind, right.type.kind) and sign in ("+", "-"):
        return _moved(sign, left, right)
    if left.type.kind == "pointer" or right.type.kind == "pointer":
        if sign not in _COMPARISONS:
            _only_integers(sign, *(each for each in (left, right) if each.type.kind != "pointer"))
        a, b, type = left.number, right.number, UNSIGNED_LONG
    else:
        if sign in ("%", "<<", ">>", "&", "|", "^"):
            _only_integers(sign, left, right)
        type = promoted(left.type) if sign in ("<<", ">>") else common(left.type, right.type)
        if left.type.kind in ("struct", "array") or right.type.kind in ("struct", "array"):
            raise DebugError(f"{sign!r} takes numbers")
        a, b = value_of(type, left.number).number, value_of(type, right.number).number
    if sign in _COMPARISONS:
        return value_of(BOOL, _COMPARISONS[sign](a, b))
    if sign in ("/", "%") and b == 0 and type.kind != "float":
        raise DebugError("Division by zero")
    if sign in ("<<", ">>") and not 0 <= b < 8 * type.nbytes:
        raise DebugError(f"a shift by {b} is none of a {type.name}")
    return value_of(type, _ARITHMETIC[sign](a, b))


def _moved(sign: str, left: Value, right: Value) -> Value:
    """Sums and differences with pointers."""
    if right.type.kind == "pointer" and left.type.kind == "pointer":
        if sign == "+":
            raise DebugError("two pointers cannot be added")
        return value_of(LONG, (left.number - right.number) // max(left.type.element.nbytes, 1))
    if right.type.kind == "pointer":
        if sign == "-":
            raise DebugError("a pointer cannot be taken from a number")
        left, right = right, left
    _only_integers(sign, right)
    step = right.number * max(left.type.element.nbytes, 1)
    return value_of(left.type, left.number + (step if sign == "+" else -step))._replace(place=left.place)


def _quotient(a, b):
    """Truncated, as in C. A float by 0 is infinite or no number."""
    if isinstance(a, float) or isinstance(b, float):
        if b == 0:
            return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1, b)
        return a / b
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_COMPARISONS = {
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b, ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b, ">=": lambda a, b: a >= b, "&&": lambda a, b: bool(a) and bool(b),
    "||": lambda a, b: bool(a) or bool(b),
}  # fmt: skip
_ARITHMETIC = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": _quotient,
    "%": lambda a, b: a - _quotient(a, b) * b, "<<": lambda a, b: a << b, ">>": lambda a, b: a >> b,
    "&": lambda a, b: a & b, "|": lambda a, b: a | b, "^": lambda a, b: a ^ b,
}  # fmt: skip
