"""Trace generators that tell what bounds a kernel: operations and bytes by basic block, and where control goes."""
