"""What calls of a program do: one method a call, named as in `calls`, in one file for each kind of thing.

(payload, words of the request) ─> (words of the reply, payload)
"""
