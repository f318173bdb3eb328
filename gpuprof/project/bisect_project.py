"""The bisection of a project's commits by a metric, and what is printed of it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from gpuprof.base.stages import stage
from gpuprof.base.wording import plural
from gpuprof.check.compare import LaunchComparison, compare
from gpuprof.check.facts import Facts
from gpuprof.check.render import blamed, line_text
from gpuprof.check.rules import DEFAULT, Rule, parse_rule
from gpuprof.correlate.identity.launch_names import LaunchKey
from gpuprof.correlate.metrics import BY_NAME
from gpuprof.errors import GpuprofError, NotComparable
from gpuprof.project.bisect import Found, Step, metric_value, search
from gpuprof.project.check_project import chosen, facts_of
from gpuprof.project.collect_revision import How, at_revision
from gpuprof.project.keys import Key
from gpuprof.project.project_file import Project, read_project
from gpuprof.project.revisions import SHORT, Repository

JSON_VERSION = 1


class Wanted(NamedTuple):
    """The launches that count. `entries`: patterns of entries' names; none: all. `jobs`: entries collected at once,
    None: as the cores allow.
    """

    kernel: re.Pattern[str]
    entries: Sequence[str]
    jobs: int | None


@dataclass(frozen=True)
class Bisected:
    """`launches`: how the launches that count changed from the last good commit to the first bad one."""

    found: Found
    rule: Rule
    n_commits: int
    before: str  # the commits in words
    after: str
    launches: tuple[tuple[str, LaunchComparison], ...] = ()  # with their entries' names

    @property
    def skipped(self) -> tuple[str, ...]:
        return self.found.skipped


@dataclass
class _Measuring:
    """Measures commits, each once. `facts`: by commit and entry."""

    project: Project
    repository: Repository
    rule: Rule
    wanted: Wanted
    how: How
    facts: dict[str, dict[str, Facts]] = field(default_factory=dict)

    def step(self, commit: str) -> Step:
        """The metric at a commit. Its project file, entries and kernels may be others, so that it has none."""
        try:
            with at_revision(self.project, self.repository, commit, self.how) as collected:
                self.facts[commit] = {each.entry.name: facts_of(each) for each in collected}
            values = [self._value(facts) for facts in self.facts[commit].values()]
            known = [value for value in values if value is not None]
            if not known:
                raise NotComparable("no entry has such a kernel")
            return Step(commit, sum(known))
        except GpuprofError as error:
            return Step(commit, None, str(error))

    def _value(self, facts: Facts) -> int | None:
        try:
            return metric_value(facts, self.rule.metric, self.is_wanted)
        except NotComparable:
            return None

    def is_wanted(self, key: LaunchKey) -> bool:
        return self.wanted.kernel.search(key.kernel) is not None

    def changed(self, before: str, after: str) -> Iterator[tuple[str, LaunchComparison]]:
        for name, facts in self.facts[after].items():
            if name in self.facts[before]:
                for launch in compare(self.facts[before][name], facts, [self.rule]).launches:
                    if self.is_wanted(launch.key) and launch.regressions:
                        yield name, launch


def bisected(file: Path, good: str, bad: str, metric: str, wanted: Wanted, run_keys: Sequence[Key]) -> Bisected:
    """Raises UsageError for revisions, entries or a metric that there are not, NotComparable where the metric did not
    grow, or GOOD or BAD cannot be measured.
    """
    rule = parse_rule(metric) if "=" in metric else parse_rule(_usual(metric))
    project = read_project(file, run_keys)
    chosen(project.entries, wanted.entries)
    repository = Repository(project.folder)
    first, last = repository.commit(good), repository.commit(bad)
    commits = repository.commits_between(first, last)
    how = How(run_keys, wanted.jobs, lambda entries: chosen(entries, wanted.entries))
    measuring = _Measuring(project, repository, rule, wanted, how)
    most = 2 + max(1, len(commits) - 1).bit_length()
    with stage("bisecting", "commits", most, each="commit") as under_way:

        def measure(commit: str) -> Step:
            step = measuring.step(commit)
            under_way.done += 1
            under_way.failed += step.value is None
            return step

        ends = [measure(commit) for commit in (first, last)]
        for step, name in zip(ends, (good, bad), strict=True):
            if step.value is None:
                raise NotComparable(f"{name} cannot be measured: {step.why}")
        found = search(commits, *ends, rule, measure)
    before, after = found.before.commit, found.after.commit
    return Bisected(
        found,
        rule,
        len(commits),
        repository.subject(before),
        repository.subject(after),
        tuple(measuring.changed(before, after)),
    )


def _usual(metric: str) -> str:
    """The metric's usual limit: that of cycles; for others any growth."""
    return next((text for text in DEFAULT if text.startswith(f"{metric}=")), f"{metric}=0")


def lines_of(bisected: Bisected) -> Iterator[str]:
    """The commit first, then its numbers and the lines to blame, then where to look further."""
    found, metric = bisected.found, bisected.rule.metric
    old, new = found.before.value or 0, found.after.value or 0
    percent = f", {100 * (new - old) / old:+.1f} %" if old else ""
    yield bisected.after
    limit = bisected.rule.text.partition("=")[2]
    yield f"  {metric} {old:,} -> {new:,} {BY_NAME[metric].unit} ({new - old:+,}{percent}), limit {limit}"
    for entry, launch in bisected.launches:
        for crossing in launch.regressions:
            yield f"  {entry}: {launch.title}: {crossing.change.old:,} -> {crossing.change.new:,}"
            for line in blamed(crossing):
                change = line.change
                yield f"    {line_text(line.place, change.name.text, change.old, change.new, line.metric)}"
    for commit in found.skipped:
        yield f"  {commit[:SHORT]} could not be measured, and may be it"
    yield f"before it: {bisected.before}"
    yield f"{found.n_measured} of {plural(bisected.n_commits + 1, 'commit', 'commits')} measured"


def object_of(bisected: Bisected) -> dict[str, Any]:
    """One JSON object with a version."""
    found = bisected.found
    return {
        "version": JSON_VERSION,
        "metric": bisected.rule.metric,
        "limit": bisected.rule.text,
        "commit": found.after.commit,
        "before": found.before.commit,
        "old": found.before.value,
        "new": found.after.value,
        "skipped": list(found.skipped),
        "measured": found.n_measured,
        "launches": [
            {
                "entry": entry,
                "launch": launch.title,
                "lines": [
                    {"place": line.place, "text": line.change.name.text, "old": line.change.old, "new": line.change.new}
                    for crossing in launch.regressions
                    for line in blamed(crossing)
                ],
            }
            for entry, launch in bisected.launches
        ],
    }
