//! Which message meets which receive: by source, tag and order, for the whole exchange.

use std::collections::BTreeMap;

use super::report::{Fault, Site};
use crate::swap::call::{Call, Leg};
use crate::transport::{SendMode, Tag};

/// One call of one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) rank: usize,
    pub(super) index: usize,
}

impl Place {
    pub(super) fn site(self, calls: &[&[Call]]) -> Site {
        Site {
            rank: self.rank,
            index: self.index,
            call: calls[self.rank][self.index],
        }
    }
}

/// What must have begun before a call can end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Needs {
    /// The send of what the call receives.
    pub(super) arrival: Option<Place>,
    /// The receive of what the call sends, unless that is buffered.
    pub(super) taken: Option<Taken>,
}

/// The receive of a message that is sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) receive: Place,
    pub(super) mode: SendMode,
    pub(super) bytes: usize,
}

impl Taken {
    /// Whether the send must wait for the receive.
    pub(super) fn waits(&self, eager_limit: usize) -> bool {
        match self.mode {
            SendMode::Standard | SendMode::Ready => self.bytes > eager_limit,
            SendMode::Synchronous => true,
            SendMode::Buffered => false,
        }
    }
}

/// The dependencies between the calls of all ranks.
#[derive(Debug)]
pub(super) struct Matching {
    /// By rank and call.
    pub(super) needs: Vec<Vec<Needs>>,
    /// Ready sends and their receives, by rank and call of the send.
    pub(super) ready: Vec<(Place, Place)>,
    /// What does not match.
    pub(super) faults: Vec<Fault>,
}

/// One end of a message or signal.
#[derive(Clone, Copy)]
struct End {
    begins: Place,
    ends: Place,
    /// `None`: a signal.
    message: Option<(SendMode, usize)>,
}

/// Source, destination, tag, and whether signals travel here: they have tags of their own.
type Channel = (usize, usize, Tag, bool);

/// What travels in one channel, in order.
#[derive(Default)]
struct Traffic {
    sends: Vec<End>,
    receives: Vec<End>,
}

impl Matching {
    /// Matches the calls of all ranks.
    pub(super) fn new(calls: &[&[Call]]) -> Self {
        let mut faults = Vec::new();
        let mut channels: BTreeMap<Channel, Traffic> = BTreeMap::new();
        for (rank, mine) in calls.iter().enumerate() {
            let waits = waits(rank, mine, &mut faults);
            let mut add = |index: usize, peer: usize, tag, sent, message: Option<_>| {
                let end = End {
                    begins: Place { rank, index },
                    ends: Place {
                        rank,
                        index: waits[index],
                    },
                    message,
                };
                let (from, to) = if sent { (rank, peer) } else { (peer, rank) };
                let traffic = channels.entry((from, to, tag, message.is_none()));
                let Traffic { sends, receives } = traffic.or_default();
                if sent { sends } else { receives }.push(end);
            };
            for (index, call) in mine.iter().enumerate() {
                let mut message = |leg: &Leg, sent, mode| {
                    add(index, leg.peer, leg.tag, sent, Some((mode, leg.len)));
                };
                match call {
                    Call::Send { mode, leg } | Call::PostSend { mode, leg, .. } => {
                        message(leg, true, *mode);
                    }
                    Call::Receive { leg } | Call::PostReceive { leg, .. } => {
                        message(leg, false, SendMode::Standard);
                    }
                    Call::SendReceive { send, recv } => {
                        message(send, true, SendMode::Standard);
                        message(recv, false, SendMode::Standard);
                    }
                    Call::Signal { to, tag } => add(index, *to, *tag, true, None),
                    Call::AwaitSignal { from, tag } => add(index, *from, *tag, false, None),
                    Call::WaitReceive { .. } | Call::WaitSend { .. } => {}
                }
            }
        }
        let mut matching = Self {
            needs: calls
                .iter()
                .map(|mine| vec![Needs::default(); mine.len()])
                .collect(),
            ready: Vec::new(),
            faults,
        };
        for traffic in channels.values() {
            matching.connect(traffic, calls);
        }
        matching.ready.sort_unstable();
        matching
    }

    /// The first send of a channel meets its first receive, the second the second.
    fn connect(&mut self, traffic: &Traffic, calls: &[&[Call]]) {
        let Traffic { sends, receives } = traffic;
        for (send, receive) in sends.iter().zip(receives) {
            let Place { rank, index } = receive.ends;
            self.needs[rank][index].arrival = Some(send.begins);
            let (Some((mode, sent)), Some((_, room))) = (send.message, receive.message) else {
                continue;
            };
            if sent != room {
                self.faults.push(Fault::Lengths {
                    send: send.begins.site(calls),
                    sent,
                    receive: receive.begins.site(calls),
                    room,
                });
            }
            let Place { rank, index } = send.ends;
            self.needs[rank][index].taken = Some(Taken {
                receive: receive.begins,
                mode,
                bytes: sent * size_of::<f64>(),
            });
            if mode == SendMode::Ready {
                self.ready.push((send.begins, receive.begins));
            }
        }
        let matched = sends.len().min(receives.len());
        let (sends, receives) = (&sends[matched..], &receives[matched..]);
        let unsent = receives
            .iter()
            .map(|end| Fault::NoSend(end.begins.site(calls)));
        let untaken = sends
            .iter()
            .map(|end| Fault::NoReceive(end.begins.site(calls)));
        self.faults.extend(unsent.chain(untaken));
    }

    /// Every eager limit that makes a difference, in bytes, increasing.
    pub(super) fn limits(&self) -> Vec<usize> {
        let taken = self.needs.iter().flatten().filter_map(|needs| needs.taken);
        let mut limits: Vec<usize> = taken
            .filter(|taken| taken.waits(0) && !taken.waits(usize::MAX))
            .map(|taken| taken.bytes)
            .collect();
        limits.sort_unstable();
        limits.dedup();
        limits
    }
}

/// For each call of a rank, the call that waits for what it started; itself where it waits.
fn waits(rank: usize, calls: &[Call], faults: &mut Vec<Fault>) -> Vec<usize> {
    let mut waits: Vec<usize> = (0..calls.len()).collect();
    // Requests under way, by step and whether they are sends.
    let mut open: BTreeMap<(usize, bool), usize> = BTreeMap::new();
    for (index, call) in calls.iter().enumerate() {
        let site = |index: usize| Site {
            rank,
            index,
            call: calls[index],
        };
        match *call {
            Call::PostReceive { step, .. } | Call::PostSend { step, .. } => {
                let send = matches!(call, Call::PostSend { .. });
                if let Some(old) = open.insert((step, send), index) {
                    faults.push(Fault::NoWait(site(old)));
                }
            }
            Call::WaitReceive { step, .. } | Call::WaitSend { step, .. } => {
                let send = matches!(call, Call::WaitSend { .. });
                match open.remove(&(step, send)) {
                    Some(started) => waits[started] = index,
                    None => faults.push(Fault::NoRequest(site(index))),
                }
            }
            _ => {}
        }
    }
    faults.extend(open.into_values().map(|index| {
        Fault::NoWait(Site {
            rank,
            index,
            call: calls[index],
        })
    }));
    waits
}
