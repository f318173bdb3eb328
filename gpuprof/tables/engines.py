"""What carries copies, fills and functions of the host out. Recordings hold the numbers: a new one goes to the end."""

ENGINES = ("copy engine in", "copy engine out", "memory", "host")
ENGINE_IN, ENGINE_OUT, ENGINE_MEMORY, ENGINE_HOST = range(len(ENGINES))
