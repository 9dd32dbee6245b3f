#!/usr/bin/env python3
"""The rules of the repository, checked: `make tidy`, and tidy_test in `make test`.

Prints file:line: rule: what to do instead, and fails if there is any. One line is excused, with its reason, by

    // tidy: allow(<rule>): <reason>

at its end or alone on the line before. An excuse without a reason, or one that excuses nothing, is a finding too.

    tests/tidy/tidy.py [--root DIR] [--quiet]
"""

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import clocks
import layers
import sql
import text
import tree
from source import Finding, Source

RULES = [layers.check, sql.check, clocks.check, text.check]
SUFFIXES = {
    ".hpp", ".cpp", ".h", ".c", ".py", ".sh", ".sql", ".md", ".txt", ".cmake", ".in", ".json", ".toml", ".yml", ".yaml",
    ".ts", ".tsx", ".css", ".html", ".proto",
}
NAMES = {"Makefile", "Dockerfile", "CMakeLists.txt", ".clang-format", ".clang-tidy", ".gitignore", "run"}
SKIPPED_FOLDERS = {".git", ".cache", "build", "node_modules", "__pycache__"}
SKIPPED = {"tests/tidy/fixtures"}


def sources_of(root: Path) -> list[Source]:
    found = []
    for folder, folders, files in os.walk(root):
        here = Path(folder)
        folders[:] = sorted(
            name for name in folders if name not in SKIPPED_FOLDERS and (here / name).relative_to(root).as_posix() not in SKIPPED
        )
        for name in sorted(files):
            path = here / name
            in_tools = here == root / "tools"
            if path.suffix in SUFFIXES or name in NAMES or (in_tools and not path.suffix):
                found.append(Source(root, path))
    return found


def findings_of(root: Path) -> tuple[list[Finding], list[Finding]]:
    """What breaks a rule, and what is only worth a look."""
    sources = sources_of(root)
    by_path = {str(source.path): source for source in sources}
    raw = [finding for source in sources for rule in RULES for finding in rule(source)]
    raw += tree.check(root, sources)
    findings = [finding for finding in raw if not excused(by_path.get(finding.path), finding)]
    findings += [finding for source in sources for finding in bad_allowances(source)]
    worth_a_look = [finding for source in sources for finding in text.warnings(source)]
    return sorted(set(findings), key=lambda finding: (finding.path, finding.line, finding.rule)), worth_a_look


def excused(source: Source | None, finding: Finding) -> bool:
    excuses = [
        allowance
        for allowance in (source.allowances if source else [])
        if finding.line == allowance.excuses and finding.rule in allowance.rules and allowance.reason
    ]
    for allowance in excuses:
        allowance.used.add(finding.rule)
    return bool(excuses)


def bad_allowances(source: Source) -> Iterator[Finding]:
    for allowance in source.allowances:
        # Documentation shows the form with <rule> or … in the place of a rule: that is no allowance.
        if not allowance.rules:
            continue
        if not allowance.reason:
            yield source.finding(allowance.line, "allow", "give the reason: // tidy: allow(<rule>): <reason>")
        for rule in allowance.rules:
            if allowance.reason and rule not in allowance.used:
                yield source.finding(allowance.line, "allow", f"nothing here breaks '{rule}'; remove the allowance")


def main() -> int:
    parser = argparse.ArgumentParser(description="Checks the rules of the repository.")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    parser.add_argument("--quiet", action="store_true", help="print findings only, not what is worth a look")
    arguments = parser.parse_args()
    findings, worth_a_look = findings_of(arguments.root)
    if not arguments.quiet:
        for warning in worth_a_look:
            print(f"{warning} (a hint, no failure)")
    for finding in findings:
        print(finding)
    print(f"tidy: {len(findings)} findings" if findings else "tidy: clean")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
