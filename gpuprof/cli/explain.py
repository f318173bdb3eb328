"""gpuprof explain: a stall reason in words."""

import click

from gpuprof.cli.options.vocabulary import VOCABULARY
from gpuprof.errors import UsageError

LABEL_CELLS = 12


@click.command("explain", short_help="Explain a stall reason in words.")
@click.argument("reason")
@click.option("--vocabulary", type=VOCABULARY, help="The tool whose term REASON is, where several share it.")
def command(reason, vocabulary):
    """Explain the meaning of a stall REASON, its usual causes, and remedies.

    \b
    REASON is a name (long_scoreboard), Nsight Compute's column (stall_long_sb),
    its short form (long_sb), or another maker's term (MEMORY_DEPENDENCY, SBID).
    `gpuprof list stalls` lists them. REASON may also be a kind of cause (dram);
    `gpuprof list causes` lists these. Or it is a resource of the summary's
    throughput (dram, l2, issue, fma, tensor), or "percentage of peak".
    """
    from gpuprof.isa.stalls import INDEX

    found = {} if vocabulary == "ncu" else find_terms(reason, vocabulary)
    if found and (vocabulary or not is_reason(reason)):
        names = list(dict.fromkeys(name for reasons in found.values() for name in reasons))
        if len(names) == 1:
            explain(INDEX[names[0]])
        else:
            explain_term(reason, found, names)
    elif vocabulary not in (None, "ncu"):
        from gpuprof.isa.vocabularies import VOCABULARIES

        raise UsageError(
            f"{vocabulary} has no term {reason!r}; it has: "
            f"{', '.join(dict.fromkeys(VOCABULARIES[vocabulary].terms.values()))}"
        )
    elif not is_reason(reason) and (known := explanations(reason)):
        explain_others(known)
    else:
        explain(find_reason(reason))


def explain(number: int) -> None:
    from gpuprof.isa.stalls import REASONS
    from gpuprof.isa.vocabularies import VOCABULARIES
    from gpuprof.report.usual_causes import USUAL_CAUSES

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


def explanations(text: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """What else a word means, heading and facts: a kind of cause, a resource of the summary's throughput, or both."""
    cause = find_cause(text)
    return ([told_cause(cause)] if cause else []) + told_throughput(text)


def explain_others(known: list[tuple[str, list[tuple[str, str]]]]) -> None:
    for index, (heading, facts) in enumerate(known):
        click.echo("\n" * (index > 0) + heading + "\n")
        echo(facts)


def told_cause(name: str) -> tuple[str, list[tuple[str, str]]]:
    from gpuprof.isa.causes import INDEX, KINDS

    found = KINDS[INDEX[name]]
    where = "gpuprof report --page blame shows it for every line that stalls"
    return f"{found.name}  (a cause: {found.label})", [("what it is", found.text), ("where", where)]


PEAK_WORDS = ("peak", "of_peak", "percentage_of_peak", "throughput", "limits")


def told_throughput(text: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """Resources by their name, their label or its beginning ("fma"); all that is said of peaks by PEAK_WORDS."""
    from gpuprof.chips.peaks import RESOURCES
    from gpuprof.report.throughput import WHAT_PEAKS_ARE

    wanted = _plain(text)
    if wanted in PEAK_WORDS:
        return [("percentage of peak", [*WHAT_PEAKS_ARE.items(), ("where", WHERE)])]
    exact = [each for each in RESOURCES if wanted in (each.name, _plain(each.label))]
    found = exact or [each for each in RESOURCES if _plain(each.label).startswith(wanted + "_")]
    return [
        (f"{each.label}  (throughput, in {each.unit})", [("what it is", each.text), ("where", WHERE)]) for each in found
    ]


WHERE = "gpuprof report --page summary shows each resource's rate, its peak and what limits"


def explain_term(term: str, found: dict[str, list[str]], names: list[str]) -> None:
    """A term that stands for several reasons: which, and each in a sentence."""
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
    """By vocabulary, the reasons that another maker's term stands for; empty for what is no such term."""
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
    """The reason's number. Raises UsageError for what is none."""
    import difflib

    from gpuprof.isa.stalls import NAMES

    known, wanted = spellings(), _plain(text)
    if wanted.removeprefix("stall_") in known:
        return known[wanted.removeprefix("stall_")]
    if wanted in known:
        return known[wanted]
    near = difflib.get_close_matches(wanted.removeprefix("stall_"), sorted(known), n=3)
    names = list(dict.fromkeys(NAMES[known[spelling]] for spelling in near))
    hint = f"did you mean {' or '.join(names)}?" if names else "known reasons: " + ", ".join(NAMES)
    raise UsageError(f"unknown stall reason {text!r}; {hint}")


def _plain(text: str) -> str:
    return text.strip().lower().replace("-", "_").replace(" ", "_")
