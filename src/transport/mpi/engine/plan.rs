//! What one rank sends and receives, checked by itself and agreed with the others.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::rc::Rc;

use super::Buffers;
use crate::transport::mpi::handles::Comm;
use crate::transport::mpi::watch::{Call, Wait, waiting};
use crate::transport::mpi::{checked, count, ffi, i64_type};
use crate::transport::{Block, EngineKind, Pattern, TransportError};

/// A block for or from another rank. Offsets and lengths in elements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// The other rank.
    pub(super) peer: c_int,
    /// First element in the caller's buffer.
    pub(super) start: usize,
    /// Elements of one message.
    pub(super) part: c_int,
    /// First element where the blocks of this side lie one after the other.
    pub(super) near: usize,
    /// The same at the other rank, for its other side.
    pub(super) far: usize,
}

impl Piece {
    /// Elements of one message.
    pub(super) fn len(&self) -> usize {
        self.part as usize
    }

    /// Where a message begins, seen from the block's first element.
    pub(super) fn at(&self, message: usize) -> usize {
        message * self.len()
    }
}

/// The exchange of one rank.
#[derive(Debug)]
pub(super) struct Plan {
    /// This rank in the communicator.
    pub(super) rank: usize,
    /// Every rank of the communicator as a rank of the job.
    pub(super) members: Rc<[usize]>,
    /// Messages of each block.
    pub(super) messages: usize,
    /// Whether they are under way together.
    pub(super) together: bool,
    /// What goes to others, beginning with the rank above this one.
    pub(super) send: Vec<Piece>,
    /// What comes from others, beginning with the rank below this one.
    pub(super) recv: Vec<Piece>,
    /// The own block: first element sent and received, elements of one message.
    pub(super) own: Option<(usize, usize, usize)>,
    /// Elements that the caller's send buffer has at least.
    pub(super) send_len: usize,
    /// Elements that the caller's receive buffer has at least.
    pub(super) recv_len: usize,
}

/// What every rank tells every other about the exchange.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
#[repr(C)]
struct Word {
    engine: i64,
    messages: i64,
    together: i64,
    state: i64,
    send_len: i64,
    send_at: i64,
    recv_len: i64,
    recv_at: i64,
}

const FINE: i64 = 0;
/// The pattern has blocks of several runs.
const APART: i64 = 1;
/// The pattern breaks its own rules.
const WRONG: i64 = 2;

impl Plan {
    /// Checks a pattern, and that all ranks mean the same. Every rank calls it.
    pub(super) fn agree(
        comm: &Comm,
        members: &Rc<[usize]>,
        kind: EngineKind,
        pattern: &Pattern,
    ) -> Result<Self, TransportError> {
        let rank = comm.rank()?;
        let mut plan = Self::alone(rank, members, pattern);
        let checked = check(kind, pattern, rank, members);
        let state = match &checked {
            Err(_) => WRONG,
            Ok(()) if pattern.is_contiguous() => FINE,
            Ok(()) => APART,
        };
        let mut said = vec![
            Word {
                engine: kind as i64,
                messages: pattern.messages as i64,
                together: i64::from(pattern.together),
                state,
                ..Word::default()
            };
            members.len()
        ];
        if state != WRONG {
            let (send, recv) = (offsets(&pattern.send), offsets(&pattern.recv));
            for (peer, len, at) in send {
                (said[peer].send_len, said[peer].send_at) = (len as i64, at as i64);
            }
            for (peer, len, at) in recv {
                (said[peer].recv_len, said[peer].recv_at) = (len as i64, at as i64);
            }
        }
        let heard = tell(comm, &said, rank)?;
        checked?;
        compare(kind, rank, members, &said, &heard)?;
        for piece in &mut plan.send {
            piece.far = heard[piece.peer as usize].recv_at as usize;
        }
        for piece in &mut plan.recv {
            piece.far = heard[piece.peer as usize].send_at as usize;
        }
        Ok(plan)
    }

    /// This rank's own part of it. Meaningful if the pattern turns out to be right.
    fn alone(rank: usize, members: &Rc<[usize]>, pattern: &Pattern) -> Self {
        let size = members.len();
        let pieces = |blocks: &[Block]| -> Vec<Piece> {
            let piece = |(block, (peer, len, near)): (&Block, (usize, usize, usize))| Piece {
                peer: peer as c_int,
                start: block.runs.first().map_or(0, |run| run.start),
                part: (len / pattern.messages.max(1)) as c_int,
                near,
                far: 0,
            };
            let all = blocks.iter().zip(offsets(blocks)).map(piece);
            all.filter(|piece| piece.peer as usize != rank).collect()
        };
        let (mut send, mut recv) = (pieces(&pattern.send), pieces(&pattern.recv));
        // Each rank begins with another partner, so that no rank is everybody's first.
        send.sort_by_key(|piece| (piece.peer as usize + size - rank) % size);
        recv.sort_by_key(|piece| (rank + size - piece.peer as usize % size) % size);
        let of = |blocks: &[Block]| {
            let block = blocks.iter().find(|block| block.peer == rank)?;
            Some((block.runs.first()?.start, block.len()))
        };
        let own = of(&pattern.send).zip(of(&pattern.recv));
        let end = |blocks: &[Block]| {
            let runs = blocks.iter().flat_map(|block| &block.runs);
            runs.map(|run| run.end).max().unwrap_or(0)
        };
        Self {
            rank,
            members: Rc::clone(members),
            messages: pattern.messages,
            together: pattern.together,
            own: own.map(|((from, len), (to, _))| (from, to, len / pattern.messages.max(1))),
            send_len: end(&pattern.send),
            recv_len: end(&pattern.recv),
            send,
            recv,
        }
    }

    /// Ranks of the communicator.
    pub(super) fn size(&self) -> usize {
        self.members.len()
    }

    /// This rank in the whole job.
    pub(super) fn job_rank(&self) -> usize {
        self.members[self.rank]
    }

    /// Elements of all blocks from other ranks, and the own one.
    pub(super) fn received(&self) -> usize {
        total(&self.recv, self.own, self.messages)
    }

    /// Elements of all blocks for other ranks, and the own one.
    pub(super) fn sent(&self) -> usize {
        total(&self.send, self.own, self.messages)
    }

    /// A wait for all ranks, for the watchdog.
    pub(super) fn everyone(&self) -> Wait {
        Wait::everyone(self.received())
    }

    /// The messages that move in one go, go by go.
    pub(super) fn goes(&self) -> impl Iterator<Item = std::ops::Range<usize>> + use<> {
        let (messages, width) = match self.together {
            true => (1, self.messages),
            false => (self.messages, 1),
        };
        (0..messages).map(move |go| go * width..(go + 1) * width)
    }

    /// Copies one message of the own block.
    ///
    /// # Safety
    /// Buffers of at least the plan's lengths.
    pub(super) unsafe fn copy_own(&self, message: usize, buffers: Buffers) {
        if let Some((from, to, part)) = self.own {
            let at = message * part;
            // SAFETY: the caller's promise; the buffers are different borrows.
            unsafe {
                let (from, to) = (buffers.send.add(from + at), buffers.recv.add(to + at));
                ptr::copy_nonoverlapping(from, to, part);
            }
        }
    }

    /// An error unless the call succeeded.
    #[inline]
    pub(super) fn checked(&self, code: c_int, call: &Call) -> Result<(), TransportError> {
        checked(code, call.0, self.job_rank())
    }
}

fn total(pieces: &[Piece], own: Option<(usize, usize, usize)>, messages: usize) -> usize {
    let own = own.map_or(0, |(_, _, part)| part);
    messages * (own + pieces.iter().map(Piece::len).sum::<usize>())
}

/// Rank, elements, and elements before, of every block.
fn offsets(blocks: &[Block]) -> impl Iterator<Item = (usize, usize, usize)> {
    blocks.iter().scan(0, |end, block| {
        let at = *end;
        *end += block.len();
        Some((block.peer, block.len(), at))
    })
}

/// What a rank can check alone.
fn check(
    kind: EngineKind,
    pattern: &Pattern,
    rank: usize,
    members: &[usize],
) -> Result<(), TransportError> {
    let size = members.len();
    let job_rank = members[rank];
    let wrong = |reason: &str| TransportError::NoEngine {
        engine: kind.name(),
        reason: format!("rank {job_rank}: the pattern {reason}"),
    };
    if pattern.messages == 0 {
        return Err(wrong("has no message"));
    }
    let own = |blocks: &[Block]| {
        let block = blocks.iter().find(|block| block.peer == rank);
        block.map_or(0, Block::len)
    };
    if own(&pattern.send) != own(&pattern.recv) {
        return Err(wrong("sends itself another length than it receives"));
    }
    for blocks in [&pattern.send, &pattern.recv] {
        if !blocks.is_sorted_by(|a, b| a.peer < b.peer) {
            return Err(wrong("does not name the ranks in ascending order"));
        }
        for block in blocks {
            if block.peer >= size {
                return Err(TransportError::NoSuchRank {
                    rank: job_rank,
                    partner: block.peer,
                    size,
                });
            }
            if block.is_empty() || !block.len().is_multiple_of(pattern.messages) {
                return Err(wrong(
                    "has a block that is empty, or no multiple of its messages",
                ));
            }
            if pattern.messages > 1 && block.runs.len() > 1 {
                return Err(wrong("cuts a block of several runs"));
            }
            let end = block.runs.iter().map(|run| run.end).max().unwrap_or(0);
            let largest = match kind {
                // Displacements are counts of elements, those of alltoallw of bytes.
                EngineKind::Alltoallv | EngineKind::Ialltoallv | EngineKind::Neighbour => end,
                EngineKind::Alltoallw => end.saturating_mul(size_of::<f64>()),
                _ => block.len() / pattern.messages,
            };
            count(largest, job_rank)?;
        }
    }
    Ok(())
}

/// Tells every rank its word, and hears theirs.
fn tell(comm: &Comm, said: &[Word], rank: usize) -> Result<Vec<Word>, TransportError> {
    const NUMBERS: c_int = (size_of::<Word>() / size_of::<i64>()) as c_int;
    let mut heard = vec![Word::default(); said.len()];
    let from = said.as_ptr().cast::<c_void>();
    let to = heard.as_mut_ptr().cast::<c_void>();
    let (call, kind) = (&Call("MPI_Alltoall"), i64_type());
    // SAFETY: a word of as many i64 as said for every rank of the communicator, in both arrays.
    let code = waiting(call, Wait::everyone(0), || unsafe {
        ffi::MPI_Alltoall(from, NUMBERS, kind, to, NUMBERS, kind, comm.raw())
    });
    checked(code, call.0, rank)?;
    Ok(heard)
}

/// Whether all ranks mean the same exchange; every rank finds what concerns it.
fn compare(
    kind: EngineKind,
    rank: usize,
    members: &[usize],
    said: &[Word],
    heard: &[Word],
) -> Result<(), TransportError> {
    let refuse = |reason| {
        Err(TransportError::NoEngine {
            engine: kind.name(),
            reason,
        })
    };
    for (peer, (mine, theirs)) in said.iter().zip(heard).enumerate() {
        let short = |rank, from, message: i64, expected: i64| TransportError::Short {
            rank: members[rank],
            from: members[from],
            tag: 0,
            message: message as usize,
            expected: expected as usize,
        };
        let agreed = |word: &Word| (word.engine, word.messages, word.together);
        if theirs.state == WRONG {
            return Err(TransportError::Aborted {
                rank: members[rank],
                failed: members[peer],
            });
        }
        if agreed(mine) != agreed(theirs) {
            return refuse(format!(
                "rank {} prepares another engine, or another number of messages, than rank {}",
                members[peer], members[rank]
            ));
        }
        if theirs.state == APART && kind != EngineKind::Alltoallw {
            return refuse(format!(
                "rank {} has blocks whose elements are apart in memory; only alltoallw moves them",
                members[peer]
            ));
        }
        if theirs.send_len != mine.recv_len {
            return Err(short(rank, peer, theirs.send_len, mine.recv_len));
        }
        if mine.send_len != theirs.recv_len {
            return Err(short(peer, rank, mine.send_len, theirs.recv_len));
        }
    }
    Ok(())
}
