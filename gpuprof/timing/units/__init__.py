"""The hardware units of the chip, one a file. Every function takes the `machine`, the record of all tables.

The room is flat on purpose: the SM's units, the memory's and the grid's call each other (a scheduler the load/store
unit, the load/store unit the L1, the L1 the L2, the L2 what wakes a warp), so every split of it has circles.

    issue      scheduler scoreboard fetch follow barrier mbarrier copies multiply retire
    memory     lsu l1 l2 tlb dram cache served
    blocks     pool room distributor
    accounts   ledger blame reasons events
    sampler    sampler gate fifo counted
"""
