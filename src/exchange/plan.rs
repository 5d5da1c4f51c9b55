//! The plan of a transpose: who sends whom how much, and the calls that do it. Plain data.

use std::fmt;
use std::ops::Range;

use super::choice::{ExchangeChoice, TransposeAlgorithm};
use super::steps;
use crate::swap::call::Leg;
use crate::swap::error::PlanError;
use crate::swap::schedule::Schedule;
use crate::swap::step::Step;
use crate::transport::{Block, COLLECTIVE_TAGS, Pattern, Tag};

/// The plan of one rank. Blocks lie in the order of ranks in the flat buffers; a block without
/// elements is no message.
#[derive(Clone, Debug)]
pub struct Plan {
    /// This rank.
    pub rank: usize,
    /// Ranks.
    pub size: usize,
    /// How the data move.
    pub choice: ExchangeChoice,
    /// The calls between pairs of ranks; none when an engine moves the data.
    pub schedule: Schedule,
    /// The block that stays, where it is sent from and where it is received.
    pub own: (Range<usize>, Range<usize>),
    /// Elements of the send buffer.
    pub send_len: usize,
    /// Elements of the receive buffer.
    pub recv_len: usize,
    /// Messages to other ranks.
    pub messages: u64,
    /// Bytes to other ranks.
    pub bytes: u64,
    send: Vec<Block>,
    recv: Vec<Block>,
}

impl Plan {
    /// Plans the transpose in which this rank sends `send_counts[p]` elements (f64) to rank p and
    /// receives `recv_counts[p]` from it. The counts of all ranks must agree.
    ///
    /// # Errors
    /// An order and protocol that need buffering; counts that do not fit the ranks.
    pub fn new(
        rank: usize,
        size: usize,
        send_counts: &[usize],
        recv_counts: &[usize],
        choice: &ExchangeChoice,
    ) -> Result<Self, PlanError> {
        if rank >= size {
            return Err(PlanError::Rank { rank, size });
        }
        for (which, counts) in [("send", send_counts), ("receive", recv_counts)] {
            if counts.len() != size {
                return Err(PlanError::Counts {
                    which,
                    expected: size,
                    found: counts.len(),
                });
            }
        }
        let (send, receive) = (send_counts[rank], recv_counts[rank]);
        if send != receive {
            return Err(PlanError::OwnBlock {
                rank,
                send,
                receive,
            });
        }
        let (send_starts, recv_starts) = (starts(send_counts), starts(recv_counts));
        let steps = steps_of(rank, choice.transpose, send_counts, recv_counts);
        let calls = if choice.engine.is_none() {
            steps.as_slice()
        } else {
            &[]
        };
        let schedule = Schedule::new(&choice.method(), calls)?;
        let sent = || steps.iter().filter_map(|step| step.send);
        let elements: usize = sent().map(|leg| leg.len).sum();
        let own = |starts: &[usize]| starts[rank]..starts[rank] + send;
        Ok(Self {
            rank,
            size,
            choice: *choice,
            own: (own(&send_starts), own(&recv_starts)),
            send_len: send_counts.iter().sum(),
            recv_len: recv_counts.iter().sum(),
            messages: sent().count() as u64,
            bytes: (elements * size_of::<f64>()) as u64,
            schedule,
            send: blocks(&send_starts, send_counts),
            recv: blocks(&recv_starts, recv_counts),
        })
    }

    /// Plans the transpose of blocks that may lie apart, for an engine that moves them as they are.
    /// Blocks are ascending by rank, none empty, the own one among them; beside each side stands
    /// the length of its buffer.
    ///
    /// # Errors
    /// A rank outside the communicator; an own block of two lengths.
    pub fn of_blocks(
        rank: usize,
        size: usize,
        (send, send_len): (Vec<Block>, usize),
        (recv, recv_len): (Vec<Block>, usize),
        choice: &ExchangeChoice,
    ) -> Result<Self, PlanError> {
        let ranks = send.iter().chain(&recv).map(|block| block.peer);
        if let Some(rank) = ranks.chain([rank]).find(|&rank| rank >= size) {
            return Err(PlanError::Rank { rank, size });
        }
        let own = |blocks: &[Block]| {
            let own = blocks.iter().find(|block| block.peer == rank);
            own.map_or(0, Block::len)
        };
        let (sent, received) = (own(&send), own(&recv));
        if sent != received {
            return Err(PlanError::OwnBlock {
                rank,
                send: sent,
                receive: received,
            });
        }
        let others = || send.iter().filter(|block| block.peer != rank);
        let elements: usize = others().map(Block::len).sum();
        Ok(Self {
            rank,
            size,
            choice: *choice,
            schedule: Schedule::new(&choice.method(), &[])?,
            own: (0..0, 0..0),
            send_len,
            recv_len,
            messages: others().count() as u64,
            bytes: (elements * size_of::<f64>()) as u64,
            send,
            recv,
        })
    }

    /// The same movement for an engine, the own block included.
    pub fn pattern(&self) -> Pattern {
        Pattern {
            send: self.send.clone(),
            recv: self.recv.clone(),
            messages: 1,
            together: false,
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "rank {} of {}: {}, messages: {}, bytes: {}",
            self.rank, self.size, self.choice, self.messages, self.bytes
        )?;
        if !self.own.0.is_empty() {
            writeln!(f, "{:<12} {:?} to {:?}", "copy", self.own.0, self.own.1)?;
        }
        write!(f, "{}", self.schedule)
    }
}

/// The steps of one rank of a transpose, one count for each rank; the own block has none.
pub fn steps_of(
    rank: usize,
    algorithm: TransposeAlgorithm,
    send_counts: &[usize],
    recv_counts: &[usize],
) -> Vec<Step> {
    let size = send_counts.len();
    let (send_starts, recv_starts) = (starts(send_counts), starts(recv_counts));
    let leg = |peer: usize, step: usize, starts: &[usize], counts: &[usize]| {
        // Tags may repeat: messages between two ranks match in order.
        let tag = step as Tag % COLLECTIVE_TAGS;
        let (start, len) = (starts[peer], counts[peer]);
        (len > 0).then_some(Leg {
            peer,
            tag,
            start,
            len,
        })
    };
    let step = |partners: steps::Partners| Step {
        kind: partners.kind,
        role: partners.role,
        send: partners
            .to_from
            .and_then(|(to, _)| leg(to, partners.step, &send_starts, send_counts)),
        recv: partners
            .to_from
            .and_then(|(_, from)| leg(from, partners.step, &recv_starts, recv_counts)),
    };
    match algorithm {
        TransposeAlgorithm::Swap => steps::swaps(rank, size).map(step).collect(),
        TransposeAlgorithm::SendRecv => steps::shifts(rank, size).map(step).collect(),
    }
}

/// Where each block starts.
fn starts(counts: &[usize]) -> Vec<usize> {
    let start = |next: &mut usize, count: &usize| {
        let start = *next;
        *next += count;
        Some(start)
    };
    counts.iter().scan(0, start).collect()
}

/// The blocks with elements.
fn blocks(starts: &[usize], counts: &[usize]) -> Vec<Block> {
    let block = |(peer, (&start, &len)): (usize, (&usize, &usize))| {
        (len > 0).then(|| Block::contiguous(peer, start..start + len))
    };
    starts
        .iter()
        .zip(counts)
        .enumerate()
        .filter_map(block)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::swap::call::Call;
    use crate::swap::order::Order;
    use crate::swap::protocol::Protocol;
    use crate::transport::SendMode;
    use std::collections::BTreeMap;

    fn block(from: usize, to: usize) -> usize {
        (from * to + from + 2 * to) % 4
    }

    /// The plans of all ranks.
    fn plans(size: usize, choice: &ExchangeChoice) -> Vec<Plan> {
        let plan = |rank| {
            let send: Vec<_> = (0..size).map(|to| block(rank, to)).collect();
            let recv: Vec<_> = (0..size).map(|from| block(from, rank)).collect();
            Plan::new(rank, size, &send, &recv, choice).unwrap()
        };
        (0..size).map(plan).collect()
    }

    fn choices() -> Vec<ExchangeChoice> {
        let mut all = Vec::new();
        for transpose in TransposeAlgorithm::ALL {
            for order in Order::ALL {
                for protocol in Protocol::all().filter(|p| p.legal_with(order)) {
                    for variant in 0..8 {
                        all.push(ExchangeChoice {
                            transpose,
                            engine: None,
                            order,
                            protocol,
                            handshake: variant % 2 == 1,
                            overlap: variant >= 2,
                            max_requests: [0, 0, 1, 6][variant / 2],
                            barrier: false,
                        });
                    }
                }
            }
        }
        all
    }

    /// Messages and signals by (from, to, tag), with the length of the message.
    type Ends = BTreeMap<(usize, usize, Tag, bool), Vec<usize>>;

    #[test]
    fn what_one_rank_sends_another_receives() {
        for choice in choices() {
            for size in [1, 2, 3, 6, 8] {
                let (mut sent, mut received) = (Ends::new(), Ends::new());
                for plan in plans(size, &choice) {
                    let me = plan.rank;
                    let mut out = |leg: &Leg| {
                        let key = (me, leg.peer, leg.tag, true);
                        sent.entry(key).or_default().push(leg.len);
                    };
                    let mut into = |leg: &Leg| {
                        let key = (leg.peer, me, leg.tag, true);
                        received.entry(key).or_default().push(leg.len);
                    };
                    for call in &plan.schedule.calls {
                        match call {
                            Call::Send { leg, .. } | Call::PostSend { leg, .. } => out(leg),
                            Call::PostReceive { leg, .. } | Call::Receive { leg } => into(leg),
                            Call::SendReceive { send, recv } => {
                                out(send);
                                into(recv);
                            }
                            _ => {}
                        }
                    }
                    for call in &plan.schedule.calls {
                        match *call {
                            Call::Signal { to, tag } => {
                                sent.entry((me, to, tag, false)).or_default().push(0);
                            }
                            Call::AwaitSignal { from, tag } => {
                                received.entry((from, me, tag, false)).or_default().push(0);
                            }
                            _ => {}
                        }
                    }
                }
                assert_eq!(sent, received, "{choice:?}");
            }
        }
    }

    #[test]
    fn a_ready_send_follows_a_signal_or_an_answer() {
        for choice in choices() {
            for plan in plans(7, &choice) {
                let mut told = Vec::new();
                for call in &plan.schedule.calls {
                    match *call {
                        Call::AwaitSignal { from, tag } => told.push((from, tag)),
                        Call::WaitReceive { leg, .. }
                            if choice.order == Order::Ordered
                                && choice.transpose == TransposeAlgorithm::Swap =>
                        {
                            told.push((leg.peer, leg.tag));
                        }
                        Call::Send { mode, leg } | Call::PostSend { mode, leg, .. }
                            if mode == SendMode::Ready =>
                        {
                            assert!(told.contains(&(leg.peer, leg.tag)), "{plan}");
                        }
                        _ => {}
                    }
                }
            }
        }
    }

    #[test]
    fn requests_are_waited_for_and_stay_below_the_cap() {
        for choice in choices() {
            for plan in plans(7, &choice) {
                let (mut open, mut most) = (0_usize, 0);
                for call in &plan.schedule.calls {
                    match call {
                        Call::PostReceive { .. } | Call::PostSend { .. } => open += 1,
                        Call::WaitReceive { .. } | Call::WaitSend { .. } => open -= 1,
                        _ => {}
                    }
                    most = most.max(open);
                }
                assert_eq!(open, 0, "{plan}");
                let alone = 2;
                match (choice.overlap, choice.max_requests) {
                    (true, 0) => {}
                    (false, _) => assert!(most <= alone, "{plan}"),
                    (true, cap) => assert!(most <= cap.max(alone), "{most} open: {plan}"),
                }
            }
        }
    }

    #[test]
    fn a_plan_prints_what_it_does() {
        let counts = [2, 3, 0];
        let plan = Plan::new(1, 3, &counts, &[2, 3, 1], &ExchangeChoice::default()).unwrap();
        let text = "rank 1 of 3: swap ordered/nonblocking-recv, messages: 1, bytes: 16\n\
                    copy         2..5 to 2..5\n\
                    irecv        from 0 tag 1 0..2\n\
                    wait recv    from 0 tag 1 0..2\n\
                    send         to 0 tag 1 0..2\n\
                    irecv        from 2 tag 3 5..6\n\
                    wait recv    from 2 tag 3 5..6\n";
        assert_eq!(plan.to_string(), text);
    }
}
