"""What integer, bit, move and predicate instructions compute, by semantics name, in plain Python integers (PTX ISA,
9.7.1, 9.7.2, 9.7.7, 9.7.8).
"""

from gpuprof.device.memory import LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW

MASK32, MASK64 = (1 << 32) - 1, (1 << 64) - 1


def nbits(t: str) -> int:
    return int(t[1:])


def signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> bits - 1 else value


def typed(value: int, t: str) -> int:
    return signed(value, nbits(t)) if t[0] == "s" else value


def wrapping(function):
    """A function of typed numbers; the result wraps to the type's width."""
    return lambda types, mods, *values: (
        function(*[typed(value, types[0]) for value in values]) & (1 << nbits(types[0])) - 1
    )


def truncated(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


# By zero: all ones, as ptxas's sequences give (the manual leaves it open).
def divide(a: int, b: int) -> int:
    return truncated(a, b) if b else -1


def remainder(a: int, b: int) -> int:
    return a - truncated(a, b) * b if b else -1


def high(types, a: int, b: int) -> int:
    return typed(a, types[0]) * typed(b, types[0]) >> nbits(types[0])


def add_carry(types, mods, a, b, carry):
    total = a + b + carry
    return total & (1 << nbits(types[0])) - 1, total >> nbits(types[0])


def sub_carry(types, mods, a, b, carry):
    """As a sum with the complement: the carry is true where nothing is borrowed."""
    mask = (1 << nbits(types[0])) - 1
    total = a + (~b & mask) + carry
    return total & mask, total >> nbits(types[0])


COMPARISONS = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
}  # fmt: skip


def combine(name: str, held: bool, other: bool) -> int:
    return int({"": held, "and": held and other, "or": held or other, "xor": held != other}[name])


def setp(types, mods, a, b, third):
    held = COMPARISONS[mods["cmp"]](typed(a, types[0]), typed(b, types[0]))
    return combine(mods["bool"], held, third), combine(mods["bool"], not held, third)


def shl(types, mods, a, count):
    return a << min(count, nbits(types[0])) & (1 << nbits(types[0])) - 1


def shr(types, mods, a, count):
    return typed(a, types[0]) >> min(count, nbits(types[0])) & (1 << nbits(types[0])) - 1


def bfe(types, mods, a, b, c):
    t = types[0]
    msb, position, length = nbits(t) - 1, b & 0xFF, c & 0xFF
    sign = 0 if t[0] == "u" or length == 0 else a >> min(position + length - 1, msb) & 1
    return sum((a >> position + i & 1 if i < length and position + i <= msb else sign) << i for i in range(msb + 1))


def bfi(types, mods, a, b, where):
    msb, position, length = nbits(types[0]) - 1, where & 0xFF, where >> 8 & 0xFF
    for i in range(length):
        if position + i <= msb:
            b = b & ~(1 << position + i) | (a >> i & 1) << position + i
    return b


def bfind(types, mods, a):
    value = typed(a, types[0])
    value = ~value if value < 0 else value
    return value.bit_length() - 1 & MASK32


def bfind_shift(types, mods, a):
    found = bfind(types, mods, a)
    return found if found == MASK32 else nbits(types[0]) - 1 - found


def bmsk(types, mods, a, b):
    position, width = a & 31, b & 31
    clamp = mods["wrap"] == "clamp"
    lower = 0 if clamp and a >= 32 else MASK32 << position
    if position + width >= 32 or (clamp and (a >= 32 or b >= 32)):
        upper = 0
    else:
        upper = MASK32 << position + width if width else MASK32
    return lower & ~upper & MASK32


def szext(types, mods, a, b):
    """The manual's pseudocode."""
    b1, too_large = b & 31, b >= 32 and mods["wrap"] == "clamp"
    mask = 0 if too_large else MASK32 << b1 & MASK32
    sign_bit = 0 if b1 == 0 or too_large or types[0] != "s32" else a >> b1 - 1 & 1
    return a & ~mask & MASK32 | (mask if sign_bit else 0)


def fns(types, mods, mask, base, offset):
    """The manual's pseudocode; bases past 31 are undefined."""
    base, offset = base & 31, signed(offset, 32)
    if offset == 0:
        return base if mask >> base & 1 else MASK32
    position, count = base, abs(offset) - 1
    while 0 <= position < 32:
        if mask >> position & 1:
            if count == 0:
                return position
            count -= 1
        position += 1 if offset > 0 else -1
    return MASK32


def by_halves(function):
    """A function of two 16-bit numbers on both halves."""

    def compute(types, mods, a, b):
        t = types[0].removesuffix("x2")
        results = [function(typed(a >> shift & 0xFFFF, t), typed(b >> shift & 0xFFFF, t)) for shift in (0, 16)]
        low, high = (max(result, 0) if mods.get("relu") else result for result in results)
        return low & 0xFFFF | (high & 0xFFFF) << 16

    return compute


def test_bits(types, mods, a, b):
    return int(a & b != 0), int(a & b == 0)


def shift_add(types, mods, a, b):
    return (a * 2 ** mods["by"] + b) % 2**32


def lop3(types, mods, a, b, c):
    minterms = ((~a, ~b, ~c), (~a, ~b, c), (~a, b, ~c), (~a, b, c), (a, ~b, ~c), (a, ~b, c), (a, b, ~c), (a, b, c))
    result = 0
    for index, (x, y, z) in enumerate(minterms):
        if mods["lut"] >> index & 1:
            result |= x & y & z
    return result & MASK32


PRMT = {
    "f4e": ("3210", "4321", "5432", "6543"), "b4e": ("5670", "6701", "7012", "0123"),
    "rc8": ("0000", "1111", "2222", "3333"),
    "ecl": ("3210", "3211", "3222", "3333"), "ecr": ("0000", "1110", "2210", "3210"),
    "rc16": ("1010", "3232", "1010", "3232"),
}  # fmt: skip


def prmt(types, mods, a, b, c):
    source = (a | b << 32).to_bytes(8, "little")
    if mods["prmt"]:
        return int.from_bytes(bytes(source[int(digit)] for digit in reversed(PRMT[mods["prmt"]][c & 3])), "little")
    picked = []
    for k in range(4):
        selector = c >> 4 * k & 15
        byte = source[selector & 7]
        picked.append((0xFF if byte & 0x80 else 0) if selector & 8 else byte)
    return int.from_bytes(bytes(picked), "little")


def funnel_count(mods, c: int) -> int:
    return c & 31 if mods["wrap"] == "wrap" else min(c, 32)


def shf_left(types, mods, a, b, c):
    n = funnel_count(mods, c)
    return (b << n | a >> 32 - n) & MASK32


def shf_right(types, mods, a, b, c):
    n = funnel_count(mods, c)
    return (b << 32 - n | a >> n) & MASK32


def dot(first_b: int, count: int):
    def compute(types, mods, a, b, c):
        ta, tb = types
        width = nbits(ta)
        for i in range(count):
            c += typed(a >> width * i & (1 << width) - 1, ta) * typed(b >> 8 * (first_b + i) & 0xFF, tb)
        return c & MASK32

    return compute


WINDOWS = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW, "param": PARAM_WINDOW}


def isspacep(types, mods, a):
    inside = {space for space, base in WINDOWS.items() if base <= a < base + (1 << 32)}
    return int(not inside if types[0] == "global" else types[0] in inside)


REFERENCES = {
    "add": wrapping(lambda a, b: a + b), "sub": wrapping(lambda a, b: a - b), "mul": wrapping(lambda a, b: a * b),
    "mad": wrapping(lambda a, b, c: a * b + c), "neg": wrapping(lambda a: -a), "abs": wrapping(abs),
    "min": wrapping(min), "max": wrapping(max), "div": wrapping(divide), "rem": wrapping(remainder),
    "and": wrapping(lambda a, b: a & b), "or": wrapping(lambda a, b: a | b), "xor": wrapping(lambda a, b: a ^ b),
    "not": wrapping(lambda a: ~a), "cnot": wrapping(lambda a: int(a == 0)),
    "sad": wrapping(lambda a, b, c: c + abs(a - b)),
    "add_carry": add_carry, "sub_carry": sub_carry,
    "mul_high": lambda types, mods, a, b: high(types, a, b) & (1 << nbits(types[0])) - 1,
    "mad_high": lambda types, mods, a, b, c: high(types, a, b) + c & (1 << nbits(types[0])) - 1,
    "mul_wide": lambda types, mods, a, b: typed(a, types[0]) * typed(b, types[0]) & MASK64,
    "mad_wide": lambda types, mods, a, b, c: typed(a, types[0]) * typed(b, types[0]) + c & MASK64,
    "setp": setp, "shl": shl, "shr": shr, "bfe": bfe, "bfi": bfi, "bfind": bfind, "bfind_shift": bfind_shift,
    "bmsk": bmsk,
    "brev": lambda types, mods, a: int(f"{a:0{nbits(types[0])}b}"[::-1], 2),
    "popc": lambda types, mods, a: a.bit_count(),
    "clz": lambda types, mods, a: nbits(types[0]) - a.bit_length(),
    "szext": szext, "fns": fns, "add_halves": by_halves(lambda a, b: a + b), "min_halves": by_halves(min),
    "max_halves": by_halves(max),
    "test": test_bits, "add3": wrapping(lambda a, b, c: a + b + c), "shift_add": shift_add,
    "lop3": lop3, "prmt": prmt, "shf_left": shf_left, "shf_right": shf_right,
    "dp4a": dot(0, 4), "dp2a_lo": dot(0, 2), "dp2a_hi": dot(2, 2),
    "mov": lambda types, mods, a: a, "pack": lambda types, mods, a, b: a | b << 32,
    "low": lambda types, mods, a: a & MASK32, "high": lambda types, mods, a: a >> 32,
    "select": lambda types, mods, a, b, e: a if e else b,
    "pmov": lambda types, mods, a: int(a), "pand": lambda types, mods, a, b: int(a and b),
    "por": lambda types, mods, a, b: int(a or b), "pxor": lambda types, mods, a, b: int(a != b),
    "to_generic": lambda types, mods, a: a + WINDOWS.get(types[0], 0) & MASK64,
    "from_generic": lambda types, mods, a: a - WINDOWS.get(types[0], 0) & MASK64,
    "isspacep": isspacep,
}  # fmt: skip
