"""C expressions in cuda-gdb's syntax, evaluated for one thread.

    sum > 2.5 && threadIdx.x == 3      *(@shared float *)0x10      x[0]@4      p->next->value      $R4

Integers are promoted and converted like in C. Raises DebugError for text that is not an expression, or has no value
here.
"""

import re
from contextlib import suppress
from typing import Protocol

from gpuprof.debug.values.arithmetic import only_integers, operate, promoted
from gpuprof.debug.values.c_types import (
    BOOL,
    UNSIGNED_LONG,
    CType,
    Storage,
    Value,
    array_of,
    element_of,
    member_of,
    pointer_to,
    value_of,
)
from gpuprof.debug.values.grammar import (
    Binary,
    Cast,
    Choice,
    Element,
    Member,
    Name,
    Number,
    Tree,
    Unary,
    names_in,
    parse,
)
from gpuprof.errors import DebugError

MOST_NBYTES = 1 << 20  # that an expression may read from memory at once


class Scope(Protocol):
    """The meaning of names for one thread."""

    def variable(self, name: str) -> Value | None: ...

    def has(self, name: str) -> bool:
        """True if there is a variable of the name, with or without a value."""

    def register(self, name: str) -> Value | None: ...

    def type(self, name: str) -> CType | None: ...

    def fetch(self, storage: Storage, nbytes: int) -> bytes:
        """Raises DebugError where there is no such memory."""

    def generic(self, storage: Storage) -> int:
        """The generic address of a storage."""

    def storage_of(self, address: int) -> Storage:
        """The storage at a generic address."""


def evaluate(text: str, scope: Scope) -> Value:
    try:
        return _Evaluator(scope).value(parse(text, scope.type))
    except (ArithmeticError, MemoryError, RecursionError, ValueError) as error:
        raise DebugError(f"{text!r:.60} cannot be evaluated: {type(error).__name__}") from None


_ASSIGNS = re.compile(r"(?<![=!<>+\-*/%&|^'])=(?!=)")


def is_assignment(text: str) -> bool:
    return _ASSIGNS.search(text) is not None


def assignment(text: str) -> tuple[str, str]:
    """The two sides of `EXPRESSION = VALUE`. Raises DebugError for another text."""
    match = _ASSIGNS.search(text)
    if not match:
        raise DebugError(f"{text!r} is not an assignment, such as x = 3")
    return text[: match.start()].strip(), text[match.end() :].strip()


def _missing(name: str) -> DebugError:
    is_register = name.startswith("$")
    return DebugError(f"there is no register {name}" if is_register else f'No symbol "{name}" in current context')


class _Evaluator:
    def __init__(self, scope: Scope):
        self.scope = scope

    def value(self, tree: Tree) -> Value:
        return _OF[type(tree)](self, tree)

    def number(self, tree: Number) -> Value:
        return tree.value

    def name(self, tree: Name) -> Value:
        name, is_register = tree.name, tree.name.startswith("$")
        value = self.scope.register(name) if is_register else self.scope.variable(name)
        if value is None:
            raise _missing(name)
        return self._referred(value)

    def _check_names(self, tree: Tree) -> None:
        """Checks the names of a tree whose value is not needed."""
        for name in names_in(tree):
            if not name.name.startswith("$") and not self.scope.has(name.name):
                raise _missing(name.name)

    def choice(self, tree: Choice) -> Value:
        holds = bool(self.value(tree.condition).number)
        self._check_names(tree.other if holds else tree.chosen)
        return self.value(tree.chosen if holds else tree.other)

    def binary(self, tree: Binary) -> Value:
        left = self.value(tree.left)
        if tree.sign in ("&&", "||"):
            return self._logical(tree, decayed(left, self.scope))
        right = self.value(tree.right)
        if tree.sign == "@":
            return self._repeated(left, right)
        return operate(tree.sign, decayed(left, self.scope), decayed(right, self.scope))

    def _logical(self, tree: Binary, left: Value) -> Value:
        if bool(left.number) != (tree.sign == "&&"):
            self._check_names(tree.right)
            return value_of(BOOL, bool(left.number))
        return operate(tree.sign, left, decayed(self.value(tree.right), self.scope))

    def unary(self, tree: Unary) -> Value:
        sign, operand = tree.sign, self.value(tree.operand)
        if sign == "sizeof":
            return value_of(UNSIGNED_LONG, operand.type.nbytes)
        if sign == "*":
            return self._target(operand)
        if sign == "&":
            if operand.storage is None:
                raise DebugError("cannot take the address of this expression")
            return value_of(pointer_to(operand.type), self.scope.generic(operand.storage))
        if sign == "!":
            return value_of(BOOL, not operand.number)
        number, type = operand.number, promoted(operand.type)
        if sign == "~":
            only_integers("~", operand)
            return value_of(type, ~number)
        return value_of(type, -number if sign == "-" else number)

    def cast(self, tree: Cast) -> Value:
        type, value = tree.type, self.value(tree.operand)
        if tree.space and type.kind == "pointer":
            return Value(type, value_of(type, value.number).data, Storage(f"@{tree.space}", 0))
        if type.kind == "array" or value.type.kind == "array":
            value = decayed(value, self.scope)
        return value_of(type, value.number)

    def element(self, tree: Element) -> Value:
        value, index = self.value(tree.array), self.value(tree.index)
        only_integers("[]", index)
        if value.type.kind == "array" and 0 <= index.number < value.type.count:
            return element_of(value, index.number)
        value = decayed(value, self.scope)
        if value.type.kind != "pointer":
            raise DebugError(f"a {value.type.name} has no elements")
        return self._loaded(value, value.number + index.number * value.type.element.nbytes)

    def member(self, tree: Member) -> Value:
        owner = self.value(tree.owner)
        return self._referred(_member(self._target(owner) if tree.is_arrow else owner, tree.name))

    def _referred(self, value: Value) -> Value:
        """The value that a reference refers to."""
        return self._loaded(value, value.number) if value.type.is_reference else value

    def _target(self, value: Value) -> Value:
        value = decayed(value, self.scope)
        if value.type.kind != "pointer":
            raise DebugError(f"a {value.type.name} is not a pointer")
        return self._loaded(value, value.number)

    def _loaded(self, pointer: Value, address: int) -> Value:
        type = pointer.type.element
        if type is None or type.kind in ("void", "function"):
            raise DebugError("a void pointer cannot be followed; convert it first")
        storage = self._storage(pointer, address)
        return Value(type, self.scope.fetch(storage, type.nbytes), storage)

    def _storage(self, pointer: Value, address: int) -> Storage:
        if pointer.storage is not None and pointer.storage.space.startswith("@"):
            return Storage(pointer.storage.space[1:], address)
        return self.scope.storage_of(address)

    def _repeated(self, first: Value, count: Value) -> Value:
        """gdb's `first@count`: an array that begins with a value in memory."""
        only_integers("@", count)
        if first.storage is None:
            raise DebugError("only values in memory can be extended with '@'")
        if not 0 < count.number * first.type.nbytes <= MOST_NBYTES:
            raise DebugError(f"{count.number} elements cannot be shown")
        type = array_of(first.type, count.number)
        return Value(type, self.scope.fetch(first.storage, type.nbytes), first.storage)


_OF = {
    Number: _Evaluator.number,
    Name: _Evaluator.name,
    Choice: _Evaluator.choice,
    Binary: _Evaluator.binary,
    Unary: _Evaluator.unary,
    Cast: _Evaluator.cast,
    Element: _Evaluator.element,
    Member: _Evaluator.member,
}


def decayed(value: Value, scope: Scope) -> Value:
    """An array as a pointer to its first element."""
    if value.type.kind != "array":
        return value
    if value.storage is None:
        raise DebugError("the array is not in memory")
    return value_of(pointer_to(value.type.element), scope.generic(value.storage))


def _member(value: Value, name: str) -> Value:
    for member in value.type.members:
        if member.name == name:
            return member_of(value, member)
    for base in (member for member in value.type.members if member.is_base or not member.name):
        with suppress(DebugError):
            return _member(member_of(value, base), name)
    raise DebugError(f"There is no member named {name}.")
