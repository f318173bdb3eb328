"""The ground floor: files that appear whole or not at all, the one door for files of others, runs that are confined to
a folder, temporary folders, the folders of caches and a lock for them, signals that end a run, processes and their
shares of the cores, stages of work under way, phrases that several rooms write alike, the version, the order in which
blocks run, and settings of the C library's heap.
"""
