//! The calls of one step, stage by stage.
//!
//! *start* posts receives and signals, *exchange* sends and receives, *finish* waits for what is
//! left. The tables are those of Worley's swap package. A rank waits for its receive before it waits
//! for its send, so that nothing needs a buffer.

use super::call::{Call, Leg};
use super::method::Method;
use super::order::Order;
use super::protocol::Row;

/// What a rank is in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Sends first when ordered: the lower rank of a swap, an even position in a ring.
    First,
    /// Receives first when ordered: the higher rank of a swap, an odd position in a ring.
    Second,
}

/// Whether the two partners of a step are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// SWAP: one partner, who is in the same step with the other role.
    Swap,
    /// SEND/RECV: it sends to one rank and receives from another.
    Shift,
}

/// One step of an exchange; a message of no elements is not sent, and both ends know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// One partner or two.
    pub kind: Kind,
    /// Who sends first when ordered.
    pub role: Role,
    /// The message sent.
    pub send: Option<Leg>,
    /// The message received.
    pub recv: Option<Leg>,
}

/// The three stages of a step; work can be put between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Posts the early receive, signals.
    Start,
    /// The send, and the receive or its wait.
    Exchange,
    /// What is left: the wait for an immediate send, a delayed receive.
    Finish,
}

impl Stage {
    /// Every stage, in order.
    pub const ALL: [Self; 3] = [Self::Start, Self::Exchange, Self::Finish];

    /// One word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Exchange => "exchange",
            Self::Finish => "finish",
        }
    }
}

/// Appends the calls of one stage of a step; `number` is the step's, for its requests.
pub fn stage_calls(
    method: &Method,
    step: &Step,
    number: usize,
    stage: Stage,
    calls: &mut Vec<Call>,
) {
    let mut emit = Emit {
        method,
        row: method.protocol.row(),
        step,
        number,
        calls,
    };
    match stage {
        Stage::Start => emit.start(),
        Stage::Exchange => emit.exchange(),
        Stage::Finish => emit.finish(),
    }
}

/// Writes the calls of one step.
struct Emit<'a> {
    method: &'a Method,
    row: &'a Row,
    step: &'a Step,
    number: usize,
    calls: &'a mut Vec<Call>,
}

impl Emit<'_> {
    fn ordered(&self) -> bool {
        self.method.order == Order::Ordered
    }

    /// Whether the messages that ranks in this role send are preceded by a signal. `answers`: the
    /// sender has received the receiver's message of the same step before.
    fn is_signalled(&self, sender: Role, answers: bool) -> bool {
        let leads = !self.ordered() || self.step.kind == Kind::Shift || sender == Role::First;
        self.method.handshake
            || self.row.handshake && (leads || !answers)
            || self.row.combined && self.ordered() && leads
    }

    fn signal(&mut self, recv: &Leg) {
        let sender = match self.step.role {
            Role::First => Role::Second,
            Role::Second => Role::First,
        };
        // An answer in ready mode needs no signal: the first message left after its receive
        // was posted.
        if self.is_signalled(sender, self.step.send.is_some()) {
            self.calls.push(Call::Signal {
                to: recv.peer,
                tag: recv.tag,
            });
        }
    }

    fn start(&mut self) {
        let Some(leg) = self.step.recv else { return };
        if self.row.early_receive {
            self.calls.push(Call::PostReceive {
                leg,
                step: self.number,
            });
        }
        if self.row.early_receive || !self.ordered() {
            self.signal(&leg);
        }
    }

    fn exchange(&mut self) {
        match (self.method.order, self.step.role) {
            (Order::Simple | Order::Delayed, _) if self.row.combined => self.combined(),
            (Order::Delayed, _) => self.send(),
            (Order::Ordered, Role::Second) => {
                self.receive();
                self.send();
            }
            (Order::Simple, _) | (Order::Ordered, Role::First) => {
                self.send();
                self.receive();
            }
        }
    }

    fn finish(&mut self) {
        if self.method.order == Order::Delayed && !self.row.combined {
            self.receive();
        }
        if let Some(leg) = self.step.send
            && self.row.immediate_send
        {
            self.calls.push(Call::WaitSend {
                leg,
                step: self.number,
            });
        }
    }

    fn combined(&mut self) {
        let (Some(send), Some(recv)) = (self.step.send, self.step.recv) else {
            self.send();
            self.receive();
            return;
        };
        self.await_signal(&send);
        self.calls.push(Call::SendReceive { send, recv });
    }

    fn await_signal(&mut self, send: &Leg) {
        if self.is_signalled(self.step.role, self.step.recv.is_some()) {
            self.calls.push(Call::AwaitSignal {
                from: send.peer,
                tag: send.tag,
            });
        }
    }

    fn send(&mut self) {
        let Some(leg) = self.step.send else { return };
        self.await_signal(&leg);
        let mode = self.row.mode;
        self.calls.push(if self.row.immediate_send {
            Call::PostSend {
                mode,
                leg,
                step: self.number,
            }
        } else {
            Call::Send { mode, leg }
        });
    }

    fn receive(&mut self) {
        let Some(leg) = self.step.recv else { return };
        if self.row.early_receive {
            self.calls.push(Call::WaitReceive {
                leg,
                step: self.number,
            });
            return;
        }
        if self.ordered() {
            self.signal(&leg);
        }
        self.calls.push(Call::Receive { leg });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::swap::protocol::Protocol;
    use crate::swap::schedule::Schedule;

    fn method(order: Order, protocol: u8) -> Method {
        Method {
            order,
            protocol: Protocol::from_number(i64::from(protocol)).unwrap(),
            handshake: false,
            max_requests: 0,
            overlap: false,
        }
    }

    fn leg(peer: usize) -> Option<Leg> {
        Some(Leg {
            peer,
            tag: 3,
            start: 0,
            len: 8,
        })
    }

    /// A swap of ranks 0 and 1, seen from either.
    fn swap(role: Role) -> Step {
        let peer = if role == Role::First { 1 } else { 0 };
        Step {
            kind: Kind::Swap,
            role,
            send: leg(peer),
            recv: leg(peer),
        }
    }

    /// A shift of rank 1, or 2, in a ring.
    fn shift(role: Role) -> Step {
        let rank = if role == Role::First { 2 } else { 1 };
        Step {
            kind: Kind::Shift,
            role,
            send: leg(rank + 1),
            recv: leg(rank - 1),
        }
    }

    fn stage(method: &Method, step: &Step, stage: Stage) -> String {
        let mut calls = Vec::new();
        stage_calls(method, step, 0, stage, &mut calls);
        let names: Vec<_> = calls.iter().map(Call::name).collect();
        names.join(", ")
    }

    fn stages(method: &Method, step: &Step) -> [String; 3] {
        Stage::ALL.map(|which| stage(method, step, which))
    }

    /// The table of the exchange stage, as published.
    const EXCHANGE: [[&str; 3]; 11] = [
        ["", "send, recv", "recv, send"],
        ["isend, recv", "isend, recv", "recv, isend"],
        ["send, wait recv", "send, wait recv", "wait recv, send"],
        ["isend, wait recv", "isend, wait recv", "wait recv, isend"],
        [
            "await signal, rsend, wait recv",
            "await signal, rsend, wait recv",
            "wait recv, rsend",
        ],
        [
            "await signal, irsend, wait recv",
            "await signal, irsend, wait recv",
            "wait recv, irsend",
        ],
        ["sendrecv", "await signal, send, recv", "signal, recv, send"],
        ["issend, recv", "issend, recv", "recv, issend"],
        ["ssend, wait recv", "ssend, wait recv", "wait recv, ssend"],
        [
            "issend, wait recv",
            "issend, wait recv",
            "wait recv, issend",
        ],
        ["", "ssend, recv", "recv, ssend"],
    ];

    #[test]
    fn exchange_stage_is_the_published_table() {
        for (protocol, [simple, first, second]) in (0..).zip(EXCHANGE) {
            let ordered = method(Order::Ordered, protocol);
            assert_eq!(stage(&ordered, &swap(Role::First), Stage::Exchange), first);
            assert_eq!(
                stage(&ordered, &swap(Role::Second), Stage::Exchange),
                second
            );
            let unordered = method(Order::Simple, protocol);
            if simple.is_empty() {
                assert!(Schedule::new(&unordered, &[]).is_err());
                continue;
            }
            for role in [Role::First, Role::Second] {
                assert_eq!(stage(&unordered, &swap(role), Stage::Exchange), simple);
            }
        }
    }

    #[test]
    fn start_stage_posts_receives_and_signals() {
        for protocol in 0..11 {
            let posted = [2, 3, 4, 5, 8, 9].contains(&protocol);
            let plain = if posted { "irecv" } else { "" };
            let ready = [4, 5].contains(&protocol);
            let signalled = if ready { "irecv, signal" } else { plain };
            for order in Order::ALL {
                let method = method(order, protocol);
                let start = |step: &Step| stage(&method, step, Stage::Start);
                // In an ordered ready swap only the higher rank signals.
                let first = if order == Order::Ordered {
                    plain
                } else {
                    signalled
                };
                assert_eq!(start(&swap(Role::First)), first);
                assert_eq!(start(&swap(Role::Second)), signalled);
                assert_eq!(start(&shift(Role::First)), signalled);
                assert_eq!(start(&shift(Role::Second)), signalled);
            }
        }
    }

    #[test]
    fn delayed_receives_in_the_finish_stage() {
        let table = [
            (1, "isend", "recv, wait send"),
            (2, "send", "wait recv"),
            (3, "isend", "wait recv, wait send"),
            (4, "await signal, rsend", "wait recv"),
            (5, "await signal, irsend", "wait recv, wait send"),
            (6, "sendrecv", ""),
            (7, "issend", "recv, wait send"),
            (8, "ssend", "wait recv"),
            (9, "issend", "wait recv, wait send"),
        ];
        for (protocol, exchange, finish) in table {
            let method = method(Order::Delayed, protocol);
            for step in [swap(Role::First), swap(Role::Second), shift(Role::First)] {
                let [_, exchanged, finished] = stages(&method, &step);
                assert_eq!((exchanged.as_str(), finished.as_str()), (exchange, finish));
            }
        }
        for order in [Order::Simple, Order::Ordered] {
            for protocol in 0..11 {
                let immediate = [1, 3, 5, 7, 9].contains(&protocol);
                let finish = if immediate { "wait send" } else { "" };
                let finished = stage(&method(order, protocol), &swap(Role::First), Stage::Finish);
                assert_eq!(finished, finish);
            }
        }
    }

    #[test]
    fn in_a_ring_every_receiver_signals_its_sender() {
        for (protocol, first, second) in [
            (
                4,
                "await signal, rsend, wait recv",
                "wait recv, await signal, rsend",
            ),
            (
                5,
                "await signal, irsend, wait recv",
                "wait recv, await signal, irsend",
            ),
            (
                6,
                "await signal, send, signal, recv",
                "signal, recv, await signal, send",
            ),
        ] {
            let method = method(Order::Ordered, protocol);
            assert_eq!(stage(&method, &shift(Role::First), Stage::Exchange), first);
            assert_eq!(
                stage(&method, &shift(Role::Second), Stage::Exchange),
                second
            );
        }
        let mut calls = Vec::new();
        let ready = method(Order::Ordered, 4);
        for which in Stage::ALL {
            stage_calls(&ready, &shift(Role::First), 0, which, &mut calls);
        }
        assert_eq!(calls[1], Call::Signal { to: 1, tag: 3 });
        assert_eq!(calls[2], Call::AwaitSignal { from: 3, tag: 3 });
    }

    #[test]
    fn a_ready_answer_without_a_question_is_signalled() {
        let method = method(Order::Ordered, 4);
        let answer_only = Step {
            recv: None,
            ..swap(Role::Second)
        };
        let [start, exchange, _] = stages(&method, &answer_only);
        assert_eq!(
            (start.as_str(), exchange.as_str()),
            ("", "await signal, rsend")
        );
        let its_receiver = Step {
            send: None,
            ..swap(Role::First)
        };
        let [start, exchange, _] = stages(&method, &its_receiver);
        assert_eq!(
            (start.as_str(), exchange.as_str()),
            ("irecv, signal", "wait recv")
        );
    }

    #[test]
    fn a_handshake_precedes_every_send() {
        let with = |order, protocol| Method {
            handshake: true,
            ..method(order, protocol)
        };
        for (order, protocol, role, expected) in [
            (
                Order::Ordered,
                0,
                Role::First,
                ["", "await signal, send, signal, recv", ""],
            ),
            (
                Order::Ordered,
                0,
                Role::Second,
                ["", "signal, recv, await signal, send", ""],
            ),
            (
                Order::Ordered,
                2,
                Role::Second,
                ["irecv, signal", "wait recv, await signal, send", ""],
            ),
            (
                Order::Simple,
                1,
                Role::First,
                ["signal", "await signal, isend, recv", "wait send"],
            ),
            (
                Order::Simple,
                6,
                Role::First,
                ["signal", "await signal, sendrecv", ""],
            ),
            (
                Order::Delayed,
                3,
                Role::First,
                [
                    "irecv, signal",
                    "await signal, isend",
                    "wait recv, wait send",
                ],
            ),
        ] {
            assert_eq!(stages(&with(order, protocol), &swap(role)), expected);
        }
    }
}
