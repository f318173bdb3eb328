"""A report in a format of the table."""

from importlib import import_module

from gpuprof.check.checkout import Checkout
from gpuprof.check.renderers import RENDERERS
from gpuprof.check.verdict import CheckReport


def rendered(report: CheckReport, format_: str, checkout: Checkout) -> str:
    """The text of a file of the format, a key of RENDERERS."""
    return import_module(f"{__package__}.{RENDERERS[format_].file}").render(report, checkout)
