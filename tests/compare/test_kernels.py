"""Kernels and launches of two profiles that belong together."""

from gpuprof.compare.kernels import KernelName, KernelPair, paired_kernels
from gpuprof.compare.launches import Launched, paired_launches
from gpuprof.compare.pairing import alike


def kernel(number: int, name: str, module: str = "a.cu", symbol: str = "") -> KernelName:
    return KernelName(number, name, symbol or f"_Z{name}", module)


def pairs_of(old, new, words=None):
    pairs, gone, come = paired_kernels(old, new, *(lambda each, side=side: (words or {}).get((side, each.name), []) for side in "on"))  # fmt: skip  # noqa: E501
    return (
        [(pair.old.number, pair.new.number, pair.by) for pair in pairs],
        [k.name for k in gone],
        [k.name for k in come],
    )


def test_by_name_also_across_modules():
    old = [kernel(0, "f"), kernel(1, "g"), kernel(2, "only_old")]
    new = [kernel(5, "g", "b.cu"), kernel(6, "f"), kernel(7, "only_new")]
    assert pairs_of(old, new) == ([(1, 5, "name"), (0, 6, "name")], ["only_old"], ["only_new"])


def test_of_one_name_the_symbol_and_then_the_module_decides():
    old = [kernel(0, "f", "a.cu", "_Zfi"), kernel(1, "f", "a.cu", "_Zff"), kernel(2, "f", "b.cu", "_Zfd")]
    new = [kernel(3, "f", "b.cu", "_Zfd2"), kernel(4, "f", "a.cu", "_Zff"), kernel(5, "f", "a.cu", "_Zfi")]
    assert pairs_of(old, new)[0] == [(2, 3, "name"), (1, 4, "name"), (0, 5, "name")]


def test_a_renamed_kernel_is_known_by_its_instructions():
    words = {
        ("o", "scan"): ["LDG", "IADD", "STG", "EXIT"],
        ("o", "copy"): ["LDG", "STG", "EXIT"],
        ("n", "scan_v2"): ["LDG", "IADD", "IADD", "STG", "EXIT"],  # 8 of 9 are in both
        ("n", "sort"): ["BAR", "LDS", "STS", "EXIT"],
    }
    assert pairs_of([kernel(0, "copy"), kernel(1, "scan")], [kernel(0, "sort"), kernel(1, "scan_v2")], words) == (
        [(1, 1, "content")],
        ["copy"],
        ["sort"],
    )


def test_words_are_not_read_of_kernels_that_names_pair():
    def words(each):
        raise AssertionError(each)

    same = [kernel(0, "f")]
    assert paired_kernels(same, same, words, words) == ([KernelPair(same[0], same[0], "name")], [], [])


def test_alike_items_are_paired_best_first():
    old, new = {"a": "xxyz", "b": "xxy"}, {"c": "xxyz", "d": "xxyq"}
    assert alike(list(old), list(new), old.__getitem__, new.__getitem__, 0.5) == [("a", "c"), ("b", "d")]
    assert alike(list(old), list(new), old.__getitem__, new.__getitem__, 1.0) == [("a", "c")]
    assert alike(["a"], ["b"], lambda _: "", lambda _: "", 0.5) == []


def launch(kernel: str, shape: str, ordinal: int = 1, module: str = "", shader=()) -> Launched:
    return Launched(kernel, shape, ordinal, module, shader)


def test_a_launch_that_was_put_in_moves_no_other_one():
    a, b, other = launch("k", "<<<1, 32>>>"), launch("k", "<<<2, 32>>>"), launch("k", "<<<9, 32>>>")
    found = paired_launches([a, b], [other, a, b])
    assert (found.pairs, found.old, found.new) == ([(a, a), (b, b)], [], [other])


def test_other_shapes_are_paired_in_their_order_unless_strict():
    old, new = [launch("k", "<<<1, 32>>>")], [launch("k", "<<<2, 32>>>"), launch("k", "<<<3, 32>>>")]
    assert paired_launches(old, new).pairs == [(old[0], new[0])]
    assert paired_launches(old, new, strict_shape=True).pairs == []
    elsewhere = [each._replace(module="b.cu") for each in new]
    assert paired_launches(old, elsewhere).pairs == []


def test_a_shader_belongs_to_the_draw_of_the_same_name():
    lamp, car = (launch("lit", "<<<1, 32>>>", n, "", ("pixel", name)) for n, name in ((1, "lamp"), (2, "car")))
    car_first, lamp_last = car._replace(ordinal=1), lamp._replace(ordinal=2)
    assert paired_launches([lamp, car], [car_first, lamp_last]).pairs == [(car, car_first), (lamp, lamp_last)]
