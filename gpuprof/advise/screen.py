"""Advice as lines of a terminal."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from gpuprof.advise.advise import Advised
from gpuprof.advise.brief import measured_with
from gpuprof.advise.draft import Advice
from gpuprof.base.wording import installed_version, plural
from gpuprof.report.number_text import extent, grouped
from gpuprof.report.terminal.styles import DIM, HOT, Look, flow, shown
from gpuprof.timing.state.model_version import MODEL_VERSION


def lines(found: Sequence[Advised], chip: str, look: Look) -> Iterator[Text]:
    yield from _labelled("gpuprof", [installed_version(), f"model {MODEL_VERSION}", f"chip {chip}"], look)
    for kernel in found:
        yield Text()
        chosen = kernel.chosen
        size = f"grid {extent(chosen.grid)}, block {extent(chosen.block)}"
        facts = [f"launch {chosen.launch}", size, f"{grouped(chosen.cycles)} cycles"]
        yield from _labelled(chosen.kernel, facts, look)
        if kernel.fidelity:
            yield from _labelled("fidelity", [kernel.fidelity], look)
        tried = plural(kernel.n_drafts, "change was", "changes were")
        if not kernel.advice:
            yield from _labelled("advice", [f"{tried} considered, and none gains 2%"], look)
        for number, each in enumerate(kernel.advice, 1):
            yield from _piece(number, each, look)


def _labelled(name: str, parts: Sequence[str], look: Look) -> Iterator[Text]:
    mark = "# " if look.plain else ""
    yield from flow(Text(mark).append(f"{shown(name):<10} ", DIM), [Text(shown(part)) for part in parts], look)


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
