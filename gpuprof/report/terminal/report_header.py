"""The lines above every page."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from gpuprof.base.wording import plural
from gpuprof.chips.fidelity.sentence import line
from gpuprof.report.model import Header
from gpuprof.report.number_text import grouped
from gpuprof.report.terminal.styles import BOLD, DIM, WARM, Look, flow, shown

NAMED_SMS = 2  # of those that lost samples


def header_lines(header: Header, look: Look) -> Iterator[Text]:
    """The header, never shortened: text that does not fit on a line is wrapped."""
    words = (
        ()
        if look.vocabulary.is_own
        else [("stalls", [f"in the terms of {look.vocabulary.title}", *look.vocabulary.map.split("; ")])]
    )
    for label, parts in (*facts(header), *words):
        yield from flow(Text("# " if look.plain else "").append(f"{label:<11}", DIM), parts, look)


def loss_facts(header: Header) -> Iterator[str]:
    """The buffers that lost samples, and the overhead of sampling for the kernel."""
    if header.losses:
        fifo, buffer = (sum(row[column] for row in header.losses) for column in (1, 2))
        yield f"{grouped(fifo)} by full FIFOs"
        yield f"{grouped(buffer)} by the full event buffer"
        most = " and ".join(f"SM {sm} ({grouped(fifo + buffer)})" for sm, fifo, buffer in header.losses[:NAMED_SMS])
        others = len(header.losses) - NAMED_SMS
        yield f"most by {most}"
        if others > 0:
            yield f"{plural(others, 'more SM', 'more SMs')} lost some"
    if header.disturbance_cycles:
        yield f"sampling cost {grouped(header.disturbance_cycles)} of {plural(header.cycles, 'cycle', 'cycles')}"


def result_facts(header: Header) -> Iterator[Text | str]:
    wrong = [result for result in header.results if result.is_wrong]
    compared = plural(len(header.results), "array", "arrays")
    yield Text(f"WRONG in {len(wrong)} of {compared}", WARM) if wrong else f"{compared} compared, all as expected"
    yield from (Text(shown(str(result)), WARM) for result in wrong)


def cache_facts(header: Header) -> Iterator[str]:
    for control, n_launches in header.caches:
        which = f" ({plural(n_launches, 'launch', 'launches')})" if len(header.caches) > 1 else ""
        yield f"{shown(control.sentence)}{which}"


def facts(header: Header) -> Iterator[tuple[str, Sequence[Text | str]]]:
    if header.measured_by:
        yield "measured", [Text(f"by {shown(header.measured_by)}", BOLD), f"on {shown(header.chip)}", "not by gpuprof"]
    else:
        model = f"model {shown(header.model_version)}"
        yield "gpuprof", [Text(shown(header.tool_version), BOLD), model, f"chip {shown(header.chip)}"]
    if header.fidelity:
        yield "fidelity", shown(line(header.fidelity, header.alike)).split("; ")
    if header.not_held:
        yield "caution", [Text(shown(words), WARM) for words in header.not_held]
    launches = plural(header.launches, "launch", "launches")
    yield "kernels" if len(header.kernels) != 1 else "kernel", [*map(shown, header.kernels), launches]
    dropped = [
        Text(f"dropped {grouped(header.dropped)}", WARM if header.dropped else ""),
        f"buffer full: {'yes' if header.buffer_full else 'no'}",
        *loss_facts(header),
    ]
    if header.is_sampled:
        mode = f" ({shown(header.mode)})" if header.mode else ""
        when = f"trigger {shown(header.trigger)}" if header.trigger else f"period {header.period_cycles} cycles"
        passes = [f"{grouped(header.passes)} passes"] if header.passes > 1 else []
        scope = [f"partition {shown(header.partition)} of each SM"] if header.partition else []
        yield "samples", [grouped(header.samples), f"{when}{mode}", *scope, *passes, *dropped]
    else:
        yield "samples", ["no sampling", *dropped]
    if header.filter:
        yield (
            "filter",
            [
                *(Text(shown(part), WARM) for part in header.filter.split("; ")),
                "no other samples were taken",
                "exact numbers cover the whole run",
            ],
        )
    if header.caches:
        yield "caches", list(cache_facts(header))
    if header.complete:
        yield "recording", ["complete"]
    else:
        yield "recording", [Text("NOT COMPLETE", WARM), "it was cut off; the numbers cover the part before"]
    if header.results:
        yield "results", list(result_facts(header))
    for note in header.notes:
        yield "note", [Text(shown(note), WARM)]
