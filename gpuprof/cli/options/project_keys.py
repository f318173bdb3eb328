"""The options of `gpuprof collect` as keys of a project's file, which has their names."""

from collections.abc import Iterator

from gpuprof.cli.options.option import CONTENTS, LIST, SWITCH, TIMES, TRANSPORT, Option
from gpuprof.cli.options.table import OPTIONS
from gpuprof.project.keys import SWITCH as SWITCH_KEY, VALUE, VALUES, Key

# A check takes no samples, writes its own outputs, and judges findings itself.
_OF_SAMPLES = (TIMES, CONTENTS, TRANSPORT)
_WITHOUT = (
    "output",
    "force",
    "saved",
    "error_exitcode",
    "limit",
    "save_stream",
    "threads",
    "passes",
    "filter_words",
    "draw",
    "stage",
)
_FORMS = {SWITCH: SWITCH_KEY, LIST: VALUES}


def run_keys() -> tuple[Key, ...]:
    return tuple(
        Key(_key_name(row), _FORMS.get(row.form, VALUE), row.text, row.flags.split()[0]) for row in _rows_of_collect()
    )


def _rows_of_collect() -> Iterator[Option]:
    for row in OPTIONS:
        is_seed = row.name == "seed"  # of random data, too
        if "collect" in row.commands.split() and row.name not in _WITHOUT and (is_seed or row.group not in _OF_SAMPLES):
            yield row


def _key_name(row: Option) -> str:
    """The option's long name, or else that of its value: max-registers, include-dirs."""
    long = next((flag for flag in row.flags.split() if flag.startswith("--")), None)
    return long.removeprefix("--") if long else row.name.replace("_", "-")
