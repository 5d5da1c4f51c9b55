#!/usr/bin/env python3
"""Maps of the fields of a history file at its last time, or at another.

    python3 scripts/plot_history.py out/history_0001.nc --field zeta --time 3 -o zeta.png

Needs xarray, matplotlib and a NetCDF reader (scipy, or netCDF4 for NetCDF-4 files).
"""

import argparse

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import xarray


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", help="history files of one run, in order")
    parser.add_argument("--field", action="append", help="h, u, v, zeta or delta (repeatable; default: h, zeta)")
    parser.add_argument("--time", type=int, default=-1, help="which sample, from 0; negative: from the end")
    parser.add_argument("--level", type=int, default=0, help="which level, from 0")
    parser.add_argument("-o", "--output", default="history.png", help="picture to write")
    options = parser.parse_args()

    parts = [xarray.open_dataset(name) for name in options.files]
    fields = options.field or ["h", "zeta"]
    data = parts[0] if len(parts) == 1 else xarray.concat(parts, "time", data_vars="minimal")
    sample = data.isel(time=options.time)
    if "level" in sample.dims:
        sample = sample.isel(level=options.level)
    days = float((sample.time - data.time.dtype.type("2000-01-01", "ns")) / 86400e9)

    figure, axes = plt.subplots(len(fields), 1, figsize=(9, 4.2 * len(fields)), squeeze=False)
    for axis, name in zip(axes[:, 0], fields):
        field = sample[name]
        signed = name != "h"
        largest = float(abs(field).max())
        limits = {"vmin": -largest, "vmax": largest, "cmap": "RdBu_r"} if signed else {"cmap": "viridis"}
        mesh = axis.pcolormesh(field.lon, field.lat, field, shading="nearest", **limits)
        figure.colorbar(mesh, ax=axis, label=f"{field.long_name} ({field.units})")
        summit = float(data.h_s.max())
        if summit > 0:
            # Not the zero line: the truncated surface ripples about it.
            levels = [summit * part for part in (0.1, 0.3, 0.5, 0.7, 0.9)]
            axis.contour(data.lon, data.lat, data.h_s, levels=levels, colors="black", linewidths=0.5)
        axis.set(title=f"{data.title}, day {days:g}", xlabel="longitude", ylabel="latitude")
    figure.tight_layout()
    figure.savefig(options.output, dpi=120)
    print(options.output)


if __name__ == "__main__":
    main()
