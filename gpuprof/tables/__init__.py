"""Each recorded table, declared once: NAME.gprec, NAME.gpudb, merging, checks and both pages of docs come from here.

    table      Column and Table, the roles of columns, and what follows from them: dtype, columns of the database
    launch     exact numbers of a launch's instructions and of its time: ledger, counters, stalls, causes, activity
    blocks     exact numbers of blocks, warps and accesses
    samples    records of the sampler
    tasks      tasks, parameters, relations, calls of a program
    draws      draws, their units, and the waves of their shaders
    code       tables that only the database has: modules, functions, instructions, launches, findings
    order      all tables, in the orders of recordings and of the database
    sql        definitions of the database's tables

A column's role says what merging, checking and extrapolating do with its values; no other list of names does. A user's
trace generator, a sweep and the page for a browser declare their tables with the same `Column`.
"""
