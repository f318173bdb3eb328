"""PTX as plain values: what `parse` gives and `lower` takes. Lines and columns count from 1."""

from dataclasses import dataclass, field

from gpuprof.isa.program import Location

TYPE_NBYTES = {
    "b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "f16": 2, "bf16": 2, "b32": 4, "u32": 4, "s32": 4,
    "f32": 4,
    "f16x2": 4, "bf16x2": 4, "tf32": 4, "b64": 8, "u64": 8, "s64": 8, "f64": 8, "b128": 16, "pred": 1,
    "texref": 8, "samplerref": 8, "surfref": 8,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Name:
    """A register, variable, label or special register; what it is depends on the scope."""

    text: str


@dataclass(frozen=True, slots=True)
class Number:
    """A literal. `kind` is "int" (value is the number), "f32" or "f64" (value is the bit pattern)."""

    value: int
    kind: str = "int"


@dataclass(frozen=True, slots=True)
class Negated:
    """`!p` or `-x` of a register."""

    operand: Name


@dataclass(frozen=True, slots=True)
class Offset:
    """A symbol plus a constant outside brackets: `var+8`; `generic` when written `generic(var)`; `byte` of it for
    `0xFF00(var)`.
    """

    name: str
    offset: int
    generic: bool = False
    byte: int | None = None


@dataclass(frozen=True, slots=True)
class Vector:
    """`{a, b, c, d}`."""

    elements: tuple


def is_sink(operand) -> bool:
    """`_`: the result is not used."""
    return isinstance(operand, Name) and operand.text == "_"


def elements_of(operand) -> tuple:
    """The operands of a vector; of any other operand only itself."""
    return operand.elements if isinstance(operand, Vector) else (operand,)


@dataclass(frozen=True, slots=True)
class Pair:
    """`p|q`: the two destinations of setp, shfl, match; `{a, b, c, d}|p` of a texture fetch."""

    first: "Name | Vector"
    second: "Name"


@dataclass(frozen=True, slots=True)
class Memory:
    """`[base+offset]`; base is None for an absolute address."""

    base: "Name | None"
    offset: int


@dataclass(frozen=True, slots=True)
class Indexed:
    """`[base, {x, y}]`: what textures, surfaces and tensors are read at."""

    memory: Memory
    indices: tuple


@dataclass(frozen=True, slots=True)
class Arguments:
    """`(a, b)` of a call."""

    elements: tuple


@dataclass(slots=True)
class Instruction:
    opcode: str
    modifiers: tuple[str, ...]
    operands: list
    line: int
    column: int
    guard: str = ""
    guard_negated: bool = False
    location: Location | None = None

    @property
    def text(self) -> str:
        return ".".join((self.opcode, *self.modifiers))


@dataclass(slots=True)
class Label:
    name: str
    line: int


@dataclass(slots=True)
class NoUnroll:
    """`.pragma "nounroll";`: a loop that the basic block around it begins is not unrolled."""


@dataclass(slots=True)
class BranchTargets:
    """`name: .branchtargets a, b, c;`, or `.calltargets` with functions."""

    name: str
    labels: tuple[str, ...]


@dataclass(slots=True)
class CallPrototype:
    """`name: .callprototype (returns) _ (params);`"""

    name: str
    returns: "tuple[Variable, ...]"
    params: "tuple[Variable, ...]"


@dataclass(slots=True)
class Registers:
    """`.reg .b32 %r<5>, %x;` as (name, count); count 0 for a single name, else name0 .. name(count-1)."""

    type: str
    names: tuple[tuple[str, int], ...]
    vector: int = 1
    line: int = field(default=0, compare=False)
    column: int = field(default=0, compare=False)


@dataclass(slots=True)
class Block:
    """A `{ }` scope: statements are Instruction, Label, NoUnroll, Registers, Variable, BranchTargets, CallPrototype and
    Block.
    """

    statements: list = field(default_factory=list)


@dataclass(slots=True)
class Variable:
    """A variable or parameter. `initial` holds Number and Offset values; None when there is no initialiser."""

    name: str
    space: str  # "global", "const", "shared", "local", "param", "reg" (a parameter of a device function in a register)
    type: str
    nbytes: int  # 0 for an array of unknown size
    align: int
    line: int
    is_array: bool = False
    initial: list | None = None
    linkage: str = ""
    is_pointer: bool = False
    vector: int = 1  # elements of a parameter that is a vector register
    symbol: str = field(default="", compare=False)  # its name in the whole module, where that is another one
    column: int = field(default=1, compare=False)

    @property
    def key(self) -> str:
        return self.symbol or self.name


@dataclass(slots=True)
class Function:
    name: str
    is_kernel: bool
    params: tuple[Variable, ...]
    returns: tuple[Variable, ...]
    body: Block | None
    line: int
    linkage: str = ""
    directives: dict[str, tuple[int, ...]] = field(default_factory=dict)
    span: tuple[int, int] = field(default=(0, 0), compare=False)  # characters of the text, those of the body the last
    # What its `.loc` directives say, each once, in their order; and for each directive the number of its position.
    positions: list[Location | None] = field(default_factory=list, compare=False)
    marks: tuple[int, ...] = field(default=(), compare=False)


@dataclass(slots=True)
class Module:
    name: str
    version: str = ""
    target: str = ""
    is_debug: bool = False  # compiled for a debugger: nothing is optimized
    keeps_loops: bool = False  # `.pragma "nounroll"` for all of them
    address_bits: int = 64
    files: dict[int, str] = field(default_factory=dict)
    variables: list[Variable] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    registers: list[Registers] = field(default_factory=list)  # of the module, before PTX 3.0
