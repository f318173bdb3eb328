"""All use of Numba's insides: functions cached on disk (`cached`), functions compiled once within their callers
(`internal`), and compilation as a stage that progress can show (`compile_stage`).
"""
