"""NetPIPE's one-way times, as an anchor beside the two programs."""

import math
import shutil
import tempfile
from pathlib import Path

from launch import Failed

REPETITIONS = 30
INSTALL = "apt-get install netpipe-openmpi netpipe-mpich2"


class NetPipe:
    """The times of one start of NetPIPE, or why there are none."""

    def __init__(self, program, launcher, largest):
        self.times = []
        self.missing = None
        if shutil.which(program) is None:
            self.missing = "not installed"
            self.note = f"{program} is not installed: {INSTALL}"
            return
        try:
            self.times = one_way_times(program, launcher, largest)
        except Failed as failure:
            self.missing = "failed"
            self.note = f"NetPIPE: {failure}"

    def nearest(self, size):
        """(bytes, seconds) of the measured size with the least ratio to this one."""
        return min(self.times, key=lambda time: abs(math.log(time[0] / size)))

    def cell(self, size):
        """The table's text: us, and the size where it is not the one asked for."""
        if self.missing:
            return self.missing
        bytes_, seconds = self.nearest(size)
        return f"{seconds * 1e6:.2f}" + ("" if bytes_ == size else f" ({bytes_} B)")


def one_way_times(program, launcher, largest):
    """Half the round trip with receives posted before (-a), at powers of two and between (-p 0)."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "np.out")
        options = ["-a", "-p", "0", "-n", str(REPETITIONS), "-u", str(largest), "-o", str(file)]
        launcher.run([program, *options])
        rows = [line.split() for line in file.read_text().splitlines()]
    times = [(int(bytes_), float(seconds)) for bytes_, _, seconds in rows]
    if not times:
        raise Failed(f"{program} wrote no times")
    return times
