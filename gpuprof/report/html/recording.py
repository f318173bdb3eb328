"""A recording, or a database, that shows itself in a notebook."""

import os
from html import escape
from pathlib import Path

from gpuprof.correlate.database import reading
from gpuprof.report.html.page import html_of
from gpuprof.report.html.profile_block import Profile
from gpuprof.report.measured import check_measured
from gpuprof.report.queries import read_report

HEIGHT = 720  # pixels of the frame


class Recording:
    """A file of `gpuprof collect` or `gpuprof correlate`; a notebook shows it as the page of `gpuprof view`."""

    def __init__(self, path: str | os.PathLike):
        self.path = Path(path)

    def page(self) -> str:
        """The page, an HTML file. Raises what `gpuprof report` says of a file that it cannot show."""
        with reading(self.path) as database:
            report = read_report(database)
            check_measured(report)
            return html_of([Profile(database, report)])

    def _repr_html_(self) -> str:
        """A frame of its own: what is in the page can neither reach the notebook nor look like a part of it."""
        return (
            f'<iframe sandbox="allow-scripts" width="100%" height="{HEIGHT}" title="gpuprof" '
            f'srcdoc="{escape(self.page())}"></iframe>'
        )

    def __repr__(self) -> str:
        return f"Recording({str(self.path)!r})"
