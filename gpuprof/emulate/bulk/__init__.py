"""Bulk and tensor copies between global and shared memory."""
