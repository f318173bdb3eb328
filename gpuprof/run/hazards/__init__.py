"""Errors that checkers of one launch cannot find: errors of the host, and races between commands."""
