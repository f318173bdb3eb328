"""Textures and surfaces. A handle is 64 bits (see `isa.handles`); coordinates are consecutive registers in source b.

TEX and TLD4: a the texture, b coordinates (then the level, or the derivatives along x and y), c a sampler or DZ for the
texture's own.
They write as many of the four result registers as `channels` says.
SULD, SUST, SURED: a the surface, b coordinates, c the value. With `layered`, a layer's number comes before the
coordinates.

Slots: one, as the real assembler makes one TEX, TLD, SULD or SUST of a fetch (estimated; moves that put coordinates
side by side are rows of their own).
"""

from collections.abc import Iterator

from gpuprof.isa.row import Opcode, row

# Geometry -> coordinates, layers included, and dimensions that derivatives are given for.
TEXTURE_GEOMETRIES = {
    "1d": (1, 1),
    "2d": (2, 2),
    "3d": (3, 3),
    "a1d": (2, 1),
    "a2d": (3, 2),
    "cube": (3, 3),
    "acube": (4, 3),
}
GATHER_GEOMETRIES = ("2d", "a2d", "cube", "acube")
SURFACE_DIMENSIONS = (1, 2, 3)
SURFACE_ACCESSES = (
    # access, register operand, bytes per lane
    ("U8", "R", 1), ("U16", "R", 2), ("32", "R", 4), ("64", "D", 8), ("V2.32", "R2", 8), ("V4.32", "R4", 16),
    ("V2.64", "D2", 16),
)  # fmt: skip
REDUCTION_TYPES = {
    "ADD": ("u32", "u64"),
    "MIN": ("s32", "u32", "s64", "u64"),
    "MAX": ("s32", "u32", "s64", "u64"),
    "AND": ("b32",),
    "OR": ("b32",),
}
FETCH = ("ctype", "channels")
SURFACE = ("bounds", "layered")


def group(count: int) -> str:
    return "R" if count == 1 else f"R{count}"


def fetch_form(op: Opcode) -> str:
    """The source of the level of detail of a row of kind "fetch": "level", "grad", or "" for neither."""
    return "".join(op.name.lower().split(".")[2:])


def rows() -> Iterator[Opcode]:
    for geometry, (n_coordinates, n_dimensions) in TEXTURE_GEOMETRIES.items():
        for form, extra in (("", 0), (".LEVEL", 1), (".GRAD", 2 * n_dimensions)):
            operands = f"R4=D,{group(n_coordinates + extra)},D"
            yield row(
                f"TEX.{geometry}{form}".upper(),
                "fetch",
                operands,
                "tex",
                "texture",
                "texture",
                geometry,
                FETCH,
                space="texture",
                nbytes=16,
            )
    for geometry in GATHER_GEOMETRIES:
        n_coordinates, _ = TEXTURE_GEOMETRIES[geometry]
        operands = f"R4=D,{group(n_coordinates)},D"
        yield row(
            f"TLD4.{geometry}".upper(),
            "fetch",
            operands,
            "tex",
            "texture",
            "gather",
            geometry,
            ("component", "channels"),
            space="texture",
            nbytes=16,
        )
    yield row("TXQ", "query", "R=D,R", "tex", "texture", "texture_query", "b32", ("query",))  # b: the mipmap level
    yield row("SUQ", "query", "R=D", "tex", "texture", "surface_query", "b32", ("query",))
    yield row("ISTYPEP", "query", "P=D", "tex", "texture", "is_type", "pred", ("opaque",))
    for n in SURFACE_DIMENSIONS:
        b = group(n)
        for access, register, nbytes in SURFACE_ACCESSES:
            common = {"types": access.lower(), "fields": SURFACE, "space": "surface", "nbytes": nbytes}
            yield row(
                f"SULD.{n}D.{access}", "surface_load", f"{register}=D,{b}", "tex", "texture", "surface_load", **common
            )
            yield row(
                f"SUST.{n}D.{access}", "surface_store", f"=D,{b},{register}", "tex", "store", "surface_store", **common
            )
        # Formatted: the value is converted to the surface's elements; the first coordinate counts elements, not bytes.
        yield row(
            f"SUST.P.{n}D",
            "surface_store",
            f"=D,{b},R4",
            "tex",
            "store",
            "surface_put",
            "b32",
            SURFACE,
            space="surface",
            nbytes=16,
        )
        for operation, types in REDUCTION_TYPES.items():
            for t in types:
                wide = t.endswith("64")
                yield row(f"SURED.{operation}.{n}D.{t}".upper(), "surface_reduction",
                    f"=D,{b},{'D' if wide else 'R'}", "tex", "store",
                    f"red_surface_{operation.lower()}",
                          t, ("bounds", "sample"), space="surface", nbytes=8 if wide else 4)  # fmt: skip
