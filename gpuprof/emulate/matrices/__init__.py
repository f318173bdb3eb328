"""Matrix operations of a warp or a warp group, and how matrices lie in the lanes' registers and in shared memory."""
