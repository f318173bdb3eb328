"""Options that name a file to read."""

from pathlib import Path

import click


class InputPath(click.Path):
    """The type of an option that names a file that is read, and never written."""

    def __init__(self):
        super().__init__(path_type=Path)
