"""The pages have every kind of change, and every topic of advice, as the tables have them."""

from gpuprof.advise.rules import RULES
from gpuprof.advise.topics import NOT_HERE, TOPICS
from gpuprof.whatif.changes.kinds import KINDS
from gpuprof.whatif.whatif import SEARCHED
from tests.advice.pairs import TOPICS as OF_PAIRS
from tests.paths import DOCS


def rows_of(page: str) -> list[str]:
    return [row for row in (DOCS / page).read_text(encoding="utf-8").splitlines() if row.startswith("| `")]


def test_every_kind_has_its_rule():
    searched = [f"| `{kind}` | {KINDS[kind].rule} |" for kind in SEARCHED]
    others = [f"| `{kind}` | {rule.rule} |" for kind, rule in KINDS.items() if kind not in SEARCHED]
    assert [row for row in rows_of("whatif.md") if row in {*searched, *others}] == [*searched, *others]


def test_every_topic_has_its_counterparts():
    expected = [f"| `{name}` | {topic.text} | {topic.ncu} | {topic.others} |" for name, topic in TOPICS.items()]
    assert [row for row in rows_of("advice.md") if row.count("|") == 5] == expected
    page = (DOCS / "advice.md").read_text(encoding="utf-8").splitlines()
    assert [row for row in (f"| {topic} | {why} |" for topic, why in NOT_HERE.items()) if row not in page] == []


def test_rules_corpus_and_topics_are_of_the_same():
    assert [topic for rule in RULES for topic in rule.topics.split() if topic not in TOPICS] == []
    assert {topic for rule in RULES for topic in rule.topics.split()} == set(TOPICS) == set(OF_PAIRS)
