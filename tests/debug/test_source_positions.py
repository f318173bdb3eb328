"""Positions of the source: when a variable, which optimized code has, is what it is at a line.

0  line 1  x = 1;
1  line 1                       behind the change
2  line 2  while (c)
3  line 3      x = 2;
4  line 4      use(x);          behind the change; then back to 2
5  line 5  if (d)
6  line 6      y = 1;
7  line 7  use(x, y);           ways meet; behind the change of y
8  line 8  return
"""

from gpuprof.compile.variables.positions import Positions as Marked, mark_positions
from gpuprof.debug.source_positions import Positions

X, Y = 10, 11
POSITIONS = Positions(
    lines=[1, 1, 2, 3, 4, 5, 6, 7, 8],
    following=[[1], [2], [3, 5], [4], [2], [6, 7], [7], [8], []],
    sets={str(X): [1, 4], str(Y): [7]},
    ends=[8],
)


def agreeing(variable: int, line: int) -> list[int]:
    return [position for position in range(9) if POSITIONS.agree(variable, line, {position}, False)]


def test_a_variable_is_the_same_where_nothing_changes_it_on_the_way():
    assert agreeing(X, 4) == [4]
    # From line 3 the change comes next; in front of the loop the code may not come to line 3.
    assert agreeing(X, 3) == [3]
    assert agreeing(X, 5) == [5, 6, 7, 8]
    assert agreeing(Y, 5) == [5, 6]  # in front of a loop nobody knows whether it ends
    # Not all that come to line 5 come to line 6.
    assert agreeing(Y, 6) == [6]


def test_all_that_the_code_may_have_come_to_has_to_agree():
    assert POSITIONS.agree(X, 5, {5, 7}, False)
    assert not POSITIONS.agree(X, 5, {3, 5}, False)
    assert not POSITIONS.agree(X, 5, (), False)


def test_behind_the_end_of_an_inlined_call_nothing_is_known():
    assert POSITIONS.agree(X, 8, {8}, False) and not POSITIONS.agree(X, 8, {8}, True)


def test_a_value_lasts_up_to_a_change_that_llvm_has_dropped():
    assert POSITIONS.lasts(X, {4}, {2, 4, 5, 7})
    assert POSITIONS.lasts(X, {1}, {1}) and not POSITIONS.lasts(X, {1}, {4})
    assert not POSITIONS.lasts(X, {1}, {5})  # the loop may have turned
    assert not POSITIONS.lasts(X, {-1}, {4})


def test_what_is_said_belongs_to_a_change_or_to_where_ways_meet():
    assert POSITIONS.is_set(X, {3}, 4)
    assert POSITIONS.is_set(X, {5}, 7) and POSITIONS.is_set(X, {5, 6}, 7)
    # The head of a loop has to be what comes next, and at line 5 no ways meet.
    assert POSITIONS.is_set(X, {1, 4}, 2) and not POSITIONS.is_set(X, {3}, 2)
    assert not POSITIONS.is_set(X, {2}, 5)


def test_leaving_a_loop():
    assert POSITIONS.leaves({4}, {5}) and not POSITIONS.leaves({4}, {2, 3}) and not POSITIONS.leaves({1}, {5})


SOURCE = """\
define void @k(i32 %n) !dbg !1 {
  %x = alloca i32, align 4
  store i32 %n, ptr %x, align 4
    #dbg_declare(ptr %x, !2, !DIExpression(), !3)
  store i32 5, ptr %x, align 4, !dbg !3
  br i1 true, label %done, label %more, !dbg !4

more:
  call void @f(), !dbg !4
  br label %done, !dbg !4

done:
  ret void, !dbg !5
}
!1 = distinct !DISubprogram(name: "k", line: 1)
!2 = !DILocalVariable(name: "x", scope: !1, line: 2)
!3 = !DILocation(line: 2, scope: !1)
!4 = !DILocation(line: 3, scope: !1)
!5 = !DILocation(line: 4, scope: !1)
"""


def test_positions_of_a_function():
    marked, positions = mark_positions(SOURCE)
    body = [line.partition(", !6,")[0].strip() for line in marked.split("\n")[1:17] if line and "declare" not in line]
    assert body == [
        "#dbg_value(i32 0",
        "%x = alloca i32, align 4",
        "store i32 %n, ptr %x, align 4",
        "#dbg_value(i32 1",
        "store i32 5, ptr %x, align 4, !dbg !3",
        "#dbg_value(i32 2",
        "br i1 true, label %done, label %more, !dbg !4",
        "more:",
        "#dbg_value(i32 3",
        "call void @f(), !dbg !4",
        "br label %done, !dbg !4",
        "done:",
        "#dbg_value(i32 4",
    ]
    assert positions == [Marked([0, 2, 3, 3, 4], [[1], [2], [3, 4], [4], []], {"x:2": [1, 2]}, [4])]
