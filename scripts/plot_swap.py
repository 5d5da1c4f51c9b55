#!/usr/bin/env python3
"""A swap test from its JSON result: bandwidth and time over message size, a curve per protocol.

    python3 scripts/plot_swap.py swap.json -o swap.png [--volume 2097152] [--iterations 1] [--overlap no]

Bands are 95 % intervals of the medians. Needs matplotlib. docs/results.md defines every field.
"""

import argparse
import json

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def name(case):
    if case["engine"] != "pairwise":
        return case["engine"]
    pair = f"{case['order']}/{case['protocol']}"
    return pair if case["pattern"] == "pair" else f"{pair} {case['ranks'][0]}-{case['ranks'][1]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("result", help="what `pstswm swap ... --json` wrote")
    parser.add_argument("-o", "--output", default="swap.png", help="picture to write")
    parser.add_argument("--volume", type=int, help="bytes each way (the largest)")
    parser.add_argument("--iterations", type=int, help="swaps in one timing (the fewest)")
    parser.add_argument("--overlap", choices=["yes", "no"], default="no")
    options = parser.parse_args()
    with open(options.result, encoding="utf-8") as file:
        record = json.load(file)
    if record["schema"] != "pstswm/1" or record["kind"] != "swap":
        parser.error(f"{options.result} is no result of `pstswm swap` that this script reads")
    cases = record["results"]["cases"]
    volume = options.volume or max(case["volume_bytes"] for case in cases)
    iterations = options.iterations or min(case["iterations"] for case in cases)
    wanted = (volume, iterations, options.overlap == "yes")
    cases = [
        case
        for case in cases
        if (case["volume_bytes"], case["iterations"], case["overlap"]) == wanted
    ]
    if not cases:
        parser.error("the result has no such curve")

    figure, (left, right) = plt.subplots(1, 2, figsize=(14, 6))
    for case in cases:
        points = [point for point in case["curve"] if point["seconds"]]
        sizes = [point["message_bytes"] for point in points]
        times = [point["seconds"] for point in points]
        medians = [time["median"] for time in times]
        low = [time["ci95_low"] or time["median"] for time in times]
        high = [time["ci95_high"] or time["median"] for time in times]
        (line,) = left.loglog(sizes, [2 * volume / time / 1e6 for time in medians], label=name(case))
        color = line.get_color()
        left.fill_between(
            sizes,
            [2 * volume / time / 1e6 for time in high],
            [2 * volume / time / 1e6 for time in low],
            color=color,
            alpha=0.15,
        )
        counts = [point["messages"] for point in points]
        right.loglog(counts, [time * 1e6 for time in medians], color=color)
        right.fill_between(
            counts, [time * 1e6 for time in low], [time * 1e6 for time in high], color=color, alpha=0.15
        )
    left.set(xlabel="bytes of a message", ylabel="2V/T, MB/s", title=f"{volume} bytes each way")
    right.set(
        xlabel="messages each way, n",
        ylabel="T_n, us",
        title=f"iterations {iterations}, overlap {options.overlap}, {record['verdict']['status']}",
    )
    left.legend(fontsize="x-small", ncols=2)
    for axes in (left, right):
        axes.grid(True, which="both", alpha=0.3)
    figure.tight_layout()
    figure.savefig(options.output, dpi=120)


if __name__ == "__main__":
    main()
