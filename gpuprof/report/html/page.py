"""Profiles as a page: one HTML file."""

import base64
import hashlib
from collections.abc import Iterator, Sequence
from string import Template

from gpuprof.report.html import comparison_block
from gpuprof.report.html.block import block_of
from gpuprof.report.html.blocks import TABLES
from gpuprof.report.html.bundle import bundle, modules, styles, template
from gpuprof.report.html.comparison_block import Comparison
from gpuprof.report.html.profile_block import Profile
from gpuprof.report.html.reasons import reason_style

MARK = b"<!DOCTYPE html>\n<!-- A profile by gpuprof. -->\n"  # first bytes of each file that we write


def html_of(profiles: Sequence[Profile], names: Sequence[str] = ("", ""), by_request: bool = False) -> str:
    """The first profile is the one that is shown; a second one is compared with it. `names`: of both files;
    `by_request`: their first kernels are compared, whatever they are called.
    """
    style, script = style_text(), bundle(modules(), "main")
    blocks = [("data", block_of(profile, TABLES)) for profile in profiles]
    if len(profiles) == 2:
        blocks.append(("comparison", block_of(Comparison(*profiles, names, by_request), comparison_block.TABLES)))
    return MARK.decode() + Template(template()).substitute(
        policy="; ".join(policy(style, script)),
        style=style,
        script=script,
        blocks="\n".join(
            f'<script type="application/octet-stream" class="{name}">{base64.b64encode(block).decode()}</script>'
            for name, block in blocks
        ),
    )


def style_text() -> str:
    return "\n".join([*styles(), reason_style()])


def policy(style: str, script: str) -> Iterator[str]:
    """The content security policy: this style and this script, and nothing from anywhere; no script writes markup."""
    yield "default-src 'none'"
    yield f"script-src '{digest(script)}'"
    yield f"style-src '{digest(style)}'"
    yield "base-uri 'none'"
    yield "form-action 'none'"
    yield "require-trusted-types-for 'script'"
    yield "trusted-types 'none'"


def digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
