# SPDX-License-Identifier: MIT
"""The table and the chart."""

import html
import statistics

from .measures import METRICS

COLOURS = ["#2f7ed8", "#f28f43", "#8bbc21", "#a05fd0", "#c0392b", "#16a085"]


def medians(samples):
    """From implementation to metric to (median, least, greatest)."""
    return {
        name: {
            metric: (statistics.median(values), min(values), max(values))
            for metric in METRICS
            if (values := [sample[metric] for sample in rounds if metric in sample])
        }
        for name, rounds in samples.items()
    }


def number(value, decimals):
    return f"{value:,.{decimals}f}"


def table(samples, reference):
    """The medians, a column for each implementation, with its spread and its ratio to the reference."""
    results = medians(samples)
    names = list(results)
    width = max(20, *(len(name) + 2 for name in names))
    lines = [f"{'':36}{'':10}" + "".join(f"{name:>{width}}" for name in names)]
    for metric, (title, unit, _, decimals) in METRICS.items():
        cells = []
        for name in names:
            if metric not in results[name]:
                cells.append("")
                continue
            middle, low, high = results[name][metric]
            spread = (high - low) / middle * 50 if middle else 0
            cell = f"{number(middle, decimals)} ±{spread:.0f}%"
            base = results[reference].get(metric)
            if name != reference and base and base[0]:
                cell += f" {middle / base[0]:6.2f}x"
            cells.append(cell)
        if any(cells):
            lines.append(f"{title:36}{unit:10}" + "".join(f"{cell:>{width}}" for cell in cells))
    return "\n".join(lines)


def chart(samples, reference, note):
    """A self-contained SVG with one group of bars for each metric, each scaled to its largest bar."""
    results = medians(samples)
    names = list(results)
    metrics = [
        metric for metric in METRICS
        if "loss" not in metric and all(metric in results[name] for name in names)
    ]
    bar, gap, left, right = 14, 14, 250, 130
    group = len(names) * bar + gap
    width, top = 860, 56 + 18 * ((len(names) + 2) // 3)
    height = top + len(metrics) * group + 40
    span = width - left - right
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="12" role="img" aria-label="WireGuard daemons side by side">',
        f'<rect width="{width}" height="{height}" rx="6" fill="#ffffff"/>',
        '<text x="16" y="26" font-size="16" font-weight="bold" fill="#222">WireGuard daemons side by side</text>',
    ]
    for index, name in enumerate(names):
        x, y = 16 + (index % 3) * 270, 46 + 18 * (index // 3)
        parts.append(f'<rect x="{x}" y="{y - 10}" width="12" height="12" fill="{COLOURS[index % len(COLOURS)]}"/>')
        parts.append(f'<text x="{x + 18}" y="{y}" fill="#222">{html.escape(name)}</text>')
    for row, metric in enumerate(metrics):
        title, unit, less, decimals = METRICS[metric]
        y = top + row * group
        greatest = max(results[name][metric][0] for name in names) or 1
        hint = "less is better" if less else "more is better"
        parts.append(f'<text x="{left - 10}" y="{y + 11}" text-anchor="end" fill="#222">{html.escape(title.strip())}</text>')
        parts.append(
            f'<text x="{left - 10}" y="{y + 25}" text-anchor="end" font-size="10" fill="#666">{unit}, {hint}</text>')
        for index, name in enumerate(names):
            value = results[name][metric][0]
            length = max(1, span * value / greatest)
            label = number(value, decimals)
            base = results[reference][metric][0]
            if name != reference and base:
                label += f"  ({value / base:.2f}x)"
            parts.append(
                f'<rect x="{left}" y="{y + index * bar}" width="{length:.1f}" height="{bar - 3}" '
                f'fill="{COLOURS[index % len(COLOURS)]}"/>')
            parts.append(f'<text x="{left + length + 6:.1f}" y="{y + index * bar + 10}" font-size="11" fill="#222">{label}</text>')
    parts.append(f'<text x="16" y="{height - 14}" font-size="10" fill="#666">{html.escape(note)}</text>')
    parts.append("</svg>")
    return "\n".join(parts) + "\n"
