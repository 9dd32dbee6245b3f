"""What the folders promise: every module has its target, every source is listed where it is built."""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from source import Finding, Source


def check(root: Path, sources: list[Source]) -> Iterator[Finding]:
    yield from check_modules(root, sources)
    yield from check_listed(root, sources)


def check_modules(root: Path, sources: list[Source]) -> Iterator[Finding]:
    top = read(root / "CMakeLists.txt")
    for module in sorted({source.module for source in sources if source.module}):
        listing = f"semel/{module}/CMakeLists.txt"
        if not re.search(rf"^\s*semel_module\(\s*{module}\b", read(root / listing), re.MULTILINE):
            yield Finding(listing, 1, "module-target", f"declare the folder's library: semel_module({module} …)")
        elif not re.search(rf"^\s*add_subdirectory\(\s*semel/{module}\s*\)", top, re.MULTILINE):
            yield Finding(listing, 1, "module-target", f"add_subdirectory(semel/{module}) is missing in CMakeLists.txt")


def check_listed(root: Path, sources: list[Source]) -> Iterator[Finding]:
    """Nobody notices a test that is not built."""
    listings: dict[PurePosixPath, str] = {}
    for source in sources:
        if source.path.suffix != ".cpp":
            continue
        for folder in source.path.parents:
            listing = listings.setdefault(folder, without_comments(read(root / folder / "CMakeLists.txt")))
            if names(listing, str(source.path.relative_to(folder))):
                break
        else:
            yield source.finding(1, "unlisted", "no CMakeLists.txt of this folder or above names the file, so it is never built")


def names(listing: str, file: str) -> bool:
    if re.search(rf"(?<![\w./-]){re.escape(file)}(?![\w-])", listing):
        return True
    # foreach(name first second) add_executable(${name} ${name}.cpp)
    return "}.cpp" in listing and bool(re.search(rf"(?<![\w./-]){re.escape(file[: -len('.cpp')])}(?![\w.-])", listing))


def without_comments(listing: str) -> str:
    return re.sub(r"#.*", "", listing)


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""
