"""The tables of tasks. There may be a million tasks: they are columns all the way.

recording's draws ─ draws ─> tables of draws
recording's tables ─ rows ─> checked columns ─ observed ─> flows, findings ─ fill ─> tables of the database
database ─ queries ─> tasks, needs, pairs for pages, exports and measurements
"""
