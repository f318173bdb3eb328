"""Sleeps whose time the trace has (isa/sleeps)."""

from gpuprof.emulate.trace_log.trace_entries import slept_ns
from gpuprof.isa.sleeps import sleep_cycles
from gpuprof.jit.internal import call_njit, inline_njit
from gpuprof.timing.state.layout import ACCESS_NBYTES
from gpuprof.timing.state.table_rows import access_of, warp_at

ns_of = inline_njit(slept_ns)
cycles_of = inline_njit(sleep_cycles)


@call_njit
def asked_cycles(machine, warp):
    """Cycles that `warp` sleeps at its instruction; 1 where none of its lanes does."""
    w = warp_at(machine, warp)
    record = access_of(w.access)
    w.access += ACCESS_NBYTES
    return cycles_of(ns_of(record.n_lookups, record.wavefronts, record.tag_passes), machine.clock_khz)
