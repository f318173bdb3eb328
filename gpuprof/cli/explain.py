"""gpuprof explain: a stall reason in words."""

import click

from gpuprof.errors import UsageError


@click.command("explain", short_help="Explain a stall reason in words.")
@click.argument("reason")
def command(reason):
    """Say what a stall REASON means, what usually causes it, and what to do.

    \b
    REASON is a name (long_scoreboard), Nsight Compute's column (stall_long_sb),
    or its short form (long_sb). `gpuprof list stalls` shows all.
    """
    from gpuprof.isa.stalls import REASONS, VOCABULARIES
    from gpuprof.report.causes import CAUSES

    found = REASONS[find_reason(reason)]
    click.echo(f"{found.name}  ({found.column})\n")
    facts = [("what it is", found.text)]
    facts += [("causes" if index == 0 else "", cause) for index, cause in enumerate(CAUSES[found.name])]
    facts += [("what to do", found.advice)]
    facts += [(f"in {vocabulary}", words[found.name]) for vocabulary, words in sorted(VOCABULARIES.items()) if vocabulary != "ncu"]
    for label, text in facts:
        click.echo(click.wrap_text(text, width=80, initial_indent=f"{label:<12}", subsequent_indent=" " * 12))


def find_reason(text: str) -> int:
    """The reason's number, by name, by Nsight Compute's column, or by its short form. Raises UsageError."""
    import difflib

    from gpuprof.isa.stalls import COLUMNS, NAMES

    spellings = {spelling: number for number, names in enumerate(zip(NAMES, COLUMNS, strict=True)) for spelling in names}
    spellings |= {column.removeprefix("stall_"): number for number, column in enumerate(COLUMNS)}
    wanted = text.strip().lower().replace("-", "_").replace(" ", "_")
    if wanted.removeprefix("stall_") in spellings:
        return spellings[wanted.removeprefix("stall_")]
    if wanted in spellings:
        return spellings[wanted]
    near = difflib.get_close_matches(wanted.removeprefix("stall_"), sorted(spellings), n=3)
    names = list(dict.fromkeys(NAMES[spellings[spelling]] for spelling in near))
    hint = f"did you mean {' or '.join(names)}?" if names else "there are: " + ", ".join(NAMES)
    raise UsageError(f"unknown stall reason {text!r}; {hint}")
