"""Runs the tour as a reader would: every sh block of docs/tour.md in one shell, one after the other.

What a block prints must be what the text block behind it shows; an ellipsis stands for anything within a line.

  tour_check.py TOUR PROGRAM            check
  tour_check.py TOUR PROGRAM --write    put what was printed into the page, with ids and times left out
"""

import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile

LIMIT_SECONDS = 120
BLOCK = re.compile(r"^```sh\n(.*?)^```\n(?:```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
MARK = "=== end of block ==="
ANYTHING = "…"
# What differs from run to run.
CHANGING = [
    (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", ANYTHING),
    (r"cmd_[0-9a-f]{32}", "cmd_" + ANYTHING),
    (r"\d{4}-\d\d-\d\dT[0-9:.]+Z", ANYTHING),
    (r"(?m)^(Date): .*$", r"\1: " + ANYTHING),
    (r"127\.0\.0\.1:\d+", "127.0.0.1:" + ANYTHING),
]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def tidied(output):
    """Without blanks at the ends of lines, and without what bash has to say of a job that was killed."""
    lines = [line.rstrip() for line in output.splitlines()]
    return "".join(line + "\n" for line in lines if not re.match(r"\S+: line \d+: +\d+ Killed ", line))


def run(blocks, program, directory):
    """What each block printed. Ends with the first one that fails."""
    script = "".join(f"{block}\necho '{MARK}'\n" for block in blocks)
    environment = {**os.environ, "ORDERS": program, "PORT": str(free_port()), "TMPDIR": directory,
                   "LC_ALL": "C.UTF-8"}
    # A session of its own, so that whatever the tour leaves running ends with it.
    shell = subprocess.Popen(["bash", "-e", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, env=environment, start_new_session=True)
    try:
        output, _ = shell.communicate(timeout=LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(shell.pid, signal.SIGKILL)
        output, _ = shell.communicate()
        sys.exit(f"the tour took more than {LIMIT_SECONDS} s; so far it printed\n{output}")
    finally:
        try:
            os.killpg(shell.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    printed = [tidied(text) for text in output.split(MARK + "\n")]
    if shell.returncode != 0 or len(printed) != len(blocks) + 1:
        sys.exit(f"block {len(printed)} of the tour failed with {shell.returncode}:\n{blocks[len(printed) - 1]}\n"
                 f"it printed\n{printed[-1]}")
    return printed[:-1]


def complaint(expected, printed):
    wanted, got = expected.splitlines(), printed.splitlines()
    for number, (one, other) in enumerate(zip(wanted, got), 1):
        if not re.fullmatch(".+?".join(map(re.escape, one.split(ANYTHING))), other):
            return f"line {number} should be\n  {one}\nand is\n  {other}"
    return None if len(wanted) == len(got) else f"{len(wanted)} lines were expected, {len(got)} came:\n{printed}"


def masked(printed):
    for pattern, replacement in CHANGING:
        printed = re.sub(pattern, replacement, printed)
    return printed


def main():
    # Whoever ends this ends what it started too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("the tour was ended from outside"))
    tour, program = pathlib.Path(sys.argv[1]), sys.argv[2]
    page = tour.read_text(encoding="utf-8")
    found = list(BLOCK.finditer(page))
    if len(found) < 10:
        sys.exit(f"{tour}: only {len(found)} blocks to run; is it still a tour?")
    with tempfile.TemporaryDirectory() as directory:
        printed = run([match[1] for match in found], program, directory)
    if "--write" in sys.argv[3:]:
        for match, text in reversed(list(zip(found, printed))):
            if match[2] is not None:
                page = page[:match.start(2)] + masked(text) + page[match.end(2):]
        tour.write_text(page, encoding="utf-8")
        return
    for match, text in zip(found, printed):
        if wrong := complaint(match[2] or "", text):
            sys.exit(f"{tour}: the block\n{match[1]}prints something else than the page says: {wrong}")
    print(f"{len(found)} blocks, each as the page says")


main()
