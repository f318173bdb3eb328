"""Help pages of commands with many flags: in groups, all in one pair of columns."""

import click

GROUPS = {
    "What runs": ("--launch", "--chip", "--param", "--max-cycles", "--sample-blocks", "--load-base"),
    "When samples are taken": ("--period", "--trigger", "--phase", "--seed"),
    "What a sample is": ("--mode", "--partition", "--stall", "--record", "--counters"),
    "Which samples are kept": (
        "--filter",
        "--draw",
        "--stage",
        "--kernel-name",
        "--launch-skip",
        "--launch-count",
        "--no-profile-from-start",
    ),
    "How samples leave the GPU": ("--fifo", "--drain", "--stream", "--buffer", "--poll"),
    "The results": ("--expect", "--rtol", "--atol", "--save"),
    "The recording": ("-o", "--force", "--passes", "--save-stream", "--trace", "--no-accesses", "--rules"),
    "The checkers": ("--error-exitcode", "--limit", "--suppressions"),
    "The compiler": ("--compiler", "-I", "-D", "-O", "--std", "--cccl", "--rdc", "--max-registers"),
}
OTHERS = "Other"
FLAG_CELLS = 20  # a longer flag has a line of its own


class GroupedCommand(click.Command):
    """Lists its flags by GROUPS; those of no group come last."""

    def format_options(self, ctx, formatter):
        rows = {
            option.opts[0]: option.get_help_record(ctx)
            for option in self.get_params(ctx)
            if isinstance(option, click.Option)
        }
        grouped = {title: [rows.pop(flag) for flag in flags if flag in rows] for title, flags in GROUPS.items()}
        grouped[OTHERS] = list(rows.values())
        for title, lines in grouped.items():
            if lines:
                with formatter.section(title):
                    formatter.write_dl([(names.ljust(FLAG_CELLS), text) for names, text in lines], col_max=FLAG_CELLS)
