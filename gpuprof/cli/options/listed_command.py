"""Help that ends with a list of what a flag takes, from the table that has it."""

from collections.abc import Mapping

import click


class ListedCommand(click.Command):
    """`title` and `entries`: the list's heading, and each name with what it is."""

    def __init__(self, *arguments, title: str, entries: Mapping[str, str], **others):
        super().__init__(*arguments, **others)
        self.title, self.entries = title, entries

    def format_epilog(self, ctx, formatter):
        with formatter.section(self.title):
            formatter.write_dl(list(self.entries.items()))
