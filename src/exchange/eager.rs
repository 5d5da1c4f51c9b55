//! The eager limit: up to which size the library buffers a standard send, measured.
//!
//! A standard send is started while its receive is known not to be posted: the receiver posts it
//! only when it is told to. If the send completes all the same, the message was buffered. That is
//! proof; a send that does not complete within some milliseconds is taken as not buffered, after
//! several tries. No try can hang: whatever came out, the receiver is then told to receive.

use super::collective;
use crate::transport::{Scope, SendMode, Tag, Transport, TransportError};

/// Bytes of the largest message tried.
pub const LARGEST: usize = 4 << 20;

/// Bytes of an element: sizes are whole elements.
const ELEMENT: usize = size_of::<f64>();

/// Seconds that a send gets to complete.
const PATIENCE: f64 = 4e-3;

/// Sends that must all stay incomplete before a size counts as not buffered.
const TRIES: usize = 3;

/// Tag of the messages and of the signal to receive; nothing else is under way.
const TAG: Tag = 0;

/// The largest standard send from rank `a` to rank `b` that is buffered, in bytes: a multiple of 8,
/// 0 when not even 8 bytes are, [`LARGEST`] when it may be more. Every rank of `comm` calls it and
/// gets the result. Buffering is taken to end at one size. Equal ranks measure nothing and get 0.
///
/// # Errors
/// Ranks that do not exist; those of the transport.
pub fn eager_limit<T: Transport>(comm: &T, a: usize, b: usize) -> Result<usize, TransportError> {
    for partner in [a, b] {
        if partner >= comm.size() {
            return Err(TransportError::NoSuchRank {
                rank: comm.rank(),
                partner,
                size: comm.size(),
            });
        }
    }
    if a == b {
        return Ok(0);
    }
    let mut elements = [0.0];
    if comm.rank() == a {
        elements[0] = bisect(|elements| is_buffered(comm, b, elements))? as f64;
        // An empty message is the last one.
        offer(comm, b, 0)?;
    } else if comm.rank() == b {
        take_all(comm, a)?;
    }
    collective::broadcast(comm, a, &mut elements)?;
    Ok(elements[0] as usize * ELEMENT)
}

/// The largest number of elements that is buffered: first the power of two, then what lies between
/// it and the next.
fn bisect(
    mut buffered: impl FnMut(usize) -> Result<bool, TransportError>,
) -> Result<usize, TransportError> {
    let mut powers = 0..(LARGEST / ELEMENT).trailing_zeros() + 1;
    while !powers.is_empty() {
        let middle = powers.start + (powers.end - powers.start) / 2;
        if buffered(1 << middle)? {
            powers.start = middle + 1;
        } else {
            powers.end = middle;
        }
    }
    // Buffered below `powers.start`, not from there on.
    let Some(power) = powers.start.checked_sub(1) else {
        return Ok(0);
    };
    let (mut low, mut high) = (1 << power, (1 << powers.start).min(LARGEST / ELEMENT + 1));
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if buffered(middle)? {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

/// Whether one of several sends of so many elements completes before its receive is posted.
fn is_buffered<T: Transport>(comm: &T, to: usize, elements: usize) -> Result<bool, TransportError> {
    for _ in 0..TRIES {
        if offer(comm, to, elements)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Sends once; whether it completed before the receiver was told to receive.
fn offer<T: Transport>(comm: &T, to: usize, elements: usize) -> Result<bool, TransportError> {
    let data = vec![1.0; elements];
    comm.over(&data, &mut [], |scope| {
        let request = scope.isend(SendMode::Standard, to, TAG, 0..elements)?;
        let start = comm.now();
        let mut complete = scope.test(request)?.is_some();
        while !complete && comm.now() - start < PATIENCE {
            std::thread::yield_now();
            complete = scope.test(request)?.is_some();
        }
        scope.signal(to, TAG)?;
        if !complete {
            scope.wait(request)?;
        }
        Ok(complete)
    })
}

/// Receives whatever is offered, each message when told to, until one is empty.
fn take_all<T: Transport>(comm: &T, from: usize) -> Result<(), TransportError> {
    let mut room = vec![0.0; LARGEST / ELEMENT];
    let len = room.len();
    comm.over(&[], &mut room, |scope| {
        loop {
            scope.await_signal(from, TAG)?;
            if scope.recv(from, TAG, 0..len)? == 0 {
                return Ok(());
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::threads::{ThreadOptions, run};

    #[test]
    fn the_limit_of_threads_is_found() {
        // Whole elements: 100 bytes hold 12.
        for (limit, expected) in [
            (0, 0),
            (7, 0),
            (8, 8),
            (100, 96),
            (4096, 4096),
            (4104, 4104),
            (65528, 65528),
            (LARGEST, LARGEST),
            (2 * LARGEST, LARGEST),
        ] {
            let options = ThreadOptions {
                eager_limit: limit,
                ..ThreadOptions::default()
            };
            let found = run(3, options, |comm| eager_limit(&comm, 2, 0)).unwrap();
            assert_eq!(found, [expected; 3], "limit {limit}");
        }
    }

    #[test]
    fn ranks_that_are_one_or_none() {
        let found = run(2, ThreadOptions::default(), |comm| eager_limit(&comm, 1, 1)).unwrap();
        assert_eq!(found, [0, 0]);
        let error = run(2, ThreadOptions::default(), |comm| eager_limit(&comm, 0, 2)).unwrap_err();
        assert!(error.to_string().contains("no rank 2"), "{error}");
    }

    #[test]
    fn every_limit_is_bisected() {
        for limit in (0..200).chain([4095, 4096, 4097, LARGEST / ELEMENT - 1, LARGEST / ELEMENT]) {
            let mut tries = 0;
            let found = bisect(|elements| {
                tries += 1;
                assert!((1..=LARGEST / ELEMENT).contains(&elements));
                Ok(elements <= limit)
            });
            assert_eq!(found.unwrap(), limit);
            assert!(tries <= 25, "{tries} tries");
        }
    }
}
