"""The locations of variables in optimized code: facts for the debugger."""
