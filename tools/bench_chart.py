#!/usr/bin/env python3
"""Draws the benchmarks that have a limit, each as its distance from that limit.

  tools/bench_chart.py build/bench/summary.json docs/images/benchmarks.svg

A bar that reaches the line meets its limit: it shows measured / limit where more is better and limit / measured where less is. Limits of
nothing at all (no allocations) have no such ratio and are told in words. Readable on light and dark pages.
"""

import json
import sys
from html import escape
from pathlib import Path

LABELS, BARS, VALUES = 430, 300, 170
ROW, TOP, BOTTOM = 24, 64, 40
SHOWN_MAX = 2.5  # A bar that goes further ends in a notch: beyond twice the limit, how far matters to nobody.

STYLE = """
  .page { fill: #ffffff } .text { fill: #1f2328 } .faint { fill: #59636e } .grid { stroke: #d1d9e0 } .limit { stroke: #1f2328 }
  .pass { fill: #2f7d4f } .miss { fill: #c93c37 } .notch { fill: #ffffff }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117 } .text { fill: #e6edf3 } .faint { fill: #9198a1 } .grid { stroke: #3d444d } .limit { stroke: #e6edf3 }
    .pass { fill: #3fb56f } .miss { fill: #f2706a } .notch { fill: #0d1117 }
  }
"""


def margin(figure: dict) -> float | None:
    """How often the limit is met: 1 is just met. None if there is no such ratio."""
    value, least, most = figure["value"], figure["at_least"], figure["at_most"]
    if least:
        return value / least
    if most and value > 0:
        return most / value
    return None


def chart(summary: dict) -> str:
    figures = [figure for figure in summary["figures"] if figure["met"] is not None]
    drawn = [(figure, margin(figure)) for figure in figures]
    words = [f"{figure['text']}: {figure['value']:g} ({figure['bound']})" for figure, ratio in drawn if ratio is None]
    rows = [(figure, ratio) for figure, ratio in drawn if ratio is not None]
    width, height = LABELS + BARS + VALUES, TOP + ROW * len(rows) + BOTTOM + 18 * len(words)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="12" role="img">',
        "<title>Benchmarks and their limits</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="page" width="{width}" height="{height}"/>',
        '<text class="text" x="12" y="24" font-size="15">Measured against the limit</text>',
        f'<text class="faint" x="12" y="44">{escape(when(summary))}</text>',
    ]
    end = TOP + ROW * len(rows)
    for tick in (0, 0.5, 1, 1.5, 2, 2.5):
        x = LABELS + tick / SHOWN_MAX * BARS
        kind, label = ("limit", "limit") if tick == 1 else ("grid", f"{tick:g}×")
        lines.append(f'<line class="{kind}" x1="{x:.1f}" y1="{TOP - 6}" x2="{x:.1f}" y2="{end}"/>')
        lines.append(f'<text class="faint" x="{x:.1f}" y="{end + 16}" text-anchor="middle">{label}</text>')
    for at, (figure, ratio) in enumerate(rows):
        lines += row(TOP + ROW * at, figure, ratio)
    for at, word in enumerate(words):
        lines.append(f'<text class="faint" x="12" y="{end + BOTTOM + 18 * at}">{escape(word)}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def row(top: int, figure: dict, ratio: float) -> list[str]:
    length = min(max(ratio, 0), SHOWN_MAX) / SHOWN_MAX * BARS
    kind, verdict = ("pass", "") if figure["met"] else ("miss", " missed")
    lines = [
        f'<text class="text" x="{LABELS - 10}" y="{top + 13}" text-anchor="end">{escape(figure["text"])}</text>',
        f'<rect class="{kind}" x="{LABELS}" y="{top + 2}" width="{length:.1f}" height="{ROW - 10}"/>',
        f'<text class="text" x="{LABELS + BARS + 12}" y="{top + 13}">{figure["value"]:.2f} '
        f'<tspan class="faint">({figure["bound"]}){verdict}</tspan></text>',
    ]
    if ratio > SHOWN_MAX:
        x = LABELS + BARS - 14
        lines.append(f'<polygon class="notch" points="{x},{top + 2 + ROW - 10} {x + 4},{top + 2 + ROW - 10} {x + 9},{top + 2} {x + 5},{top + 2}"/>')
    return lines


def when(summary: dict) -> str:
    days = sorted({figure.get("when", summary["when"])[:10] for figure in summary["figures"]})
    return f"{' to '.join(dict.fromkeys([days[0], days[-1]]))}, {summary['cores']} processors; to the right of the line is better than asked for" if days else ""


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    Path(sys.argv[2]).write_text(chart(json.loads(Path(sys.argv[1]).read_text())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
