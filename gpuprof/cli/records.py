"""gpuprof records: the samples of a recording, or its counter records, one per line."""

from pathlib import Path

import click

from gpuprof.cli.options.command_options import options
from gpuprof.cli.options.formats import format_option
from gpuprof.cli.options.help_page import GroupedCommand
from gpuprof.cli.options.option import OUTPUT, SELECTION, SWITCH, Given, Option

OWN = (
    format_option(csv="with a heading", json="an object per line", group=OUTPUT),
    Option("--limit", "limit", "Stop after N records.", metavar="N", type=click.IntRange(min=1), group=SELECTION),
    Option("--counters", "counters",
           "Print the counter records of `collect --record wide+counters` instead of samples.",
           form=SWITCH, group=SELECTION),
)  # fmt: skip


@click.command("records", cls=GroupedCommand)
@click.argument("recording", metavar="FILE.gprec", type=click.Path(path_type=Path))
@options("records", *OWN)
def command(recording: Path, given: Given):
    """Print a recording, one record per line.

    A damaged file is printed up to the damage. The error goes to stderr, and the exit code is 1.
    """
    from gpuprof.errors import FileFormatError, NotComparable
    from gpuprof.records.dump import LINES, csv_header

    format_, counters = given.format_, given.counters
    stream = _Records(recording, given.launch, counters)
    header = None
    for payload in stream.chunks(given.limit):
        if format_ == "csv" and csv_header(payload) != header:
            header = csv_header(payload)
            click.echo(header)
        click.echo("\n".join(LINES[format_](payload)))
    if stream.damage:
        raise FileFormatError(f"{recording}: {stream.damage}; the records above are intact")
    if not stream.n_records:
        advice = (
            "counter records in it: collect with --record wide+counters"
            if counters
            else "samples in it: collect with a shorter --period, fewer events per --trigger, or a wider --filter"
        )
        raise NotComparable(f"{recording}: no {advice}")


class _Records:
    """The chunks of samples or counter records of a recording, with the filters applied."""

    def __init__(self, path: Path, launch: int | None, counters: bool):
        self.path = path
        self.launch = launch
        self.counters = counters
        self.n_records = 0
        self.damage: str | None = None

    def chunks(self, limit: int | None):
        """Payloads that are not empty. Raises UsageError for a launch that a whole file does not have."""
        from gpuprof.records.chunk_stream import SAMPLE_CHUNKS, read_chunks
        from gpuprof.records.encoding import LaunchRows
        from gpuprof.records.sampling_registers import as_vectors, holds_numbers

        wanted = (b"SMCN",) if self.counters else SAMPLE_CHUNKS
        meta: dict = {"sampling": {}}
        launches: dict[int, dict] = {}
        stream = read_chunks(self.path)
        for chunk, payload in stream:
            if chunk.type == b"META":
                meta = payload
            if chunk.type == b"LNCH":
                launches[payload["launch"]] = payload
            if chunk.type not in wanted or self.launch not in (None, payload.launch):
                continue
            rows = payload.rows if limit is None else payload.rows[: limit - self.n_records]
            self.n_records += len(rows)
            if len(rows):
                if not self.counters and holds_numbers(meta, launches.get(payload.launch, {})):
                    rows = as_vectors(rows)
                yield LaunchRows(payload.launch, rows)
            if self.n_records == limit:
                return
        self.damage = stream.damage
        if not self.damage:
            self._check_launch(launches)

    def _check_launch(self, launches: dict[int, dict]) -> None:
        from gpuprof.errors import UsageError

        if self.launch is not None and self.launch not in launches:
            there = f"it has launches {min(launches)} to {max(launches)}" if launches else "it has no launches"
            raise UsageError(f"--launch {self.launch}: there is no such launch in {self.path}; {there}")
