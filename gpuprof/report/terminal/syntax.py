"""Light colouring of a source line: comments, strings, keywords. It reads one line at a time and need not be right to
be of use.
"""

import re

from rich.style import Style
from rich.text import Text

_KEYWORDS = (
    "auto bool break case char class const constexpr continue do double else enum float for goto if inline int long "
    "namespace "
    "return short signed size_t sizeof static struct switch template typename union unsigned using void volatile while "
    "__global__ __device__ __host__ __shared__ __constant__ __restrict__ __launch_bounds__ __syncthreads"
)
_TOKEN = re.compile(
    r"(?P<comment>//.*|/\*.*?(?:\*/|$))"
    r"|(?P<string>\"(?:[^\"\\]|\\.)*\")"
    r"|(?P<keyword>\b(?:" + "|".join(_KEYWORDS.split()) + r")\b)"
    r"|(?P<directive>^\s*#\s*\w+)"
)
_STYLES = {
    "comment": Style(color="#767676"),
    "string": Style(color="#87af87"),
    "keyword": Style(color="#87afd7"),
    "directive": Style(color="#af87af"),
}


def coloured(code: str) -> Text:
    text = Text(code)
    for match in _TOKEN.finditer(code):
        text.stylize(_STYLES[match.lastgroup or ""], *match.span())
    return text
