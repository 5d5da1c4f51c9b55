#!/usr/bin/env python3
"""A run from its JSON result: norms (or the largest wind) and invariants over time, phases, kinetic energy spectrum.

    python3 scripts/plot_run.py run.json -o run.png

Needs matplotlib. docs/results.md defines every field.
"""

import argparse
import json

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("result", help="what `pstswm run ... --json` wrote")
    parser.add_argument("-o", "--output", default="run.png", help="picture to write")
    options = parser.parse_args()
    with open(options.result, encoding="utf-8") as file:
        record = json.load(file)
    if record["schema"] != "pstswm/1" or record["kind"] != "run":
        parser.error(f"{options.result} is no result of `pstswm run` that this script reads")
    results, setup = record["results"], record["results"]["setup"]
    diagnostics = results["diagnostics"]
    days = [entry["day"] for entry in diagnostics]

    figure, ((errors, invariants), (phases, spectrum)) = plt.subplots(2, 2, figsize=(12, 8))
    drawn = False
    for field in ("h", "v"):
        for norm in ("l1", "l2", "linf"):
            points = [
                (entry["day"], entry["norms"][field][norm])
                for entry in diagnostics
                if entry["norms"] and entry["norms"][field]
            ]
            points = [(day, value) for day, value in points if value]
            if points:
                errors.semilogy(*zip(*points), marker=".", label=f"{norm}({field})")
                drawn = True
    if drawn:
        errors.legend(fontsize="small", ncols=2)
        errors.set(title="error norms", xlabel="day")
    else:
        errors.plot(days, [entry["max_wind"] for entry in diagnostics], marker=".")
        errors.set(title="largest wind", xlabel="day", ylabel="m/s")

    for name in ("mass", "energy", "enstrophy"):
        values = [abs(entry[name]) if entry[name] else None for entry in diagnostics]
        invariants.semilogy(days, [value or float("nan") for value in values], marker=".", label=name)
    invariants.legend(fontsize="small")
    invariants.set(title="|relative change|", xlabel="day")

    parts = [phase for phase in results["phases"] if phase["name"] != "step" and phase["seconds"]["max"] > 0]
    names = [phase["name"] for phase in parts][::-1]
    mean = [phase["seconds"]["mean"] for phase in parts][::-1]
    low = [phase["seconds"]["mean"] - phase["seconds"]["min"] for phase in parts][::-1]
    high = [phase["seconds"]["max"] - phase["seconds"]["mean"] for phase in parts][::-1]
    phases.barh(names, mean, xerr=[low, high])
    phases.tick_params(axis="y", labelsize="x-small")
    phases.set(title="phases: mean over ranks, min to max", xlabel="s")

    energy = diagnostics[-1]["spectrum"]
    spectrum.loglog(range(1, len(energy)), energy[1:])
    spectrum.set(title=f"kinetic energy, day {days[-1]:g}", xlabel="degree n", ylabel="m2/s2")

    m, n, k = setup["truncation"]
    size = f"T{m}" if m == n == k else f"[{m}, {n}, {k}]"
    figure.suptitle(
        f"{setup['case']} {size}, dt {setup['dt']:g} s, {setup['ranks']} ranks, "
        f"{record['verdict']['status']}, checksum {results['checksum']}"
    )
    figure.tight_layout()
    figure.savefig(options.output, dpi=120)
    print(options.output)


if __name__ == "__main__":
    main()
