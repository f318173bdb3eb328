"""Runs a launch on an emulated GPU, thousands of lanes to a numpy call. Takes a launch and its memory, gives results
and warp traces.

A listing in the order of the work: `run` (emulate), `program` and `cfg` (code as blocks of callables), `chunk` (which
lanes run next), `lanes` (their registers), one file per family of instructions, `access` and `coalesce` (what memory
sees), `trace`.
"""
