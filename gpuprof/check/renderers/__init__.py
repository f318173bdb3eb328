"""Verdicts in the formats of their readers: a row of RENDERERS and a file each.

    CheckReport + Checkout ─ render ─> text of the format

The table imports nothing, so that help is quick. A format's file has `render(report, checkout)`, a function of these
values only.
"""

from typing import NamedTuple


class Renderer(NamedTuple):
    """`file`: the module; `text`: what the format is for, for --help and docs/check.md. `mark`: what each of its files
    begins with, where the format has room for one; `suffixes`: what the names of other files end in.
    """

    file: str
    text: str
    mark: str = ""
    suffixes: tuple[str, ...] = ()


JSON_MARK = '{\n  "version": '
MARKDOWN_MARK = "<!-- gpuprof check -->"  # by which a comment is found again, to be replaced
XML_MARK = '<?xml version="1.0" encoding="UTF-8"?>\n<!-- gpuprof check -->\n'
SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
SARIF_MARK = f'{{\n  "$schema": "{SARIF_SCHEMA}",\n'

RENDERERS = {
    "text": Renderer("text", "for people", suffixes=(".txt", ".log")),
    "json": Renderer("json_report", "versioned, for programs", JSON_MARK),
    "markdown": Renderer("markdown", "for a job's summary or a comment", MARKDOWN_MARK),
    "junit": Renderer("junit", "test results, for Jenkins, GitLab and others", XML_MARK),
    "github": Renderer("github", "annotations of GitHub", suffixes=(".txt", ".log")),
    "gitlab": Renderer("gitlab", "a Code Quality report of GitLab", suffixes=(".json",)),
    "sarif": Renderer("sarif", "SARIF 2.1.0, for code scanning", SARIF_MARK),
    "benchmark": Renderer("benchmark", "customSmallerIsBetter, for charts over commits", suffixes=(".json",)),
}
