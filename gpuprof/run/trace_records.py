"""What trace generators found, as the chunks of a recording (`records.schema`)."""

from gpuprof.records.writer import RecordWriter
from gpuprof.run.tracing import LaunchTrace
from gpuprof.trace.generator import name_of


def record_traces(recorder: RecordWriter, trace: LaunchTrace) -> None:
    """Writes the tables and findings of a launch. Two generators of one name are told apart by a number."""
    names: dict[str, int] = {}
    for generator, results in trace.results:
        plain = name_of(type(generator))
        names[plain] = names.get(plain, 0) + 1
        name = plain if names[plain] == 1 else f"{plain}_{names[plain]}"
        for table in generator.tables:
            columns = [
                {"name": column.name, "type": column.type, "unit": column.unit, "text": column.meaning}
                for column in table.columns
            ]
            fields = {
                "launch": results.launch,
                "generator": name,
                "table": table.name,
                "text": table.meaning,
                "columns": columns,
            }
            recorder.trace_table(fields, results.tables[table.name])
        for finding in results.findings:
            recorder.finding({"launch": results.launch, "generator": name} | finding._asdict())
