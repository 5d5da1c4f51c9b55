//! Copies between blocks whose elements may lie apart.

#![allow(unsafe_code)]

use std::ops::Range;

use crate::transport::{Block, Pattern};

/// The ranges of a block that a message carries: a part of the only one, or all of several.
pub(super) fn runs<'a>(
    pattern: &Pattern,
    block: &'a Block,
    message: usize,
) -> impl Iterator<Item = Range<usize>> + use<'a> {
    let part = (block.runs.len() == 1).then(|| pattern.part(block, message));
    let all = if part.is_none() {
        block.runs.as_slice()
    } else {
        &[]
    };
    part.into_iter().chain(all.iter().cloned())
}

/// Copies elements from some ranges to others of the same length in all.
pub(super) fn copy(
    send: &[f64],
    from: impl Iterator<Item = Range<usize>>,
    recv: &mut [f64],
    to: impl Iterator<Item = Range<usize>>,
) {
    // SAFETY: the ranges were checked to lie in `send`.
    unsafe { copy_from(send.as_ptr(), from, recv, to) }
}

/// The same from a buffer that starts at `base`.
///
/// # Safety
/// The ranges `from` must lie in a live buffer at `base` that nobody writes meanwhile.
pub(super) unsafe fn copy_from(
    base: *const f64,
    from: impl Iterator<Item = Range<usize>>,
    recv: &mut [f64],
    mut to: impl Iterator<Item = Range<usize>>,
) {
    let mut room = 0..0;
    for mut run in from {
        while !run.is_empty() {
            if room.is_empty() {
                room = match to.next() {
                    Some(next) => next,
                    None => return,
                };
            }
            let len = run.len().min(room.len());
            // SAFETY: inside the caller's ranges.
            let elements = unsafe { std::slice::from_raw_parts(base.add(run.start), len) };
            recv[room.start..room.start + len].copy_from_slice(elements);
            run.start += len;
            room.start += len;
        }
    }
}
