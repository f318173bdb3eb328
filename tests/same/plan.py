"""The commands that both checkouts run: samples, chips, and the flags of each.

Both sides get the same commands: flags, pages and formats whose names differ between them cannot be compared.
"""

import importlib.util
from collections.abc import Iterable
from typing import NamedTuple

from tests.same.pages import AGAINST, EXPORTS


class Sample(NamedTuple):
    """A file of samples/. `arguments` are the script's or program's own, small ones. `needs`: a module that must be
    installed.
    """

    path: str
    arguments: tuple[str, ...] = ()
    needs: str = ""
    pages: tuple[str, ...] = ()  # in addition to PAGES
    draws: bool = False  # it needs a chip with a graphics pipeline
    is_quick: bool = False

    @property
    def name(self) -> str:
        return self.path.replace("/", "-").partition(".")[0]

    @property
    def is_program(self) -> bool:
        return self.path.startswith("programs/")

    @property
    def missing(self) -> str:
        """The module that is needed and not installed."""
        return self.needs if self.needs and not importlib.util.find_spec(self.needs) else ""


SAMPLES = (
    Sample("scene/scene.py", ("picture.png", "64", "48", "1"), pages=("draws",), draws=True),
    Sample("hills/hills.py", ("picture.png", "80", "50"), pages=("draws",), draws=True),
    Sample("programs/heat.cu", ("48", "3"), pages=("api",)),
    Sample("numba_blur.py", needs="numba_cuda"),
    Sample("triton_softmax.py", needs="triton"),
    Sample("matmul.cu"),
    Sample("mandelbrot.cu"),
    Sample("reduction.cu"),
    Sample("spmv.cu"),
    Sample("transpose.cu", is_quick=True),
    Sample("histogram.cu"),
    Sample("stencil3d.cu"),
    Sample("normalise.py", is_quick=True),
    Sample("saxpy.cu", is_quick=True),
)

OTHER_CHIP = "t4"  # that a saved stream runs on again


class Variant(NamedTuple):
    """Flags of `collect`, and what follows it. Each chip has others, so that all kinds of chunks are compared without
    doing everything three times.
    """

    flags: tuple[str, ...] = ()
    replays: bool = False
    has_json: bool = True
    has_exports: bool = True


PLAIN = Variant(has_json=False)
COUNTED = Variant(
    (
        *("--save-stream", "--record", "wide+counters"),
        *("--counters", "issued,eligible,active,pipes,l1,l2,dram,waves"),
        *("--trace", "mix", "--trace", "graph", "--trace", "traffic"),
    ),
    replays=True,
)
CHECKED = Variant(
    (
        *("--record", "compact", "--mode", "stalled"),
        *("--trace", "memcheck", "--trace", "initcheck", "--trace", "racecheck", "--trace", "synccheck"),
    ),
    has_exports=False,
)
# Three generations, by the model's own number, and with what each is collected.
CHIPS = {"v100": PLAIN, "rtx3090": COUNTED, "h100": CHECKED}
INSTEAD = {"h100": "rtx4090"}  # a chip that draws, for one that does not
DRAWING = {"v100", "t4", "rtx3090", "rtx4090"}
QUICK_CHIPS = ("rtx3090",)

PAGES = (
    *("summary", "source", "ptx", "isa", "blame", "stalls", "launches", "findings", "traces", "tasks"),
    *("relations", "timeline", "samples"),
)
RECORDING, DATABASE, PROGRAM = "profile.gprec", "profile.gpudb", "program.gpubin"
REPLAYED, OTHER = "replayed.gprec", "replayed.gpudb"
MUST_SUCCEED = {"collect", "correlate", "compile", "disasm", "replay", "correlate-replayed", "html"}


def chips_of(sample: Sample, chips: Iterable[str]) -> list[str]:
    """The chips for a sample."""
    if not sample.draws:
        return list(chips)
    return [chip for chip in (INSTEAD.get(each, each) for each in chips) if chip in DRAWING]


def variant_of(chip: str) -> Variant:
    variants = CHIPS | {other: CHIPS[chip] for chip, other in INSTEAD.items()}
    return variants.get(chip, COUNTED)


def commands_of(sample: Sample, chip: str) -> dict[str, list[str]]:
    """Arguments of gpuprof by the name of the command's output."""
    variant = variant_of(chip)
    source = f"samples/{sample.path}"
    own = ["--", *sample.arguments] if sample.arguments else []
    commands = {
        "collect": ["collect", source, "--chip", chip, *variant.flags, "-o", RECORDING, *own],
        "correlate": ["correlate", RECORDING, "-o", DATABASE],
    }
    if variant.replays:
        commands["replay"] = ["replay", RECORDING, "--chip", OTHER_CHIP, "-o", REPLAYED]
        commands["correlate-replayed"] = ["correlate", REPLAYED, "-o", OTHER]
    if source.endswith(".cu") and not sample.is_program:
        commands["compile"] = ["compile", source, "--chip", chip, "-o", PROGRAM]
        commands["disasm"] = ["disasm", PROGRAM]
    return commands | _reports(sample, variant) | _exports(variant)


def _reports(sample: Sample, variant: Variant) -> dict[str, list[str]]:
    commands = {}
    for page in (*PAGES, *sample.pages):
        commands[f"page-{page}"] = ["report", DATABASE, "--page", page]
        if variant.has_json:
            commands[f"json-{page}"] = ["report", DATABASE, "--page", page, "--format", "json"]
    other = [OTHER] if variant.replays else []
    commands["html"] = ["report", DATABASE, *other, "--html", "page.html"]
    commands["quality"] = ["quality", RECORDING]
    commands["predict"] = ["predict", DATABASE]
    return commands


def _exports(variant: Variant) -> dict[str, list[str]]:
    commands = {}
    formats = [name for name in EXPORTS if variant.replays or name not in AGAINST] if variant.has_exports else []
    for name in formats:
        against = ["--against", OTHER] if name in AGAINST else []
        commands[f"export-{name}"] = ["export", DATABASE, "--format", name, "-o", f"export-{name}.file", *against]
    return commands
