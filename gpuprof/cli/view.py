"""gpuprof view: a profile in the browser."""

from pathlib import Path

import click

from gpuprof.base.stages import stage


@click.command("view", short_help="Show a profile in the browser.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--port",
    type=click.IntRange(min=0, max=65535),
    default=0,
    metavar="N",
    help="Serve at this port.  [default: one that is free]",
)
@click.option("--no-browser", is_flag=True, help="Print the address, and open no browser.")
def command(file: Path, port: int, no_browser: bool):
    """Serve the page of FILE (.gpudb, or .gprec) to browsers of this machine, until Ctrl-C.

    `gpuprof report FILE --html NAME` writes the same page to a file.
    """
    import webbrowser
    from threading import Thread

    from gpuprof.correlate.database import reading
    from gpuprof.report.html.page import html_of
    from gpuprof.report.html.profile_block import Profile
    from gpuprof.report.html.serve import Server
    from gpuprof.report.measured import check_measured
    from gpuprof.report.queries import read_report

    with stage("reading the profile"), reading(file) as db:
        report = read_report(db)
        check_measured(report)
        page = html_of([Profile(db, report)])
    with Server(page.encode(), port) as server:
        click.echo(f"{server.url}  (Ctrl-C ends it)")
        if not no_browser:
            # A browser in a terminal returns when it is left, and needs the page before.
            Thread(target=webbrowser.open, args=(server.url,), daemon=True).start()
        server.serve_forever()
