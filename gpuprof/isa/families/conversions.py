"""Conversions between types."""

from collections.abc import Iterator

from gpuprof.isa.row import FLOAT_TYPES, INTEGER_TYPES, Opcode, row, type_file


def rows() -> Iterator[Opcode]:
    """cvt, as CVT.<to>.<from>. 16-bit and 8-bit results are zero-extended in R; sources use their low bits only."""
    for to in INTEGER_TYPES + FLOAT_TYPES:
        for source in INTEGER_TYPES + FLOAT_TYPES:
            both_integer = to in INTEGER_TYPES and source in INTEGER_TYPES
            half_float = {to, source} in ({"f16", "f32"}, {"bf16", "f32"})
            pipe, latency = ("alu", "alu") if both_integer or half_float else ("xu", "conversion")
            fields = ("sat",) if both_integer else ("rnd", "ftz", "sat")
            yield row(
                f"CVT.{to}.{source}".upper(),
                "compute",
                f"{type_file(to)}={type_file(source)}",
                pipe,
                latency,
                "cvt",
                f"{to} {source}",
                fields,
            )
    for to in ("f16x2", "bf16x2"):
        # Two f32 rounded and packed: a to the upper half, b to the lower (PTX order).
        yield row(
            f"CVT.{to}.F32".upper(),
            "compute",
            "R=R,R",
            "alu",
            "alu",
            "cvt_pack",
            f"{to} f32",
            ("rnd", "relu", "satfinite"),
        )
    # cvt to an integral value of the same float type (rni, rzi, rmi, rpi).
    for t in FLOAT_TYPES:
        yield row(
            f"FRND.{t}".upper(),
            "compute",
            f"{type_file(t)}={type_file(t)}",
            "xu",
            "conversion",
            "round_integral",
            t,
            ("rnd", "ftz", "sat"),
        )
    yield row("CVT.TF32.F32", "compute", "R=R", "alu", "alu", "cvt", "tf32 f32", ("rnd", "relu", "satfinite"), slots=4)
