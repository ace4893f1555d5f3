#!/usr/bin/env python3
"""Draws figures of a run as SVG: plot_stats.py train_log/NAME/stats.json NAME[,NAME...] ... >curve.svg
Each word is a panel with the figures that it names; the horizontal axis is global_step."""
import json
import math
import sys

WIDTH, HEIGHT = 400, 260  # of a panel
LEFT, RIGHT, TOP, BOTTOM = 56, 16, 34, 40
COLORS = ("#1f6feb", "#d1570b", "#1a7f37", "#8250df")


def ticks(low, high, count=5):
    """Round numbers from low to high."""
    step = 10 ** math.floor(math.log10((high - low) / count))
    step = next(step * m for m in (1, 2, 5, 10) if (high - low) / (step * m) <= count)
    return [i * step for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def panel(rows, names, left):
    points = {n: [(r["global_step"], r[n]) for r in rows if r.get(n) is not None] for n in names}
    for name, values in points.items():
        if not values:
            sys.exit(f"error: no figure '{name}'; there are: {', '.join(sorted(rows[-1]))}")
    last = max(x for values in points.values() for x, _ in values)
    low = min(y for values in points.values() for _, y in values)
    high = max(y for values in points.values() for _, y in values)
    margin = 0.05 * (high - low) or 0.5
    low, high = low - margin, high + margin

    def at(x, y):
        return (left + LEFT + x / last * (WIDTH - LEFT - RIGHT),
                HEIGHT - BOTTOM - (y - low) / (high - low) * (HEIGHT - TOP - BOTTOM))

    out = []
    for y in ticks(low, high):
        (x0, v), (x1, _) = at(0, y), at(last, y)
        out.append(f'<line x1="{x0:.1f}" y1="{v:.1f}" x2="{x1:.1f}" y2="{v:.1f}" stroke="#d8dee4"/>')
        out.append(f'<text x="{x0 - 6:.1f}" y="{v + 4:.1f}" text-anchor="end">{y:.6g}</text>')
    for x in ticks(0, last):
        h, v = at(x, low)
        out.append(f'<text x="{h:.1f}" y="{v + 16:.1f}" text-anchor="middle">{x:,.0f}</text>')
    h, v = at(last / 2, low)
    out.append(f'<text x="{h:.1f}" y="{v + 33:.1f}" text-anchor="middle">step</text>')
    for i, name in enumerate(names):
        line = " ".join("%.1f,%.1f" % at(x, y) for x, y in points[name])
        out.append(f'<polyline points="{line}" fill="none" stroke="{COLORS[i % 4]}" stroke-width="2"/>')
        h = left + LEFT + i * 150
        out.append(f'<text x="{h}" y="20" fill="{COLORS[i % 4]}" font-weight="bold">{name}</text>')
    return "\n".join(out)


def main(path, *panels):
    with open(path) as file:
        rows = json.load(file)
    width = WIDTH * len(panels)
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" font-family="sans-serif" font-size="12">')
    print(f'<rect width="{width}" height="{HEIGHT}" fill="white"/>')
    for i, names in enumerate(panels):
        print(panel(rows, names.split(","), i * WIDTH))
    print("</svg>")


if len(sys.argv) < 3:
    sys.exit(__doc__)
main(*sys.argv[1:])
