#!/usr/bin/env python3
"""Every failpoint of the code, and whether a process was killed there and everything held afterwards.

  points.py BIN_FOLDER [LOG_FOLDER]

The crash tests of each part kill real processes at named failpoints, restart them and check what must hold; each kill leaves the
failpoint's name in a file. The list from the code must be the list of kills: a new failpoint cannot be forgotten.

Those of `semel/kafka` need a Kafka broker; where there is none, that is said, and they are left out.

In a run of all tests each entry of ctest has left its file in LOG_FOLDER by now, and its own verdict. Those are read and removed, so
that the next run finds none of them; the crash tests of a part that has left none are run.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Program and filter of the tests that kill, and the entries of ctest that run them.
SUITES = [
    ("crash_pgtest", "*CrashTest*", ["crash_pgtest", "crash_sqlite"]),
    ("relay_tests_pgtest", "*RelayCrash*", ["relay_tests_pgtest", "relay_sqlite"]),
    ("consuming_tests_pgtest", "*ConsumerCrash*", ["consuming_tests_pgtest", "consuming_sqlite"]),
    ("leased_pgtest", "*Crash*", ["leased_pgtest", "leased_sqlite"]),
    ("cdc_tests_pgtest", "*Crash*", ["cdc_tests_pgtest"]),
    ("kafka_source_realtest", "*Transaction*", ["kafka_source_realtest"]),
]


NO_BROKER = "no Kafka broker"


def failpoints() -> dict[str, Path]:
    found: dict[str, Path] = {}
    for folder in ("semel", "apps"):
        for source in sorted((ROOT / folder).rglob("*.cpp")):
            if "test" in source.name:
                continue
            for name in re.findall(r'SEMEL_FAILPOINT\("([^"]+)"\)', source.read_text()):
                if name in found:
                    sys.exit(f"crash: {name} stands in {found[name]} and in {source}")
                found[name] = source
    return found


def run(program: Path, tests: str, log: Path) -> str:
    environment = os.environ | {"SEMEL_FAILPOINT_LOG": str(log)}
    done = subprocess.run([program, f"--gtest_filter={tests}", "--gtest_brief=1"], env=environment, capture_output=True, text=True, timeout=900)
    if done.returncode != 0:
        return done.stdout[-4000:] + done.stderr[-2000:]
    if "SKIPPED" not in done.stdout:
        return ""
    return NO_BROKER if NO_BROKER in done.stdout else "skipped: " + done.stdout


def left_by(program: Path, entries: list[Path]) -> list[str] | None:
    """Where these entries have killed in this run of ctest; None if one of them has not, or not by the program as it is now."""
    there = [entry for entry in entries if entry.exists() and entry.stat().st_mtime > program.stat().st_mtime]
    names = [name for entry in there for name in entry.read_text().split()]
    for entry in there:
        entry.unlink()
    return names if there == entries else None


def main() -> int:
    programs = Path(sys.argv[1])
    left = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    places = failpoints()
    expected = set(places)
    verdicts: dict[str, str] = {}
    troubles = []
    with tempfile.TemporaryDirectory() as folder:
        for program, tests, entries in SUITES:
            names = left_by(programs / program, [left / entry for entry in entries]) if left else None
            trouble = ""
            if names is None:
                log = Path(folder) / program
                trouble = run(programs / program, tests, log)
                names = log.read_text().split() if log.exists() else []
            if trouble == NO_BROKER:
                out_of_reach = {name for name, source in places.items() if source.parent.name == "kafka"}
                expected -= out_of_reach
                print(f"crash: {NO_BROKER}: {len(out_of_reach)} failpoints of semel/kafka are not visited here")
            elif trouble:
                troubles.append(f"{program}: {trouble}")
            for name in names:
                verdicts[name] = f"killed and held ({program})" if not trouble else f"FAILED ({program})"
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
