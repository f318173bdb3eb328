"""Where the variables of optimized code are: facts for the debugger."""
