//! Where the time of a run goes: a fixed set of named phases, counted without allocation or locks.

use std::time::Instant;

/// A movement of data between ranks; each is timed in five parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Movement {
    /// Along mesh rows: longitudes or wavenumbers become local for the FFT.
    FftTranspose,
    /// Along mesh rows: the butterflies of a distributed FFT.
    FftButterfly,
    /// Along mesh columns: latitudes become local for the Legendre transform.
    LegendreTranspose,
    /// Along mesh columns: the vector sum of a distributed Legendre transform.
    LegendreSum,
    /// To rank 0, for output.
    Gather,
}

impl Movement {
    /// Filling of send buffers.
    pub fn pack(self) -> Phase {
        match self {
            Self::FftTranspose => Phase::FftTransposePack,
            Self::FftButterfly => Phase::FftButterflyPack,
            Self::LegendreTranspose => Phase::LegendreTransposePack,
            Self::LegendreSum => Phase::LegendreSumPack,
            Self::Gather => Phase::GatherPack,
        }
    }

    /// The barrier before the movement (`barrier = true`): time lost to late ranks.
    pub fn wait(self) -> Phase {
        match self {
            Self::FftTranspose => Phase::FftTransposeWait,
            Self::FftButterfly => Phase::FftButterflyWait,
            Self::LegendreTranspose => Phase::LegendreTransposeWait,
            Self::LegendreSum => Phase::LegendreSumWait,
            Self::Gather => Phase::GatherWait,
        }
    }

    /// The exchange itself; bytes and messages are counted here.
    pub fn movement(self) -> Phase {
        match self {
            Self::FftTranspose => Phase::FftTransposeMove,
            Self::FftButterfly => Phase::FftButterflyMove,
            Self::LegendreTranspose => Phase::LegendreTransposeMove,
            Self::LegendreSum => Phase::LegendreSumMove,
            Self::Gather => Phase::GatherMove,
        }
    }

    /// Emptying of receive buffers.
    pub fn unpack(self) -> Phase {
        match self {
            Self::FftTranspose => Phase::FftTransposeUnpack,
            Self::FftButterfly => Phase::FftButterflyUnpack,
            Self::LegendreTranspose => Phase::LegendreTransposeUnpack,
            Self::LegendreSum => Phase::LegendreSumUnpack,
            Self::Gather => Phase::GatherUnpack,
        }
    }
}

macro_rules! phases {
    ($($(#[$doc:meta])* $variant:ident = $name:literal),+ $(,)?) => {
        /// A part of the run that is timed on its own. Phases do not nest, but for
        /// [`Phase::Step`], which holds the whole of a time step.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Phase { $($(#[$doc])* $variant),+ }

        impl Phase {
            /// Every phase, in the order of a time step.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Number of phases.
            pub const COUNT: usize = Self::ALL.len();

            /// The name in reports.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }
    };
}

phases! {
    /// Spectral coefficients to Fourier coefficients.
    InverseLegendre = "inverse-legendre",
    /// Fourier coefficients to the grid.
    InverseFft = "inverse-fft",
    /// Nonlinear products at grid points.
    GridProducts = "grid-products",
    /// Grid to Fourier coefficients.
    ForwardFft = "forward-fft",
    /// Fourier coefficients to spectral coefficients.
    ForwardLegendre = "forward-legendre",
    /// Tendencies, the semi-implicit solution, filter and diffusion in spectral space.
    SpectralUpdate = "spectral-update",
    /// FFT transposes: filling of send buffers.
    FftTransposePack = "fft-transpose-pack",
    /// FFT transposes: the barrier before the exchange, where one is asked for.
    FftTransposeWait = "fft-transpose-wait",
    /// FFT transposes: the exchange.
    FftTransposeMove = "fft-transpose-move",
    /// FFT transposes: emptying of receive buffers.
    FftTransposeUnpack = "fft-transpose-unpack",
    /// Distributed FFT: filling of send buffers.
    FftButterflyPack = "fft-butterfly-pack",
    /// Distributed FFT: the barrier before the butterflies, where one is asked for.
    FftButterflyWait = "fft-butterfly-wait",
    /// Distributed FFT: the exchanges.
    FftButterflyMove = "fft-butterfly-move",
    /// Distributed FFT: emptying of receive buffers.
    FftButterflyUnpack = "fft-butterfly-unpack",
    /// Legendre transposes: filling of send buffers.
    LegendreTransposePack = "legendre-transpose-pack",
    /// Legendre transposes: the barrier before the exchange, where one is asked for.
    LegendreTransposeWait = "legendre-transpose-wait",
    /// Legendre transposes: the exchange.
    LegendreTransposeMove = "legendre-transpose-move",
    /// Legendre transposes: emptying of receive buffers.
    LegendreTransposeUnpack = "legendre-transpose-unpack",
    /// Distributed Legendre transform: filling of send buffers.
    LegendreSumPack = "legendre-sum-pack",
    /// Distributed Legendre transform: the barrier before the sum, where one is asked for.
    LegendreSumWait = "legendre-sum-wait",
    /// Distributed Legendre transform: the vector sum, its additions included.
    LegendreSumMove = "legendre-sum-move",
    /// Distributed Legendre transform: emptying of receive buffers.
    LegendreSumUnpack = "legendre-sum-unpack",
    /// The whole of a time step: all the above and what none of them covers.
    Step = "step",
    /// Gathers for output: filling of send buffers.
    GatherPack = "gather-pack",
    /// Gathers for output: the barrier before the exchange, where one is asked for.
    GatherWait = "gather-wait",
    /// Gathers for output: the exchange.
    GatherMove = "gather-move",
    /// Gathers for output: emptying of receive buffers.
    GatherUnpack = "gather-unpack",
    /// Norms, invariants, spectra, checksums.
    Diagnostics = "diagnostics",
    /// Writing of history files and checkpoints.
    Output = "output",
}

impl Phase {
    /// Whether the phase is a part of [`Phase::Step`].
    pub fn in_step(self) -> bool {
        (self as u8) < (Phase::Step as u8)
    }
}

/// The moment a phase began.
#[derive(Clone, Copy, Debug)]
pub struct Start(Instant);

impl Start {
    /// Seconds since.
    pub fn seconds(self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

/// Numbers kept per phase, hence per phase in [`Phases::flatten`].
pub(super) const COLUMNS: usize = 4;

/// What one rank spent in one phase.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PhaseTotal {
    /// Time, s.
    pub seconds: f64,
    /// Times the phase was passed through.
    pub calls: u64,
    /// Payload bytes sent to other ranks.
    pub bytes_sent: u64,
    /// Messages sent to other ranks.
    pub messages: u64,
}

/// The phases of one rank. One reading of the clock at each end of a phase, or one at each
/// border of consecutive phases with [`Phases::next`]; nothing is allocated.
///
/// ```
/// use pstswm::measure::{Phase, Phases};
/// let mut phases = Phases::new();
/// let start = phases.start();
/// let start = phases.next(Phase::InverseLegendre, start);
/// phases.stop(Phase::InverseFft, start);
/// assert_eq!(phases.total(Phase::InverseFft).calls, 1);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Phases {
    totals: [PhaseTotal; Phase::COUNT],
}

impl Default for Phases {
    fn default() -> Self {
        Self::new()
    }
}

impl Phases {
    /// Nothing spent yet.
    pub fn new() -> Self {
        Self {
            totals: [PhaseTotal::default(); Phase::COUNT],
        }
    }

    /// Forgets everything (after the warm-up).
    pub fn reset(&mut self) {
        *self = Self::new();
    }

    /// Reads the clock.
    #[inline]
    pub fn start(&self) -> Start {
        Start(Instant::now())
    }

    /// Ends a phase; returns its duration in s.
    #[inline]
    pub fn stop(&mut self, phase: Phase, start: Start) -> f64 {
        let seconds = start.seconds();
        self.add(phase, seconds);
        seconds
    }

    /// Ends a phase and begins another with the same reading of the clock.
    #[inline]
    pub fn next(&mut self, phase: Phase, start: Start) -> Start {
        let now = Instant::now();
        self.add(phase, now.duration_since(start.0).as_secs_f64());
        Start(now)
    }

    /// Ends a part of a phase, which is not a call of its own, and begins another: see
    /// [`Phases::passed`].
    #[inline]
    pub fn lap(&mut self, phase: Phase, start: Start) -> Start {
        let now = Instant::now();
        self.totals[phase as usize].seconds += now.duration_since(start.0).as_secs_f64();
        Start(now)
    }

    /// Counts a call of a phase whose parts were timed by [`Phases::lap`].
    #[inline]
    pub fn passed(&mut self, phase: Phase) {
        self.totals[phase as usize].calls += 1;
    }

    /// Adds one call of known duration, s.
    #[inline]
    pub fn add(&mut self, phase: Phase, seconds: f64) {
        let total = &mut self.totals[phase as usize];
        total.seconds += seconds;
        total.calls += 1;
    }

    /// Counts payload bytes and messages sent to other ranks.
    #[inline]
    pub fn sent(&mut self, phase: Phase, bytes: u64, messages: u64) {
        let total = &mut self.totals[phase as usize];
        total.bytes_sent += bytes;
        total.messages += messages;
    }

    /// What was spent in a phase.
    pub fn total(&self, phase: Phase) -> PhaseTotal {
        self.totals[phase as usize]
    }

    /// Length of [`Phases::flatten`], the same on every rank.
    pub const FLAT_LENGTH: usize = Phase::COUNT * COLUMNS;

    /// Seconds, calls, bytes and messages of every phase, for a gather over ranks
    /// (counts are exact up to 2^53).
    pub fn flatten(&self) -> Vec<f64> {
        self.totals
            .iter()
            .flat_map(|t| {
                [
                    t.seconds,
                    t.calls as f64,
                    t.bytes_sent as f64,
                    t.messages as f64,
                ]
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_indices_are_positions() {
        for (index, &phase) in Phase::ALL.iter().enumerate() {
            assert_eq!(phase as usize, index);
            let same = Phase::ALL.iter().filter(|p| p.name() == phase.name());
            assert_eq!(same.count(), 1);
        }
        assert!(Phase::LegendreTransposeUnpack.in_step());
        assert!(!Phase::Step.in_step() && !Phase::GatherMove.in_step());
    }

    #[test]
    fn parts_of_a_movement_carry_its_name() {
        let cases = [
            (Movement::FftTranspose, "fft-transpose"),
            (Movement::FftButterfly, "fft-butterfly"),
            (Movement::LegendreTranspose, "legendre-transpose"),
            (Movement::LegendreSum, "legendre-sum"),
            (Movement::Gather, "gather"),
        ];
        for (movement, name) in cases {
            assert_eq!(movement.pack().name(), format!("{name}-pack"));
            assert_eq!(movement.wait().name(), format!("{name}-wait"));
            assert_eq!(movement.movement().name(), format!("{name}-move"));
            assert_eq!(movement.unpack().name(), format!("{name}-unpack"));
        }
    }

    #[test]
    fn time_calls_and_traffic_accumulate_until_reset() {
        let mut phases = Phases::new();
        let start = phases.start();
        let start = phases.next(Phase::ForwardFft, start);
        let seconds = phases.stop(Phase::ForwardFft, start);
        phases.add(Phase::ForwardFft, 2.0);
        phases.sent(Phase::FftTransposeMove, 800, 3);
        let fft = phases.total(Phase::ForwardFft);
        assert_eq!(fft.calls, 3);
        assert!(fft.seconds >= 2.0 + seconds);
        let flat = phases.flatten();
        assert_eq!(flat.len(), Phases::FLAT_LENGTH);
        let at = COLUMNS * Phase::FftTransposeMove as usize;
        assert_eq!(flat[at..at + COLUMNS], [0.0, 0.0, 800.0, 3.0]);
        phases.reset();
        assert_eq!(phases, Phases::new());
    }
}
