"""Stages of work under way: who looks sees those that are open, outermost first."""

import threading

import pytest

from gpuprof.base.stages import counted, notified_when_idle, open_stages, stage


def seen() -> list[tuple]:
    return [(each.what, each.done, each.of, each.unit) for each in open_stages()]


def test_stages_are_open_inside_the_with():
    assert seen() == []
    with stage("", "launches", 3, each="launch") as launches:
        launches.done += 1
        with stage("compiling a.cu"):
            assert seen() == [("", 1, 3, "launches"), ("compiling a.cu", 0, None, "")]
        assert seen() == [("", 1, 3, "launches")]
    assert seen() == []


def test_an_error_ends_its_stages():
    with pytest.raises(ZeroDivisionError), stage("outer"), stage("inner"):
        raise ZeroDivisionError
    assert seen() == []


def test_numbers_are_brought_up_to_date_by_who_looks():
    table = [4]

    def look(shown):
        shown.done, shown.cycles = table[0], 10 * table[0]

    with stage("k", "blocks", 9, look=look) as made:
        assert made.done == 0
        assert seen() == [("k", 4, 9, "blocks")]
        table[0] = 5
        assert seen() == [("k", 5, 9, "blocks")]
        assert made.cycles == 50


def test_items_are_counted():
    found = [(item, seen()) for item in counted(["a", "b"], "optimizing", "functions")]
    assert found == [
        ("a", [("optimizing", 0, 2, "functions")]),
        ("b", [("optimizing", 1, 2, "functions")]),
    ]
    assert seen() == []


def test_a_loop_that_is_left_ends_its_stage():
    with pytest.raises(ZeroDivisionError):
        for _ in counted([1, 2], "", "launches"):
            raise ZeroDivisionError
    assert seen() == []


def test_idle_is_told_when_the_last_one_ends():
    told = []
    with notified_when_idle(lambda: told.append(seen())):
        with stage("outer"):
            with stage("inner"):
                pass
            assert told == []
        assert told == [[]]
    with stage("nobody listens"):
        pass
    assert told == [[]]


def test_stages_of_another_thread_are_seen():
    opened, over = threading.Event(), threading.Event()

    def work():
        with stage("on a thread"):
            opened.set()
            over.wait(10)

    thread = threading.Thread(target=work)
    thread.start()
    opened.wait(10)
    with stage("here"):
        assert seen() == [("on a thread", 0, None, ""), ("here", 0, None, "")]
        over.set()
        thread.join()
        assert seen() == [("here", 0, None, "")]
