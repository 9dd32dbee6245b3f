"""What every file keeps to, whatever it is about."""

import re
from collections.abc import Iterator

from source import Finding, Source

MACROS = {"SEMEL_TRY", "SEMEL_ASSERT", "SEMEL_FAILPOINT", "SEMEL_MUTANT"}
LINES_MAX = 400  # Past this, ask what else lives in the file.

DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
PRAGMA_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once\b", re.MULTILINE)
LATER = re.compile(r"\b(?:TODO|FIXME|XXX)\b")  # tidy: allow(unfinished): the words it looks for
HOSTS = re.compile(
    r"\b(?:[\w-]+\.)*(?:pkg\.dev|npmjs\.(?:org|com)|pypi\.org|pythonhosted\.org|crates\.io|"
    r"(?:deb|security|ftp)\.debian\.org|snapshot\.debian\.org|(?:repo1?|central)\.maven\.org|maven\.org|"
    r"jfrog\.io|ghcr\.io|docker\.io|quay\.io|gcr\.io|conan\.io|yarnpkg\.com)\b"
)
PLACES = re.compile(r"(?<![\w.~*$})/-])/(?:work|root)(?=/|\b(?![\w-]))")


def check(source: Source) -> Iterator[Finding]:
    for number, line in enumerate(source.lines, 1):
        if LATER.search(line):
            yield source.finding(number, "unfinished", "finish it, or open an issue and say here what holds today")
        if HOSTS.search(line):
            yield source.finding(number, "registry-host", "name the package, not the host it comes from")
        if PLACES.search(line):
            yield source.finding(number, "machine-path", "write paths relative to the repository")
    if source.is_cpp:
        yield from check_cpp(source)


def check_cpp(source: Source) -> Iterator[Finding]:
    tokens = source.tokens
    for index, token in enumerate(tokens):
        texts = [following.text for following in tokens[index : index + 4]]
        if texts == ["GTEST_SKIP", "(", ")", ";"]:
            yield source.finding(token.line, "skip-reason", 'say why: GTEST_SKIP() << "needs …"')
        if source.is_header and token.kind == "word" and texts[:2] == ["using", "namespace"]:
            yield source.finding(token.line, "using-namespace", "name what is used; a header decides for everyone who includes it")
    if not source.is_header:
        return
    if not PRAGMA_ONCE.search(source.code):
        yield source.finding(1, "pragma-once", "begin the header with #pragma once")
    for match in DEFINE.finditer(source.code):
        if match[1] not in MACROS:
            line = source.line_of(match.start(), source.code)
            yield source.finding(line, "macro", f"write a function, a template or a constant; the macros are {', '.join(sorted(MACROS))}")


def warnings(source: Source) -> Iterator[Finding]:
    """Printed, never failing."""
    count = source.text.count("\n")
    if (source.is_cpp or source.path.suffix == ".py") and count > LINES_MAX:
        yield source.finding(count, "long-file", f"{count} lines; past {LINES_MAX} ask what else lives in here")
