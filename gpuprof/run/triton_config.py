"""A Config of Triton's as text, which a script's kernels are launched with: BLOCK=128,num_warps=4.

`interop.triton` applies it. A run has one, and it is an error if no kernel takes it.
"""

from collections.abc import Mapping

from gpuprof.errors import UsageError

# Settings of Triton's compiler, with triton.Config's own defaults; all other names are a kernel's meta-parameters.
COMPILER_SETTINGS = {"num_warps": 4, "num_stages": 3, "num_ctas": 1, "maxnreg": None}
_WORDS = {"True": True, "False": False, "None": None}

Value = int | float | bool | str | None


class AskedConfig:
    """The Config of a run. `is_used`: a kernel was launched with it."""

    def __init__(self, text: str):
        self.text, self.values, self.is_used = text, parse_config(text), False

    @property
    def meta(self) -> dict[str, Value]:
        """The meta-parameters of kernels among its values."""
        return {name: value for name, value in self.values.items() if name not in COMPILER_SETTINGS}

    @property
    def compiler_settings(self) -> dict[str, Value]:
        return {name: value for name, value in self.values.items() if name in COMPILER_SETTINGS}


def parse_config(text: str) -> dict[str, Value]:
    """The values by their names. Raises UsageError for text that is none."""
    values: dict[str, Value] = {}
    for each in text.split(","):
        name, equals, value = (part.strip() for part in each.partition("="))
        if not (name.isidentifier() and equals and value.split() == [value]):
            raise UsageError(f"--config {text}: expected NAME=VALUE,... as in BLOCK=128,num_warps=4")
        if name in values:
            raise UsageError(f"--config {text}: {name} is given twice")
        values[name] = _value(value)
    return values


def _value(text: str) -> Value:
    if text in _WORDS:
        return _WORDS[text]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def config_text(meta: Mapping[str, object], settings: Mapping[str, Value]) -> str:
    """The text of a Config; settings of the compiler that few have are left out where they are Triton's defaults."""
    always = ("num_warps", "num_stages")
    shown = {name: value for name, value in settings.items() if name in always or value != COMPILER_SETTINGS[name]}
    return ",".join(f"{name}={value}" for name, value in {**meta, **shown}.items())
