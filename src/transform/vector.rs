//! Four lanes in one register: what the kernels compute with.
//!
//! A kernel is written once, over a [`Vector`]; each type that implements it is another machine's
//! way to do the same operations. Which types agree bit for bit is what [`super::kernels::Family`]
//! names: those with fused multiply-add among themselves, those without among themselves.

#![allow(unsafe_code)] // std::arch, and calls of functions compiled for features found at run time

use num_complex::Complex64;

use super::Lane;

/// Four f64 lanes and the operations on them, each lane on its own.
pub(crate) trait Vector: Copy {
    /// The values of a lane group in memory.
    fn load(from: &Lane) -> Self;
    /// To memory.
    fn store(self, to: &mut Lane);
    /// One value in every lane.
    fn splat(value: f64) -> Self;
    /// `self + b`.
    fn add(self, b: Self) -> Self;
    /// `self - b`.
    fn sub(self, b: Self) -> Self;
    /// `self b`.
    fn mul(self, b: Self) -> Self;
    /// `self b + c`.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// `self b - c`.
    fn mul_sub(self, b: Self, c: Self) -> Self;
    /// The larger in each lane; `b` where one is not a number.
    fn max(self, b: Self) -> Self;
    /// `self / b`.
    fn div(self, b: Self) -> Self;
    /// Two complex numbers.
    fn load_complex(from: &[Complex64; 2]) -> Self;
    /// To memory.
    fn store_complex(self, to: &mut [Complex64; 2]);
    /// `[a, a, b, b]`: a factor for each of two complex numbers.
    fn pairs(factors: &[f64; 2]) -> Self;
    /// `i` times each of two complex numbers.
    fn times_i(self) -> Self;
    /// Asks for the memory `offset` values from `base` to be brought near, wherever that is; where
    /// this cannot be asked for, nothing happens.
    fn prefetch(base: &f64, offset: isize);
    /// Rows to columns.
    fn transpose(rows: [Self; 4]) -> [Self; 4];

    /// Zero in every lane.
    #[inline(always)]
    fn zero() -> Self {
        Self::splat(0.0)
    }
}

/// Plain arrays, on any machine; `FUSED`: multiply-add is one operation with one rounding (slow
/// where the machine has none).
#[derive(Clone, Copy)]
pub(crate) struct Array<const FUSED: bool>(Lane);

impl<const FUSED: bool> Array<FUSED> {
    #[inline(always)]
    fn each(f: impl FnMut(usize) -> f64) -> Self {
        Self(std::array::from_fn(f))
    }
}

impl<const FUSED: bool> Vector for Array<FUSED> {
    #[inline(always)]
    fn load(from: &Lane) -> Self {
        Self(*from)
    }

    #[inline(always)]
    fn store(self, to: &mut Lane) {
        *to = self.0;
    }

    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self([value; 4])
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self::each(|i| self.0[i] + b.0[i])
    }

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Self::each(|i| self.0[i] - b.0[i])
    }

    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        Self::each(|i| self.0[i] * b.0[i])
    }

    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        Self::each(|i| {
            if FUSED {
                self.0[i].mul_add(b.0[i], c.0[i])
            } else {
                self.0[i] * b.0[i] + c.0[i]
            }
        })
    }

    #[inline(always)]
    fn mul_sub(self, b: Self, c: Self) -> Self {
        Self::each(|i| {
            if FUSED {
                self.0[i].mul_add(b.0[i], -c.0[i])
            } else {
                self.0[i] * b.0[i] - c.0[i]
            }
        })
    }

    #[inline(always)]
    fn max(self, b: Self) -> Self {
        Self::each(|i| {
            if self.0[i] > b.0[i] {
                self.0[i]
            } else {
                b.0[i]
            }
        })
    }

    #[inline(always)]
    fn div(self, b: Self) -> Self {
        Self::each(|i| self.0[i] / b.0[i])
    }

    #[inline(always)]
    fn load_complex(from: &[Complex64; 2]) -> Self {
        Self([from[0].re, from[0].im, from[1].re, from[1].im])
    }

    #[inline(always)]
    fn store_complex(self, to: &mut [Complex64; 2]) {
        *to = [
            Complex64::new(self.0[0], self.0[1]),
            Complex64::new(self.0[2], self.0[3]),
        ];
    }

    #[inline(always)]
    fn pairs(factors: &[f64; 2]) -> Self {
        Self([factors[0], factors[0], factors[1], factors[1]])
    }

    #[inline(always)]
    fn times_i(self) -> Self {
        Self([-self.0[1], self.0[0], -self.0[3], self.0[2]])
    }

    #[inline(always)]
    fn prefetch(_: &f64, _: isize) {}

    #[inline(always)]
    fn transpose(rows: [Self; 4]) -> [Self; 4] {
        std::array::from_fn(|column| Self::each(|row| rows[row].0[column]))
    }
}

/// AVX2 with FMA. Used only within functions that are compiled for these features and entered
/// where the machine has them: see `dispatch!`.
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2 {
    use std::arch::x86_64::{
        __m256d, _MM_HINT_T0, _mm_loadu_pd, _mm_prefetch, _mm256_add_pd, _mm256_castpd128_pd256,
        _mm256_div_pd, _mm256_fmadd_pd, _mm256_fmsub_pd, _mm256_loadu_pd, _mm256_max_pd,
        _mm256_mul_pd, _mm256_permute_pd, _mm256_permute2f128_pd, _mm256_permute4x64_pd,
        _mm256_set1_pd, _mm256_setr_pd, _mm256_storeu_pd, _mm256_sub_pd, _mm256_unpackhi_pd,
        _mm256_unpacklo_pd, _mm256_xor_pd,
    };

    use num_complex::Complex64;

    use super::{Lane, Vector};

    /// One 256-bit register.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx2(__m256d);

    // SAFETY, of every block below: this type is named only as the argument of kernel bodies within
    // functions with these target features, which `dispatch!` enters for `Family::Fused` alone, and
    // `Family::detect` made that after it found the features. Loads and stores go through references
    // to four f64, or to two complex numbers, which are two f64 each (`repr(C)`), and need no
    // alignment.
    #[allow(clippy::undocumented_unsafe_blocks)]
    impl Vector for Avx2 {
        #[inline(always)]
        fn load(from: &Lane) -> Self {
            Self(unsafe { _mm256_loadu_pd(from.as_ptr()) })
        }

        #[inline(always)]
        fn store(self, to: &mut Lane) {
            unsafe { _mm256_storeu_pd(to.as_mut_ptr(), self.0) }
        }

        #[inline(always)]
        fn splat(value: f64) -> Self {
            Self(unsafe { _mm256_set1_pd(value) })
        }

        #[inline(always)]
        fn add(self, b: Self) -> Self {
            Self(unsafe { _mm256_add_pd(self.0, b.0) })
        }

        #[inline(always)]
        fn sub(self, b: Self) -> Self {
            Self(unsafe { _mm256_sub_pd(self.0, b.0) })
        }

        #[inline(always)]
        fn mul(self, b: Self) -> Self {
            Self(unsafe { _mm256_mul_pd(self.0, b.0) })
        }

        #[inline(always)]
        fn mul_add(self, b: Self, c: Self) -> Self {
            Self(unsafe { _mm256_fmadd_pd(self.0, b.0, c.0) })
        }

        #[inline(always)]
        fn mul_sub(self, b: Self, c: Self) -> Self {
            Self(unsafe { _mm256_fmsub_pd(self.0, b.0, c.0) })
        }

        #[inline(always)]
        fn max(self, b: Self) -> Self {
            Self(unsafe { _mm256_max_pd(self.0, b.0) })
        }

        #[inline(always)]
        fn div(self, b: Self) -> Self {
            Self(unsafe { _mm256_div_pd(self.0, b.0) })
        }

        #[inline(always)]
        fn load_complex(from: &[Complex64; 2]) -> Self {
            Self(unsafe { _mm256_loadu_pd(from.as_ptr().cast()) })
        }

        #[inline(always)]
        fn store_complex(self, to: &mut [Complex64; 2]) {
            unsafe { _mm256_storeu_pd(to.as_mut_ptr().cast(), self.0) }
        }

        #[inline(always)]
        fn pairs(factors: &[f64; 2]) -> Self {
            unsafe {
                let both = _mm256_castpd128_pd256(_mm_loadu_pd(factors.as_ptr()));
                Self(_mm256_permute4x64_pd::<0b01_01_00_00>(both))
            }
        }

        #[inline(always)]
        fn times_i(self) -> Self {
            unsafe {
                let signs = _mm256_setr_pd(-0.0, 0.0, -0.0, 0.0);
                Self(_mm256_xor_pd(_mm256_permute_pd::<0b0101>(self.0), signs))
            }
        }

        #[inline(always)]
        fn prefetch(base: &f64, offset: isize) {
            let address = std::ptr::from_ref(base).wrapping_offset(offset);
            // Any address may be asked for: it is not read.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
        }

        #[inline(always)]
        fn transpose([a, b, c, d]: [Self; 4]) -> [Self; 4] {
            unsafe {
                let low = [_mm256_unpacklo_pd(a.0, b.0), _mm256_unpacklo_pd(c.0, d.0)];
                let high = [_mm256_unpackhi_pd(a.0, b.0), _mm256_unpackhi_pd(c.0, d.0)];
                [
                    Self(_mm256_permute2f128_pd::<0x20>(low[0], low[1])),
                    Self(_mm256_permute2f128_pd::<0x20>(high[0], high[1])),
                    Self(_mm256_permute2f128_pd::<0x31>(low[0], low[1])),
                    Self(_mm256_permute2f128_pd::<0x31>(high[0], high[1])),
                ]
            }
        }
    }
}

/// Compiles a kernel body for every family and dispatches: the body is generic over a [`Vector`],
/// always inlined, and becomes machine code within functions that have the features.
macro_rules! dispatch {
    ($(#[$doc:meta])* $visible:vis $name:ident => $body:ident
        ($($arg:ident: $type:ty),* $(,)?) $(-> $result:ty)?) => {
        $(#[$doc])*
        #[inline]
        #[allow(unsafe_code, clippy::too_many_arguments)]
        $visible fn $name(family: $crate::transform::kernels::Family, $($arg: $type),*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            #[allow(clippy::too_many_arguments)]
            fn fused($($arg: $type),*) $(-> $result)? {
                $body::<$crate::transform::vector::avx2::Avx2>($($arg),*)
            }
            match family {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: `Family::Fused` is made only by `Family::detect`, which found the
                // features on this machine.
                $crate::transform::kernels::Family::Fused => unsafe { fused($($arg),*) },
                #[cfg(not(target_arch = "x86_64"))]
                $crate::transform::kernels::Family::Fused => {
                    $body::<$crate::transform::vector::Array<true>>($($arg),*)
                }
                $crate::transform::kernels::Family::Plain => {
                    $body::<$crate::transform::vector::Array<false>>($($arg),*)
                }
            }
        }
    };
}

pub(crate) use dispatch;
