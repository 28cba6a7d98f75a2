"""The growth of builds and updates as one SVG, both axes logarithmic, without a library."""

import math
from collections.abc import Mapping, Sequence

from lakehouse_assets_tests.bench.scale_facts import Measured

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 760, 360, 60, 46, 30
_COLOURS = ("#2b6cb0", "#c05621")
_SERIES = {"build_seconds": ("full build", ""), "update_seconds": ("update", ' stroke-dasharray="6 4"')}


def picture(held: Mapping[str, Sequence[Measured]]) -> str:
    every = [each for measured in held.values() for each in measured]
    most = math.ceil(math.log10(max(each.size for each in every)))
    seconds = [value for each in every for value in (each.build_seconds, each.update_seconds)]
    low, high = math.floor(math.log10(max(0.01, min(seconds)))), math.ceil(math.log10(max(seconds)))

    def x(size: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - 190) * math.log10(size) / max(1, most)

    def y(value: float) -> float:
        share = (math.log10(max(value, 10**low)) - low) / max(1, high - low)
        return _HEIGHT - _BOTTOM - (_HEIGHT - _BOTTOM - _TOP) * share

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" '
        'font-size="12">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
    ]
    for power in range(low, high + 1):
        at = y(10**power)
        lines.append(f'<line x1="{_LEFT}" x2="{x(10**most):.0f}" y1="{at:.0f}" y2="{at:.0f}" stroke="#ddd"/>')
        lines.append(f'<text x="{_LEFT - 8}" y="{at + 4:.0f}" text-anchor="end">{10**power:g} s</text>')
    for power in range(most + 1):
        at = x(10**power)
        lines.append(f'<line x1="{at:.0f}" x2="{at:.0f}" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}" stroke="#ddd"/>')
        lines.append(f'<text x="{at:.0f}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle">{10**power:,}</text>')
    row = 0
    for colour, (title, measured) in zip(_COLOURS, held.items(), strict=False):
        for name, (label, dashes) in _SERIES.items():
            points = " ".join(f"{x(each.size):.1f},{y(getattr(each, name)):.1f}" for each in measured)
            lines.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>')
            at = _TOP + 12 + 34 * row
            lines.append(f'<text x="{_WIDTH - 180}" y="{at}" fill="{colour}">{title}:</text>')
            lines.append(
                f'<text x="{_WIDTH - 180}" y="{at + 14}" fill="{colour}">{label}{" (dashed)" if dashes else ""}</text>'
            )
            row += 1
    return "\n".join([*lines, "</svg>", ""])
