"""Advice as lines of a terminal."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from gpuprof.advise.advise import Advised
from gpuprof.advise.brief import measured_with
from gpuprof.advise.draft import Advice
from gpuprof.base.wording import installed_version, plural
from gpuprof.report.number_text import grouped
from gpuprof.report.terminal.styles import DIM, HOT, Look, flow, shown
from gpuprof.timing.state.model_version import MODEL_VERSION
from gpuprof.whatif.screen import heading, labelled


def lines(found: Sequence[Advised], chip: str, look: Look) -> Iterator[Text]:
    yield from labelled("gpuprof", [installed_version(), f"model {MODEL_VERSION}", f"chip {chip}"], look)
    for kernel in found:
        yield Text()
        yield from heading(kernel.chosen, kernel.fidelity, look)
        tried = plural(kernel.n_drafts, "change was", "changes were")
        if not kernel.advice:
            yield from labelled("advice", [f"{tried} considered, and none gains 2%"], look)
        for number, each in enumerate(kernel.advice, 1):
            yield from _piece(number, each, look)


def _piece(number: int, each: Advice, look: Look) -> Iterator[Text]:
    draft = each.draft
    gain = f"{each.speedup:.2f}x"
    yield Text()
    yield from flow(
        Text(f"{number}. "),
        [Text(gain, HOT), Text(f"{draft.topic} at {shown(draft.place)}"), Text(f"{grouped(each.cycles_after)} cycles")],
        look,
    )
    for name, text in (
        ("evidence", draft.evidence),
        ("change", draft.change),
        ("sketch", draft.sketch),
        ("measured", f"with {measured_with(each)}"),
        ("wrong if", draft.refuted_by),
    ):
        if text:
            yield from flow(Text("   ").append(f"{name:<9}", DIM), [Text(shown(text))], look)
