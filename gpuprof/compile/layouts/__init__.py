"""How structures lie in memory, where code copies them, and where it writes their members: facts for initcheck."""
