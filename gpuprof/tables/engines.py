"""The engines of copies, fills and functions of the host. Recordings hold the numbers: a new one goes to the end."""

ENGINES = ("copy engine in", "copy engine out", "memory", "host")
ENGINE_IN, ENGINE_OUT, ENGINE_MEMORY, ENGINE_HOST = range(len(ENGINES))
