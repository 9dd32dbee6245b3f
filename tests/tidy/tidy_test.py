#!/usr/bin/env python3
"""The checker catches every kind of mistake in fixtures/, and nothing else there."""

import re
import tempfile
import unittest
from pathlib import Path

import tidy
from layers import DRIVERS, RANK, WIRING, reason_against

FIXTURES = Path(__file__).resolve().parent / "fixtures"
EXPECT = re.compile(r"expect(?P<next>-next)?: (?P<rules>[a-z-]+(?:, [a-z-]+)*)")
# Findings about something that is missing have no line to stand on.
MISSING = {
    ("semel/orphan/CMakeLists.txt", 1, "module-target"),
    ("semel/unrouted/CMakeLists.txt", 1, "module-target"),
    ("semel/inbox/CMakeLists.txt", 1, "module-target"),
}


def expected() -> set[tuple[str, int, str]]:
    found = set(MISSING)
    for path in FIXTURES.rglob("*"):
        if not path.is_file() or path.name == "README.md":
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            for match in EXPECT.finditer(line):
                for rule in match["rules"].split(", "):
                    found.add((path.relative_to(FIXTURES).as_posix(), number + (1 if match["next"] else 0), rule))
    return found


class Fixtures(unittest.TestCase):
    def test_every_mistake_is_found_where_it_is_and_nothing_else_is(self):
        findings, _ = tidy.findings_of(FIXTURES)
        found = {(finding.path, finding.line, finding.rule) for finding in findings}
        self.assertEqual(sorted(found - expected()), [], "reported although nothing is wrong")
        self.assertEqual(sorted(expected() - found), [], "wrong, but not reported")

    def test_every_finding_says_what_to_do_instead(self):
        findings, _ = tidy.findings_of(FIXTURES)
        for finding in findings:
            self.assertRegex(str(finding), r"^[^:]+:\d+: [a-z-]+: .{20,}$")

    def test_every_rule_has_a_fixture(self):
        here = Path(__file__).resolve().parent
        rules = set()
        for path in here.glob("*.py"):
            if path.name != "tidy_test.py":
                rules |= set(re.findall(r'finding\(\s*[^"]*?,\s*"([a-z-]+)"', path.read_text(encoding="utf-8")))
                rules |= set(re.findall(r'Finding\([^"]*"([a-z-]+)"', path.read_text(encoding="utf-8")))
        self.assertGreater(len(rules), 12)
        self.assertEqual(rules - {rule for _, _, rule in expected()} - {"long-file"}, set())


class Layers(unittest.TestCase):
    def test_each_layer_may_include_those_below_and_none_above_or_beside(self):
        for module, rank in RANK.items():
            for included, other in RANK.items():
                allowed = module == included or other < rank
                self.assertEqual(reason_against(module, included) == "", allowed, f"{module} -> {included}")

    def test_no_layer_includes_a_driver_and_no_driver_another(self):
        for driver in DRIVERS:
            for module in [*RANK, *(DRIVERS.keys() - {driver})]:
                self.assertNotEqual(reason_against(module, driver), "", f"{module} -> {driver}")

    def test_only_programs_include_the_wiring(self):
        for wiring in WIRING:
            self.assertEqual(reason_against(wiring, "postgres"), "")
            self.assertNotEqual(reason_against(wiring, "command"), "")
            for module in [*RANK, *DRIVERS]:
                self.assertNotEqual(reason_against(module, wiring), "", f"{module} -> {wiring}")

    def test_only_testing_includes_testing(self):
        for module in [*RANK, *DRIVERS, "telemetry"]:
            self.assertNotEqual(reason_against(module, "testing"), "")
            self.assertEqual(reason_against("testing", module), "")


class LongFiles(unittest.TestCase):
    def test_a_long_file_is_mentioned_but_does_not_fail(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "CMakeLists.txt").write_text("add_executable(long long.cpp)\n")
            (Path(folder) / "long.cpp").write_text("//\n" * 401)
            findings, worth_a_look = tidy.findings_of(Path(folder))
            self.assertEqual(findings, [])
            self.assertEqual([warning.rule for warning in worth_a_look], ["long-file"])


if __name__ == "__main__":
    unittest.main()
