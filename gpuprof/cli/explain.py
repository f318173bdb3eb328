"""gpuprof explain: a word of the reports in a sentence or more."""

from collections.abc import Callable, Iterator
from functools import partial

import click

from gpuprof.base.wording import suggestion
from gpuprof.cli.options.table import VOCABULARY
from gpuprof.errors import UsageError

LABEL_CELLS = 12


@click.command("explain", short_help="Explain a word of the reports: a reason, column, metric, ...")
@click.argument("word")
@click.option("--vocabulary", type=VOCABULARY, help="The tool that WORD is a term of, where several tools share it.")
def command(word, vocabulary):
    """Explain a WORD of the reports: its meaning, and for a stall reason its usual causes and remedies.

    \b
    WORD is a stall reason (long_scoreboard), Nsight Compute's column for it
    (stall_long_sb), its short form (long_sb), or another maker's term
    (MEMORY_DEPENDENCY, SBID); `gpuprof list stalls` lists them. It may also be
      a kind of cause (dram); `gpuprof list causes` lists these
      a column or fact of a page (attrib., excess), or a page (blame)
      a metric (l2_misses); `gpuprof list metrics` lists these
      a finding (uncoalesced, leak); see docs/report.md and `gpuprof list findings`
      a metric of nvprof (branch_efficiency)
    """
    from gpuprof.isa.stalls import INDEX

    found = {} if vocabulary == "ncu" else find_terms(word, vocabulary)
    if found and (vocabulary or not is_reason(word)):
        names = list(dict.fromkeys(name for reasons in found.values() for name in reasons))
        if len(names) == 1:
            explain(INDEX[names[0]])
        else:
            explain_term(word, found, names)
    elif vocabulary not in (None, "ncu"):
        from gpuprof.isa.vocabularies import VOCABULARIES

        raise UsageError(
            f"{vocabulary} has no term {word!r}; it has: "
            f"{', '.join(dict.fromkeys(VOCABULARIES[vocabulary].terms.values()))}"
        )
    elif is_reason(word):
        explain(find_reason(word))
    elif others := [explain_this for find in OTHERS for explain_this in find(word)]:
        for number, explain_this in enumerate(others):
            if number:
                click.echo()
            explain_this()
    else:
        near = suggestion(_plain(word).removeprefix("stall_"), known_words())
        raise UsageError(f"unknown word {word!r}; {near or 'see `gpuprof explain --help`'}")


def explain(number: int) -> None:
    from gpuprof.isa.stalls import REASONS
    from gpuprof.isa.vocabularies import VOCABULARIES
    from gpuprof.report.stall_advice import USUAL_CAUSES

    found = REASONS[number]
    click.echo(f"{found.name}  ({found.column})\n")
    facts = [("what it is", found.text)]
    facts += [("causes" if index == 0 else "", cause) for index, cause in enumerate(USUAL_CAUSES[found.name])]
    facts += [("what to do", found.advice)]
    facts += [
        (f"in {name}", vocabulary.word(number))
        for name, vocabulary in sorted(VOCABULARIES.items())
        if not vocabulary.is_own
    ]
    echo(facts)


def find_cause(text: str) -> str | None:
    """A kind of cause by its name, or by its label, also as the blame page writes it in a pipe: last_to_arrive."""
    from gpuprof.isa.causes import KINDS

    return next((kind.name for kind in KINDS if _plain(text) in (kind.name, _plain(kind.label))), None)


def causes(word: str) -> Iterator[Callable[[], None]]:
    if name := find_cause(word):
        yield partial(explain_cause, name)


def heads(word: str) -> Iterator[Callable[[], None]]:
    """Columns and facts of the pages."""
    from gpuprof.report.pages.heads import named

    for kind, head in named(word):
        yield partial(entry, head.name, f"a {kind} of {', '.join(head.pages)}", head.text)


def pages(word: str) -> Iterator[Callable[[], None]]:
    from gpuprof.report.pages import PAGES

    if (name := _plain(word)) in PAGES:
        yield partial(
            entry, name, "a page", f"It shows {PAGES[name].text}.", ("where", f"gpuprof report FILE --page {name}")
        )


def metrics(word: str) -> Iterator[Callable[[], None]]:
    from gpuprof.correlate.metrics import METRICS

    for metric in METRICS:
        if metric.name == _plain(word):
            where = ("where", f"gpuprof check FILE --baseline FILE --fail-on {metric.name}=1%")
            yield partial(entry, metric.name, f"a metric, in {metric.unit}", sentence(metric.text), where)


def rules(word: str) -> Iterator[Callable[[], None]]:
    from gpuprof.report.triage.kernel_rules import RULES

    for rule in RULES:
        if rule.name == _plain(word):
            yield partial(entry, rule.name, "a finding", rule.text, ("where", "gpuprof report FILE --page summary"))


def of_generators(word: str) -> Iterator[Callable[[], None]]:
    """Kinds of findings of checkers and other trace generators; `rules` has the advice."""
    from gpuprof.check.finding_kinds import BY_NAME

    kind = BY_NAME.get(_plain(word))
    if kind and kind.generator:
        where = ("where", f"gpuprof collect FILE --trace {kind.generator}")
        yield partial(entry, kind.name, f"a finding of {kind.generator}: {kind.severity}", kind.text, where)


PEAK_WORDS = ("peak", "of_peak", "percentage_of_peak", "throughput", "limits")
SHOWS_RESOURCES = "gpuprof report --page summary shows each resource's rate, its peak and what limits"


def throughput(word: str) -> Iterator[Callable[[], None]]:
    """Resources by their name, their label or its beginning ("fma"); all that is said of peaks by PEAK_WORDS."""
    from gpuprof.chips.peaks import RESOURCES
    from gpuprof.report.throughput import WHAT_PEAKS_ARE

    wanted, where = _plain(word), ("where", SHOWS_RESOURCES)
    if wanted in PEAK_WORDS:
        yield partial(print_facts, "percentage of peak", [*WHAT_PEAKS_ARE.items(), where])
        return
    exact = [each for each in RESOURCES if wanted in (each.name, _plain(each.label))]
    for each in exact or [each for each in RESOURCES if _plain(each.label).startswith(wanted + "_")]:
        yield partial(entry, each.label, f"throughput, in {each.unit}", each.text, where)


def of_nvprof(word: str) -> Iterator[Callable[[], None]]:
    from gpuprof.report.nvprof_words import WORDS

    for each in WORDS:
        if each.name == _plain(word):
            yield partial(entry, each.name, "a metric of nvprof", each.text, ("where", each.where))


OTHERS = (causes, throughput, heads, pages, metrics, rules, of_generators, of_nvprof)


def known_words() -> list[str]:
    """Whatever can be explained."""
    from gpuprof.check.finding_kinds import KINDS
    from gpuprof.chips.peaks import RESOURCES
    from gpuprof.correlate.metrics import METRICS
    from gpuprof.isa.causes import NAMES as CAUSES
    from gpuprof.isa.stalls import NAMES
    from gpuprof.report.nvprof_words import WORDS
    from gpuprof.report.pages import PAGES
    from gpuprof.report.pages.heads import COLUMNS, FACTS
    from gpuprof.report.triage.kernel_rules import RULES

    named = (each.name for some in (COLUMNS, FACTS, METRICS, RULES, KINDS, RESOURCES, WORDS) for each in some)
    return list(dict.fromkeys([*NAMES, *CAUSES, *PAGES, *named]))


def entry(name: str, what: str, text: str, *facts: tuple[str, str]) -> None:
    print_facts(f"{name}  ({what})", [("what it is", text), *facts])


def print_facts(heading: str, facts: list[tuple[str, str]]) -> None:
    click.echo(f"{heading}\n")
    echo(facts)


def sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def explain_cause(name: str) -> None:
    from gpuprof.isa.causes import INDEX, KINDS

    found = KINDS[INDEX[name]]
    where = ("where", "gpuprof report --page blame shows it for every line that stalls")
    entry(found.name, f"a cause: {found.label}", found.text, where)


def explain_term(term: str, found: dict[str, list[str]], names: list[str]) -> None:
    """Prints the reasons that a term means, and each in a sentence."""
    from gpuprof.isa.stalls import INDEX, REASONS

    click.echo(f"{term.strip().upper()}\n")
    facts = [(f"in {vocabulary}", ", ".join(reasons)) for vocabulary, reasons in found.items()]
    facts += [("", f"{name}: {REASONS[INDEX[name]].text}") for name in names]
    echo([*facts, ("more", f"gpuprof explain {names[0]}, and so on")])


def echo(facts: list[tuple[str, str]]) -> None:
    for label, text in facts:
        click.echo(
            click.wrap_text(
                text, width=80, initial_indent=f"{label:<{LABEL_CELLS}}", subsequent_indent=" " * LABEL_CELLS
            )
        )


def find_terms(text: str, vocabulary: str | None) -> dict[str, list[str]]:
    """The reasons that another maker's term means, by vocabulary; empty for other words."""
    from gpuprof.isa.vocabularies import VOCABULARIES

    wanted = _plain(text).upper()
    places = [place for name, place in VOCABULARIES.items() if not place.is_own and vocabulary in (None, name)]
    return {place.name: reasons for place in places if (reasons := place.reasons_of(wanted))}


def spellings() -> dict[str, int]:
    """Every way to write a reason -> its number: by name, by Nsight Compute's column, or by its short form."""
    from gpuprof.isa.stalls import COLUMNS, NAMES

    found = {spelling: number for number, names in enumerate(zip(NAMES, COLUMNS, strict=True)) for spelling in names}
    return found | {column.removeprefix("stall_"): number for number, column in enumerate(COLUMNS)}


def is_reason(text: str) -> bool:
    return bool({_plain(text), _plain(text).removeprefix("stall_")} & set(spellings()))


def find_reason(text: str) -> int:
    """The number of what `is_reason`."""
    known, wanted = spellings(), _plain(text)
    return known[wanted] if wanted in known else known[wanted.removeprefix("stall_")]


def _plain(text: str) -> str:
    return text.strip().lower().replace("-", "_").replace(" ", "_")
