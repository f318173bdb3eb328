"""Launches timed again, by the same model and on the same emulation, with one thing changed.

    command stream ─ capture ─> Subject: a launch, its whole trace, the GPU as it was before
    Subject ─ candidates ─> Interventions, each with its bound by the ledger
    Subject, Interventions ─ apply ─> traces, program, chip ─ timing ─> LaunchTiming ─> Row

An `Intervention` is a plain value. One table says what each kind does to which of the three (changes.kinds).
"""
