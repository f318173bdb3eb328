"""An assembled program: plain values, as the assembler and the ELF reader give them and every later
stage takes them.
"""

from dataclasses import dataclass, field

import numpy as np

from gpuprof.isa.facts import NO_FACTS, Facts


@dataclass(frozen=True)
class Param:
    """A kernel parameter. `type` is the PTX type without the dot ("u64", "f32", "b8" for a byte array)."""

    name: str
    type: str
    offset: int  # bytes from the start of the parameter block
    nbytes: int
    align: int
    is_pointer: bool = False
    # For pointers: element type where the compiler gives it ("f32", "s32", ...; "" unknown), and use inside the kernel.
    element: str = ""
    is_read: bool = True
    is_written: bool = True


@dataclass(frozen=True)
class Location:
    """A source position. `inlined_at` is the call site when the code was inlined, outermost last."""

    file: str
    line: int
    column: int = 0
    function: str = ""
    inlined_at: "Location | None" = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


MOST_WORDS = 512  # 32-bit registers that an instruction can name: D255 is the last two
PROGRAM_COUNTER_WORDS = 2  # 32-bit registers that a thread's program counter takes (Volta and later)


@dataclass(frozen=True)
class Function:
    """A kernel or device function. Instructions `first` to `first + count` of the program's code are its body."""

    name: str  # the symbol in the object file (mangled)
    display: str  # as written in the source: "scan<256>", "saxpy"
    first: int
    count: int
    is_kernel: bool
    params: tuple[Param, ...] = ()
    registers: int = 0  # 32-bit words of the register file per thread; Dn takes the place of R2n and R2n + 1
    r_count: int = 0  # R registers used, callees included
    d_count: int = 0
    p_count: int = 0
    shared_nbytes: int = 0  # static shared memory
    local_nbytes: int = 0  # local memory per thread, callees included; 0 when it cannot be bounded (recursion)
    spill_nbytes: int = 0
    barriers: int = 0
    max_threads: int = 0  # .maxntid product, 0 when not given
    required_threads: tuple[int, int, int] | None = None  # .reqntid
    min_blocks: int = 0
    required_cluster: tuple[int, int, int] | None = None  # .reqnctapercluster
    max_cluster: int = 0  # blocks: .maxclusterrank, 0 when not given
    explicit_cluster: bool = False  # .explicitcluster: a launch has to say how large its clusters are
    raised_registers: int = 0  # `registers` of warps that have carried out setmaxnreg.inc; 0 where there is none

    @property
    def thread_words(self) -> int:
        """32-bit registers that hold a thread's values: Rn with n below that, Dn with 2n below that."""
        return max(self.registers, self.raised_registers) - PROGRAM_COUNTER_WORDS

    @property
    def uniform_words(self) -> int:
        """32-bit uniform registers that a warp uses, numbered after the threads' own. Functions use none."""
        if not self.is_kernel:
            return 0
        return max(0, max(self.r_count, 2 * self.d_count) - self.thread_words)

    @property
    def first_uniform_word(self) -> int:
        """Number of the first uniform register, as 32-bit words are numbered; MOST_WORDS where it uses none."""
        return self.thread_words if self.uniform_words else MOST_WORDS


@dataclass(frozen=True)
class InitialAddress:
    """Eight bytes of a variable's image to which the loader adds the address of `symbol`, a function or another
    variable.

    The address of a constant is its offset in the constant segment, unless `is_generic`.
    """

    offset: int  # in the image
    symbol: str
    is_generic: bool


@dataclass(frozen=True)
class Variable:
    """A module-scope variable in the global or constant space. `image` is its initial content, `nbytes` long."""

    name: str
    space: str  # "global" or "const"
    offset: int  # in its segment
    nbytes: int
    align: int
    image: bytes
    addresses: tuple[InitialAddress, ...] = ()


@dataclass(frozen=True)
class Relocation:
    """Instruction `index` holds the address of `symbol` + `addend` in its imm ("abs32"), or imm and mods ("abs64")."""

    index: int
    symbol: str
    kind: str
    addend: int


@dataclass(frozen=True)
class Program:
    """A whole assembled module. `code` has dtype isa.encoding.INSTRUCTION_DTYPE, functions back to back, branch and
    call distances already resolved (they are relative), data addresses not (see `relocations`)."""

    name: str
    code: np.ndarray
    functions: tuple[Function, ...]
    variables: tuple[Variable, ...]
    relocations: tuple[Relocation, ...]
    ptx: str  # the PTX text it was made from
    ptx_lines: np.ndarray  # uint32 (n,): PTX line of each instruction, 0 unknown
    locations: tuple[Location | None, ...]  # (n,): source position of each instruction
    sources: dict[str, str] = field(default_factory=dict)  # path -> text, as far as it was known when compiling
    arch: str = "sm_80"
    compiler: str = ""
    literals: bytes = b""  # what constant operands read from special.LITERALS_AT on
    facts: Facts = NO_FACTS

    def kernel(self, name: str) -> Function:
        """A kernel by symbol or by the name in the source. Raises KeyError when there is none."""
        for function in self.functions:
            if function.is_kernel and name in (function.name, function.display):
                return function
        raise KeyError(name)


def first_uniform_words(functions: tuple[Function, ...], n_instructions: int) -> list[int]:
    """For each instruction of a module, the number from which on its registers are uniform ones."""
    first = [MOST_WORDS] * n_instructions
    for function in functions:
        first[function.first : function.first + function.count] = [function.first_uniform_word] * function.count
    return first


def basic_block_starts(code: np.ndarray) -> np.ndarray:
    """Indexes of the first instruction of each basic block of a code array, ascending, int64.

    A block starts at index 0, at every branch target, and after every instruction that may change the program counter
    or that other threads can be waited for at (branch, call, return, exit, barrier, warp synchronisation, trap,
    syscall).
    Functions start blocks because they follow a return, an exit or a branch.
    """
    from gpuprof.isa.opcodes import TABLE, ends_block

    ends = np.array([ends_block(row) for row in TABLE])
    relative = np.array([row.kind in ("branch", "call") for row in TABLE])
    if len(code) == 0:
        return np.zeros(0, np.int64)
    index = np.arange(len(code))
    opcode = code["opcode"]
    after = index[ends[opcode]] + 1
    jumps = index[relative[opcode]]
    targets = jumps + 1 + code["imm"][jumps].astype(np.int32).astype(np.int64) // 16
    starts = np.unique(np.concatenate([[0], after, targets]))
    return starts[(starts >= 0) & (starts < len(code))].astype(np.int64)
