"""What trace generators found, as the chunks of a recording (`records.schema`)."""

from gpuprof.records.writer import RecordWriter
from gpuprof.run.tracing import LaunchTrace
from gpuprof.trace.tables import Finding


def record_traces(recorder: RecordWriter, trace: LaunchTrace) -> None:
    """Writes the tables and findings of a launch; nothing where the generators did not come to the end."""
    for name, generator, results in trace.results:
        for table in generator.tables:
            columns = [
                {"name": column.name, "type": column.type, "unit": column.unit, "text": column.text}
                for column in table.columns
            ]
            fields = {
                "launch": results.launch,
                "generator": name,
                "table": table.name,
                "text": table.text,
                "columns": columns,
            }
            recorder.trace_table(fields, results.tables[table.name])
        for finding in results.findings:
            recorder.finding({"launch": results.launch, "generator": name} | finding._asdict())


def record_finding(recorder: RecordWriter, generator: str, launch: int, finding: Finding) -> None:
    """One that came when its launch had ended, or before anybody waited for it."""
    recorder.finding({"launch": launch, "generator": generator} | finding._asdict())
