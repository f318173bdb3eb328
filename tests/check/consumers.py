"""Readers of the renderers' outputs: what the consumers' own sources and documents say they take, transcribed."""

import json
from html.parser import HTMLParser
from typing import NamedTuple
from xml.etree import ElementTree

from markdown_it import MarkdownIt

# Jenkins' xunit-plugin, model/xsd/junit-10.xsd at 258d6c8: element -> required attributes, other attributes, children.
JUNIT = {
    "testsuites": ("", "name time tests failures errors", "testsuite"),
    "testsuite": (
        "name tests failures errors",
        "group time skipped timestamp hostname id package file log url version",
        "testsuite properties testcase system-out system-err",
    ),
    "properties": ("", "", "property"),
    "property": ("name value", "", ""),
    "testcase": (
        "name",
        "time classname group",
        "skipped error failure rerunFailure rerunError flakyFailure flakyError system-out system-err",
    ),
    "failure": ("", "type message", ""),
    "error": ("", "type message", ""),
    "system-out": ("", "", ""),
}


class Case(NamedTuple):
    suite: str
    name: str
    outcome: str  # "passed", or the tags of its results
    text: str


def read_junit(text: str) -> list[Case]:
    """The cases of a report, whose elements, attributes and counts are checked."""
    root = ElementTree.fromstring(text.encode())
    assert root.tag == "testsuites"
    for element in root.iter():
        required, optional, children = map(str.split, JUNIT[element.tag])
        assert set(required) <= set(element.attrib) <= {*required, *optional}, element.attrib
        assert {child.tag for child in element} <= set(children), element.tag
    for counted in (root, *root.iter("testsuite")):
        cases = list(counted.iter("testcase"))
        of_tag = {tag: sum(case.find(tag) is not None for case in cases) for tag in ("failure", "error")}
        assert [counted.get(name) for name in ("tests", "failures", "errors")] == [
            str(count) for count in (len(cases), of_tag["failure"], of_tag["error"])
        ]
    return [
        Case(
            suite.get("name", ""),
            case.get("name", ""),
            " ".join(child.tag for child in case if child.tag != "system-out") or "passed",
            "\n".join(child.text or "" for child in case),
        )
        for suite in root
        for case in suite.iter("testcase")
    ]


class Command(NamedTuple):
    name: str
    properties: dict[str, str]
    data: str


def read_command(line: str) -> Command | None:
    """A workflow command as the runner reads it (actions/runner, ActionCommand.cs: TryParseV2); None for other text."""
    line = line.lstrip()
    end = line.find("::", 2)
    if not line.startswith("::") or end < 0:
        return None
    name, _, rest = line[2:end].partition(" ")
    pairs = (pair.split("=", 1) for pair in rest.strip().split(",") if pair)
    properties = {pair[0]: _unescaped(pair[1], ":", ",") for pair in pairs if len(pair) == 2}
    return Command(name, properties, _unescaped(line[end + 2 :]))


def _unescaped(text: str, *more: str) -> str:
    for token in ("\r", "\n", *more, "%"):
        text = text.replace(f"%{ord(token):02X}", token)
    return text


# GitLab, "Code Quality", "Code quality report format": the keys, and the severities there are.
GITLAB_SEVERITIES = ("info", "minor", "major", "critical", "blocker")


def read_gitlab(text: str) -> list[dict]:
    issues = json.loads(text)
    for issue in issues:
        assert set(issue) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert all(isinstance(issue[key], str) and issue[key] for key in ("description", "check_name", "fingerprint"))
        assert issue["severity"] in GITLAB_SEVERITIES
        assert set(issue["location"]) == {"path", "lines"}
        assert not issue["location"]["path"].startswith(("/", "./"))  # relative, without a prefix
        assert issue["location"]["lines"]["begin"] >= 1
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)
    return issues


# OASIS, sarif-schema-2.1.0.json (errata 01): the objects that we write, as it declares them, with all of what it
# requires. GitHub's "SARIF support for code scanning" is why some are required here that it leaves open.
_TEXT = {
    "type": "object",
    "required": ["text"],
    "properties": {"text": {"type": "string"}},
    "additionalProperties": False,
}
_LOCATION = {
    "type": "object",
    "required": ["physicalLocation"],
    "additionalProperties": False,
    "properties": {
        "id": {"type": "integer", "minimum": -1},
        "message": _TEXT,
        "physicalLocation": {
            "type": "object",
            "additionalProperties": False,
            "required": ["artifactLocation", "region"],
            "properties": {
                "artifactLocation": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["uri"],
                    "properties": {
                        "uri": {"type": "string", "pattern": "^[A-Za-z0-9._~%/-]+$"},  # a relative URI reference
                        "uriBaseId": {"type": "string"},
                    },
                },
                "region": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {"startLine": {"type": "integer", "minimum": 1}},
                },
            },
        },
    },
}
_LEVEL = {"enum": ["none", "note", "warning", "error"]}
_RULE = {
    "type": "object",
    "additionalProperties": False,
    "required": ["id", "shortDescription", "fullDescription", "help"],
    "properties": {
        "id": {"type": "string"},
        "name": {"type": "string"},
        "shortDescription": _TEXT,
        "fullDescription": _TEXT,
        "help": _TEXT,
        "defaultConfiguration": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"level": _LEVEL},
        },
    },
}
_RESULT = {
    "type": "object",
    "additionalProperties": False,
    "required": ["message", "locations", "partialFingerprints"],
    "properties": {
        "ruleId": {"type": "string"},
        "ruleIndex": {"type": "integer", "minimum": -1},
        "level": _LEVEL,
        "message": _TEXT,
        "locations": {"type": "array", "items": _LOCATION, "minItems": 1, "maxItems": 10},
        "relatedLocations": {"type": "array", "items": _LOCATION, "uniqueItems": True},
        "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
    },
}
SARIF = {
    "$schema": "http://json-schema.org/draft-04/schema#",
    "type": "object",
    "additionalProperties": False,
    "required": ["version", "runs"],
    "properties": {
        "$schema": {"type": "string"},
        "version": {"enum": ["2.1.0"]},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["tool"],
                "properties": {
                    "tool": {
                        "type": "object",
                        "additionalProperties": False,
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "type": "object",
                                "additionalProperties": False,
                                "required": ["name"],
                                "properties": {
                                    "name": {"type": "string"},
                                    "version": {"type": "string"},
                                    "rules": {"type": "array", "items": _RULE, "uniqueItems": True},
                                },
                            }
                        },
                    },
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "results": {"type": ["array", "null"], "items": _RESULT},
                },
            },
        },
    },
}


def read_benchmark(text: str) -> list[dict]:
    """Results as github-action-benchmark reads them (src/extract.ts at c38cce9: BenchmarkResult)."""
    results = json.loads(text)
    assert results, "it refuses a file without a result"
    for result in results:
        assert {"name", "value", "unit"} <= set(result) <= {"name", "value", "range", "unit", "extra"}
        assert isinstance(result["name"], str) and isinstance(result["unit"], str)
        assert type(result["value"]) in (int, float)
    return results


class _Shown(HTMLParser):
    """The texts of a page, by the element that each is in."""

    def __init__(self):
        super().__init__()
        self.open: list[str] = []
        self.texts: dict[str, list[str]] = {}

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, f"</{tag}> ends something else"

    def handle_data(self, data):
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)


def read_markdown(text: str) -> dict[str, list[str]]:
    """What a page of GitHub's Markdown shows, by the element of HTML that each text is in."""
    shown = _Shown()
    shown.feed(MarkdownIt("commonmark").enable("table").render(text))
    shown.close()
    assert shown.open == []
    return shown.texts
