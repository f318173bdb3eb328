"""What one atomic operation leaves in memory, given the old value (PTX ISA 9.7.13, atom, red)."""

from tests.references.conformance_floats import add, extremum, operation
from tests.references.conformance_integers import signed


def float_add(t: str, is_global: bool):
    """Global f32 additions flush subnormal inputs and results, all others keep them (PTX ISA 9.7.13, atom)."""
    mods = {"ftz": t == "f32" and is_global}
    return lambda old, value: operation(add)(t, mods, old, value)


def float_extremum(t: str, sign: int):
    return lambda old, value: extremum(sign)(t, {}, old, value)


def apply(operation_name: str, t: str, is_global: bool, old: int, value: int, other: int):
    bits = int("".join(filter(str.isdigit, t.removesuffix("x2"))))
    mask = (1 << bits) - 1
    if "f" in t:
        single = {
            "add": float_add,
            "min": lambda t, _: float_extremum(t, -1),
            "max": lambda t, _: float_extremum(t, 1),
        }[operation_name]
        if t.endswith("x2"):
            halves = [single(t[:-2], is_global)(old >> shift & 0xFFFF, value >> shift & 0xFFFF) for shift in (0, 16)]
            return halves[0] | halves[1] << 16
        return single(t, is_global)(old, value & mask)
    number = (lambda x: signed(x, bits)) if t[0] == "s" else (lambda x: x)
    return {
        "add": lambda: old + value & mask, "and": lambda: old & value, "or": lambda: old | value,
        "xor": lambda: old ^ value,
        "min": lambda: min(old, value, key=number), "max": lambda: max(old, value, key=number),
        "inc": lambda: 0 if old >= value else old + 1, "dec": lambda: value if old == 0 or old > value else old - 1,
        "exch": lambda: value, "cas": lambda: other & mask if old == value & mask else old,
    }[operation_name]()  # fmt: skip
