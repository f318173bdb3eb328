"""Drawings of the control-flow graph, from the tables of `--trace graph`."""

import re
import sqlite3
from xml.etree import ElementTree

import pytest

from gpuprof.errors import NotComparable
from gpuprof.export.graph.cfg import Edge, Node, graph
from gpuprof.export.graph.cfg_dot import quoted, text
from gpuprof.export.graph.cfg_svg import lanes, picture

NODES = [
    Node(0x100, "loop<int>", "a.cu:3", 4, 2, 64, 0.25),
    Node(0x140, "loop<int>", "a.cu:4", 2, 6, 96, 0.75),
    Node(0x160, "loop<int>", "", 1, 2, 64, 0.0),
]
EDGES = [Edge(0x100, 0x140, 32, 0.5), Edge(0x100, 0x160, 32, 0.5), Edge(0x140, 0x140, 64, 2 / 3)]


def test_dot():
    assert (
        "\n".join(text(NODES, EDGES))
        == r"""digraph cfg {
  node [shape=box, style=filled, fontname="monospace", fontsize=10];
  subgraph cluster_0 {
    label="loop<int>";
    b100 [label="0x100 a.cu:3\n4 instructions, 2 runs\n100% of lanes, 25.0% of all instructions", fillcolor="#ffa8a8"];
    b140 [label="0x140 a.cu:4\n2 instructions, 6 runs\n50% of lanes, 75.0% of all instructions", fillcolor="#ff5050"];
    b160 [label="0x160\n1 instructions, 2 runs\n100% of lanes, 0.0% of all instructions", fillcolor="#ffffff"];
  }
  b100 -> b140 [label="32", penwidth=2.50];
  b100 -> b160 [label="32", penwidth=2.50];
  b140 -> b140 [label="64", penwidth=3.00];
}"""
    )


def test_names_cannot_leave_their_quotes():
    assert quoted('a"];\\ b\nc') == r'"a\"];\\ b\nc"'


def test_the_picture_is_well_formed_and_has_every_block_and_way():
    hostile = NODES[0]._replace(kernel="<script>&")
    root = ElementTree.fromstring(picture([hostile, *NODES[1:]], EDGES))
    words = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert [word for word in words if word.startswith("0x")] == ["0x100 a.cu:3", "0x140 a.cu:4", "0x160"]
    assert [word for word in words if word in ("32", "64")] == ["32", "32", "64"]
    assert root.find(".//{http://www.w3.org/2000/svg}title").text == "<script>&"


def test_ways_that_overlap_have_lanes_of_their_own():
    row = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4}
    outer, inner, after = Edge(3, 0, 1, 1.0), Edge(2, 1, 1, 1.0), Edge(4, 4, 1, 1.0)
    assert lanes([outer, inner, after], row) == {after: 0, inner: 0, outer: 1}


def test_a_picture_stays_within_its_frame():
    edges = [Edge(0x160, start, 1, 0.5) for start in (0x100, 0x140)] + EDGES
    root = ElementTree.fromstring(picture(NODES, edges))
    width, height = float(root.get("width")), float(root.get("height"))
    for path in root.iter("{http://www.w3.org/2000/svg}path"):
        if path.get("marker-end"):
            assert all(0 < float(x) < width for x in re.findall(r"[MH](-?\d+)", path.get("d")))
            assert all(0 < float(y) < height for y in re.findall(r"[V,](-?\d+)", path.get("d")))


def test_a_database_without_a_graph():
    with sqlite3.connect(":memory:") as db:
        db.execute("CREATE TABLE trace_tables (generator TEXT, name TEXT)")
        with pytest.raises(NotComparable, match="collect with --trace graph"):
            graph(db)
