"""The rest of a launch whose trace is not wanted, on several processes: forked ones carry out chunks from the back, and
this one those from the front. Memory, counts and messages are those of one process.

    kernels     which kernels may be spread, by what they execute
    pace        whether the rest of a launch is long enough
    chunks_left the chunks that no process has taken
    effects     what a chunk leaves: bytes of global memory, counts
    helper      what a forked process does
    outcomes    what became of the chunks of forked processes, in memory that they share
    helpers     the forked processes: begun, waited for, ended
    spread      puts the effects together, in the order of the chunks

A forked process works on a copy of memory, as it was when it was forked. So a chunk that it carried out counts only if
no other chunk before it, and none after it in the same process, wrote a byte that it read. This process carries out all
others again, in their place. It wrote the chunks from the front itself, each after all before it: these always count.

Processes, not threads: the interpreter's lock lets two threads of numpy calls be 0.8 to 1.4 times as fast as one.
"""
