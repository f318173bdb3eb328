"""The lines that stand above every page."""

from typing import Iterator

from rich.text import Text

from gpuprof.report.figures import grouped
from gpuprof.report.look import BOLD, DIM, WARM, Look, fitted, shown
from gpuprof.report.model import Header


def header_lines(header: Header, look: Look) -> Iterator[Text]:
    for label, value, style in facts(header, look):
        text = Text("# " if look.plain else "")
        text.append(f"{label:<9}", DIM).append(value, style)
        yield fitted(text, look.width, look) if look.width is not None else text


def facts(header: Header, look: Look) -> Iterator[tuple[str, str, object]]:
    dot = look.dot
    yield "gpuprof", dot.join([shown(header.tool_version), f"model {shown(header.model_version)}", f"chip {shown(header.chip)}"]), BOLD
    launches = f"{header.launches} launch" + ("es" if header.launches != 1 else "")
    yield "kernels" if len(header.kernels) != 1 else "kernel", ", ".join(map(shown, header.kernels)) + dot + launches, ""
    dropped = [f"dropped {grouped(header.dropped)}", f"buffer full: {'yes' if header.buffer_full else 'no'}"]
    if header.period_cycles:
        period = f"period {header.period_cycles} cycles" + (f" ({shown(header.mode)})" if header.mode else "")
        yield "samples", dot.join([grouped(header.samples), period, *dropped]), WARM if header.dropped else ""
    else:
        yield "samples", dot.join(["no sampling", *dropped]), ""
    if header.complete:
        yield "recording", "complete", ""
    else:
        yield "recording", "NOT COMPLETE: it was interrupted; the numbers are those up to there", WARM
