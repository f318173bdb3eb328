"""A project's own file, and the check of all that it names.

    gpuprof.toml ─ project_file ─> Project: its entries, each with its command line, limits and budgets
    Entry ─ entry_run, in processes ─> a database, and the content of all that the run has read: Inputs
    Inputs that are as before ─ run_cache ─> the database of then
    databases, baselines ─ check_project ─> verdicts of gpuprof.check
    two revisions ─ revisions ─> two folders, each checked so

It starts `gpuprof collect` as a user would, in a process of its own, and reads databases only.
"""
