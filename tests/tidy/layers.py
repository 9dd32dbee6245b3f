"""Who may include whom. Layers point strictly downward: a folder includes what lies below it, never what
lies above or beside it."""

from collections.abc import Iterator

from source import Finding, Source

LAYERS = [
    ["base"],
    ["retry", "message", "contract"],
    ["db", "sink", "source", "feed", "storm"],
    ["idempotency", "outbox", "inbox", "call"],
    ["command", "relay", "consumer"],
    ["http"],
]
RANK = {module: rank for rank, layer in enumerate(LAYERS) for module in layer}

# A driver includes the seams it implements and what those seams are made of.
FOUNDATION = {"base", "retry", "message", "telemetry"}
DRIVERS = {
    "sqlite": {"db", "feed"},
    "postgres": {"db", "feed"},
    "mariadb": {"db", "feed"},
    "kafka": {"sink", "source"},
    "rabbitmq": {"sink", "source"},
    "nats": {"sink", "source"},
    "webhook": {"sink", "source"},
    "smtp": {"sink"},
    "redis": {"sink", "source"},
}

# Turns an address into a driver, for programs. Nothing in the library includes it.
WIRING = {
    "open": {"base", "retry", "db", "sink", "source", "telemetry", *DRIVERS},
    # The feed that exists for one driver only: it reads that server's log.
    "cdc": {"base", "retry", "message", "db", "idempotency", "outbox", "relay", "postgres", "telemetry"},
}


def reason_against(module: str, included: str) -> str:
    """Why a file of `module` must not include a header of `included`; empty if it may."""
    if included == module or module == "testing":
        return ""
    if included == "testing":
        return "only tests include semel/testing; give the library a seam instead"
    if module == "telemetry":
        return "" if included == "base" else "telemetry stands on base alone"
    if included == "telemetry":
        return "base knows nothing of telemetry" if module == "base" else ""
    if included in WIRING:
        return f"semel/{included} knows the drivers; only programs include it"
    if module in WIRING:
        return "" if included in WIRING[module] else f"semel/{module} includes only {', '.join(sorted(WIRING[module]))}"
    if module in DRIVERS:
        allowed = FOUNDATION | DRIVERS[module]
        return "" if included in allowed else f"a driver includes only its seams: {', '.join(sorted(allowed))}"
    if included in DRIVERS:
        return "the library knows no driver; go through the seam, and let the application wire the driver in"
    if module not in RANK or included not in RANK:
        unknown = module if module not in RANK else included
        return f"semel/{unknown} has no place in the layers yet; give it one in tests/tidy/layers.py"
    if RANK[included] < RANK[module]:
        return ""
    where = "above" if RANK[included] > RANK[module] else "beside"
    return f"{included} lies {where} {module}; move what both need to a layer below"


def check(source: Source) -> Iterator[Finding]:
    if not source.is_cpp:
        return
    yield from check_own_header_first(source)
    for line, path, quoted in source.includes:
        parts = path.split("/")
        if source.path.parts[0] == "semel" and quoted and parts[0] != "semel":
            yield source.finding(line, "include-path", 'write the whole path, "semel/<module>/<file>.hpp"')
        # Tests are linked into no library: they may reach for any part of it.
        if parts[0] != "semel" or len(parts) < 3 or source.test_kind is not None:
            continue
        if source.module:
            reason = reason_against(source.module, parts[1])
        elif source.path.parts[0] == "apps" and parts[1] == "testing":
            reason = "programs are not built on fakes; only tests include semel/testing"
        else:
            reason = ""
        if reason:
            yield source.finding(line, "layer", reason)


def check_own_header_first(source: Source) -> Iterator[Finding]:
    """A source proves that its header compiles alone by including it before anything else."""
    if source.path.suffix != ".cpp" or not source.includes:
        return
    own = str(source.path.with_suffix(".hpp"))
    paths = [path for _, path, _ in source.includes]
    if own in paths and paths[0] != own:
        yield source.finding(source.includes[0][0], "own-header-first", f'include "{own}" before everything else')
