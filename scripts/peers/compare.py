#!/usr/bin/env python3
"""Alternates time steps of pstswm with the same work done by SHTns, on one core.

    venv/bin/python scripts/peers/compare.py --binary target/release/pstswm --truncation 85

README.md in this folder says what is measured and what must be installed.

Exit code: 0; 1 a program failed; 2 bad arguments.
"""

import argparse
import ctypes
import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

LATITUDES = {42: 64, 85: 128, 170: 256, 341: 512, 682: 1024}
SECONDS_OF_TIME_STEP = {42: 600, 85: 300, 170: 120, 341: 60, 682: 30}


class Shtns:
    """The transforms of one step through SHTns' C interface."""

    name = "SHTns, transforms"

    def __init__(self, n):
        import numpy
        import shtns

        pattern = os.path.join(os.path.dirname(shtns.__file__), "_shtns*.so")
        self.lib = ctypes.CDLL(glob.glob(pattern)[0])
        pointer = ctypes.c_void_p
        self.lib.shtns_create.restype = pointer
        self.lib.shtns_malloc.restype = pointer
        self.lib.shtns_malloc.argtypes = [ctypes.c_size_t]
        number = ctypes.POINTER(ctypes.c_int)
        self.lib.shtns_set_grid_auto.argtypes = [
            pointer, ctypes.c_int, ctypes.c_double, ctypes.c_int, number, number,
        ]
        for function, count in (
            ("SH_to_spat", 3),
            ("spat_to_SH", 3),
            ("SHsphtor_to_spat", 5),
            ("spat_to_SHsphtor", 5),
        ):
            getattr(self.lib, function).argtypes = [pointer] * count
        self.lib.shtns_use_threads(1)
        latitudes, longitudes = LATITUDES[n], 2 * LATITUDES[n]
        self.config = self.lib.shtns_create(n, n, 1, 1024)
        nlat, nphi = ctypes.c_int(latitudes), ctypes.c_int(longitudes)
        self.lib.shtns_set_grid_auto(
            self.config, 0, 1e-14, 1, ctypes.byref(nlat), ctypes.byref(nphi)
        )
        random = numpy.random.default_rng(1)

        def array(count, dtype):
            size = count * numpy.dtype(dtype).itemsize
            address = self.lib.shtns_malloc(size)
            view = numpy.frombuffer((ctypes.c_char * size).from_address(address), dtype=dtype)
            view[:] = 0.1 * random.standard_normal(count)
            return address, view

        coefficients = (n + 1) * (n + 2) // 2
        self.spectral = [array(coefficients, complex)[0] for _ in range(9)]
        grids = [array(latitudes * longitudes, float) for _ in range(9)]
        self.grid = [address for address, _ in grids]
        self.to_refill = [view for _, view in grids[4:]]

    def once(self):
        # Analyses spoil their input.
        for view in self.to_refill:
            view[:] = 1.0
        lib, config, s, g = self.lib, self.config, self.spectral, self.grid
        start = time.perf_counter()
        lib.SH_to_spat(config, s[0], g[0])
        lib.SH_to_spat(config, s[1], g[1])
        lib.SHsphtor_to_spat(config, s[2], s[3], g[2], g[3])
        lib.spat_to_SHsphtor(config, g[4], g[5], s[4], s[5])
        lib.spat_to_SHsphtor(config, g[6], g[7], s[6], s[7])
        lib.spat_to_SH(config, g[8], s[8])
        return time.perf_counter() - start


class Step:
    """A whole explicit step of the shallow-water equations, SHTns driven from Python."""

    name = "SHTns, step from Python"
    RADIUS, ROTATION, GRAVITY, DEPTH = 6.37122e6, 7.292e-5, 9.80616, 1e4

    def __init__(self, n):
        import numpy
        import shtns

        self.np = numpy
        nlat, nlon = LATITUDES[n], 2 * LATITUDES[n]
        norm = shtns.sht_orthonormal + shtns.SHT_NO_CS_PHASE
        self.sht = shtns.sht(n, n, 1, norm, nthreads=1)
        layout = shtns.sht_quick_init | shtns.SHT_PHI_CONTIGUOUS
        self.sht.set_grid(nlat, nlon, layout, 1e-10)
        degree = self.sht.l.astype(float)
        self.laplacian = -degree * (degree + 1) / self.RADIUS**2
        self.inverse = numpy.zeros_like(self.laplacian)
        self.inverse[1:] = 1 / self.laplacian[1:]
        self.coriolis = 2 * self.ROTATION * self.sht.cos_theta[:, None] * numpy.ones((1, nlon))
        self.dt = 20.0 * 85 / n
        self.damping = numpy.exp(-self.dt / 1e4 * (self.laplacian / self.laplacian.min()) ** 4)
        longitude = numpy.arange(nlon) * 2 * numpy.pi / nlon
        wave = 500 * numpy.cos(longitude)[None, :] * (1 - self.sht.cos_theta[:, None] ** 2)
        self.phi = self.sht.analys(self.GRAVITY * self.DEPTH + wave)
        self.zeta = self.sht.analys(0.05 * self.coriolis)
        self.delta = numpy.zeros_like(self.zeta)
        self.before = []

    def derivatives(self, u, v):
        a, b = self.sht.analys(u, v)
        return self.laplacian * self.RADIUS * a, self.laplacian * self.RADIUS * b

    def once(self):
        start = time.perf_counter()
        inverse = self.inverse / self.RADIUS
        vorticity = self.sht.synth(self.zeta) + self.coriolis
        u, v = self.sht.synth(inverse * self.zeta, inverse * self.delta)
        phi = self.sht.synth(self.phi)
        curl, divergence = self.derivatives(u * vorticity, v * vorticity)
        _, flux = self.derivatives(u * phi, v * phi)
        energy = self.sht.analys(phi + 0.5 * (u * u + v * v))
        self.before.insert(0, (-divergence, curl - self.laplacian * energy, -flux))
        del self.before[3:]
        weights = ((1,), (1.5, -0.5), (23 / 12, -16 / 12, 5 / 12))[len(self.before) - 1]
        state = (self.zeta, self.delta, self.phi)
        self.zeta, self.delta, self.phi = (
            old + self.dt * sum(w * b[i] for w, b in zip(weights, self.before))
            for i, old in enumerate(state)
        )
        self.zeta = self.zeta * self.damping
        self.delta = self.delta * self.damping
        return time.perf_counter() - start

    def check(self):
        if not self.np.isfinite(self.zeta).all():
            sys.exit("compare.py: the Python step blew up")


class Ducc:
    """The transforms of one step by ducc0."""

    name = "ducc0, transforms"

    def __init__(self, n):
        import ducc0
        import numpy

        self.sht = ducc0.sht
        random = numpy.random.default_rng(1)
        self.options = {"lmax": n, "nthreads": 1}
        latitudes = LATITUDES[n]
        shape = (latitudes, 2 * latitudes)
        coefficients = (n + 1) * (n + 2) // 2
        self.grid = {"ntheta": shape[0], "nphi": shape[1], "geometry": "GL"}
        self.scalar = random.standard_normal((1, coefficients)).astype(complex)
        self.vector = random.standard_normal((2, coefficients)).astype(complex)
        self.map = random.standard_normal((1, *shape))
        self.maps = random.standard_normal((2, *shape))

    def once(self):
        start = time.perf_counter()
        for _ in range(2):
            self.sht.synthesis_2d(alm=self.scalar, spin=0, **self.options, **self.grid)
        self.sht.synthesis_2d(alm=self.vector, spin=1, **self.options, **self.grid)
        for _ in range(2):
            self.sht.analysis_2d(map=self.maps, spin=1, geometry="GL", **self.options)
        self.sht.analysis_2d(map=self.map, spin=0, geometry="GL", **self.options)
        return time.perf_counter() - start


def pstswm(options, folder):
    """Shortest and median seconds per step and level of a run; that it is VALID."""
    step = SECONDS_OF_TIME_STEP[options.truncation]
    sets = {
        "problem.truncation": options.truncation,
        "problem.levels": options.levels,
        "time.dt": step,
        "output.samples-per-file": 0,
        "output.every-hours": 0,
        "output.checkpoint-hours": 0,
    }
    words = [str(Path(options.binary).resolve()), "run", "run.toml", "--json", "run.json"]
    text = Path(folder, "run.toml")
    text.write_text(
        f'[problem]\ncase = "williamson-5"\ntruncation = {sets["problem.truncation"]}\n'
        f"levels = {options.levels}\nsteps = {options.steps}\n"
        f"[time]\ndt = {float(step)}\n"
        "[output]\nsamples-per-file = 0\nevery-hours = 0.0\ncheckpoint-hours = 0.0\n"
    )
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"compare.py: {' '.join(words)} failed:\n{done.stdout}{done.stderr}")
    results = json.loads(Path(folder, "run.json").read_text())["results"]
    seconds = results["seconds_per_step"]
    return seconds["min"] / options.levels, seconds["median"] / options.levels


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True, help="the pstswm of a release build")
    parser.add_argument("--truncation", type=int, default=85, choices=sorted(LATITUDES))
    parser.add_argument("--levels", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each program in a round")
    parser.add_argument("--steps", type=int, help="of pstswm in a round; default: as the seconds")
    parser.add_argument("--core", type=int, default=1, help="the core that all are pinned to")
    parser.add_argument("--ducc", action="store_true", help="ducc0's transforms as well")
    options = parser.parse_args()
    os.sched_setaffinity(0, {options.core})
    peers = [kind(options.truncation) for kind in [Shtns, Step] + [Ducc] * options.ducc]
    times = {peer.name: [] for peer in peers}
    ours = []
    with tempfile.TemporaryDirectory() as folder:
        if options.steps is None:
            options.steps = 10
            _, median = pstswm(options, folder)
            options.steps = max(10, int(options.seconds / median / options.levels))
        for _ in range(options.rounds):
            for peer in peers:
                samples, start = [], time.perf_counter()
                while time.perf_counter() - start < options.seconds:
                    samples.append(peer.once())
                if hasattr(peer, "check"):
                    peer.check()
                times[peer.name].append((min(samples), statistics.median(samples)))
            ours.append(pstswm(options, folder))
    label = f"T{options.truncation} L{options.levels}, one core, ms per step and level"
    print(f"{label:<44} {'min':>8} {'median':>8}   ratio of minima [least, largest]")
    for name, pairs in times.items():
        ratios = sorted(theirs[0] / own[0] for theirs, own in zip(pairs, ours))
        least = min(pair[0] for pair in pairs)
        middle = statistics.median(pair[1] for pair in pairs)
        print(
            f"{name:<44} {1e3 * least:>8.3f} {1e3 * middle:>8.3f}   "
            f"{statistics.median(ratios):.2f} [{ratios[0]:.2f}, {ratios[-1]:.2f}]"
        )
    least = min(pair[0] for pair in ours)
    middle = statistics.median(pair[1] for pair in ours)
    print(f"{'pstswm run, semi-implicit step':<44} {1e3 * least:>8.3f} {1e3 * middle:>8.3f}")


if __name__ == "__main__":
    main()
