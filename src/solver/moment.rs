//! A moment of a run, to return to: for steps that are taken again in another way.

use super::model::Model;
use super::state::State;
use crate::exchange::collective;
use crate::transport::{Transport, TransportError};

/// The state of one rank.
#[derive(Clone, Debug)]
pub struct Moment {
    old: State,
    now: State,
    step: u64,
}

impl<T: Transport> Model<T> {
    /// This moment.
    pub fn moment(&self) -> Moment {
        Moment {
            old: self.old.clone(),
            now: self.now.clone(),
            step: self.step,
        }
    }

    /// Goes back to a moment of this model.
    pub fn return_to(&mut self, moment: &Moment) {
        self.old.copy_from(&moment.old);
        self.now.copy_from(&moment.now);
        self.step = moment.step;
    }

    /// How far the newest state is from that of a moment: the largest difference of a coefficient
    /// over the largest coefficient of its field, over all fields and ranks; NaN if a coefficient is.
    /// Every rank calls it, and gets the same.
    ///
    /// # Errors
    /// A lost rank.
    pub fn distance(&self, moment: &Moment) -> Result<f64, TransportError> {
        let mut largest = [0.0; 6];
        let fields = self.now.fields().into_iter().zip(moment.now.fields());
        for (field, (a, b)) in fields.enumerate() {
            for (a, b) in a.iter().zip(b) {
                let pair = &mut largest[2 * field..2 * field + 2];
                pair[0] = worse(pair[0], (a - b).norm());
                pair[1] = worse(pair[1], b.norm());
            }
        }
        collective::allreduce(&self.world, &mut largest, |a, b| {
            for (a, b) in a.iter_mut().zip(b) {
                *a = worse(*a, *b);
            }
        })?;
        let ratios = largest.chunks_exact(2).map(|pair| match pair[0] {
            0.0 => 0.0,
            difference => difference / pair[1],
        });
        Ok(ratios.fold(0.0, worse))
    }
}

/// The larger, NaN if one is.
fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}
