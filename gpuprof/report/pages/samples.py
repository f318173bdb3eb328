"""The samples page: estimates from samples and the exact numbers, for each line, or instruction, and reason."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.text import Text

from gpuprof.base.wording import base_name, plural
from gpuprof.isa.printing.printable import printable
from gpuprof.isa.stalls import NAMES
from gpuprof.isa.vocabularies import Vocabulary
from gpuprof.report.estimates import Estimate, Scale, scale_of
from gpuprof.report.formats import cell
from gpuprof.report.model import Cost, Header, Kernel, Report
from gpuprof.report.number_text import count, rounded
from gpuprof.report.pages.page_kind import Page, Request
from gpuprof.report.pages.summary import finding_lines
from gpuprof.report.sections import select_lines, source_sections
from gpuprof.report.terminal.columns import Column, table
from gpuprof.report.terminal.styles import BOLD, DIM, WARM, Look, flow, shown
from gpuprof.report.triage.kernel_rules import findings

LEAST_SHARE = 0.005  # exact or estimated; smaller ones are only in CSV and JSON
OWN_RULES = ("sampling", "sampled_beside_exact", "too_thin", "in_step")

Lines = tuple[int, int] | None


class Charge(NamedTuple):
    """The cost of one reason at one place."""

    place: str
    path: str
    line: int
    address: int  # of the instruction; 0 for a line
    reason: int  # the first that has the term
    term: str
    samples: int
    weight: int
    cycles: int
    estimate: Estimate


def charges(kernel: Kernel, by_instruction: bool, vocabulary: Vocabulary, lines: Lines = None) -> list[Charge]:
    """The charges of every line, or instruction, with a sample or a cycle; largest first, by exact cycles where there
    are any.
    """
    scale, all_charges = scale_of(kernel), []
    for section in select_lines(source_sections(kernel), *lines) if lines else source_sections(kernel):
        for row in section.rows:
            name = f"{base_name(section.path)}:{row.number}" if row.number else "(no line)"
            parts = [(i.pc, i.cost) for i in row.instructions] if by_instruction else [(0, row.cost)]
            for pc, cost in parts:
                all_charges += charges_of(name, section.path, row.number, pc, cost, scale, vocabulary)
    return sorted(all_charges, key=lambda c: (-c.cycles, -c.weight, -c.samples, c.path, c.line, c.address, c.reason))


def charges_of(
    name: str, path: str, line: int, pc: int, cost: Cost, scale: Scale, vocabulary: Vocabulary
) -> Iterator[Charge]:
    by_term = map(vocabulary.merged, (cost.samples, cost.weights, cost.cycles))
    for reason, (samples, weight, cycles) in enumerate(zip(*by_term, strict=True)):
        if samples or cycles:
            yield Charge(
                name,
                path,
                line,
                pc,
                reason,
                vocabulary.word(reason),
                samples,
                weight,
                cycles,
                scale.of(weight if scale.weighted else samples, cycles),
            )


def text(report: Report, look: Look, request: Request) -> Iterator[Text]:
    for kernel in report.kernels:
        yield Text("")
        yield from flow(
            Text("# " if look.plain else "").append(shown(kernel.name), BOLD),
            ["", *scale_facts(scale_of(kernel), report.header)],
            look,
        )
        worth = [
            c
            for c in charges(kernel, False, report.vocabulary, request.lines)
            if max(c.estimate.share, c.estimate.exact or 0) >= LEAST_SHARE
        ]
        yield from table(columns(look, report.header.samples_time), worth, look)
        told = [
            finding
            for finding in findings(kernel, report.chip, report.header, report.vocabulary)
            if finding.rule in OWN_RULES
        ]
        for number, finding in enumerate(told, 1):
            yield from finding_lines(number, finding, look)


def scale_facts(scale: Scale, header: Header) -> list[str]:
    if not scale.whole:
        return ["no samples"]
    if not header.samples_time:
        return [
            f"{plural(scale.whole, 'sample', 'samples')}, not of all warps' time",
            "the exact shares cover all of it and do not compare",
        ]
    if not scale.weighted:
        return [f"{plural(scale.whole, 'sample', 'samples')}, each counted as one: the records have no weights"]
    return [f"the samples are as sure as {plural(round(scale.effective), 'independent one', 'independent ones')}"]


def columns(look: Look, has_truth: bool) -> list[Column]:
    """has_truth: the ledger has what the samples estimate."""

    def margin(charge: Charge) -> Text:
        return Text(f"{100 * charge.estimate.low:.1f}-{100 * charge.estimate.high:.1f}" if charge.samples else "-", DIM)

    def error(charge: Charge) -> Text:
        if charge.estimate.error is None or not has_truth:
            return Text("-")
        return Text(f"{100 * charge.estimate.error:+.1f}", DIM if charge.estimate.holds else WARM)

    def exact(charge: Charge) -> Text:
        return Text("-" if charge.estimate.exact is None else f"{100 * charge.estimate.exact:.1f}%")

    def reason(charge: Charge) -> Text:
        word = look.vocabulary.word if look.plain else look.vocabulary.short
        return Text(shown(word(charge.reason)), look.of_reason(NAMES[charge.reason]))

    return [
        Column("line", lambda c: Text(shown(c.place).replace(" ", "_") if look.plain else shown(c.place)), left=True),
        Column("exact", exact),
        Column("sampled", lambda c: Text(f"{100 * c.estimate.share:.1f}%" if c.samples else "-"), 1),
        Column("interval", margin, 3),
        Column("error", error, 2),
        Column("samples", lambda c: Text(count(c.samples, look.plain)), 5),
        Column("cycles", lambda c: Text(count(c.cycles, look.plain)), 4),
        Column("reason", reason, left=True),
    ]


FIELDS = (
    ("Address", "address", lambda c: f"{c.address:#x}"),
    ("File", "path", lambda c: printable(c.path)),
    ("Line", "line", lambda c: c.line),
    ("Reason", "reason", lambda c: c.term),
    ("Warp Cycles (Exact)", "warp_cycles", lambda c: c.cycles),
    ("Exact Share", "exact_share", lambda c: rounded(c.estimate.exact)),
    ("# Samples", "samples", lambda c: c.samples),
    ("Weight", "weight", lambda c: c.weight),
    ("Estimated Share", "estimated_share", lambda c: rounded(c.estimate.share)),
    ("Estimated Share Low 95%", "low", lambda c: rounded(c.estimate.low)),
    ("Estimated Share High 95%", "high", lambda c: rounded(c.estimate.high)),
    ("Error", "error", lambda c: rounded(c.estimate.error)),
)


def rows(report: Report, request: Request) -> Iterator[Sequence[object]]:
    """One per instruction and reason, under the kernel's name and a heading."""
    for kernel in report.kernels:
        yield ["Kernel Name", printable(kernel.name)]
        yield [title for title, _, _ in FIELDS]
        for charge in charges(kernel, True, report.vocabulary, request.lines):
            yield [cell(value(charge)) for _, _, value in FIELDS]


def objects(kernel: Kernel, report: Report, request: Request) -> dict:
    scale = scale_of(kernel)
    estimates = charges(kernel, True, report.vocabulary, request.lines)
    return {
        "weighted": scale.weighted,
        "effective_samples": round(scale.effective, 3),
        "estimates": [{name: value(charge) for _, name, value in FIELDS} for charge in estimates],
    }


PAGE = Page(text, rows, objects)
