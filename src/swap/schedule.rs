//! From order, protocol and steps to calls.
//!
//! Every step has three stages: *start* posts receives and signals, *exchange* sends and receives,
//! *finish* waits for what is left. The tables are those of Worley's swap package; in *ours* a
//! rank waits for its receives before it waits for its sends, so that nothing needs a buffer.

use std::fmt;

use super::call::{Call, Leg};
use super::error::PlanError;
use super::order::Order;
use super::protocol::{Protocol, Row};
use crate::transport::SendMode;

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

/// How the messages of an exchange travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method {
    /// Order within a step.
    pub order: Order,
    /// Protocol of a step.
    pub protocol: Protocol,
    /// Signal before each send, also where the protocol itself does not.
    pub handshake: bool,
    /// Cap on outstanding requests when overlapping, at least one message's; 0: none.
    pub max_requests: usize,
    /// Start several messages before the first is exchanged.
    pub overlap: bool,
}

impl Method {
    /// Checks that no exchange by this method relies on buffering.
    ///
    /// # Errors
    /// [`PlanError::Illegal`].
    pub fn check(&self) -> Result<(), PlanError> {
        if self.protocol.legal_with(self.order) {
            return Ok(());
        }
        Err(PlanError::Illegal {
            order: self.order.name(),
            protocol: self.protocol.name(),
        })
    }

    /// Steps that are started, exchanged and finished together, and whether the next such group is
    /// started before this one is exchanged.
    fn window(&self, steps: usize) -> (usize, bool) {
        let row = self.protocol.row();
        let requests = usize::from(row.early_receive) + usize::from(row.immediate_send);
        match (self.overlap, self.max_requests) {
            (false, _) => (1, false),
            (true, 0) => (steps.max(1), false),
            (true, cap) => match cap / requests.max(1) / 2 {
                0 => (1, false),
                half => (half, true),
            },
        }
    }
}

/// The calls of one rank, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The calls.
    pub calls: Vec<Call>,
    /// Steps, so that requests can be kept by step.
    pub steps: usize,
}

impl Schedule {
    /// The calls of a whole exchange.
    ///
    /// Without overlap every step ends before the next begins. With it, every step is started, then
    /// every step exchanged, then every step finished; under a cap in half windows: while one half
    /// is exchanged the receives of the next are posted already.
    ///
    /// # Errors
    /// [`PlanError::Illegal`].
    pub fn new(method: &Method, steps: &[Step]) -> Result<Self, PlanError> {
        method.check()?;
        Ok(Self::unchecked(method, steps))
    }

    /// As [`Schedule::new`], also for methods that rely on buffering.
    pub fn unchecked(method: &Method, steps: &[Step]) -> Self {
        let (group, ahead) = method.window(steps.len());
        let lag = usize::from(ahead);
        let mut calls = Vec::new();
        let mut add = |number: usize, stage: Stage| {
            let first = number * group;
            for (number, step) in steps.iter().enumerate().skip(first).take(group) {
                stage_calls(method, step, number, stage, &mut calls);
            }
        };
        for number in 0..=lag {
            add(number, Stage::Start);
        }
        for number in 0..steps.len().div_ceil(group) + lag {
            add(number, Stage::Exchange);
            if number >= lag {
                add(number - lag, Stage::Finish);
                add(number + 1, Stage::Start);
            }
        }
        Self {
            calls,
            steps: steps.len(),
        }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.calls.iter().try_for_each(|call| writeln!(f, "{call}"))
    }
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
        let mode: SendMode = self.row.mode;
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
