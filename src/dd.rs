//! Double-double arithmetic: an unevaluated sum of two f64, about 32 digits.
//!
//! Used where rounding would be seen: Gauss nodes, Legendre functions at small `m`, and sums whose
//! printed value must not depend on how the data are distributed. Built from error-free
//! transformations (Dekker 1971; Knuth 1969; Joldes, Muller and Popescu 2017) without fused
//! operations, so the result is the same on every machine.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// `hi + lo` with `|lo| <= ulp(hi)/2`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dd {
    /// Leading part.
    pub hi: f64,
    /// What `hi` misses.
    pub lo: f64,
}

/// `a + b` and its rounding error.
#[inline]
pub fn two_sum(a: f64, b: f64) -> Dd {
    let hi = a + b;
    let part = hi - a;
    Dd {
        hi,
        lo: (a - (hi - part)) + (b - part),
    }
}

/// `a + b` and its rounding error, for `|a| >= |b|`.
#[inline]
fn quick_two_sum(a: f64, b: f64) -> Dd {
    let hi = a + b;
    Dd {
        hi,
        lo: b - (hi - a),
    }
}

/// `a b` and its rounding error (Dekker's product).
#[inline]
pub fn two_product(a: f64, b: f64) -> Dd {
    let hi = a * b;
    let (a_hi, a_lo) = split(a);
    let (b_hi, b_lo) = split(b);
    Dd {
        hi,
        lo: ((a_hi * b_hi - hi) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo,
    }
}

/// The upper 26 bits of `a`, and the rest.
#[inline]
fn split(a: f64) -> (f64, f64) {
    const SPLITTER: f64 = 134_217_729.0; // 2^27 + 1
    let scaled = SPLITTER * a;
    let hi = scaled - (scaled - a);
    (hi, a - hi)
}

impl Dd {
    /// Zero.
    pub const ZERO: Self = Self { hi: 0.0, lo: 0.0 };

    /// The nearest f64.
    #[inline]
    pub fn to_f64(self) -> f64 {
        self.hi + self.lo
    }

    /// Square root of a positive number.
    #[inline]
    pub fn sqrt(self) -> Self {
        if self.hi <= 0.0 {
            return Self::ZERO;
        }
        let root = self.hi.sqrt();
        let rest = self - two_product(root, root);
        quick_two_sum(root, rest.hi / (2.0 * root))
    }

    /// Times a power of two (or any factor that rounds nothing).
    #[inline]
    pub fn scale(self, factor: f64) -> Self {
        Self {
            hi: self.hi * factor,
            lo: self.lo * factor,
        }
    }

    /// Adds the product `a b` without losing its low half.
    #[inline]
    pub fn add_product(self, a: f64, b: f64) -> Self {
        self + two_product(a, b)
    }
}

impl From<f64> for Dd {
    #[inline]
    fn from(value: f64) -> Self {
        Self { hi: value, lo: 0.0 }
    }
}

impl Add for Dd {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        let s = two_sum(self.hi, other.hi);
        let t = two_sum(self.lo, other.lo);
        let c = quick_two_sum(s.hi, s.lo + t.hi);
        quick_two_sum(c.hi, t.lo + c.lo)
    }
}

impl Neg for Dd {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self {
            hi: -self.hi,
            lo: -self.lo,
        }
    }
}

impl Sub for Dd {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Dd {
    type Output = Self;
    #[inline]
    fn mul(self, other: Self) -> Self {
        let p = two_product(self.hi, other.hi);
        quick_two_sum(p.hi, p.lo + (self.hi * other.lo + self.lo * other.hi))
    }
}

impl Div for Dd {
    type Output = Self;
    #[inline]
    fn div(self, other: Self) -> Self {
        let first = self.hi / other.hi;
        let rest = self - other * Self::from(first);
        let second = rest.hi / other.hi;
        let rest = rest - other * Self::from(second);
        quick_two_sum(first, second) + Self::from(rest.hi / other.hi)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_and_quotient_invert() {
        for value in [2.0, 3.0, 1e-10, 7.25e20] {
            let x = Dd::from(value);
            let root = x.sqrt();
            let back = root * root - x;
            assert!(back.to_f64().abs() <= 1e-30 * value, "{value}");
            let third = x / Dd::from(3.0);
            let back = third * Dd::from(3.0) - x;
            assert!(back.to_f64().abs() <= 1e-30 * value, "{value}");
        }
    }

    #[test]
    fn sums_keep_what_f64_drops() {
        let sum = [1e16, 1.0, -1e16]
            .into_iter()
            .fold(Dd::ZERO, |sum, x| sum + Dd::from(x));
        assert_eq!(sum.to_f64(), 1.0);
        let square = Dd::ZERO.add_product(1.0 + 2f64.powi(-40), 1.0 + 2f64.powi(-40));
        assert_eq!(square.lo, 2f64.powi(-80));
    }
}
