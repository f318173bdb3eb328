"""Text from sources, names and files, made safe to print."""

import re

# C0 and C1 controls (escape among them), and the marks that reorder or hide text: bidirectional, zero-width, line
# separators, lone surrogates.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def printable(text: str, keep: str = "") -> str:
    """The text with every control character written out (ESC as "\\x1b", a bidi mark as "\\u202e"); those in `keep`
    stay.
    """

    def written_out(match: re.Match) -> str:
        character = match.group()
        if character in keep:
            return character
        return f"\\x{ord(character):02x}" if ord(character) < 0x100 else f"\\u{ord(character):04x}"

    return _UNSAFE.sub(written_out, text)
