//! The library's sum over all ranks (MPI_Allreduce), and whether all ranks got the same bits.
//!
//! The standard only advises libraries to give every rank the same result, and those that add in
//! another order on each rank do not.

use std::sync::LazyLock;

use xxhash_rust::xxh3::xxh3_64;

use super::watch::{self, Call, Wait, waiting};
use super::{MpiTransport, checked, count, end_job, f64_type, ffi, u64_type};
use crate::transport::{Label, TransportError};

/// What sums by the library are called in reports.
static LABEL: LazyLock<Label> = LazyLock::new(|| Label("native sum".to_owned()));

const CALL: Call = Call("MPI_Allreduce");

/// See [`allreduce_sum`](crate::transport::Transport::allreduce_sum). What the library refuses ends
/// the job: data may be under way between the caller's buffers.
pub(super) fn allreduce(
    transport: &MpiTransport,
    values: &[f64],
    total: &mut [f64],
) -> Result<bool, TransportError> {
    let rank = transport.job_rank();
    if values.len() != total.len() {
        return Err(TransportError::BufferLength {
            rank,
            buffer: "total",
            expected: values.len(),
            found: total.len(),
        });
    }
    let elements = count(values.len(), rank)?;
    watch::label(Some(&LABEL));
    // SAFETY: two buffers of as many elements as said, which do not overlap.
    let code = waiting(&CALL, Wait::everyone(values.len()), || unsafe {
        let (from, to) = (values.as_ptr().cast(), total.as_mut_ptr().cast());
        let comm = transport.data.raw();
        ffi::MPI_Allreduce(from, to, elements, f64_type(), ffi::RSMPI_SUM, comm)
    });
    let same =
        checked(code, CALL.0, rank).and_then(|()| is_same_everywhere(transport, hash(total)));
    if let Err(error) = &same {
        end_job(rank, Some(error));
    }
    same
}

/// Whether all ranks have the same number, from one more reduction: the bits that all have set, and
/// those that none has set, are together all bits.
fn is_same_everywhere(transport: &MpiTransport, number: u64) -> Result<bool, TransportError> {
    let own = [number, !number];
    let mut common = [0u64; 2];
    // SAFETY: two buffers of two numbers.
    let code = waiting(&CALL, Wait::everyone(own.len()), || unsafe {
        let (from, to) = (own.as_ptr().cast(), common.as_mut_ptr().cast());
        let comm = transport.data.raw();
        ffi::MPI_Allreduce(from, to, 2, u64_type(), ffi::RSMPI_BAND, comm)
    });
    checked(code, CALL.0, transport.job_rank())?;
    Ok(common[0] == !common[1])
}

/// A hash of the bits.
fn hash(values: &[f64]) -> u64 {
    // SAFETY: the same memory as bytes, every pattern of which is valid.
    let bytes = unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) };
    xxh3_64(bytes)
}
