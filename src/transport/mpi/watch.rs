//! The watchdog: a note of what this rank waits for, and the thread that looks at it.
//!
//! The rank's own thread writes the note with plain stores before and after every call that may
//! wait, a few nanoseconds; the watchdog's thread reads it a few times a second and makes no MPI
//! call. One thread of a process at a time calls MPI, so there is one note.

use std::io::Write;
use std::ptr;
use std::sync::Once;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
use std::time::{Duration, Instant};

use crate::transport::error::place;
use crate::transport::{Label, Tag};

/// The name of a call that may wait.
pub(super) struct Call(pub(super) &'static str);

/// Whom a call waits for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Wait {
    partner: usize,
    tag: Tag,
    elements: usize,
}

impl Wait {
    /// A rank of the job.
    #[inline]
    pub(super) fn partner(partner: usize, tag: Tag, elements: usize) -> Self {
        Self {
            partner,
            tag,
            elements,
        }
    }

    /// Every other rank, or several of them.
    #[inline]
    pub(super) fn everyone(elements: usize) -> Self {
        Self::partner(EVERYONE, 0, elements)
    }
}

const EVERYONE: usize = usize::MAX;

/// What this rank waits for. `sequence` is odd while it does.
#[repr(align(64))]
struct Note {
    sequence: AtomicU64,
    call: AtomicPtr<Call>,
    label: AtomicPtr<Label>,
    partner: AtomicUsize,
    elements: AtomicUsize,
    tag: AtomicU32,
}

static NOTE: Note = Note {
    sequence: AtomicU64::new(0),
    call: AtomicPtr::new(ptr::null_mut()),
    label: AtomicPtr::new(ptr::null_mut()),
    partner: AtomicUsize::new(0),
    elements: AtomicUsize::new(0),
    tag: AtomicU32::new(0),
};

/// What the calls that follow belong to.
#[inline]
pub(super) fn label(label: Option<&'static Label>) {
    let label = label.map_or(ptr::null_mut(), |label| ptr::from_ref(label).cast_mut());
    NOTE.label.store(label, Ordering::Relaxed);
}

/// Notes a wait that begins.
#[inline]
pub(super) fn enter(call: &'static Call, wait: Wait) {
    let call = ptr::from_ref(call).cast_mut();
    NOTE.call.store(call, Ordering::Relaxed);
    NOTE.partner.store(wait.partner, Ordering::Relaxed);
    NOTE.elements.store(wait.elements, Ordering::Relaxed);
    NOTE.tag.store(wait.tag, Ordering::Relaxed);
    let sequence = NOTE.sequence.load(Ordering::Relaxed);
    NOTE.sequence.store(sequence | 1, Ordering::Release);
}

/// Notes its end.
#[inline]
pub(super) fn leave() {
    let sequence = NOTE.sequence.load(Ordering::Relaxed);
    NOTE.sequence
        .store((sequence | 1).wrapping_add(1), Ordering::Release);
}

/// Makes a call that may wait.
#[inline(always)]
pub(super) fn waiting<R>(call: &'static Call, wait: Wait, body: impl FnOnce() -> R) -> R {
    enter(call, wait);
    let result = body();
    leave();
    result
}

/// The wait under way and its number; `None`: there is none, or it changed while being read.
fn look() -> Option<(u64, String)> {
    let sequence = NOTE.sequence.load(Ordering::Acquire);
    if sequence.is_multiple_of(2) {
        return None;
    }
    let (call, label) = (
        NOTE.call.load(Ordering::Relaxed),
        NOTE.label.load(Ordering::Relaxed),
    );
    let wait = Wait {
        partner: NOTE.partner.load(Ordering::Relaxed),
        tag: NOTE.tag.load(Ordering::Relaxed),
        elements: NOTE.elements.load(Ordering::Relaxed),
    };
    fence(Ordering::Acquire);
    if NOTE.sequence.load(Ordering::Relaxed) != sequence {
        return None;
    }
    // SAFETY: only references that live for ever are stored, or null.
    let (call, label) = unsafe { (call.as_ref()?, label.as_ref()) };
    Some((sequence, describe(call.0, label, wait)))
}

fn describe(call: &str, label: Option<&Label>, wait: Wait) -> String {
    let bytes = wait.elements * size_of::<f64>();
    match (label, wait.partner) {
        (None, EVERYONE) => format!("{call}: did another rank stop, or did the ranks disagree?"),
        (Some(Label(label)), EVERYONE) => {
            format!("{call} ({label}, {bytes} bytes): did the ranks disagree?")
        }
        (label, partner) => {
            let place = place(label, wait.tag);
            format!(
                "{call} for rank {partner} ({place}, {bytes} bytes): does the exchange rely on \
                 buffering, or did the ranks disagree?"
            )
        }
    }
}

/// The rank and the limit that the thread looks at; the limit as bits of a number of seconds.
static RANK: AtomicUsize = AtomicUsize::new(0);
static LIMIT: AtomicU64 = AtomicU64::new(0);

/// Sets the limit, seconds (0: none), and starts the thread where there is none.
pub(super) fn watch(rank: usize, seconds: f64) {
    static THREAD: Once = Once::new();
    RANK.store(rank, Ordering::Relaxed);
    LIMIT.store(seconds.to_bits(), Ordering::Relaxed);
    if seconds > 0.0 {
        THREAD.call_once(|| {
            // Without a thread there is no watchdog, and the job runs all the same.
            let _ = std::thread::Builder::new()
                .name("watchdog".to_owned())
                .stack_size(256 << 10)
                .spawn(guard);
        });
    }
}

/// Looks for ever.
fn guard() {
    let mut since: Option<(u64, Instant)> = None;
    loop {
        let limit = f64::from_bits(LIMIT.load(Ordering::Relaxed));
        std::thread::sleep(Duration::from_secs_f64((limit / 8.0).clamp(0.02, 0.25)));
        since = match (look(), since) {
            (None, _) => None,
            (Some((now, what)), Some((before, begin))) if now == before => {
                if limit > 0.0 && begin.elapsed().as_secs_f64() >= limit {
                    end(limit, &what);
                }
                since
            }
            (Some((now, _)), _) => Some((now, Instant::now())),
        };
    }
}

/// Says what this rank waits for, lets the others say it, and ends the process. The launcher sees
/// a code that is not 0 and ends the job.
fn end(limit: f64, what: &str) -> ! {
    let rank = RANK.load(Ordering::Relaxed);
    let line = format!("pstswm: rank {rank}: waited {limit} s in {what}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
    // One after the other: a launcher that sees two ranks go at once may not end itself.
    let turn = Duration::from_millis(250) * rank.min(4) as u32;
    std::thread::sleep(Duration::from_secs(1) + turn);
    // SAFETY: ends the process without handlers, which could wait for the thread that waits.
    unsafe { libc::_exit(1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::COLLECTIVE_TAGS;

    #[test]
    fn a_wait_is_told_while_it_lasts() {
        static LABEL: std::sync::LazyLock<Label> =
            std::sync::LazyLock::new(|| Label("ordered/ready".to_owned()));
        assert_eq!(look(), None);
        label(Some(&LABEL));
        let during = waiting(&Call("MPI_Recv"), Wait::partner(0, 3, 128), look);
        let (first, text) = during.unwrap();
        assert_eq!(
            text,
            "MPI_Recv for rank 0 (ordered/ready, step 3, 1024 bytes): does the exchange rely on \
             buffering, or did the ranks disagree?"
        );
        assert_eq!(look(), None);
        label(None);
        let during = waiting(&Call("MPI_Recv"), Wait::partner(2, 3, 1), look);
        let (second, text) = during.unwrap();
        assert!(text.starts_with("MPI_Recv for rank 2 (tag 3, 8 bytes): "));
        // The same call again is another wait.
        assert_ne!(first, second);
        label(Some(&LABEL));
        let during = waiting(
            &Call("MPI_Recv"),
            Wait::partner(2, COLLECTIVE_TAGS, 1),
            look,
        );
        let expected = "MPI_Recv for rank 2 (tag 28672 of a collective, 8 bytes): ";
        assert!(during.unwrap().1.starts_with(expected));
        label(None);
        let during = waiting(&Call("MPI_Barrier"), Wait::everyone(0), look);
        assert!(during.unwrap().1.starts_with("MPI_Barrier: "));
    }
}
