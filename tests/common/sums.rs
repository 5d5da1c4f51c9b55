//! What the tests of vector sums share: values, the documented order of additions, every choice.

#![allow(dead_code, clippy::unwrap_used)]

use pstswm::exchange::sum::{SumAlgorithm, SumChoice};
use pstswm::exchange::{Movement, VectorSum};
use pstswm::swap::order::Order;
use pstswm::swap::protocol::Protocol;
use pstswm::transport::{Transport, TransportError};

/// Lengths of segments.
pub(crate) type Shape = fn(usize) -> usize;
pub(crate) const SHAPES: [Shape; 4] = [
    |_| 3,
    |segment| (5 * segment + 1) % 4,
    |segment| if segment == 1 { 700 } else { 0 },
    |_| 0,
];

/// The lengths of all segments.
pub(crate) fn segments(size: usize, shape: Shape) -> Vec<usize> {
    (0..size).map(shape).collect()
}

/// Element `at` of rank `rank`: a small integer.
pub(crate) fn integer(rank: usize, at: usize) -> f64 {
    ((rank * 7919 + at * 104_729) % 2001) as f64 - 1000.0
}

/// The sum of integers over all ranks.
pub(crate) fn exact(size: usize, segments: &[usize]) -> Vec<f64> {
    let whole = |at| (0..size).map(|rank| integer(rank, at)).sum();
    (0..segments.iter().sum()).map(whole).collect()
}

/// Another element, of no particular size, so that other orders of additions have other roundings.
pub(crate) fn fraction(rank: usize, at: usize) -> f64 {
    // splitmix64
    let mut z = ((rank * 1_000_003 + at + 1) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    let unit = (z >> 11) as f64 / (1u64 << 53) as f64;
    (unit - 0.5) * f64::from(1 << (z % 20))
}

/// The sums of fractions in the documented order of additions; of a native sum that of threads.
pub(crate) fn serial(algorithm: SumAlgorithm, size: usize, segments: &[usize]) -> Vec<f64> {
    let mut sums = Vec::new();
    for (segment, &len) in segments.iter().enumerate() {
        for at in sums.len()..sums.len() + len {
            let x: Vec<f64> = (0..size).map(|rank| fraction(rank, at)).collect();
            sums.push(match algorithm {
                SumAlgorithm::Exchange | SumAlgorithm::Halving => {
                    let core = 1 << size.ilog2();
                    let folded = |rank: usize| match x.get(rank + core) {
                        Some(above) => x[rank] + above,
                        None => x[rank],
                    };
                    pairs((0..core).map(folded).collect())
                }
                SumAlgorithm::Ring | SumAlgorithm::PipelinedRing => {
                    let chain = (1..=size).map(|step| x[(segment + step) % size]);
                    chain.reduce(|sum, own| sum + own).unwrap()
                }
                SumAlgorithm::Native => pairs(x),
            });
        }
    }
    sums
}

/// Neighbours in pairs, then neighbouring pairs; what is left alone waits.
fn pairs(mut values: Vec<f64>) -> f64 {
    while values.len() > 1 {
        let pair = |pair: &[f64]| pair.iter().copied().reduce(|a, b| a + b).unwrap();
        values = values.chunks(2).map(pair).collect();
    }
    values[0]
}

/// Every algorithm with every legal order and protocol; of a native sum they say nothing.
pub(crate) fn choices() -> Vec<SumChoice> {
    let mut all = Vec::new();
    for algorithm in SumAlgorithm::ALL {
        if algorithm == SumAlgorithm::Native {
            all.push(SumChoice {
                algorithm,
                ..SumChoice::default()
            });
            continue;
        }
        for order in Order::ALL {
            for protocol in Protocol::all().filter(|p| p.legal_with(order)) {
                for handshake in [false, true] {
                    all.push(SumChoice {
                        algorithm,
                        order,
                        protocol,
                        handshake,
                        barrier: false,
                    });
                }
            }
        }
    }
    all
}

/// Adds up `value`, with a plan that may have been used before; checks how `local` is called.
pub(crate) fn add_up<T: Transport>(
    comm: &T,
    sum: &mut VectorSum,
    value: impl Fn(usize, usize) -> f64,
    movement: &mut Movement,
) -> Result<Vec<f64>, TransportError> {
    let plan = sum.plan().clone();
    let (rank, size) = (comm.rank(), comm.size());
    let mut total = vec![f64::NAN; plan.len()];
    let mut computed = Vec::new();
    let local = |segment: usize, values: &mut [f64]| {
        computed.push(segment);
        let elements = plan.segment(segment);
        assert_eq!(values.len(), elements.len());
        for (stored, at) in values.iter_mut().zip(elements) {
            *stored = value(rank, at);
        }
    };
    sum.execute(comm, local, &mut total, movement)?;
    let expected: Vec<usize> = match plan.choice.algorithm {
        SumAlgorithm::PipelinedRing => (1..=size).map(|step| (rank + size - step) % size).collect(),
        _ => (0..size).collect(),
    };
    assert_eq!(computed, expected);
    Ok(total)
}

/// The bits, which tell apart what compares equal.
pub(crate) fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}
