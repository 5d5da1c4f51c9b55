//! Elements of one rank's send buffer, read by another rank: the only shared memory that is not
//! behind a lock.

#![allow(unsafe_code)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A range of the lender's buffer. The loan ends, and the lender sees it end, when it is dropped.
pub(super) struct Loan {
    start: *const f64,
    len: usize,
    ended: Arc<AtomicBool>,
}

// SAFETY: a loan only reads its elements, which `Loan::new`'s caller keeps alive and unchanged;
// shared reads of f64 are fine from any thread.
unsafe impl Send for Loan {}

impl Loan {
    /// Lends `elements`; `ended` becomes true when the loan is dropped.
    ///
    /// # Safety
    /// The elements must stay alive and unchanged until `ended` is true.
    pub(super) unsafe fn new(elements: &[f64], ended: &Arc<AtomicBool>) -> Self {
        ended.store(false, Ordering::Relaxed);
        Self {
            start: elements.as_ptr(),
            len: elements.len(),
            ended: Arc::clone(ended),
        }
    }

    /// The elements.
    pub(super) fn elements(&self) -> &[f64] {
        // SAFETY: `start` and `len` are of a slice that the caller of `new` keeps alive and
        // unchanged while this loan exists, and the result cannot outlive `self`.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }

    /// Whether this is the loan whose end `ended` shows.
    pub(super) fn is_of(&self, ended: &Arc<AtomicBool>) -> bool {
        Arc::ptr_eq(&self.ended, ended)
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        // Release: every read of the elements happens before the lender's next write.
        self.ended.store(true, Ordering::Release);
    }
}
