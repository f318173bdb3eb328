"""PTX instructions to rows of the instruction table. `lowering` holds what all handlers share; each sub-room holds
handlers, one TABLE a file, keyed by PTX opcode.

    data        moves, loads, stores, atomics, addresses, parameters
    arithmetic  integers, floats, comparisons, conversions, packed halves, video
    flow        branches, calls, barriers, votes and shuffles, clusters, mbarriers
    engines     tensor cores, textures, bulk copies

A handler is called with the `Lowering` of the function it is in. `a`, `b`, `c` and `d` are a row's source slots and its
destination, as the table in `isa/` names them.
"""
