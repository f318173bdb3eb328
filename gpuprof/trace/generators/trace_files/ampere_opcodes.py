"""The opcodes of NVIDIA's machine code that correspond to those of gpuprof, by the first part of the name.

The names are those of the CUDA Binary Utilities' list for Ampere. A gpuprof instruction that the real assembler expands
to a sequence has the opcode that does most of its work.
"""

from collections.abc import Mapping

from gpuprof.trace.kernel import Instruction

SAME = (
    "NOP", "BSSY", "BSYNC", "YIELD", "EXIT", "BRA", "BRX", "CALL", "RET", "NANOSLEEP", "BAR", "WARPSYNC", "MEMBAR",
    "MOV", "S2R", "SEL", "IABS", "IMAD", "ISETP", "FLO", "BREV", "POPC", "BMSK", "IADD3", "LEA", "LOP3", "PRMT", "SHF",
    "FADD", "FMUL", "FFMA", "FSETP", "DADD", "DMUL", "DFMA", "DSETP", "MUFU", "HADD2", "HMUL2", "HFMA2", "HSETP2",
    "FRND", "LDG", "LDS", "LDL", "STG", "STS", "STL", "ATOMG", "ATOMS", "RED", "SHFL", "VOTE", "MATCH", "REDUX", "TEX",
    "TLD4", "TXQ", "SULD", "SUST", "SURED", "HMMA", "IMMA", "BMMA", "DMMA", "LDSM", "MOVM",
)  # fmt: skip
OTHERS: Mapping[str, tuple[str, ...]] = {
    "NOP": ("GRIDDEP", "WARPGROUP"),
    "MOV": ("LOAD", "MOVI", "PACK", "LO", "HI", "FRAME", "CVTA", "MAPA", "CTARANK", "STACKSAVE"),
    "IADD3": ("ALLOCA", "STACKRESTORE", "IADD", "IADDC", "ISUB", "ISUBC", "INEG"),
    "CALL": ("SYSCALL",),
    "BPT": ("TRAP", "BRKPT"),
    "PLOP3": ("PMOV", "PAND", "POR", "PXOR"),
    "IMAD": ("IMUL", "IMULHI", "IMADHI", "IDIV", "IREM", "FNS", "VMAD"),
    "IMNMX": ("IMIN", "IMAX", "VMIN", "VMAX", "VMIN2", "VMIN4", "VMAX2", "VMAX4"),
    "SHF": ("SHL", "SHR", "BFE", "BFI", "VSHL", "VSHR"),
    "LOP3": ("AND", "OR", "XOR", "NOT", "CNOT", "FCOPYSIGN", "DCOPYSIGN"),
    "FLO": ("CLZ",),
    "ISETP": ("TEST", "VSET", "VSET2", "VSET4"),
    "SGXT": ("SZEXT",),
    "IDP": ("DP4A", "DP2A"),
    "VABSDIFF": ("SAD", "VADD", "VSUB", "VABSDIFF"),
    "VABSDIFF4": ("VADD2", "VADD4", "VSUB2", "VSUB4", "VAVRG2", "VAVRG4", "VABSDIFF2", "VABSDIFF4"),
    "FMNMX": ("FMIN", "FMAX", "FMIN3", "FMAX3"),
    "FADD": ("FNEG", "FABS", "FADD2"),
    "FMUL": ("FMUL2",),
    "FFMA": ("FFMA2",),
    "FSETP": ("FTESTP",),
    "MUFU": ("FDIV", "FRCP", "FSQRT", "DDIV", "DRCP", "DSQRT", "DRSQRT"),
    "DADD": ("DNEG", "DABS"),
    "DSETP": ("DMIN", "DMAX", "DTESTP"),
    "HADD2": ("HADD", "HNEG", "HABS", "HNEG2", "HABS2", "BADD", "BADD2", "BNEG", "BABS", "BNEG2", "BABS2"),
    "HMUL2": ("HMUL", "BMUL", "BMUL2"),
    "HFMA2": ("HFMA", "BFMA", "BFMA2"),
    "HMNMX2": ("HMIN", "HMAX", "HMIN2", "HMAX2", "BMIN", "BMAX", "BMIN2", "BMAX2"),
    "HSETP2": ("HSETP", "BSETP", "BSETP2"),
    "LDC": ("LDC", "LDP"),
    "RED": ("REDG",),
    "ATOMS": ("REDS", "MBAR"),
    "VOTE": ("ACTIVEMASK", "ELECT"),
    "QSPC": ("ISSPACEP",),
    "SUQUERY": ("SUQ",),
    "TXQ": ("ISTYPEP",),
    "HMMA": ("QMMA",),
}
NAMES = {name: name for name in SAME} | {ours: name for name, each in OTHERS.items() for ours in each}
# Opcodes that depend on more than the first part
COPIES = {"copy": "LDGSTS", "copy_commit": "LDGDEPBAR", "copy_wait": "DEPBAR"}
MATRIX_MOVES = {"matrix_load": "LDSM", "matrix_store": "STS"}
GENERIC = {
    ("LD", "global"): "LDG", ("LD", "shared"): "LDS", ("LD", "local"): "LDL", ("LD", "param"): "LDG",
    ("ST", "global"): "STG", ("ST", "shared"): "STS", ("ST", "local"): "STL",
    ("ATOM", "global"): "ATOMG", ("ATOM", "shared"): "ATOMS",
    ("RED", "global"): "RED", ("RED", "shared"): "ATOMS",
}  # fmt: skip


def name_of(instruction: Instruction, space: str) -> str:
    """The opcode for an instruction, a part of which accesses `space` ("" for none); "" for instructions without an
    opcode on Ampere: bulk and tensor copies, matrix multiplications of warp groups.
    """
    first, kind = instruction.opcode.split(".")[0], instruction.kind
    if (first, space) in GENERIC and instruction.space == "generic":
        return GENERIC[first, space]
    if first == "CVT":
        return _conversion(instruction)
    if kind in COPIES:
        return COPIES[kind]
    return MATRIX_MOVES.get(kind) or NAMES.get(first, "")


def _conversion(instruction: Instruction) -> str:
    to, start = (name[:1] not in "su" for name in instruction.op.types[:2])  # s and u: integers
    return {(True, True): "F2F", (True, False): "I2F", (False, True): "F2I", (False, False): "I2I"}[to, start]
