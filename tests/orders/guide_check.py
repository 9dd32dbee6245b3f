"""The diff in docs/guides/add-a-command.md still applies to the tree, and four files are enough.

  guide_check.py GUIDE ROOT       check against the tree at ROOT, which stays as it is
  guide_check.py GUIDE --print    only print the diff
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FILES_MAX = 4
BLOCK = re.compile(r"^```diff\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
OLD = re.compile(r"^--- a/(\S+)$", re.MULTILINE)
NEW = re.compile(r"^\+\+\+ b/(\S+)$", re.MULTILINE)


def apply(diff, directory):
    # Not as part of a repository that the directory may happen to lie in.
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(directory.parent)}
    done = subprocess.run(["git", "apply", "-"], cwd=directory, env=environment, input=diff, text=True,
                          capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"the diff of the guide does not apply any more:\n{done.stderr}")


def main():
    guide = pathlib.Path(sys.argv[1])
    diff = "".join(BLOCK.findall(guide.read_text(encoding="utf-8")))
    if sys.argv[2] == "--print":
        print(diff, end="")
        return
    root = pathlib.Path(sys.argv[2])
    files = NEW.findall(diff)
    if not 0 < len(set(files)) <= FILES_MAX:
        sys.exit(f"the diff of the guide touches {len(set(files))} files; it may touch {FILES_MAX}: {files}")
    contracts = [file for file in files if file.startswith("docs/events/")]
    if not contracts or not any(file.startswith("tests/") for file in files):
        sys.exit(f"the diff of the guide lacks a test or the contract of an event: {files}")
    with tempfile.TemporaryDirectory() as name:
        copy = pathlib.Path(name).resolve()
        for file in OLD.findall(diff):
            (copy / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / file, copy / file)
        apply(diff, copy)
        for file in files:
            if not (copy / file).is_file() or (root / file).is_file() != (file in OLD.findall(diff)):
                sys.exit(f"{file} is not what the diff takes it for")
        for file in contracts:
            about = json.loads((copy / file).read_text(encoding="utf-8"))["x-semel"]
            if f"{about['type']}.v{about['version']}.json" != pathlib.Path(file).name:
                sys.exit(f"{file} is the contract of another event: {about}")
            if not any(f'"{about["type"]}"' in (copy / other).read_text(encoding="utf-8")
                       for other in files if other.endswith("pp") and not other.startswith("tests/")):
                sys.exit(f"nothing in the diff tells {about['type']}")
    print(f"the diff applies; it touches {len(files)} files")


main()
