"""The calls of a program: one method a call, named as in `calls`, in one file for each kind of object.

(payload, words of the request) ─> (words of the reply, payload)
"""
