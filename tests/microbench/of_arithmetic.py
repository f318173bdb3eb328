"""Latency of a dependent chain and lanes per cycle of an SM, for each class of instructions."""

from tests.microbench.figure import Figure, Measure, Published, by_generation, everywhere, on
from tests.microbench.lab import per_instruction

ELEMENT = {
    "f2i": "f32",
    "ffma": "f32",
    "mufu": "f32",
    "rsqrt": "f32",
    "fdiv": "f32",
    "dfma": "f64",
    **dict.fromkeys(("ddiv", "dsqrt", "add_ddiv", "add_dsqrt"), "f64"),
}


def latency(op: str) -> Measure:
    launch = f"{op}_latency<{{body}}><<<1, 32>>>({{trips}}, out: {ELEMENT.get(op, 'u32')}[32])"
    return lambda chip: per_instruction(chip, "arithmetic.cu", launch)


def throughput(op: str) -> Measure:
    """Lanes per cycle and SM, by 32 warps."""
    launch = f"{op}_throughput<{{body}}><<<1, 1024>>>({{trips}}, out: {ELEMENT.get(op, 'u32')}[1024])"
    return lambda chip: 1024 / per_instruction(chip, "arithmetic.cu", launch)


def on_gb202(value: float, source: str = "G") -> Published:
    return on(source, rtx5090=value, rtxpro6000=value)


NO_TABLE = ("b200", "rtx5090")  # that the Programming Guide's table of rates, as it is quoted, has not
FIXED = everywhere(4, "P")
WORDS = everywhere(64, "CC", but=NO_TABLE)
# The Programming Guide's table has twice the rate for GA102 that its whitepaper has.
HALVES = by_generation("CC", 64, 64, 128, None, 64, 128, 128, None, None) | on("W", rtx3090=64) | on_gb202(63)
DOUBLES = by_generation("CC", 32, 2, 32, 2, 2, 64, 64, None, None) | on("L", hopper=64) | on_gb202(2)

FIGURES = [
    Figure("FFMA latency", "cycles", latency("ffma"), FIXED),
    Figure("IADD latency", "cycles", latency("iadd"), FIXED),
    Figure("LOP3 latency", "cycles", latency("lop3"), FIXED),
    Figure("SHF latency", "cycles", latency("shf"), FIXED),
    Figure("PRMT latency", "cycles", latency("prmt"), FIXED),
    Figure("IDP.4A latency", "cycles", latency("dp4a"), FIXED),
    Figure("IMAD latency", "cycles", latency("imad"), FIXED),
    Figure("IMAD.HI latency", "cycles", latency("imad_hi"), everywhere(6, "P")),
    Figure("IMAD then IADD, both", "cycles", latency("cross"), everywhere(10, "P")),
    Figure("ISETP then SEL, both", "cycles", latency("select"), everywhere(8, "P") | on_gb202(10, "P")),
    Figure("HFMA2 latency", "cycles", latency("hfma2"), by_generation("P", None, 6, 6, 4, 4, 6, 6, 4, 4)),
    Figure("DFMA latency", "cycles", latency("dfma"), on("P", v100=(8, "B"), hopper=8, b200=8) | on_gb202(64)),
    Figure("MUFU.EX2 latency", "cycles", latency("mufu"), on("R", v100=20, a100=20)),
    Figure("POPC latency", "cycles", latency("popc"), on_gb202(22)),
    Figure("I2F then F2I, both", "cycles", latency("convert")),
    Figure("SHFL latency", "cycles", latency("shuffle")),
    Figure("div.rn.f32, dependent", "cycles", latency("fdiv")),
    Figure("div.rn.f64, dependent", "cycles", latency("ddiv")),
    Figure("sqrt.rn.f64, dependent", "cycles", latency("dsqrt")),
    Figure(
        "add and div.rn.f64, dependent",
        "cycles",
        latency("add_ddiv"),
        on("B", v100=111.5),
        follows=True,
        only_published=True,
    ),
    Figure(
        "add and sqrt.rn.f64, dependent",
        "cycles",
        latency("add_dsqrt"),
        on("B", v100=101.3),
        follows=True,
        only_published=True,
    ),
    Figure("div.u32, dependent", "cycles", latency("udiv")),
    Figure(
        "FFMA",
        "lanes/clk/SM",
        throughput("ffma"),
        by_generation("CC", 64, 64, 64, 128, 128, 128, 128, 128, None) | on_gb202(128, "W"),
    ),
    Figure("IADD", "lanes/clk/SM", throughput("iadd"), WORDS | on_gb202(120)),
    Figure("LOP3", "lanes/clk/SM", throughput("lop3"), WORDS),
    Figure("SHF", "lanes/clk/SM", throughput("shf"), WORDS | on_gb202(61)),
    Figure("IMNMX", "lanes/clk/SM", throughput("imin"), WORDS),
    Figure("IMAD", "lanes/clk/SM", throughput("imad"), WORDS | on_gb202(61)),
    Figure("HFMA2", "lanes/clk/SM", throughput("hfma2"), HALVES),
    Figure(
        "DFMA",
        "lanes/clk/SM",
        throughput("dfma"),
        {chip: value for chip, value in DOUBLES.items() if chip != "h20"},  # which has next to none
    ),
    Figure("MUFU", "lanes/clk/SM", throughput("mufu"), everywhere(16, "CC", but=("rtx5090",)) | on_gb202(16)),
    Figure("F2I", "lanes/clk/SM", throughput("f2i"), everywhere(16, "CC", but=NO_TABLE) | on_gb202(39)),
    Figure("POPC", "lanes/clk/SM", throughput("popc"), everywhere(16, "CC", but=NO_TABLE) | on_gb202(29)),
    Figure("SHFL", "lanes/clk/SM", throughput("shuffle"), everywhere(32, "CC", but=NO_TABLE)),
    Figure("div.rn.f64", "lanes/clk/SM", throughput("ddiv")),
    Figure("sqrt.rn.f64", "lanes/clk/SM", throughput("dsqrt")),
    Figure(
        "add and div.rn.f64",
        "lanes/clk/SM",
        throughput("add_ddiv"),
        on("B", v100=round(32 / 7.51, 2)),
        follows=True,
        only_published=True,
    ),
    Figure(
        "add and sqrt.rn.f64",
        "lanes/clk/SM",
        throughput("add_dsqrt"),
        on("B", v100=round(32 / 9.61, 2)),
        follows=True,
        only_published=True,
    ),
]
