"""Lines of two versions of a kernel, paired by what they say."""

from hypothesis import given, strategies as st

from gpuprof.compare.lines import Line, Passage, line_pairs


def passage(text: str, function: str = "blur", path: str = "blur.cu", first: int = 1, is_own: bool = True) -> Passage:
    lines = tuple(Line(number, line) for number, line in enumerate(text.strip("\n").split("\n"), first))
    return Passage(function, path, lines, is_own)


def paired(old: list[Passage], new: list[Passage]) -> list[tuple]:
    """(text before, text after, kind), each without its indentation."""

    def text(side, spot):
        return side[spot.passage].lines[spot.line].text.strip() if spot else None

    return [(text(old, pair.old), text(new, pair.new), pair.kind) for pair in line_pairs(old, new)]


OLD = """
__global__ void blur(float *x) {
    float a = x[i] * 2;
    __syncthreads();
    x[j] = a;
    __syncthreads();
}
"""


def test_an_edit_a_line_put_in_and_one_taken_out():
    new = """
__global__ void blur(float *x) {
      int j = i + 1;
      float a = x[i] * 4;
      __syncthreads();
      __syncthreads();
}
"""
    assert paired([passage(OLD)], [passage(new)]) == [
        ("__global__ void blur(float *x) {", "__global__ void blur(float *x) {", "same"),
        (None, "int j = i + 1;", "new"),
        ("float a = x[i] * 2;", "float a = x[i] * 4;", "changed"),
        ("__syncthreads();", "__syncthreads();", "same"),
        ("x[j] = a;", None, "gone"),
        ("__syncthreads();", "__syncthreads();", "same"),
        ("}", "}", "same"),
    ]


def test_of_several_candidates_the_most_alike_are_paired():
    old, new = "float a = x[i];\nfloat b = y[i];", "float b = y[i + 1];\nfloat c = 0;"
    assert paired([passage(old)], [passage(new)]) == [
        ("float a = x[i];", None, "gone"),
        ("float b = y[i];", "float b = y[i + 1];", "changed"),
        (None, "float c = 0;", "new"),
    ]


def test_a_file_with_another_name_in_another_folder():
    old, new = passage(OLD, path="src/blur.cu"), passage(OLD, path="kernels/smooth.cuh")
    assert {kind for _, _, kind in paired([old], [new])} == {"same"}


def test_a_line_that_moves_into_a_header_has_moved():
    new = OLD.replace("    float a = x[i] * 2;\n", "    float a = load(x, i);\n")
    header = passage("float a = x[i] * 2;", "load", "load.cuh", 7, is_own=False)
    found = paired([passage(OLD)], [passage(new), header])
    assert ("float a = x[i] * 2;", "float a = x[i] * 2;", "moved") in found
    assert (None, "float a = load(x, i);", "new") in found
    assert len(found) == 7


def test_two_lines_that_say_the_same_have_not_moved():
    """Which of them would it be?"""
    old = [passage("a[i] = 1;", "f", "a.cu"), passage("a[i] = 1;\nint unlike;", "g", "a.cu", is_own=False)]
    new = [passage("return;", "f", "a.cu"), passage("a[i] = 1;", "h", "h.cuh", is_own=False)]
    kinds = [kind for _, _, kind in paired(old, new)]
    assert "moved" not in kinds


def test_kernels_of_two_names_belong_together_and_so_does_a_renamed_helper():
    old = [passage(OLD), passage("int at(int i) {\n return i;\n}", "at", "h.cuh", is_own=False)]
    new = [
        passage(OLD.replace("blur", "blur2"), "blur2", "blur2.cu"),
        passage("int at(int i) {\n return i;\n}", "place", "h.cuh", is_own=False),
    ]
    assert paired(old, new)[0] == (
        "__global__ void blur(float *x) {", "__global__ void blur2(float *x) {", "changed"
    )  # fmt: skip
    assert [kind for _, _, kind in paired(old, new)[1:]] == ["same"] * 8


def test_lines_without_a_text_are_known_by_their_numbers():
    old, new = (Passage("k", "k.cu", tuple(Line(n, "") for n in numbers), True) for numbers in ((3, 5), (3, 6)))
    assert [pair.kind for pair in line_pairs([old], [new])] == ["same", "gone", "new"]


def test_nothing_and_something():
    assert paired([], []) == []
    assert paired([passage("a;")], []) == [("a;", None, "gone")]
    assert paired([], [passage("a;")]) == [(None, "a;", "new")]


texts = st.lists(st.sampled_from(["a = b;", "a = c;", "sync();", "}", "", "return a + b;", "x[i] = 0;"]), max_size=12)
sides = st.lists(st.tuples(st.sampled_from("fgh"), st.sampled_from(["a.cu", "b.cuh"]), texts), max_size=3)


@given(sides, sides)
def test_each_line_is_in_one_pair(before, after):
    old, new = (
        [
            Passage(function, path, tuple(Line(n, text) for n, text in enumerate(lines, 1)), place == 0)
            for place, (function, path, lines) in enumerate(side)
        ]
        for side in (before, after)
    )
    pairs = line_pairs(old, new)
    for place, side in enumerate((old, new)):
        spots = [pair[place] for pair in pairs if pair[place]]
        wanted = [(number, line) for number, each in enumerate(side) for line in range(len(each.lines))]
        assert sorted(spots) == wanted
    for pair in pairs:
        assert (pair.old is None, pair.new is None) == (pair.kind == "new", pair.kind == "gone")
        if pair.kind in ("same", "moved"):
            was, now = old[pair.old.passage].lines[pair.old.line], new[pair.new.passage].lines[pair.new.line]
            assert was.text == now.text
