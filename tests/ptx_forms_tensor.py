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


def _mma():
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
        for k, selectors, types in ((32, 2, ("s8", "u8")), (64, 1, ("s8", "u8")), (64, 2, ("s4", "u4")), (128, 1, ("s4", "u4"))):
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
