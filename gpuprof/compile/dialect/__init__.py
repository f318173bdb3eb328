"""nvcc's dialect: what nvcc takes and clang refuses, as changes of the source's text.

A source that clang takes is compiled as it is. After an error that stands for one of these forms, the text is changed
where the error is (`repairs`, `launch_tokens`, `shared_objects`) and compiled again (`compile/attempts.py`). Every line
and column stays what it was (`edits`), so messages and line tables are those of the user's file.
"""
