# SPDX-License-Identifier: MIT
"""The table and the chart."""

import html
import statistics

from .measures import METRICS

COLOURS = ["#2f7ed8", "#f28f43", "#8bbc21", "#a05fd0", "#c0392b", "#16a085"]
# The table of a terminal that does not tell its width, or of a file.
WIDTH = 100


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


def shortened(name, width):
    return name if len(name) <= width else name[:width - 1] + "…"


def column(name, results, base, metrics, limit, many):
    """The heading and the cells of one implementation, all of one width; without spread unless there are `many`."""
    rows = []
    for metric in metrics:
        if metric not in results:
            rows.append(("-", "", ""))
            continue
        middle, low, high = results[metric]
        spread = f"±{(high - low) / middle * 50 if middle else 0:.0f}%" if many else ""
        ratio = ""
        if base is not None and base.get(metric, (0,))[0]:
            ratio = f"{middle / base[metric][0]:.2f}x"
        rows.append((number(middle, METRICS[metric].decimals), spread, ratio))
    widths = [max(len(row[part]) for row in rows) for part in range(3)]
    cells = [" ".join(f"{text:>{width}}" for text, width in zip(row, widths) if width) for row in rows]
    heading = shortened(name, limit)
    width = max(len(heading), *map(len, cells))
    return [f"{heading:>{width}}"] + [f"{cell:>{width}}" for cell in cells]


def table(samples, reference, width=WIDTH):
    """The medians with spread and ratio to the reference, a column for each implementation.

    Columns that do not fit next to each other go below, as a table of their own.
    """
    results = medians(samples)
    metrics = [metric for metric in METRICS if any(metric in result for result in results.values())]
    if not metrics:
        return "nothing was measured"
    titles = ["", *(METRICS[metric].title for metric in metrics)]
    units = ["", *(METRICS[metric].unit for metric in metrics)]
    title_width, unit_width = max(map(len, titles)), max(map(len, units))
    labels = [f"{title:{title_width}} {unit:{unit_width}}" for title, unit in zip(titles, units)]
    room = max(width - len(labels[0]), 0)
    blocks, used = [], room
    for name, result in results.items():
        base = None if name == reference else results.get(reference, {})
        many = len(samples[name]) > 1
        cells = column(name, result, base, metrics, max(room - 2, 12), many)
        if used + 2 + len(cells[0]) > room or not blocks:
            blocks.append(list(labels))
            used = 0
        used += 2 + len(cells[0])
        blocks[-1] = [f"{line}  {cell}" for line, cell in zip(blocks[-1], cells)]
    return "\n\n".join("\n".join(line.rstrip() for line in block) for block in blocks)


def text(x, y, words, size=12, colour="#222", extra=""):
    return f'<text x="{x}" y="{y}" font-size="{size}" fill="{colour}"{extra}>{html.escape(words)}</text>'


def chart(runs, reference, note):
    """A self-contained SVG: for each pair of heading and samples a part, in it a group of bars for each metric.

    The bars of a group are scaled to the longest of it.
    """
    names = list(next(iter(runs))[1])
    width, top = 860, 56 + 18 * ((len(names) + 2) // 3)
    parts = [text(16, 26, "WireGuard daemons side by side", 16, extra=' font-weight="bold"')]
    for index, name in enumerate(names):
        x, y = 16 + (index % 3) * 270, 46 + 18 * (index // 3)
        parts.append(f'<rect x="{x}" y="{y - 10}" width="12" height="12" fill="{COLOURS[index % len(COLOURS)]}"/>')
        parts.append(text(x + 18, y, shortened(name, 36)))
    y = top
    for heading, samples in runs:
        if len(runs) > 1:
            parts.append(text(16, y + 6, heading, 14, extra=' font-weight="bold"'))
            y += 24
        results = medians(samples)
        for metric, properties in METRICS.items():
            if properties.in_chart and any(metric in result for result in results.values()):
                parts += bars(y, metric, results, reference)
                y += len(names) * 14 + 14
    height = y + 40
    lines = note.split("; ")
    for index, line in enumerate(lines):
        parts.append(text(16, height - 14 - 13 * (len(lines) - 1 - index), line, 10, "#666"))
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="12" role="img" aria-label="WireGuard daemons side by side">',
        f'<rect width="{width}" height="{height}" rx="6" fill="#ffffff"/>',
    ]
    return "\n".join([*head, *parts, "</svg>"]) + "\n"


def bars(y, metric, results, reference):
    """One metric of the chart, with its labels; who has no sample of it has no bar."""
    title, unit, less_is_better, decimals, _ = METRICS[metric]
    left, span = 250, 480
    hint = "less is better" if less_is_better else "more is better"
    parts = [
        text(left - 10, y + 11, title.strip(), extra=' text-anchor="end"'),
        text(left - 10, y + 25, f"{unit}, {hint}", 10, "#666", ' text-anchor="end"'),
    ]
    greatest = max(result[metric][0] for result in results.values() if metric in result) or 1
    base = results.get(reference, {}).get(metric, (0,))[0]
    for index, (name, result) in enumerate(results.items()):
        if metric not in result:
            parts.append(text(left + 6, y + index * 14 + 10, "not measured", 11, "#666"))
            continue
        value = result[metric][0]
        length = max(1, span * value / greatest)
        label = number(value, decimals)
        if name != reference and base:
            label += f"  ({value / base:.2f}x)"
        parts.append(
            f'<rect x="{left}" y="{y + index * 14}" width="{length:.1f}" height="11" '
            f'fill="{COLOURS[index % len(COLOURS)]}"/>')
        parts.append(text(f"{left + length + 6:.1f}", y + index * 14 + 10, label, 11))
    return parts
