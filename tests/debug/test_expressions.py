"""C expressions: the value and type that C has."""

import pytest

from gpuprof.debug.values.c_types import BASIC, CType, Member, Storage, Value, array_of, pointer_to, shown, value_of
from gpuprof.debug.values.evaluation import evaluate
from gpuprof.errors import DebugError

INT, FLOAT = BASIC["int"], BASIC["float"]
NODE = CType("struct", "Node", 16, members=(Member("value", 0, INT), Member("next", 8, pointer_to(INT))))
BITS = CType(
    "struct", "Bits", 4, members=(Member("low", 0, BASIC["unsigned int"], (0, 3)), Member("high", 1, INT, (2, 5)))
)
OWN = CType("struct", "Own", 16, members=(Member("Node", 0, NODE, is_base=True),))
SMALL = CType("enum", "Small", 1, names=((200, "big"),))
MEMORY = {"global": bytes(range(64)), "shared": b"\x01\x00\x00\x00\x02\x00\x00\x00"}


class Names:
    """A scope of a few variables; global memory begins at 0, shared memory at 1000."""

    def has(self, name: str) -> bool:
        return self.variable(name) is not None

    def variable(self, name: str) -> Value | None:
        return {
            "i": value_of(INT, -7),
            "u": value_of(BASIC["unsigned int"], 3),
            "c": value_of(BASIC["char"], 65),
            "bits": Value(BITS, (0b11101_01_10000101).to_bytes(4, "little"), Storage("global", 0)),
            "own": Value(OWN, (3).to_bytes(8, "little") + (4).to_bytes(8, "little"), Storage("global", 16)),
            "small": value_of(SMALL, 200),
            "ref": value_of(CType("pointer", "int &", 8, element=INT), 1004),
            "f": value_of(FLOAT, 2.5),
            "p": value_of(pointer_to(INT), 8),
            "null": value_of(pointer_to(INT), 5000),
            "a": Value(array_of(INT, 2), MEMORY["shared"], Storage("shared", 0)),
            "node": Value(NODE, (3).to_bytes(8, "little") + (4).to_bytes(8, "little"), Storage("global", 16)),
        }.get(name)

    def register(self, name: str) -> Value | None:
        return value_of(BASIC["unsigned int"], 9) if name == "$R1" else None

    def type(self, name: str) -> CType | None:
        return {"Node": NODE}.get(name) or BASIC.get(name)

    def fetch(self, place: Storage, nbytes: int) -> bytes:
        data = MEMORY[place.space][place.address : place.address + nbytes]
        if len(data) != nbytes:
            raise DebugError(f"Cannot access memory at address {place.address:#x}")
        return data

    def storage_of(self, address: int) -> Storage:
        return Storage("shared", address - 1000) if 1000 <= address < 2000 else Storage("global", address)

    def generic(self, place: Storage) -> int:
        return place.address + (1000 if place.space == "shared" else 0)


@pytest.mark.parametrize(
    "text, expected, type",
    [
        ("1 + 2 * 3", "7", "int"),
        ("(1 + 2) * 3", "9", "int"),
        ("i / 2", "-3", "int"),  # towards 0
        ("i % 3", "-1", "int"),
        ("i >> 1", "-4", "int"),
        ("i + u", "4294967292", "unsigned int"),  # the int becomes unsigned
        ("i < u", "false", "bool"),
        ("-i", "7", "int"),
        ("~0", "-1", "int"),
        ("!f", "false", "bool"),
        ("0x80000000", "2147483648", "unsigned int"),
        ("2147483648", "2147483648", "long"),
        ("1u << 31", "2147483648", "unsigned int"),
        ("c + 1", "66", "int"),
        ("c", "65 'A'", "char"),
        ("'\\n'", "10 '\\n'", "char"),
        ("f * 2", "5", "float"),
        ("f / 0", "inf", "float"),
        ("1.0 / 3", "0.33333333333333331", "double"),
        ("1 / 3.0f", "0.333333343", "float"),
        ("(int)f", "2", "int"),
        ("(unsigned char)300", "44 ','", "unsigned char"),
        ("(long long)i", "-7", "long long"),
        ("sizeof(double) + sizeof i", "12", "unsigned long"),
        ("i ? 1 : 1 / 0", "1", "int"),
        ("0 && *null", "false", "bool"),
        ("1 || *null", "true", "bool"),
        ("*p", "185207048", "int"),  # bytes 8, 9, 10, 11
        ("p[1]", "252579084", "int"),
        ("*(p + 1) == p[1]", "true", "bool"),
        ("&p[1] - p", "1", "long"),
        ("a[1]", "2", "int"),
        ("*a", "1", "int"),
        ("*(a + 1)", "2", "int"),
        ("a", "{1, 2}", "int [2]"),
        ("&a[1]", "(int *) 0x3ec", "int *"),
        ("p[0]@2", "{185207048, 252579084}", "int [2]"),
        ("*(@shared int *)4", "2", "int"),
        ("((@shared int *)0)[1]", "2", "int"),
        ("node.value", "3", "int"),
        ("(&node)->value", "319951120", "int"),  # at 16 in memory
        ("node", "{value = 3, next = (int *) 0x4}", "Node"),
        ("((Node *)0)->value", "50462976", "int"),
        ("$R1 & 8", "8", "unsigned int"),
        ("bits", "{low = 5, high = -3}", "Bits"),
        ("own.value", "3", "int"),
        ("small", "big", "Small"),
        ("small + 1", "201", "int"),
        ("ref * 2", "4", "int"),
        ("&ref", "(int *) 0x3ec", "int *"),
        ("p & 7", "0", "unsigned long"),
        ("sizeof(struct Node)", "16", "unsigned long"),
        ("((const struct Node *)0)->value", "50462976", "int"),
        ("1 / -0.0", "-inf", "double"),
        ("017", "15", "int"),
    ],
)
def test_a_value(text, expected, type):
    value = evaluate(text, Names())
    assert (shown(value), value.type.name) == (expected, type)


@pytest.mark.parametrize(
    "text, message",
    [
        ("nobody", 'No symbol "nobody" in current context'),
        ("$R9", "there is no register $R9"),
        ("*null", "Cannot access memory at address 0x1388"),
        ("1 / 0", "Division by zero"),
        ("node.nothing", "There is no member named nothing."),
        ("f % 2", "'%' takes integers, not a float"),
        ("i +", "'i +' is not complete"),
        ("i j", "'i j': 'j' is unexpected"),
        ("(1", "'(1': ')' is missing"),
        ("*i", "a int is not a pointer"),
        ("i # 2", "'# 2' is not understood"),
        ("&bits.low", "cannot take the address of this expression"),
        ("&1", "cannot take the address of this expression"),
        ("a[0]@9999999", "9999999 elements cannot be shown"),
        ("99999999999999999999", "99999999999999999999 is too large"),
        ("08", "08 is not an octal number"),
        ("9" * 5000, f"'{'9' * 59} cannot be evaluated: ValueError"),
        ("(int)" * 1000 + "1", f"'{'(int)' * 11}(int cannot be evaluated: RecursionError"),
        ("1 << 32", "cannot shift a int by 32"),
        ("1 >> -1", "cannot shift a int by -1"),
        ("p & 1.5", "'&' takes integers, not a double"),
        ("p * f", "'*' takes integers, not a float"),
        ("'\u20ac'", "'\u20ac' is not an ASCII character"),
        ("(" * 150 + "1" + ")" * 150, "the expression is nested too deeply"),
    ],
)
def test_what_has_no_value(text, message):
    with pytest.raises(DebugError) as error:
        evaluate(text, Names())
    assert str(error.value) == message
