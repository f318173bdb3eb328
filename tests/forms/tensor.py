"""Every form of the matrix instructions up to sm_90, as data: what is written in PTX, and what it multiplies."""

from typing import NamedTuple


class MmaForm(NamedTuple):
    """mma of some shape. `arch` is the first that has it (ptxas wants no earlier one)."""

    shape: tuple[int, int, int]
    d: str
    a: str
    b: str
    c: str
    arch: str = "sm_80"
    layouts: str = "row.col"
    satfinite: bool = False
    operation: str = ""  # of bits
    rounding: str = ""
    sparse: str = ""
    selector: int = 0

    @property
    def opcode(self) -> str:
        m, n, k = self.shape
        saturate = ".satfinite" if self.satfinite else ""
        rounding = f".{self.rounding}" if self.rounding else ""
        operation = f".{self.operation}.popc" if self.operation else ""
        types = ".".join((self.d, self.a, self.b, self.c))
        return f"mma{self.sparse}.sync.aligned.m{m}n{n}k{k}.{self.layouts}{saturate}{rounding}.{types}{operation}"


def _mma():  # noqa: C901  # a row of a table
    for layouts in ("row.row", "row.col", "col.row", "col.col"):
        for d, c in (("f32", "f32"), ("f16", "f16"), ("f32", "f16")):
            yield MmaForm((8, 8, 4), d, "f16", "f16", c, "sm_75", layouts)
    for k in (8, 16):
        for d in ("f32", "f16"):
            yield MmaForm((16, 8, k), d, "f16", "f16", d, "sm_75" if k == 8 else "sm_80")
        yield MmaForm((16, 8, k), "f32", "bf16", "bf16", "f32")
    for k in (4, 8):
        yield MmaForm((16, 8, k), "f32", "tf32", "tf32", "f32")
    for rounding in ("", "rn", "rz", "rm", "rp"):
        yield MmaForm((8, 8, 4), "f64", "f64", "f64", "f64", rounding=rounding)
        for k in (4, 8, 16):
            yield MmaForm((16, 8, k), "f64", "f64", "f64", "f64", "sm_90", rounding=rounding)
    for shape, arch in (((8, 8, 16), "sm_75"), ((16, 8, 16), "sm_80"), ((16, 8, 32), "sm_80")):
        for a in ("s8", "u8"):
            for b in ("s8", "u8"):
                for satfinite in (False, True):
                    yield MmaForm(shape, "s32", a, b, "s32", arch, satfinite=satfinite)
    for shape, arch in (((8, 8, 32), "sm_75"), ((16, 8, 32), "sm_80"), ((16, 8, 64), "sm_80")):
        for a in ("s4", "u4"):
            for b in ("s4", "u4"):
                for satfinite in (False, True):
                    yield MmaForm(shape, "s32", a, b, "s32", arch, satfinite=satfinite)
    for shape in ((8, 8, 128), (16, 8, 128), (16, 8, 256)):
        for operation in ("xor", "and"):
            yield MmaForm(shape, "s32", "b1", "b1", "s32", operation=operation)
    for k in (16, 32):
        for a in ("e4m3", "e5m2"):
            for b in ("e4m3", "e5m2"):
                for d in ("f32", "f16"):
                    yield MmaForm((16, 8, k), d, a, b, d, "sm_89")


def _sparse():
    for name in (".sp", ".sp::ordered_metadata"):
        for k, selectors in ((16, 4), (32, 2)):
            for selector in range(selectors):
                for d in ("f32", "f16"):
                    yield MmaForm((16, 8, k), d, "f16", "f16", d, sparse=name, selector=selector)
                yield MmaForm((16, 8, k), "f32", "bf16", "bf16", "f32", sparse=name, selector=selector)
        for k, selectors in ((8, 4), (16, 2)):
            for selector in range(selectors):
                yield MmaForm((16, 8, k), "f32", "tf32", "tf32", "f32", sparse=name, selector=selector)
        for k, selectors, types in (
            (32, 2, ("s8", "u8")),
            (64, 1, ("s8", "u8")),
            (64, 2, ("s4", "u4")),
            (128, 1, ("s4", "u4")),
        ):
            for selector in range(selectors):
                for a in types:
                    for b in types:
                        yield MmaForm((16, 8, k), "s32", a, b, "s32", sparse=name, selector=selector, satfinite=a == b)
        for a in ("e4m3", "e5m2"):
            for b in ("e4m3", "e5m2"):
                yield MmaForm((16, 8, 64), "f32", a, b, "f32", "sm_89", sparse=name)


MMA = tuple(_mma())
SPARSE = tuple(_sparse())
MATRICES = tuple(
    f"{name}.sync.aligned.m8n8.{count}{trans}{space}.b16"
    for name in ("ldmatrix", "stmatrix")
    for count in ("x1", "x2", "x4")
    for trans in ("", ".trans")
    for space in ("", ".shared", ".shared::cta")
)


class WmmaForm(NamedTuple):
    """wmma.load, mma and store of one shape; layouts of A, B and of C and D in memory."""

    shape: tuple[int, int, int]
    d: str
    a: str
    c: str
    layouts: tuple[str, str, str] = ("row", "col", "row")
    satfinite: bool = False
    operation: str = ""
    rounding: str = ""
    space: str = ".global"

    @property
    def opcode(self) -> str:
        m, n, k = self.shape
        types = f"{self.d}.{self.c}" if self.a == "f16" else f"{self.d}.{self.a}.{self.a}.{self.c}"
        operation = f"{self.operation}.popc." if self.operation else ""
        tail = (f".{self.rounding}" if self.rounding else "") + f".{types}" + (".satfinite" if self.satfinite else "")
        return f"wmma.mma.{operation}sync.aligned.{self.layouts[0]}.{self.layouts[1]}.m{m}n{n}k{k}{tail}"

    def load(self, role: str) -> str:
        m, n, k = self.shape
        layout = self.layouts["abc".index(role)]
        return f"wmma.load.{role}.sync.aligned.{layout}.m{m}n{n}k{k}{self.space}.{self.c if role == 'c' else self.a}"

    @property
    def store(self) -> str:
        m, n, k = self.shape
        return f"wmma.store.d.sync.aligned.{self.layouts[2]}.m{m}n{n}k{k}{self.space}.{self.d}"


def _wmma():
    spaces = ("", ".global", ".shared")
    layouts = [(a, b, c) for a in ("row", "col") for b in ("row", "col") for c in ("row", "col")]
    for shape in ((16, 16, 16), (8, 32, 16), (32, 8, 16)):
        for index, each in enumerate(layouts):
            space = spaces[index % 3]
            for d, c in (("f32", "f32"), ("f16", "f16"), ("f32", "f16"), ("f16", "f32")):
                yield WmmaForm(shape, d, "f16", c, each, space=space)
            yield WmmaForm(shape, "f32", "bf16", "f32", each, space=space)
            for a in ("s8", "u8"):
                yield WmmaForm(shape, "s32", a, "s32", each, satfinite=bool(index & 1), space=space)
    for index, each in enumerate(layouts):
        yield WmmaForm((16, 16, 8), "f32", "tf32", "f32", each, space=spaces[index % 3])
        yield WmmaForm(
            (8, 8, 4), "f64", "f64", "f64", each, rounding=("", "rn", "rz", "rm")[index % 4], space=spaces[index % 3]
        )
    for a in ("s4", "u4"):
        yield WmmaForm((8, 8, 32), "s32", a, "s32", satfinite=a == "s4")
    for operation in ("xor", "and"):
        yield WmmaForm((8, 8, 128), "s32", "b1", "s32", operation=operation)


class WgmmaForm(NamedTuple):
    """wgmma.mma_async; `swizzle` in bytes (0: none), `trans`: MN contiguous in memory."""

    n: int
    k: int
    d: str
    a: str
    b: str
    in_registers: bool = False
    swizzle_a: int = 128
    swizzle_b: int = 128
    trans_a: int = 0
    trans_b: int = 0
    scale_a: int = 1
    scale_b: int = 1
    satfinite: bool = False

    @property
    def opcode(self) -> str:
        operation = ".and.popc" if self.a == "b1" else ""
        saturate = ".satfinite" if self.satfinite else ""
        return f"wgmma.mma_async.sync.aligned.m64n{self.n}k{self.k}{saturate}.{self.d}.{self.a}.{self.b}{operation}"

    @property
    def immediates(self) -> str:
        scales = [self.scale_a, self.scale_b] if self.d != "s32" else []
        transpositions = [self.trans_a, self.trans_b][self.in_registers :] if self.a in ("f16", "bf16") else []
        return "".join(f", {value}" for value in scales + transpositions)


def _wgmma():
    for swizzle in (0, 32, 64, 128):
        for trans_a in (0, 1):
            for trans_b in (0, 1):
                yield WgmmaForm(64, 16, "f32", "f16", "f16", False, swizzle, swizzle, trans_a, trans_b)
        yield WgmmaForm(32, 16, "f32", "bf16", "bf16", True, 128, swizzle, 0, swizzle // 32 % 2)
        yield WgmmaForm(16, 8, "f32", "tf32", "tf32", False, swizzle, 128)
        yield WgmmaForm(24, 32, "f32", "e4m3", "e5m2", False, 128, swizzle)
        yield WgmmaForm(48, 32, "s32", "s8", "u8", False, swizzle, swizzle, satfinite=swizzle == 64)
        yield WgmmaForm(8, 256, "s32", "b1", "b1", False, swizzle, swizzle)
    for n in (8, 40, 128, 248, 256):
        yield WgmmaForm(n, 16, "f32", "f16", "f16", n % 16 == 0, scale_a=-1 if n == 128 else 1, scale_b=-1)
    for in_registers in (False, True):
        yield WgmmaForm(32, 16, "f16", "f16", "f16", in_registers, scale_b=-1)
        yield WgmmaForm(32, 8, "f32", "tf32", "tf32", in_registers, scale_a=-1)
        yield WgmmaForm(32, 256, "s32", "b1", "b1", in_registers)
        for a in ("s8", "u8"):
            for b in ("s8", "u8"):
                yield WgmmaForm(32, 32, "s32", a, b, in_registers)
        for a in ("e4m3", "e5m2"):
            for b in ("e4m3", "e5m2"):
                for d in ("f32", "f16"):
                    yield WgmmaForm(16, 32, d, a, b, in_registers)


WMMA = tuple(_wmma())
WGMMA = tuple(dict.fromkeys(_wgmma()))
