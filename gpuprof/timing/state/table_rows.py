"""Rows of the machine's tables, for compiled code: `warp_at(machine, i)` is the record of warp i,
`until_at(machine, i, c).value` a plain number.

`machine` is the one record that every compiled function takes. It holds the addresses of all tables, so that a call
passes one pointer; a named tuple of fifty arrays in its place costs a few hundred words per call and half a minute of
compilation. There are no bounds checks: indexes and addresses come from records checked at the edge (`live`) or from
the tables themselves.
What they are to Numba is in `table_code`, which is imported when something is compiled.
"""

from gpuprof.jit.internal import Deferred


def _deferred(make: str, *args) -> Deferred:
    def made():
        from gpuprof.timing.state import table_code

        return getattr(table_code, make)(*args)

    return Deferred(made)


def _rows(name: str) -> Deferred:
    """An accessor for the table `name` of machine_tables.TABLES."""
    return _deferred("rows", name)


machine_of = _deferred("record_of", "machine")
step_of, access_of, piece_of = (_deferred("record_of", name) for name in ("step", "access", "piece"))
prefetch, word_at, floor_log2 = (_deferred("own", name) for name in ("prefetch", "word_at", "floor_log2"))
inst_at, dep_at, first_of_block_at = _rows("inst"), _rows("dep"), _rows("first_of_block")
grid_at, presence_at, edge_at, loss_at = _rows("grid"), _rows("presence"), _rows("edge"), _rows("loss")
operation_at, engine_at = _rows("operation"), _rows("engine")
atomic_time_at, hot_line_at = _rows("atomic_time"), _rows("hot_line")
warp_at, until_at, board_at, second_at, blocked_at = (
    _rows("warp"),
    _rows("until"),
    _rows("board"),
    _rows("second"),
    _rows("blocked"),
)
part_at, lane_at, port_at, queue_at = _rows("part"), _rows("lane"), _rows("port"), _rows("queue")
sm_at, block_at, arrived_at, ledger_at = _rows("sm"), _rows("block"), _rows("arrived"), _rows("ledger")
stall_row_at, activity_at = _rows("stall_row"), _rows("activity")
blame_at, blame_latest_at, blame_bucket_at = _rows("blame"), _rows("blame_latest"), _rows("blame_bucket")
maker_at, second_maker_at, cause_at = _rows("maker"), _rows("second_maker"), _rows("cause")
poller_at, signal_at = _rows("poller"), _rows("signal")
queued_at, lander_at = _rows("queued"), _rows("lander")
l1_queue_at, mio_queue_at, fp64_queue_at = _rows("l1_queue"), _rows("mio_queue"), _rows("fp64_queue")
begun_at, round_at, bypass_at = _rows("begun"), _rows("round"), _rows("bypass")
ended_at, landed_at = _rows("ended"), _rows("landed")
l0_tag_at, l0_ready_at, l1i_tag_at, l1i_ready_at = (
    _rows("l0_tag"),
    _rows("l0_ready"),
    _rows("l1i_tag"),
    _rows("l1i_ready"),
)
l1_tag_at, l1_use_at, l1_line_at, miss_free_at = _rows("l1_tag"), _rows("l1_use"), _rows("l1_line"), _rows("miss_free")
l2_tag_at, l2_use_at, l2_line_at, l2_copy_at = _rows("l2_tag"), _rows("l2_use"), _rows("l2_line"), _rows("l2_copy")
tlb_at, tlb_hint_at, l2_tlb_at = _rows("tlb"), _rows("tlb_hint"), _rows("l2_tlb")
slice_tick_at, dram_row_at = _rows("slice_tick"), _rows("dram_row")
channel_tick_at, channel_turn_at = _rows("channel_tick"), _rows("channel_turn")
channel_posted_at, channel_activate_at = _rows("channel_posted"), _rows("channel_activate")
slice_join_at, slice_joins_at = _rows("slice_join"), _rows("slice_joins")
request_at, load_at, bucket_at = _rows("request"), _rows("load"), _rows("bucket")
gate_at, watched_at = _rows("gate"), _rows("watched")
draw_at, before_at, item_at = _rows("draw"), _rows("before"), _rows("item")
passage_at, column_at = _rows("passage"), _rows("column")
unit_access_at, unit_traffic_at = _rows("unit_access"), _rows("unit_traffic")
waited_at, over_at, block_row_at, warp_row_at = _rows("waited"), _rows("over"), _rows("block_row"), _rows("warp_row")
record_at, counted_at, leaves_at, fifo_at = _rows("record"), _rows("counted"), _rows("leaves"), _rows("fifo")
