"""Keywords of Python as flags of `gpuprof collect`."""

import pytest

from gpuprof.check.budgets import QUANTITIES
from gpuprof.cli.collect import command
from gpuprof.errors import UsageError
from gpuprof.testing.collect_flags import FLAGS, flag_words

# Those of its output, which runs set themselves; --save names arrays in Python, and --force overwrites.
OWN = {"-o", "--output", "-q", "--quiet", "--save", "--force", "-h", "--help"}


def test_they_are_the_flags_of_collect():
    flags = {flag for option in command.params for flag in option.opts if flag.startswith("-")}
    assert set(FLAGS.values()) == flags - OWN
    assert all(name == flag.lstrip("-").replace("-", "_") for name, flag in FLAGS.items())


def test_none_is_the_name_of_a_limit():
    assert FLAGS.keys() & {*QUANTITIES, "baseline", "findings"} == set()


def test_words():
    keywords = {
        "launch": ["k<<<1, 32>>>()", "-x"],
        "max_registers": 64,
        "rdc": True,
        "O": 2,
        "D": ("N=1",),
        "std": None,
    }
    assert flag_words(keywords | {"sample_blocks": False}) == [
        *("--launch=k<<<1, 32>>>()", "--launch=-x", "--max-registers=64", "--rdc", "-O2", "-DN=1"),
    ]


def test_an_unknown_keyword():
    with pytest.raises(UsageError, match=r"^collect: unknown keyword 'max_register'; did you mean max_registers?"):
        flag_words({"max_register": 64})
    with pytest.raises(UsageError, match=r"^collect: unknown keyword 'xyzzy'; the flags are those of `gpuprof collect"):
        flag_words({"xyzzy": 1})
