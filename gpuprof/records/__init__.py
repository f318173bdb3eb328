"""The record stream, NAME.gprec: its schema, writer, reader and dump."""
