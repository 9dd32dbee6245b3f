#!/usr/bin/env python3
"""Every failpoint of the code, and whether a process was killed there and everything held afterwards.

  points.py BIN_FOLDER

Runs the crash tests of each part, which kill real processes at named failpoints, restart them and check what must hold; each
kill leaves the failpoint's name in a file. The list from the code must be the list of kills: a new failpoint cannot be
forgotten.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Program and filter of the tests that kill.
SUITES = [
    ("crash_pgtest", "*CrashTest*"),
    ("relay_tests_pgtest", "*RelayCrash*"),
    ("consuming_tests_pgtest", "*ConsumerCrash*"),
    ("leased_pgtest", "*Crash*"),
    ("cdc_tests_pgtest", "*Crash*"),
    ("kafka_source_realtest", "*Transaction*"),
]

# Where a process comes only if its clock runs on in the middle of a COMMIT: visited by a hook, nobody is killed there.
BY_A_HOOK = {"call.not_begun": "leased_test"}


def failpoints() -> set[str]:
    found: dict[str, Path] = {}
    for folder in ("semel", "apps"):
        for source in sorted((ROOT / folder).rglob("*.cpp")):
            if "test" in source.name:
                continue
            for name in re.findall(r'SEMEL_FAILPOINT\("([^"]+)"\)', source.read_text()):
                if name in found:
                    sys.exit(f"crash: {name} stands in {found[name]} and in {source}")
                found[name] = source
    return set(found)


def run(program: Path, tests: str, log: Path) -> str:
    environment = os.environ | {"SEMEL_FAILPOINT_LOG": str(log)}
    done = subprocess.run([program, f"--gtest_filter={tests}", "--gtest_brief=1"], env=environment, capture_output=True, text=True, timeout=900)
    if done.returncode != 0:
        return done.stdout[-4000:] + done.stderr[-2000:]
    return "skipped: " + done.stdout if "SKIPPED" in done.stdout else ""


def main() -> int:
    programs = Path(sys.argv[1])
    expected = failpoints()
    verdicts: dict[str, str] = {}
    troubles = []
    with tempfile.TemporaryDirectory() as folder:
        for program, tests in SUITES:
            log = Path(folder) / program
            trouble = run(programs / program, tests, log)
            if trouble:
                troubles.append(f"{program}: {trouble}")
            for name in log.read_text().split() if log.exists() else []:
                verdicts[name] = f"killed and held ({program})" if not trouble else f"FAILED ({program})"
    for name, program in BY_A_HOOK.items():
        verdicts.setdefault(name, f"visited, nobody killed ({program})")
    width = max(map(len, expected))
    for name in sorted(expected | set(verdicts)):
        print(f"{name:{width}}  {verdicts.get(name, 'NEVER VISITED') if name in expected else 'NOT IN THE CODE'}")
    missing = expected - set(verdicts)
    print(f"crash: {len(expected)} enumerated, {len(expected & set(verdicts))} visited, {len(troubles)} suites failed")
    for trouble in troubles:
        print(trouble, file=sys.stderr)
    return 1 if missing or troubles else 0


if __name__ == "__main__":
    sys.exit(main())
