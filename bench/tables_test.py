#!/usr/bin/env python3
"""The chart and the summary of tools/bench say what was measured."""

import importlib.machinery
import importlib.util
import re
import sys
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[1] / "tools"
sys.path.insert(0, str(TOOLS))
import bench_chart


def load_bench():
    loader = importlib.machinery.SourceFileLoader("bench", str(TOOLS / "bench"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench", loader))
    sys.modules["bench"] = module  # dataclasses look their module up by name.
    loader.exec_module(module)
    return module


bench = load_bench()
THEN = {"when": "2026-01-31T12:00:00+00:00", "load": 0.5}
NOW = {"when": "2026-02-01T12:00:00+00:00", "load": 0.1}
MORE = bench.Limit("part", "more", "more <is> better", at_least=0.8)
LESS = bench.Limit("part", "less", "less is better", at_most=64)
NOTHING = bench.Limit("part", "nothing", "allocations", at_most=0)
FREE = bench.Limit("part", "free", "without a limit")


def drawn(*rows: dict) -> str:
    return bench_chart.chart({"when": NOW["when"], "cores": 2, "figures": list(rows)})


def bar(svg: str, kind: str) -> float:
    return float(re.search(rf'<rect class="{kind}" [^>]*width="([0-9.]+)"', svg)[1])


class Chart(unittest.TestCase):
    limit_at = 1 / bench_chart.SHOWN_MAX * bench_chart.BARS

    def test_a_bar_reaches_the_line_exactly_if_the_limit_is_met(self):
        self.assertAlmostEqual(bar(drawn(bench.told(MORE, 0.8, NOW)), "pass"), self.limit_at, delta=0.1)
        self.assertGreater(bar(drawn(bench.told(LESS, 32, NOW)), "pass"), self.limit_at)
        self.assertLess(bar(drawn(bench.told(MORE, 0.7, NOW)), "miss"), self.limit_at)
        self.assertLess(bar(drawn(bench.told(LESS, 65, NOW)), "miss"), self.limit_at)

    def test_a_missed_limit_is_told_in_words_too(self):
        self.assertIn("missed", drawn(bench.told(MORE, 0.7, NOW)))
        self.assertNotIn("missed", drawn(bench.told(MORE, 0.9, NOW)))

    def test_what_goes_far_beyond_ends_in_a_notch(self):
        svg = drawn(bench.told(MORE, 80, NOW))
        self.assertIn('class="notch"', svg)
        self.assertEqual(bar(svg, "pass"), bench_chart.BARS)

    def test_a_limit_of_nothing_is_told_in_words(self):
        self.assertIn("allocations: 0 (≤ 0)", drawn(bench.told(NOTHING, 0, NOW)))

    def test_what_has_no_limit_is_left_out_and_text_is_escaped(self):
        svg = drawn(bench.told(FREE, 3, NOW), bench.told(MORE, 0.9, NOW))
        self.assertNotIn("without a limit", svg)
        self.assertIn("more &lt;is&gt; better", svg)


class Summary(unittest.TestCase):
    def test_keeps_what_was_not_measured_again_and_holds_it_against_the_limits_of_today(self):
        first, second = bench.LIMITS[0], bench.LIMITS[1]
        old = [bench.told(first, 1e9, THEN), bench.told(second, 0, THEN) | {"met": False}]
        rows = bench.with_old_ones([bench.told(first, 2, NOW)], old)
        self.assertEqual([row["figure"] for row in rows], [first.figure, second.figure])
        self.assertEqual([row["value"] for row in rows], [2, 0])
        self.assertEqual([row["when"] for row in rows], [NOW["when"], THEN["when"]])
        self.assertTrue(rows[1]["met"])

    def test_forgets_figures_that_are_no_longer_in_the_table(self):
        self.assertEqual(bench.with_old_ones([], [bench.told(FREE, 3, THEN)]), [])


if __name__ == "__main__":
    unittest.main()
