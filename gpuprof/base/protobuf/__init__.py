"""Protocol Buffers (protobuf.dev/programming-guides/encoding): messages as tables, from which both ways follow.

Message + a dict of its fields ─ encode ─> bytes ─ decode ─> a dict of its fields
"""
