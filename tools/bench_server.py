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

TRANSACTIONS = 500
OWN_PROCESSES = 4  # Checkpointer, background writer, log writer, logical replication; autovacuum is off.
PATIENCE = 120  # Seconds, for anything that a server under callgrind has to do.


def server_instructions(programs: Path) -> dict[str, float]:
    """Of three posted statements with their mark and COMMIT, as Semel and as pgbench send them."""
    with server(programs) as counted:
        semel = counted.each(lambda count: [programs / "transact_instructions", counted.address, count])
        pgbench = counted.each(lambda count: [counted.binaries / "pgbench", "-n", "-M", "prepared", "-t", count, "-D", "first=1", "-f", counted.script, *counted.where, "postgres"])
    return {"server_instructions": semel, "server_instructions_ratio": semel / pgbench}


class CountedServer:
    def __init__(self, folder: Path, port: int, binaries: Path) -> None:
        self.folder, self.binaries = folder, binaries
        self.process: subprocess.Popen | None = None
        self.where = ["-h", "127.0.0.1", "-p", port, "-U", "postgres"]
        self.address = f"host=127.0.0.1 port={port} user=postgres dbname=postgres"
        self.script = folder / "script.sql"

    def each(self, client) -> float:
        """What the client's sessions cost per transaction: their beginning cancels out between two runs."""
        few, many = (self.cost_of(client(count)) for count in (TRANSACTIONS, 2 * TRANSACTIONS))
        return (many - few) / TRANSACTIONS

    def cost_of(self, argv: list) -> int:
        """Of all sessions of the client. Their processes write their counts before they end."""
        self.await_end_of_sessions()
        before = set(self.folder.glob("out.*"))
        subprocess.run([str(word) for word in argv], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=PATIENCE)
        self.await_end_of_sessions()
        return sum(self.total_of(out) for out in set(self.folder.glob("out.*")) - before)

    def await_end_of_sessions(self) -> None:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        awaited(lambda: len(children.read_text().split()) <= OWN_PROCESSES, "a session does not end")

    @staticmethod
    def total_of(out: Path) -> int:
        total = re.search(r"^(?:totals|summary): (\d+)", out.read_text(), re.MULTILINE)
        return int(total[1]) if total else sys.exit(f"bench: callgrind wrote no total into {out.name}")


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
    binaries = max(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    user = {"user": "postgres", "group": pwd.getpwnam("postgres").pw_gid, "extra_groups": []} if os.geteuid() == 0 else {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if user:
            os.chown(folder, pwd.getpwnam("postgres").pw_uid, user["group"])
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        counted = CountedServer(folder, port, binaries)
        counted.script.write_text(subprocess.run([programs / "transact_instructions", "--script"], check=True, capture_output=True, text=True).stdout)
        subprocess.run([binaries / "initdb", "-D", folder / "data", "-A", "trust", "-U", "postgres"], check=True, stdout=subprocess.DEVNULL, cwd=folder, **user)
        settings = [word for setting in (f"port={port}", "listen_addresses=127.0.0.1", f"unix_socket_directories={folder}", "autovacuum=off", "checkpoint_timeout=1h", "fsync=off") for word in ("-c", setting)]
        valgrind = ["valgrind", "--quiet", "--tool=callgrind", "--trace-children=yes", f"--callgrind-out-file={folder}/out.%p"]
        counted.process = process = subprocess.Popen([*valgrind, binaries / "postgres", "-D", folder / "data", *settings], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder, **user)
        try:
            ready = [str(word) for word in (binaries / "pg_isready", "-q", *counted.where)]
            awaited(lambda: subprocess.run(ready).returncode == 0, "the server under callgrind did not start")
            schema = subprocess.run([programs / "transact_instructions", "--schema"], check=True, capture_output=True, text=True).stdout
            subprocess.run([str(word) for word in (binaries / "psql", "-q", *counted.where, "postgres")], input=schema, text=True, check=True, timeout=PATIENCE)
            yield counted
        finally:
            process.terminate()
            try:
                process.wait(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
