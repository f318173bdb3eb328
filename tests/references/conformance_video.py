"""What video instructions compute: the manual's pseudocode in Python integers (PTX ISA 9.7.18)."""

from tests.references.conformance_integers import COMPARISONS, signed


def extract(word: int, part: str, sign: str) -> int:
    """partSelectSignExtend."""
    nbits = {"": 32, "b": 8, "h": 16}[part[:1]]
    value = word >> nbits * int(part[1:] or 0) & (1 << nbits) - 1
    return signed(value, nbits) if sign == "s" else value


def limited(value: int, nbits: int, sign: str) -> int:
    low, high = (-(1 << nbits - 1), (1 << nbits - 1) - 1) if sign == "s" else (0, (1 << nbits) - 1)
    return max(low, min(high, value))


def average(a: int, b: int) -> int:
    return a + b + 1 >> 1 if a + b >= 0 else a + b >> 1


def shift(mods, b: int) -> int:
    return b & 31 if mods["vwrap"] == "wrap" else min(b, 32)


OPERATIONS = {
    "add": lambda m, a, b: a + b, "sub": lambda m, a, b: a - b, "absdiff": lambda m, a, b: abs(a - b), "min": lambda m,
    a, b: min(a, b),
    "max": lambda m, a, b: max(a, b), "avrg": lambda m, a, b: average(a, b), "shl": lambda m, a, b: a << shift(m, b),
    "shr": lambda m, a, b: a >> shift(m, b), "set": lambda m, a, b: int(COMPARISONS[m["vcmp"]](a, b)),
}  # fmt: skip


def scalar(name: str):
    def reference(types, mods, a, b, c):
        sign_d, sign_a, sign_b = mods.get("signs") or "uuu"
        part = mods.get("dsel", "")[1:]
        nbits = {"": 32, "b": 8, "h": 16}[part[:1]]
        value = OPERATIONS[name](
            mods, extract(a, mods.get("asel", "")[1:], sign_a), extract(b, mods.get("bsel", "")[1:], sign_b)
        )
        if mods.get("sat"):
            value = limited(value, nbits, sign_d)
        second = mods.get("op2")
        if second:
            pair = extract(value & 0xFFFFFFFF, "", sign_d), extract(c, "", sign_d)
            return {"add": sum(pair), "min": min(pair), "max": max(pair)}[second] & 0xFFFFFFFF
        if part:
            position = nbits * int(part[1:])
            return c & ~((1 << nbits) - 1 << position) & 0xFFFFFFFF | (value & (1 << nbits) - 1) << position
        return value & 0xFFFFFFFF

    return reference


def multiply_add(types, mods, a, b, c):
    sign_a, sign_b = (mods.get("signs") or "uuu")[1:]
    final = "s" if "s" in (sign_a, sign_b) or mods["negab"] or mods["negc"] else "u"
    tmp = extract(a, mods["asel"][1:], sign_a) * extract(b, mods["bsel"][1:], sign_b)
    if mods["negab"]:
        tmp = -tmp
    if mods["negc"]:
        c = ~c & 0xFFFFFFFF
    tmp += extract(c, "", final) + int(mods["po"] or mods["negc"])
    tmp >>= {"": 0, "shr7": 7, "shr15": 15}[mods["scale"]]
    return (limited(tmp, 32, final) if mods["sat"] else tmp) & 0xFFFFFFFF


def lanes_of(name: str):
    def reference(types, mods, a, b, c):
        count = int(types[1])
        nbits = 32 // count
        unit = {2: "h", 4: "b"}[count]
        sign_d, sign_a, sign_b = mods.get("signs") or "uuu"
        values = [
            OPERATIONS[name](mods, extract(a, f"{unit}{i}", sign_a), extract(b, f"{unit}{i}", sign_b))
            for i in range(count)
        ]
        values = [limited(value, nbits, sign_d) if mods.get("sat") else value for value in values]
        taken = [i for i in range(count) if mods["mask"] >> i & 1]
        if mods.get("op2"):
            return c + sum(values[i] for i in taken) & 0xFFFFFFFF
        return sum((values[i] if i in taken else c >> nbits * i) % (1 << nbits) << nbits * i for i in range(count))

    return reference


def reference_of(op):
    name = op.semantics[1:]
    if name == "mad":
        return multiply_add
    return lanes_of(name.removesuffix("_lanes")) if name.endswith("_lanes") else scalar(name)
