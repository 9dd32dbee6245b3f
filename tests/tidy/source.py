"""One file of the repository as the rules see it: its text, its tokens, and what it may be excused from."""

import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

TOKEN = re.compile(
    r"""
      (?P<comment>//(?:[^\n\\]|\\.|\\\n)*|/\*.*?\*/)
    | (?P<raw>(?:u8|u|U|L)?R"(?P<fence>[^()\\\s]{0,16})\((?P<body>.*?)\)(?P=fence)")
    | (?P<string>(?:u8|u|U|L)?"(?:[^"\\\n]|\\.)*")
    | (?P<char>(?:u8|u|U|L)?'(?:[^'\\\n]|\\.)+')
    | (?P<number>\.?\d(?:'?[\w.]|(?<=[eEpP])[+-])*)
    | (?P<word>[A-Za-z_]\w*)
    | (?P<mark>::|->|\+=|<<=|<<|\+\+|[^\s\w])
    """,
    re.VERBOSE | re.DOTALL,
)
ALLOW = re.compile(r"(?://|#|--|<!--)\s*tidy: allow\((?P<rules>[\w, -]*)\)(?::\s*(?P<reason>\S.*))?")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"(?P<quoted>[^"]+)"|<(?P<angled>[^>]+)>)', re.MULTILINE)
TEST_NAME = re.compile(r"_(?P<kind>\w*)test(?:_\w+)?$")


@dataclass(frozen=True)
class Finding:
    """A broken rule: where, which, and what to do instead."""

    path: str
    line: int
    rule: str
    advice: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.advice}"


@dataclass(frozen=True)
class Token:
    kind: str  # string, char, number, word, mark; comments and white space are left out
    text: str  # of a string: what is between the quotes
    line: int


@dataclass
class Allowance:
    """`// tidy: allow(<rule>): <reason>` excuses its line; on a line of its own, the line after it."""

    line: int
    excuses: int
    rules: list[str]
    reason: str
    used: set[str] = field(default_factory=set)


class Source:
    def __init__(self, root: Path, path: Path):
        self.path = PurePosixPath(path.relative_to(root))
        self.text = path.read_text(encoding="utf-8", errors="replace")

    @property
    def is_header(self) -> bool:
        return self.path.suffix == ".hpp"

    @property
    def is_cpp(self) -> bool:
        return self.path.suffix in (".hpp", ".cpp")

    @property
    def module(self) -> str:
        """The folder of semel/ it lives in; empty elsewhere."""
        parts = self.path.parts
        return parts[1] if len(parts) > 2 and parts[0] == "semel" else ""

    @property
    def test_kind(self) -> str | None:
        """None: no test. Empty: a unit test, x_test.cpp. Else what it needs: `pg` of x_pgtest.cpp."""
        found = TEST_NAME.search(self.path.stem)
        return found.group("kind") if found else None

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def tokens(self) -> list[Token]:
        tokens = []
        line, at = 1, 0
        for match in TOKEN.finditer(self.text):
            line += self.text.count("\n", at, match.start())
            at = match.start()
            kind = match.lastgroup or ""
            if match["comment"] is not None:
                continue
            if match["raw"] is not None:
                tokens.append(Token("string", match["body"], line))
            elif match["string"] is not None:
                tokens.append(Token("string", match["string"].split('"', 1)[1][:-1], line))
            else:
                tokens.append(Token(kind, match.group(kind), line))
        return tokens

    @cached_property
    def code(self) -> str:
        """The text with comments blanked, line by line the same."""

        def blank(match: re.Match[str]) -> str:
            if match["comment"] is None:
                return match.group()
            return re.sub(r"[^\n]", " ", match.group())

        return TOKEN.sub(blank, self.text)

    @cached_property
    def includes(self) -> list[tuple[int, str, bool]]:
        """Line, path as written, and whether it stands in quotes."""
        return [
            (self.line_of(match.start(), self.code), match["quoted"] or match["angled"], match["quoted"] is not None)
            for match in INCLUDE.finditer(self.code)
        ]

    @cached_property
    def allowances(self) -> list[Allowance]:
        found = []
        for number, line in enumerate(self.lines, 1):
            match = ALLOW.search(line)
            if match:
                rules = [rule.strip() for rule in match["rules"].split(",") if rule.strip()]
                alone = not line[: match.start()].strip()
                found.append(Allowance(number, number + 1 if alone else number, rules, match["reason"] or ""))
        return found

    @staticmethod
    def line_of(offset: int, text: str) -> int:
        return text.count("\n", 0, offset) + 1

    def finding(self, line: int, rule: str, advice: str) -> Finding:
        return Finding(str(self.path), line, rule, advice)
