"""gpuprof relate: which launches wait for each other without need, what the whole program could do otherwise, and what
that costs.
"""

from pathlib import Path

import click

from gpuprof.cli.options.command_options import options
from gpuprof.cli.options.option import Given
from gpuprof.cli.progress.display import Display
from gpuprof.errors import FileFormatError, NotComparable

USUAL = 3


@click.command("relate", short_help="Show which launches could run at the same time, and measure it.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--measure",
    type=click.IntRange(min=1),
    is_flag=False,
    flag_value=USUAL,
    metavar="[N]",
    help=f"Run FILE's command stream without the N orders of the largest bound, one after the other, and under each "
    f"change of the program.  [{USUAL}]",
)
@options("relate")
@click.pass_obj
def command(display: Display, file: Path, measure: int | None, given: Given):
    """Show the launches of FILE (.gprec) that wait for each other though no data flows between them.

    The bound is the most that could be gained. With --measure, FILE needs its stream (`collect --save-stream`): it runs
    again without each of these orders. Where results stay the same, byte for byte, the gain is shown; otherwise the
    proposal is withdrawn.

    Of a program or a script, changes of the whole are listed, too: a graph, page-locked memory, copies while kernels
    run, copies that are not needed, prefetches. With --measure the program runs again under each.

    \b
    gpuprof relate frame.gprec
    gpuprof relate frame.gprec --measure 5
    """
    from gpuprof.cli.progress.terminal import Terminal
    from gpuprof.correlate.database import reading
    from gpuprof.correlate.tasks.task_queries import critical_path, host_launches, pairs, read_tasks
    from gpuprof.isa.printing.printable import printable

    with Terminal(display) as terminal:
        measured, how = None, "each launch as long as it was"
        with reading(file) as db:
            tasks, numbers = read_tasks(db), host_launches(db)
            found = [
                pair
                for pair in pairs(db, tasks, (measure or USUAL) + len(tasks))
                if launch_of(tasks, pair.source) in numbers and launch_of(tasks, pair.target) in numbers
            ][: measure or USUAL]
            path = critical_path(db, tasks)
            if measure:
                from gpuprof.records.command_stream.read import read_stream
                from gpuprof.run.reorder_experiment import measure_stream

                chosen = [
                    tuple(numbers[launch_of(tasks, task)] for task in (pair.source, pair.target)) for pair in found
                ]
                measured, how = measure_stream(read_stream(file), chosen), "each launch by itself on the chip"
                path = critical_path(db, tasks, measured.without_overlap)
        if not found:
            terminal.say("no two launches wait for each other without need")
        for place, pair in enumerate(found):
            names = " and ".join(named(tasks, task) for task in (pair.source, pair.target))
            text = f"{names}: at most {pair.bound_cycles:,} cycles ({pair.kind})"
            if measured:
                text += f"; {verdict(measured.proposals[place])}"
            terminal.say(printable(text))
        chain = " -> ".join(named(tasks, task) for task in path.tasks)
        terminal.say(printable(f"longest chain of needs, {how}: {path.cycles:,} cycles: {chain}"))
        if measured:
            terminal.say(f"as it is: {measured.cycles:,} cycles")
        for line in changes(file, measure is not None):
            terminal.say(printable(line))


def changes(file: Path, are_measured: bool) -> list[str]:
    """A line for each change of the whole program; none without a saved stream."""
    from gpuprof.records.command_stream.read import read_stream
    from gpuprof.run.program_experiment import candidates, measure_program

    try:
        stream = read_stream(file)
    except (NotComparable, FileFormatError):
        return []
    if not are_measured:
        return [f"not measured: {what}" for what in candidates(stream)]
    program = measure_program(stream)
    return [gain(program, change) for change in program.changes] if program else []


def gain(program, change) -> str:
    """A finding where the program takes less time, as far as two digits show."""
    if change.withdrawn:
        return f"withdrawn: {change.what}: {change.withdrawn}"
    share = f"{change.cycles / program.cycles:.2f}"
    finding = change.finding if float(share) < 1 else "no gain"
    cycles = f"{program.cycles:,} -> {change.cycles:,} cycles"
    times = " -> ".join(f"{each / program.clock_mhz:,.1f}" for each in (program.cycles, change.cycles))
    return f"{finding}: {change.what}: {share} of the time ({cycles}, {times} us), the same results"


def launch_of(tasks, task: int) -> int:
    return tasks.value("launch", tasks.place(task))


def named(tasks, task: int) -> str:
    return f"{tasks.name(tasks.place(task))} (task {task})"


def verdict(measured) -> str:
    if measured.withdrawn:
        return f"withdrawn: {measured.withdrawn}"
    gain = measured.gain_cycles
    return f"measured: {abs(gain):,} cycles {'lost' if gain < 0 else 'gained'}, the same bytes"
