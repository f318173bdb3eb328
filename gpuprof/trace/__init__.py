"""Watching the execution of a launch: trace generators, their events, tables and findings.

    tables          rows of a generator's tables, which `gpuprof.tables` declares like all others, and findings
    kernel          the argument of `initialize`: the program as it will run, the launch, memory
    event           the argument of `event` and `post_event`: the warps that execute one instruction at one time
    generator       TraceGenerator, the class to derive from, and its options
    feed            passes the emulator's events to the generators of a launch that need them
    find            generators by name: built in, of an installed package, of a file
    generators/     those that come with gpuprof, one per file
    checkers/       those that find errors of a program, one per file
    finding_report  the findings of a run for its user: counted, printed, or suppressed
    suppressions    the file of known findings

    kernel, events ─> generator ─> rows of tables, findings

A generator changes neither the kernel nor the application (except that memcheck disables lanes with a forbidden
access): its arguments are read-only and valid until its call returns. docs/traces.md has the interface.
"""

NAMES = {
    "TraceGenerator": "gpuprof.trace.generator",
    "Option": "gpuprof.trace.generator",
    "TraceEvent": "gpuprof.trace.event",
    "WarpEvent": "gpuprof.trace.event",
    "Table": "gpuprof.tables.table",
    "Column": "gpuprof.tables.table",
    "Finding": "gpuprof.trace.tables",
    "Kernel": "gpuprof.trace.kernel",
}


def __getattr__(name: str):
    """Imports a name of the interface on first use: importing the room loads nothing else."""
    if name in NAMES:
        from importlib import import_module

        return getattr(import_module(NAMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
