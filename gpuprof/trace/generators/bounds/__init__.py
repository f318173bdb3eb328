"""Trace generators for the bounds of a kernel: operations and bytes by basic block, and its control flow."""
