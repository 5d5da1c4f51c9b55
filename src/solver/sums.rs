//! Sums over all ranks in double-double: printed values do not depend on the mesh.

use crate::dd::Dd;
use crate::exchange::collective;
use crate::transport::{Transport, TransportError};

/// Adds up one list of numbers over all ranks; every rank gets the rounded result.
pub(super) fn sum_over_ranks<T: Transport>(
    comm: &T,
    sums: &[Dd],
) -> Result<Vec<f64>, TransportError> {
    let mut flat: Vec<f64> = sums.iter().flat_map(|sum| [sum.hi, sum.lo]).collect();
    collective::allreduce(comm, &mut flat, |total, part| {
        for (total, part) in total.chunks_exact_mut(2).zip(part.chunks_exact(2)) {
            let sum = Dd {
                hi: total[0],
                lo: total[1],
            } + Dd {
                hi: part[0],
                lo: part[1],
            };
            (total[0], total[1]) = (sum.hi, sum.lo);
        }
    })?;
    Ok(flat.chunks_exact(2).map(|sum| sum[0] + sum[1]).collect())
}

/// Largest of each number over all ranks; NaN wins.
pub(super) fn max_over_ranks<T: Transport>(
    comm: &T,
    values: &[f64],
) -> Result<Vec<f64>, TransportError> {
    let mut values = values.to_vec();
    collective::allreduce(comm, &mut values, |total, part| {
        for (total, &part) in total.iter_mut().zip(part) {
            if part > *total || part.is_nan() {
                *total = part;
            }
        }
    })?;
    Ok(values)
}
