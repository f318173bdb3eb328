"""The hardware units of the chip, one a file. Every function takes the `machine`, the record of all tables.

The room is flat on purpose: the SM's units, the memory's and the grid's call each other (a scheduler the load/store
unit, the load/store unit the L1, the L1 the L2, the L2 what wakes a warp), so every split of it has circles.

    quanta     sm handout effects
    issue      scheduler scoreboard register_file instruction_fetch trace_cursor
               barrier mbarrier async_copies wgmma sleep_time retire
    memory     lsu banks l1 l2 l2_halves tlb dram set_associative arrivals stage_units
    blocks     pool sm_resources distributor
    draws      draw_pipeline draw_traffic
    accounts   ledger cause_ledger activity per_block warp_state events
    sampler    sampler sample_filter fifo counter_record
"""
