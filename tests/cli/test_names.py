"""File names that are not what one expects: quotes, newlines, bytes that are no text, a dash in front."""

import json
import os
import tempfile
from pathlib import Path

import pytest

from tests.cli.test_outputs import KERNEL
from tests.support.forked import Server, give, usable
from tests.support.ncu_report import write_report

NAMES = {
    "quotes": 'it\'s "k" `k` $k',
    "newline": "a\nb",
    "escape": "a\x1b[31mb\rc\td\x7f",
    "no_text": os.fsdecode(b"a\xff\xfeb"),
    "letters": "größe ☃ 𝛼",
    "marks": "a\u202eb\u200b\ufeff",
    "dash": "-k",
    "dashes": "--help",
    "long": "k" * 240,
    "percent": "%s %n {0} {k}",
    "backslash": "a\\b\\n",
    "blank": " k ",
    "brackets": "[bold]k",
    "query": "a?mode=rw#b%20c",
}
WALK = """
    compile -o|{}.gpubin|--|{}.ptx
    disasm --|{}.gpubin
    collect --save-stream|--period|32|-o|{}.gprec|--|{}.ptx
    replay --seed|1|-o|2{}.gprec|--|{}.gprec
    merge -o|3{}.gprec|--|{}.gprec|2{}.gprec
    records --|{}.gprec
    correlate -o|{}.gpudb|--|{}.gprec
    import --force|--no-code|-o|4{}.gpudb|--|{}.ncu-rep
    report --|{}.gpudb
    report --format|json|--|{}.gpudb
    export -o|{}.folded|--|{}.gpudb
    quality --|{}.gprec
    check --update|--baseline|{}.txt|--|{}.gpudb
    check --baseline|{}.txt|--|{}.gpudb
    sweep --jobs|1|-o|{}.json|--|{}.ptx
    vary --jobs|1|--vary|max_registers=32|--|{}.ptx
    predict --|{}.gprec
"""

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not usable(), reason="needs setpriv, to be an ordinary user"),
]


@pytest.fixture(scope="module")
def server():
    with tempfile.TemporaryDirectory(prefix="gpuprof-test-") as name:
        started = Server(Path(name))
        yield started
        started.close()


@pytest.mark.parametrize("kind", NAMES)
def test_every_command(server, kind):
    """Each reads what the one before it wrote; what it prints has no control characters of the name."""
    name = NAMES[kind]
    with tempfile.TemporaryDirectory(dir=server.folder) as made:
        folder = Path(made)
        (folder / f"{name}.ptx").write_text(KERNEL)
        write_report(folder / f"{name}.ncu-rep")
        give(folder)
        for line in WALK.split("\n")[1:-1]:
            command, arguments = line.split()
            done = server.run(folder, command, *(each.replace("{}", name) for each in arguments.split("|")))
            assert done.code == 0, (line, done)
            assert not {"\x1b", "\r", "\u202e", "\x7f"} & set(done.out + done.error), (line, done)
            if "--format|json" in arguments:
                json.loads(done.out)


@pytest.mark.parametrize("argument", ["", ".", "..", "/", "./", "none/", "x" * 5000])
def test_names_of_no_file(server, argument):
    """One line, and no file, whatever each command is given to read."""
    with tempfile.TemporaryDirectory(dir=server.folder) as made:
        folder = Path(made)
        give(folder)
        for line in WALK.split("\n")[1:-1]:
            command, arguments = line.split()
            last = arguments.rpartition("--|")
            done = server.run(folder, command, *last[0].replace("{}", "k").split("|")[:-1], "--", argument)
            refused = done.code in (1, 2) and done.error.startswith("gpuprof: ") and done.error.count("\n") == 1
            assert refused or (command == "check" and done.code == 4), (line, done)
            assert not list(folder.iterdir()), line
