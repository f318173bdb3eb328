"""When it happens: traces and a chip give cycles, the stall ledger and samples. Nothing is compiled before the first
launch.

    simulate  a batch of launches, from their first piece of trace to their timings
    engine    the outer loops, compiled by Numba on first use
    crew      the threads that run SMs with it
    state     the machine as tables of numbers
    units     the hardware units, one a file: the compiled code
    sampling  how the sampler is set
    live      orders pieces of trace, and hands them to the compiled code
"""
