#!/usr/bin/env python3
"""Compares `pstswm swap` with a plain C loop of the same MPI calls, on two ranks.

    python3 scripts/compare_c/compare.py --binary target/release/pstswm \\
        --mpicc mpicc.openmpi --mpirun mpirun.openmpi --netpipe NPopenmpi

Without --binary the C program is compared with itself, which shows what the machine's noise does.
README.md in this folder says what the columns mean. Needs Python 3.9 or newer, nothing else.

Exit code: 0 no row is slower; 1 a row is slower, or a start failed; 2 bad arguments.
"""

import argparse
import json
import os
import shlex
import shutil
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import ratio
from launch import Failed, Launcher, build
from netpipe import NetPipe

VOLUMES = "8,64,512,2048,8192,65536,262144,2097152"
PROTOCOLS = [
    "simple/nonblocking",
    "simple/nonblocking-recv",
    "simple/native",
    "simple/ready",
    "ordered/blocking",
    "ordered/nonblocking-recv",
]


@dataclass(frozen=True)
class Case:
    """One row: what is swapped, and how."""

    protocol: str
    volume: int

    def __str__(self):
        return f"{self.protocol}, {self.volume} B"


class CLoop:
    """The C program."""

    def __init__(self, program, launcher, options):
        self.program, self.launcher, self.options = program, launcher, options

    def result(self, case):
        numbers = [case.volume, 1, self.options.iterations, self.options.samples]
        output = self.launcher.run([str(self.program), case.protocol, *map(str, numbers)])
        lines = output.splitlines()
        if len(lines) != 1:
            raise Failed(f"{self.program.name} printed {len(lines)} lines of results, not 1")
        return json.loads(lines[0])

    def samples(self, case):
        return self.result(case)["seconds"]["samples"]

    def library(self):
        """What the MPI library says it is."""
        return self.result(Case("simple/native", 8))["library"]


class Pstswm:
    """`pstswm swap`, by its JSON result."""

    def __init__(self, program, launcher, options, folder):
        self.program, self.launcher, self.options = program, launcher, options
        self.file = Path(folder, "swap.json")

    def samples(self, case):
        order, protocol = case.protocol.split("/")
        self.file.unlink(missing_ok=True)
        self.launcher.run(
            [self.program, "swap", "--order", order, "--protocol", protocol]
            + ["--volume", str(case.volume), "--messages", "1", "--overlap", "no"]
            + ["--iterations", str(self.options.iterations), "--samples", str(self.options.samples)]
            + ["--max-seconds", "0", "--json", str(self.file)]
        )
        return self.read(order, protocol)

    def read(self, order, protocol):
        """The samples of the one point that was asked for, if its data were right. pstswm leaves
        out those with a late start; the C program repeats them."""
        try:
            record = json.loads(self.file.read_text(encoding="utf-8"))
            (case,) = record["results"]["cases"]
            (point,) = case["curve"]
            verdict, verified = record["verdict"]["status"], case["verified"]
            found = (record["provenance"]["transport"], case["order"], case["protocol"], point["messages"])
            samples = point["seconds"]["samples"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Failed(f"{self.program}: no result of one case and one point: {error!r}") from None
        if verdict != "VALID" or not verified:
            raise Failed(f"{self.program}: the result is {verdict}, its data verified: {verified}")
        if found != ("mpi", order, protocol, 1):
            raise Failed(f"{self.program}: a result of {found}, not what was asked for")
        if 2 * len(samples) < self.options.samples:
            raise Failed(f"{self.program}: only {len(samples)} samples; too many starts were late")
        return samples


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    add = parser.add_argument
    add("--binary", help="pstswm, built with that MPI; without it C is compared with C")
    add("--mpicc", default="mpicc", help="compiler wrapper of the MPI")
    add("--mpirun", default="mpirun", help="launcher of the same MPI")
    add("--launcher-args", default="--bind-to core", help="arguments for the launcher; binding")
    add("--rounds", type=positive, default=10, help="ABBA rounds; 2 starts of each program a round")
    add("--samples", type=positive, default=50, help="samples a start")
    add("--iterations", type=positive, default=10, help="swaps back to back in a sample")
    add("--volumes", type=volumes, default=VOLUMES, help="bytes each way, multiples of 8")
    add("--protocols", type=protocols, default=",".join(PROTOCOLS), help="ORDER/PROTOCOL,...")
    add("--timeout", type=positive, default=60, help="seconds for a start")
    add("--netpipe", help="NetPIPE's program of that MPI, NPopenmpi or NPmpich2: one more column")
    add("--json", help="file to write: every sample, by round")
    options = parser.parse_args()
    for program in filter(None, [options.mpicc, options.mpirun, options.binary]):
        if shutil.which(program) is None:
            parser.error(f"no program `{program}`")
    if options.rounds < 2:
        parser.error("--rounds: an interval needs at least 2")
    return options


def positive(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"`{text}`: a whole number of at least 1 is expected")
    return int(text)


def volumes(text):
    values = [positive(part) for part in text.split(",")]
    if any(value % 8 for value in values):
        raise argparse.ArgumentTypeError(f"`{text}`: each must be a multiple of 8")
    return values


def protocols(text):
    names = text.split(",")
    for name in names:
        if name not in PROTOCOLS:
            raise argparse.ArgumentTypeError(f"`{name}` is not one of {', '.join(PROTOCOLS)}")
    return names


def measure(cases, first, second, count):
    """Rounds and failures by case. The rounds are outermost, so that drift meets all cases."""
    rounds = {case: [] for case in cases}
    failures = {case: [] for case in cases}
    for number in range(1, count + 1):
        say(f"round {number} of {count}")
        for case in cases:
            try:
                rounds[case].append(abba(case, first, second))
            except Failed as failure:
                failures[case].append(f"{case}, round {number}: {failure}")
                say(f"failed: {failures[case][-1]}")
    return rounds, {case: texts for case, texts in failures.items() if texts}


def abba(case, first, second):
    """Four starts; a round without one of them would not be balanced, and is dropped."""
    one, two, three, four = [program.samples(case) for program in (first, second, second, first)]
    return ratio.Round([one, four], [two, three])


def say(text):
    print(text, file=sys.stderr, flush=True)


def print_setting(options, library):
    command = [options.mpirun, *shlex.split(options.launcher_args), "-n", "2"]
    starts = f"2 + 2 starts, {options.samples} samples a start, {options.iterations} swaps a sample"
    print(f"MPI       {library}")
    print(f"launcher  {shlex.join(command)}")
    print(f"rounds    {options.rounds} of {starts}")
    print(f"load      {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors at the start")
    print("times     us per swap, the larger of the two ranks, an ordered swap in full", flush=True)


def print_table(results, second, netpipe):
    """One line a case; cases with less than two complete rounds have no result."""
    heads = ["bytes", "protocol", "C", second, "ratio", "95 % interval", "rounds", "verdict"]
    rows = [heads + (["NetPIPE one-way"] if netpipe else [])]
    for case, (rounds, found) in results.items():
        cells = [str(case.volume), case.protocol, *figures(found, len(rounds))]
        rows.append(cells + ([netpipe.cell(case.volume)] if netpipe else []))
    widths = [max(map(len, column)) for column in zip(*rows)]
    words = (1, 7)
    print()
    for row in rows:
        cells = enumerate(zip(row, widths))
        line = [text.ljust(width) if at in words else text.rjust(width) for at, (text, width) in cells]
        print("  ".join(line).rstrip())


def figures(found, rounds):
    """The cells of a ratio."""
    if found is None:
        return ["-", "-", "-", "-", str(rounds), "no result"]
    times = [f"{found.c * 1e6:.3f}", f"{found.rust * 1e6:.3f}", f"{found.value:.3f}"]
    return [*times, f"{found.low:.3f} .. {found.high:.3f}", str(rounds), found.verdict]


def write_json(path, record, results, netpipe):
    """Everything, so that the table can be made again; times in seconds."""
    record["limit"] = ratio.LIMIT
    record["rows"] = [
        {
            "order_protocol": case.protocol,
            "volume_bytes": case.volume,
            "result": found and asdict(found) | {"ratio": found.value, "verdict": found.verdict},
            "rounds": [asdict(one) for one in rounds],
        }
        for case, (rounds, found) in results.items()
    ]
    if netpipe:
        record["netpipe_one_way"] = netpipe.times
    Path(path).write_text(json.dumps(record) + "\n", encoding="utf-8")


def main():
    options = arguments()
    launcher = Launcher(options.mpirun, shlex.split(options.launcher_args), options.timeout)
    cases = [Case(protocol, volume) for protocol in options.protocols for volume in options.volumes]
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "swap_loop")
        c = CLoop(program, launcher, options)
        rust = Pstswm(options.binary, launcher, options, folder)
        try:
            build(options.mpicc, Path(__file__).with_name("swap_loop.c"), program)
            library = c.library()
        except Failed as failure:
            sys.exit(str(failure))
        print_setting(options, library)
        netpipe = NetPipe(options.netpipe, launcher, max(options.volumes)) if options.netpipe else None
        rounds, failures = measure(cases, c, rust if options.binary else c, options.rounds)

    results = {case: (of, ratio.compare(of) if len(of) > 1 else None) for case, of in rounds.items()}
    print_table(results, "Rust" if options.binary else "C again", netpipe)
    if netpipe and netpipe.missing:
        print(netpipe.note)
    for texts in failures.values():
        print(f"failed {len(texts)} times, first: {texts[0]}")
    if options.json:
        record = {"options": vars(options), "library": library, "failures": sum(failures.values(), [])}
        write_json(options.json, record, results, netpipe)
    slow = any(found is None or found.verdict == "slower" for _, found in results.values())
    sys.exit(1 if failures or slow else 0)


if __name__ == "__main__":
    main()
