//! Times of candidates on all ranks: every rank gets the same ones.

use crate::bench::clock::CommonClock;
use crate::exchange::collective;
use crate::measure::{Movement, Phase, Phases};
use crate::pencil::{FORWARD_FIELDS, Movements};
use crate::solver::{Model, SolverError};
use crate::transport::{Transport, TransportError};

/// Shortest sample, s: repetitions make it up, so that clock and start do not matter.
const SHORTEST: f64 = 3e-4;

/// Most repetitions in a sample.
const MOST: usize = 64;

/// Takes samples that begin together on all ranks.
pub struct Bench<T: Transport> {
    comm: T,
    clock: CommonClock,
    began: f64,
}

/// A sample of whole steps.
#[derive(Clone, Copy, Debug, Default)]
pub struct StepSample {
    /// Seconds of a step, the larger of all ranks.
    pub step: f64,
    /// Seconds of a step without its movements, the largest of all ranks.
    pub floor: f64,
    /// Messages of a step, summed over ranks.
    pub messages: f64,
    /// Bytes of a step, summed over ranks.
    pub bytes: f64,
}

impl<T: Transport> Bench<T> {
    /// On these ranks; every one calls it.
    ///
    /// # Errors
    /// Those of the transport.
    pub fn new(comm: T) -> Result<Self, TransportError> {
        let clock = CommonClock::measure(&comm)?;
        let began = comm.now();
        Ok(Self { comm, clock, began })
    }

    /// The ranks.
    pub fn comm(&self) -> &T {
        &self.comm
    }

    /// Seconds since it began, the same on every rank. Every rank calls it.
    ///
    /// # Errors
    /// Those of the transport.
    pub fn elapsed(&self) -> Result<f64, TransportError> {
        self.agree(self.comm.now() - self.began)
    }

    /// The largest of the values of all ranks. Every rank calls it.
    ///
    /// # Errors
    /// Those of the transport.
    pub fn agree(&self, value: f64) -> Result<f64, TransportError> {
        let mut value = [value];
        collective::allreduce(&self.comm, &mut value, largest)?;
        Ok(value[0])
    }

    /// The sums of two values over all ranks. Every rank calls it.
    ///
    /// # Errors
    /// Those of the transport.
    pub fn sum(&self, mut values: [f64; 2]) -> Result<[f64; 2], TransportError> {
        collective::allreduce(&self.comm, &mut values, |a, b| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        })?;
        Ok(values)
    }

    /// Compares the clocks: once a round.
    ///
    /// # Errors
    /// Those of the transport.
    pub fn new_round(&mut self) -> Result<(), TransportError> {
        self.clock.resynchronise(&self.comm)
    }

    /// Makes the samples of this rank those of all: element by element the largest.
    ///
    /// # Errors
    /// Those of the transport.
    pub fn share(&self, samples: &mut [f64]) -> Result<(), TransportError> {
        collective::allreduce(&self.comm, samples, largest)
    }

    /// Repetitions that make a sample of something that takes so many seconds.
    pub fn repetitions(seconds: f64) -> usize {
        ((SHORTEST / seconds.max(1e-9)).ceil() as usize).clamp(1, MOST)
    }

    /// Seconds of one stage's movements, `repetitions` times, on this rank alone.
    ///
    /// # Errors
    /// A movement that failed.
    pub fn stage(
        &mut self,
        model: &mut Model<T>,
        movements: &mut Movements<T>,
        stage: Movement,
        repetitions: usize,
        grid: &mut Vec<f64>,
    ) -> Result<f64, SolverError> {
        let pencil = model.pencil_mut();
        grid.resize(pencil.grid().len(FORWARD_FIELDS), 1.0);
        pencil.exchange_movements(movements);
        let mut phases = Phases::new();
        self.clock.meet(&self.comm)?;
        for _ in 0..repetitions {
            pencil.move_alone(stage, grid, &mut phases)?;
        }
        pencil.exchange_movements(movements);
        Ok(moving(&phases, &[stage]) / repetitions as f64)
    }

    /// So many whole steps; the values are those of this rank alone. `movements`: other ones than
    /// the model's.
    ///
    /// # Errors
    /// A step that failed.
    pub fn steps(
        &mut self,
        model: &mut Model<T>,
        mut movements: Option<&mut Movements<T>>,
        steps: usize,
    ) -> Result<StepSample, SolverError> {
        if let Some(movements) = &mut movements {
            model.pencil_mut().exchange_movements(movements);
        }
        model.phases.reset();
        self.clock.meet(&self.comm)?;
        let begin = self.comm.now();
        for _ in 0..steps {
            model.step()?;
        }
        let seconds = self.comm.now() - begin;
        if let Some(movements) = movements {
            model.pencil_mut().exchange_movements(movements);
        }
        let all = [
            Movement::FftTranspose,
            Movement::FftButterfly,
            Movement::LegendreTranspose,
            Movement::LegendreSum,
        ];
        let sent = all.map(|movement| model.phases.total(movement.movement()));
        let each = steps as f64;
        Ok(StepSample {
            step: seconds / each,
            floor: (seconds - moving(&model.phases, &all)) / each,
            messages: sent.iter().map(|sent| sent.messages as f64).sum::<f64>() / each,
            bytes: sent.iter().map(|sent| sent.bytes_sent as f64).sum::<f64>() / each,
        })
    }
}

/// Seconds of movements, packing and unpacking included.
fn moving(phases: &Phases, movements: &[Movement]) -> f64 {
    let seconds = |phase: Phase| phases.total(phase).seconds;
    let of = |m: &Movement| [m.pack(), m.movement(), m.unpack()].map(seconds);
    movements.iter().flat_map(of).sum()
}

fn largest(a: &mut [f64], b: &[f64]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a = a.max(*b);
    }
}
