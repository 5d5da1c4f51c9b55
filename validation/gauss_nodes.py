"""Gauss-Legendre nodes and weights to 20 digits with mpmath, for the test of src/grid/gauss.rs.

Run: python3 validation/gauss_nodes.py > validation/gauss_nodes.csv
"""
import mpmath as mp

mp.mp.dps = 40


def legendre(n, x):
    previous, p = mp.mpf(1), x
    for k in range(2, n + 1):
        previous, p = p, ((2 * k - 1) * x * p - (k - 1) * previous) / k
    return p, n * (previous - x * p) / (1 - x * x)


print("nlat,j,node,weight")
for n in (64, 256, 1024):
    for j in sorted({0, 1, 2, 5, n // 8, n // 4, n // 2 - 2, n // 2 - 1}):
        x = mp.cos(mp.pi * (j + mp.mpf(3) / 4) / (n + mp.mpf(1) / 2))
        for _ in range(7):
            p, slope = legendre(n, x)
            x -= p / slope
        _, slope = legendre(n, x)
        print(f"{n},{j},{mp.nstr(x, 22)},{mp.nstr(2 / ((1 - x * x) * slope * slope), 22)}")
