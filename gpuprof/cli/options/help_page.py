"""Help pages: options in groups, all in one pair of columns, and at the end the list of pages or formats."""

from collections.abc import Iterable, Mapping

import click

from gpuprof.cli.options.option import GROUPS, Option

OTHERS = "Other"
FLAG_CELLS = 20  # a longer flag has a line of its own


class GroupedCommand(click.Command):
    """Lists its options by GROUPS; those of no group come last. `title` and `entries`: the heading of a list at the end
    of the page, and each name in it with its meaning.
    """

    def __init__(self, *arguments, title: str = "", entries: Mapping[str, str] | None = None, **others):
        super().__init__(*arguments, **others)
        self.title, self.entries = title, entries or {}

    def format_options(self, ctx, formatter):
        rows = {
            option.opts[0]: option.get_help_record(ctx)
            for option in self.get_params(ctx)
            if isinstance(option, click.Option)
        }
        groups = groups_of(getattr(self.callback, "options", ()))
        grouped = {title: [rows.pop(flag) for flag in groups[title]] for title in GROUPS if title in groups}
        grouped[OTHERS if grouped else "Options"] = list(rows.values())
        for title, lines in grouped.items():
            with formatter.section(title):
                formatter.write_dl([(names.ljust(FLAG_CELLS), text) for names, text in lines], col_max=FLAG_CELLS)

    def format_epilog(self, ctx, formatter):
        if self.entries:
            with formatter.section(self.title):
                formatter.write_dl(list(self.entries.items()))


def groups_of(options: Iterable[Option]) -> dict[str, list[str]]:
    """Each group that the options have, with the first flag of each of its options."""
    groups: dict[str, list[str]] = {}
    for option in options:
        if option.group:
            groups.setdefault(option.group, []).append(option.flags.split()[0])
    return groups
