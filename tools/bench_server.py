"""Counts the instructions that PostgreSQL spends on one transaction: its processes run under callgrind."""

import contextlib
import os
import pwd
import re
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WARM_UP = 10_000  # Until the pages of the accounts are full, and cleared out by whoever comes.
FEW, MANY = 1_000, 4_000
PATIENCE = 120  # Seconds, for anything that a server under callgrind has to do.


def server_instructions(programs: Path) -> dict[str, float]:
    """Of three posted statements with their mark and COMMIT, as Semel and as pgbench send them."""
    with server(programs) as counted:
        def semel(count: int) -> int:
            return counted.cost_of([programs / "transact_instructions", counted.address, count])

        def pgbench(count: int) -> int:
            return counted.cost_of([counted.binaries / "pgbench", "-n", "-M", "prepared", "-t", count, "-D", "first=1", "-f", counted.script, *counted.where, "postgres"])

        pgbench(WARM_UP)
        # What a session's beginning costs cancels out. Each side comes first once, since the tables grow.
        few_by_semel, few_by_pgbench = semel(FEW), pgbench(FEW)
        many_by_pgbench, many_by_semel = pgbench(MANY), semel(MANY)
    of_semel, of_pgbench = many_by_semel - few_by_semel, many_by_pgbench - few_by_pgbench
    return {"server_instructions": of_semel / (MANY - FEW), "server_instructions_ratio": of_semel / of_pgbench}


class CountedServer:
    def __init__(self, folder: Path, port: int, binaries: Path) -> None:
        self.folder, self.binaries = folder, binaries
        self.children: Path | None = None  # Where the kernel tells the server's processes.
        self.own_processes = 0  # Of them while there is no session.
        self.where = ["-h", "127.0.0.1", "-p", port, "-U", "postgres"]
        self.address = f"host=127.0.0.1 port={port} user=postgres dbname=postgres"
        self.script = folder / "script.sql"

    def cost_of(self, argv: list) -> int:
        """Of all sessions of the client. Their processes write their counts before they end."""
        self.await_end_of_sessions()
        before = set(self.folder.glob("out.*"))
        spoken(argv)
        self.await_end_of_sessions()
        return sum(total_of(out) for out in set(self.folder.glob("out.*")) - before)

    def await_end_of_sessions(self) -> None:
        awaited(lambda: len(self.children.read_text().split()) <= self.own_processes, "a session does not end")


def total_of(dump: Path) -> int:
    """The instructions in what callgrind wrote."""
    totals = re.search(r"^(?:totals|summary): (\d+)", dump.read_text(), re.MULTILINE)
    if totals is None:
        sys.exit(f"bench: callgrind wrote no total into {dump}")
    return int(totals[1])


def spoken(argv: list, **more) -> str:
    """What the program prints. If it fails, what it says goes out."""
    done = subprocess.run([str(word) for word in argv], capture_output=True, text=True, timeout=PATIENCE, **more)
    if done.returncode != 0:
        sys.exit(f"bench: {Path(argv[0]).name} failed with exit code {done.returncode}\n{done.stderr}{done.stdout}")
    return done.stdout


def awaited(look, complaint: str):
    end = time.monotonic() + PATIENCE
    while not (found := look()):
        if time.monotonic() > end:
            sys.exit(f"bench: {complaint}")
        time.sleep(0.2)
    return found


@contextlib.contextmanager
def server(programs: Path):
    """A cluster of its own on loopback, with the tables of the transaction. As root it runs as the user postgres."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    if not installed:
        sys.exit("bench: no PostgreSQL server in /usr/lib/postgresql; `make setup` brings one")
    binaries = installed[-1]
    user = {"user": "postgres", "group": pwd.getpwnam("postgres").pw_gid, "extra_groups": []} if os.geteuid() == 0 else {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if user:
            os.chown(folder, pwd.getpwnam("postgres").pw_uid, user["group"])
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        counted = CountedServer(folder, port, binaries)
        counted.script.write_text(spoken([programs / "transact_instructions", "--script"]))
        spoken([binaries / "initdb", "-D", folder / "data", "-A", "trust", "-U", "postgres"], cwd=folder, **user)
        settings = [word for setting in (f"port={port}", "listen_addresses=127.0.0.1", f"unix_socket_directories={folder}", "autovacuum=off", "checkpoint_timeout=1h", "fsync=off", "lc_messages=C") for word in ("-c", setting)]
        valgrind = ["valgrind", "--quiet", "--tool=callgrind", "--trace-children=yes", f"--callgrind-out-file={folder}/out.%p"]
        log = folder / "log"
        with log.open("w") as words:
            process = subprocess.Popen([*valgrind, binaries / "postgres", "-D", folder / "data", *settings], stdout=words, stderr=words, cwd=folder, **user)
        counted.children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        try:
            def ready() -> bool:
                if process.poll() is not None:
                    sys.exit(f"bench: the server under callgrind ended with exit code {process.returncode}\n{log.read_text()}")
                return "ready to accept connections" in log.read_text()

            awaited(ready, "the server under callgrind did not start")
            time.sleep(1)  # The last of its own processes starts behind that line.
            counted.own_processes = len(counted.children.read_text().split())
            spoken([binaries / "psql", "-q", "-v", "ON_ERROR_STOP=1", *counted.where, "postgres"], input=spoken([programs / "transact_instructions", "--schema"]) + "VACUUM ANALYZE account;")
            yield counted
        finally:
            process.terminate()
            try:
                process.wait(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
