"""Time comes in from outside. The library reads the machine's clock in one place, semel/base/time.cpp; a unit
test never reads it and never sleeps, so it is as quick as it can be and fails for one reason only."""

from collections.abc import Iterator

from source import Finding, Source

CLOCKS = {"steady_clock", "system_clock", "high_resolution_clock", "utc_clock", "tai_clock", "file_clock"}
SLEEPS = {"sleep_for", "sleep_until", "usleep", "nanosleep", "clock_nanosleep"}
READS = {"gettimeofday", "clock_gettime", "timespec_get", "ftime"}
HOME = "semel/base/time.cpp"
# They wait for processes, files and sockets of the real world.
REAL_FOLDERS = (("tests", "integration"), ("tests", "crash"), ("tests", "soak"))


def check(source: Source) -> Iterator[Finding]:
    if not source.is_cpp or str(source.path) == HOME or source.path.parts[:2] in REAL_FOLDERS:
        return
    unit_test = source.test_kind == ""
    library = source.test_kind is None and (source.module not in ("", "testing") or source.path.parts[0] == "apps")
    if not unit_test and not library:
        return
    sleep_advice, read_advice = (
        ("a unit test does not sleep: use testing::ManualClock and advance it", "a unit test reads no real clock: use testing::ManualClock")
        if unit_test
        else ("wait through Clock::wait or Clock::sleep", "ask a Clock; only semel/base/time.cpp reads the machine's")
    )
    tokens = source.tokens
    for index, token in enumerate(tokens):
        if token.kind != "word":
            continue
        before = tokens[index - 1].text if index else ""
        after = [following.text for following in tokens[index + 1 : index + 4]]
        if token.text in SLEEPS or (token.text == "sleep" and after[:1] == ["("] and is_free_call(tokens, index)):
            yield source.finding(token.line, "sleep", sleep_advice)
        elif token.text in READS or is_clock_read(token.text, before, after, unit_test):
            yield source.finding(token.line, "real-clock", read_advice)


def is_free_call(tokens: list, index: int) -> bool:
    """`::sleep(1)` or `sleep(1)` as a statement; not `clock.sleep(…)`, not a declaration."""
    before = tokens[index - 1] if index else None
    if before is None:
        return False
    if before.text == "::":
        return index < 2 or tokens[index - 2].kind != "word" or tokens[index - 2].text in ("std", "return")
    return before.text in (";", "{", "}", "(")


def is_clock_read(word: str, before: str, after: list[str], unit_test: bool) -> bool:
    if word in CLOCKS and after[:2] == ["::", "now"]:
        return True
    if word == "high_resolution_clock":
        return True
    # An alias would hide the reading from the line above: using Clock = std::chrono::steady_clock;
    if word in CLOCKS and before == "::" and after[:1] == [";"]:
        return True
    # semel::system_clock() is how programs get a Clock; a unit test has a manual one.
    if unit_test and word == "system_clock" and after[:2] == ["(", ")"]:
        return True
    return word == "time" and before not in (".", "->") and after[:1] == ["("] and after[1:2] in (["nullptr"], ["NULL"], ["0"])
