"""Values never become part of a statement's text: they travel as parameters. A program that joins SQL from
pieces is one careless piece away from running what a stranger wrote."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from source import Finding, Source, Token

STATEMENT = re.compile(
    r"""\s*(?:
      SELECT\s | INSERT\s+(?:INTO|OR)\b | UPDATE\s+(?:$|\S+\s+(?:SET|AS)\b) | DELETE\s+FROM\b | MERGE\s+INTO\b
    | WITH\s+(?:RECURSIVE\s+)?\w+(?:\s*\([^)]*\))?\s+AS\b | WITH\s*$ | VALUES\s*\(
    | (?:CREATE|ALTER|DROP)\s+(?:$|OR\b|TABLE|UNIQUE|INDEX|SCHEMA|SEQUENCE|VIEW|FUNCTION|PROCEDURE|TRIGGER|TYPE|DATABASE|ROLE|
        USER|EXTENSION|PUBLICATION|SUBSCRIPTION|TEMP|VIRTUAL)
    | TRUNCATE\s | PRAGMA\s | SAVEPOINT\s | RELEASE\s+(?:$|SAVEPOINT\b) | ROLLBACK\s+TO\b | LISTEN\s+(?:$|\w+\s*;?$)
    | NOTIFY\s+(?:$|\w+\s*[,;]) | COPY\s+(?:$|\w+\s+(?:FROM|TO)\b) | LOCK\s+TABLE\b | PREPARE\s+(?:$|TRANSACTION\b|\w+\s+AS\b)
    | EXECUTE\s*$ | DEALLOCATE\s | EXPLAIN\s+(?:$|SELECT|ANALYZE|\() | ATTACH\s+(?:$|DATABASE\b)
    | SET\s+(?:$|LOCAL\b|SESSION\b|TRANSACTION\b|CONSTRAINTS\b|\w+\s*(?:=|TO\b)) | CALL\s+\w+\s*\(
    | BEGIN\s*(?:;|$|ISOLATION|READ|TRANSACTION|IMMEDIATE|DEFERRED|EXCLUSIVE) | START\s+TRANSACTION\b
    | (?:WHERE|ORDER\s+BY|GROUP\s+BY|HAVING|RETURNING|ON\s+CONFLICT)\s
    )""",
    re.VERBOSE,
)
# Small letters are English more often than SQL, so these need more to go by.
SMALL_STATEMENT = re.compile(r"\s*(?:select\s.+\sfrom\s|insert\s+into\s|delete\s+from\s|update\s+\S+\s+set\s)", re.DOTALL)

FORMATTERS = {"format", "format_to", "format_to_n", "vformat", "sprintf", "snprintf", "asprintf", "vsnprintf"}
JOINERS = {"append", "insert", "join", "concat"}
STRINGS = {"string", "string_view", "basic_string"}
ADVICE = "do not join SQL from pieces: write one literal and pass values as parameters ($1, $2, …)"

PROGRAM_TEXT_HOMES = ("semel/postgres/", "semel/sqlite/", "semel/mariadb/", "semel/db/migrat", "semel/db/sql.hpp")


def is_sql(text: str) -> bool:
    return bool(STATEMENT.match(text) or SMALL_STATEMENT.match(text))


def check(source: Source) -> Iterator[Finding]:
    if not source.is_cpp:
        return
    tokens = source.tokens
    for index, token in enumerate(tokens):
        if token.kind != "word":
            continue
        if token.text.startswith("PQescape"):
            yield source.finding(token.line, "pq-escape", "do not escape: pass the value as a parameter ($1, $2, …)")
        if token.text == "from_program_text" and not str(PurePosixPath(source.path)).startswith(PROGRAM_TEXT_HOMES):
            yield source.finding(
                token.line,
                "sql-program-text",
                "only drivers and migrations turn program text into SQL; write the statement as a literal",
            )
    index = 0
    while index < len(tokens):
        if tokens[index].kind != "string":
            index += 1
            continue
        # Neighbouring literals are one literal.
        end = index
        while end < len(tokens) and tokens[end].kind == "string":
            end += 1
        if is_sql("".join(token.text for token in tokens[index:end])):
            lines = joined_at(tokens, index, end)
            for line in sorted(set(lines)):
                yield source.finding(line, "sql-concatenation", ADVICE)
        index = end


def joined_at(tokens: list[Token], begin: int, end: int) -> Iterator[int]:
    """The lines on which the literal tokens[begin:end] is joined with something else."""
    before = text_at(tokens, begin - 1)
    after = text_at(tokens, end)
    line = tokens[begin].line
    if before in ("+", "+=") or after in ("+", "+="):
        yield line
    elif after == "<<" and end + 1 < len(tokens) and tokens[end + 1].kind not in ("string", "char"):
        yield line
    elif before in ("(", ",", "{"):
        yield from joined_in_call(tokens, begin, end)
    if before in ("=", "(", "{"):
        yield from grown_later(tokens, begin, end)


def joined_in_call(tokens: list[Token], begin: int, end: int) -> Iterator[int]:
    opening = enclosing(tokens, begin)
    called = text_at(tokens, opening - 1)
    if called in FORMATTERS or called in JOINERS:
        yield tokens[begin].line
    elif called in STRINGS and text_at(tokens, end + 1) == "+":
        yield tokens[begin].line


def grown_later(tokens: list[Token], begin: int, end: int) -> Iterator[int]:
    """`std::string sql = "SELECT …";` and later, in the same block, `sql += …` or `sql.append(…)`."""
    if begin < 3 or tokens[begin - 2].kind != "word" or text_at(tokens, begin - 3) not in STRINGS | {"auto"}:
        return
    name = tokens[begin - 2].text
    depth = 0
    for index in range(end, len(tokens) - 1):
        text = tokens[index].text if tokens[index].kind == "mark" else ""
        depth += {"{": 1, "}": -1}.get(text, 0)
        # The brace of `sql{"…"}` itself closes first.
        if depth < (-1 if text_at(tokens, begin - 1) == "{" else 0):
            return
        if tokens[index].kind != "word" or tokens[index].text != name:
            continue
        following = text_at(tokens, index + 1)
        if following in ("+", "+=") or (following == "." and text_at(tokens, index + 2) in JOINERS | {"replace"}):
            yield tokens[index].line


def enclosing(tokens: list[Token], index: int) -> int:
    """Where the bracket opens that tokens[index] stands in."""
    depth = 0
    for at in range(index - 1, -1, -1):
        if tokens[at].kind != "mark":
            continue
        if tokens[at].text in ")}]":
            depth += 1
        elif tokens[at].text in "({[":
            if depth == 0:
                return at
            depth -= 1
    return 0


def text_at(tokens: list[Token], index: int) -> str:
    return tokens[index].text if 0 <= index < len(tokens) and tokens[index].kind != "string" else ""
