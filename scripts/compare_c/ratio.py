"""Ratio of medians with a bootstrap interval over rounds, and what it means for the limit."""

import random
from dataclasses import dataclass
from itertools import chain
from statistics import median

LIMIT = 1.05
RESAMPLES = 2000
SEED = 1


@dataclass
class Round:
    """One ABBA round: by start, two of each program, the samples in seconds."""

    c: list
    rust: list


@dataclass
class Ratio:
    """Medians in seconds over all rounds; ratio Rust / C with its 95 % interval."""

    c: float
    rust: float
    low: float
    high: float

    @property
    def value(self):
        return self.rust / self.c

    @property
    def verdict(self):
        if self.value <= LIMIT:
            return f"<= {LIMIT}"
        return f"interval includes {LIMIT}" if self.low <= LIMIT else "slower"


def compare(rounds):
    """Percentile bootstrap. Rounds are drawn, not samples: those of one start are correlated."""
    generator = random.Random(SEED)
    pooled = [(sorted(chain(*one.c)), sorted(chain(*one.rust))) for one in rounds]
    ratios = []
    for _ in range(RESAMPLES):
        c, rust = medians(generator.choices(pooled, k=len(pooled)))
        ratios.append(rust / c)
    ratios.sort()
    c, rust = medians(pooled)
    return Ratio(c, rust, ratios[RESAMPLES // 40], ratios[-1 - RESAMPLES // 40])


def medians(pooled):
    """Medians of C and of Rust over rounds, each round a pair of lists."""
    c, rust = zip(*pooled)
    return median(chain(*c)), median(chain(*rust))
