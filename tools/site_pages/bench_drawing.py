# SPDX-License-Identifier: Apache-2.0
"""The drawing of the pendulum bench, as SVG: front and side, what is measured, the space that it sweeps."""

from __future__ import annotations

import math

WIDTH, HEIGHT = 800, 470
AXIS = (262, 150)  # px, of the output shaft in the front view
LENGTH = 200  # px, from the axis to the centre of the load
DISC = 34  # px, radius of the load
SIDE = 600  # px, middle of the side view
TILT = math.radians(28.0)
SWEPT = math.radians(105.0)  # to either side; the script sin_sin reaches 101°

_STYLE = """
text { font: 14px system-ui, sans-serif; fill: #16191d; }
.small { font-size: 12.5px; fill: #3d4550; }
.body { fill: #d9dde3; stroke: #3d4550; stroke-width: 1.5; }
.steel { fill: #9aa3af; stroke: #3d4550; stroke-width: 1.5; }
.arm { fill: #f0c27b; stroke: #3d4550; stroke-width: 1.5; }
.swept { fill: #fdecec; stroke: #c62828; stroke-width: 1.2; stroke-dasharray: 5 4; }
.size { stroke: #1d4ed8; stroke-width: 1.2; fill: none; marker-start: url(#end); marker-end: url(#end); }
.blue { fill: #1d4ed8; }
.thin { stroke: #59616c; stroke-width: 1; stroke-dasharray: 4 3; fill: none; }
.turn { stroke: #15803d; stroke-width: 1.8; fill: none; marker-end: url(#arrow); }
.green { fill: #15803d; }
.red { fill: #c62828; }
"""


def svg() -> str:
    """Return the drawing."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}"'
            f' height="{HEIGHT}">',
            f"<style>{_STYLE}</style>",
            _markers(),
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
            *_front(),
            *_side(),
            "</svg>\n",
        ]
    )


def _markers() -> str:
    return (
        '<defs><marker id="end" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7"'
        ' orient="auto-start-reverse"><path d="M0 1 L9 5 L0 9 z" fill="#1d4ed8"/></marker>'
        '<marker id="arrow" viewBox="0 0 10 10" refX="8" refY="5" markerWidth="7" markerHeight="7"'
        ' orient="auto"><path d="M0 1 L9 5 L0 9 z" fill="#15803d"/></marker></defs>'
    )


def _front() -> list[str]:
    x, y = AXIS
    reach = LENGTH + DISC
    tip = (x + LENGTH * math.sin(TILT), y + LENGTH * math.cos(TILT))
    degrees = -math.degrees(TILT)
    turn = 92  # px, radius of the arrow of θ
    side, above = reach * math.sin(SWEPT), -reach * math.cos(SWEPT)
    end = (x + turn * math.sin(TILT * 0.93), y + turn * math.cos(TILT * 0.93))
    return [
        '<text x="16" y="24" font-weight="600">front</text>',
        f'<path class="swept" d="M{x} {y} L{x - side:.1f} {y - above:.1f} A{reach} {reach} 0 1 0'
        f' {x + side:.1f} {y - above:.1f} z"/>',
        f'<text class="small red" x="12" y="{HEIGHT - 44}">space that the load sweeps:</text>',
        f'<text class="small red" x="12" y="{HEIGHT - 28}">nobody in it, nothing under it</text>',
        f'<rect class="steel" x="{x - 130}" y="{y - 86}" width="260" height="26"/>',
        f'<text class="small" x="{x - 124}" y="{y - 68}">stiff plate or table edge, clamped</text>',
        f'<rect class="body" x="{x - 38}" y="{y - 60}" width="76" height="92" rx="4"/>',
        f'<text class="small" x="{x - 32}" y="{y - 40}">servo</text>',
        f'<line class="thin" x1="{x}" y1="{y}" x2="{x}" y2="{y + LENGTH + 60}"/>',
        f'<text class="small" x="{x + 8}" y="{y + LENGTH + 58}">0 rad: hanging</text>',
        f'<g transform="rotate({degrees:.2f} {x} {y})">',
        f'<rect class="arm" x="{x - 8}" y="{y - 14}" width="16" height="{LENGTH + 26}" rx="6"/>',
        f'<circle class="steel" cx="{x}" cy="{y + LENGTH}" r="{DISC}"/>',
        f'<circle class="body" cx="{x}" cy="{y}" r="13"/>',
        f'<line class="size" x1="{x + 52}" y1="{y}" x2="{x + 52}" y2="{y + LENGTH}"/>',
        f'<line class="thin" x1="{x}" y1="{y}" x2="{x + 56}" y2="{y}"/>',
        f'<line class="thin" x1="{x}" y1="{y + LENGTH}" x2="{x + 56}" y2="{y + LENGTH}"/>',
        "</g>",
        f'<text class="blue" x="{x + 104}" y="{y + 60}">length l: axis to</text>',
        f'<text class="blue" x="{x + 112}" y="{y + 78}">centre of mass</text>',
        f'<text class="blue" x="{x + 118}" y="{y + 96}">100 to 200 mm</text>',
        f'<text x="{tip[0] + DISC + 8:.0f}" y="{tip[1] + 8:.0f}">load m</text>',
        f'<path class="turn" d="M{x} {y + turn} A{turn} {turn} 0 0 0 {end[0]:.1f} {end[1]:.1f}"/>',
        f'<text class="green" x="{x + 8}" y="{y + turn + 20}">θ</text>',
        f'<text class="small green" x="{x - 136}" y="{y + turn}">+ is counter-</text>',
        f'<text class="small green" x="{x - 136}" y="{y + turn + 16}">clockwise</text>',
    ]


def _side() -> list[str]:
    y = AXIS[1]
    x = SIDE
    return [
        f'<text x="{x - 100}" y="24" font-weight="600">side</text>',
        f'<rect class="steel" x="{x - 110}" y="{y - 86}" width="150" height="26"/>',
        f'<rect class="body" x="{x - 60}" y="{y - 60}" width="100" height="92" rx="4"/>',
        f'<text class="small" x="{x - 50}" y="{y - 8}">servo</text>',
        f'<rect class="body" x="{x + 40}" y="{y - 10}" width="30" height="20"/>',
        f'<rect class="arm" x="{x + 70}" y="{y - 14}" width="10" height="{LENGTH + 30}"/>',
        f'<rect class="steel" x="{x + 80}" y="{y + LENGTH - DISC}" width="26" height="{2 * DISC}"/>',
        f'<rect class="steel" x="{x + 44}" y="{y + LENGTH - DISC}" width="26" height="{2 * DISC}"/>',
        f'<text class="small" x="{x + 90}" y="{y - 34}">horn, screwed</text>',
        f'<text class="small" x="{x + 90}" y="{y - 19}">tight: no play</text>',
        f'<line class="thin" x1="{x + 48}" y1="{y - 4}" x2="{x + 86}" y2="{y - 26}"/>',
        f'<text class="small" x="{x + 90}" y="{y + 90}">arm, m_arm:</text>',
        f'<text class="small" x="{x + 90}" y="{y + 106}">stiff, uniform</text>',
        f'<text class="small" x="{x + 90}" y="{y + 122}">(30 × 4 mm)</text>',
        f'<text class="small" x="{x - 145}" y="{y + LENGTH - 22}">equal discs on both sides,</text>',
        f'<text class="small" x="{x - 145}" y="{y + LENGTH - 6}">bolt and nuts weighed in</text>',
        f'<text class="small" x="{x - 145}" y="{y + LENGTH + 10}">(steel, ⌀ 80 × 6 mm, M8)</text>',
        f'<text class="small" x="{x - 145}" y="{HEIGHT - 44}">the arm passes in front of the plate;</text>',
        f'<text class="small" x="{x - 145}" y="{HEIGHT - 28}">cable slack in every position</text>',
    ]
