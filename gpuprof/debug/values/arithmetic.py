"""C's operators on two values: promotions, conversions, pointer arithmetic."""

import math

from gpuprof.debug.values.c_types import BASIC, BOOL, INT, LONG, UNSIGNED, UNSIGNED_LONG, CType, Value, value_of
from gpuprof.errors import DebugError


def only_integers(sign: str, *values: Value) -> None:
    """Raises DebugError for another operand."""
    for value in values:
        if not value.type.is_integer:
            raise DebugError(f"{sign!r} takes integers, not a {value.type.name}")


def promoted(type: CType) -> CType:
    """The promoted type of an arithmetic operand: integers have at least an int's size."""
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
            only_integers(sign, *(each for each in (left, right) if each.type.kind != "pointer"))
        a, b, type = left.number, right.number, UNSIGNED_LONG
    else:
        if sign in ("%", "<<", ">>", "&", "|", "^"):
            only_integers(sign, left, right)
        type = promoted(left.type) if sign in ("<<", ">>") else common(left.type, right.type)
        if left.type.kind in ("struct", "array") or right.type.kind in ("struct", "array"):
            raise DebugError(f"{sign!r} takes numbers")
        a, b = value_of(type, left.number).number, value_of(type, right.number).number
    if sign in _COMPARISONS:
        return value_of(BOOL, _COMPARISONS[sign](a, b))
    if sign in ("/", "%") and b == 0 and type.kind != "float":
        raise DebugError("Division by zero")
    if sign in ("<<", ">>") and not 0 <= b < 8 * type.nbytes:
        raise DebugError(f"cannot shift a {type.name} by {b}")
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
    only_integers(sign, right)
    step = right.number * max(left.type.element.nbytes, 1)
    return value_of(left.type, left.number + (step if sign == "+" else -step))._replace(storage=left.storage)


def _quotient(a, b):
    """A quotient truncated as in C. A float divided by 0 is infinite or NaN."""
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
