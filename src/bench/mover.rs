//! One rank's end of the swaps: through the same schedules, interpreter, transposes and engines as
//! those of the model.

use std::collections::BTreeMap;

use super::case::{Case, Request, Way};
use super::data;
use super::pattern::Pattern as Shape;
use crate::exchange::choice::ExchangeChoice;
use crate::exchange::{Movement, Plan, Transpose};
use crate::swap::call::Leg;
use crate::swap::run::{Requests, execute};
use crate::swap::schedule::Schedule;
use crate::swap::step::{Kind, Role, Step};
use crate::transport::{
    Block, COLLECTIVE_TAGS, EngineKind, Exchange, Pattern, Tag, Transport, TransportError,
};

/// Engine, elements, messages, overlap.
type Prepared = (EngineKind, usize, usize, bool);

/// Swaps with the other rank of a communicator of two, or takes part in a pattern of all ranks.
pub struct Mover<'a, T: Transport> {
    comm: &'a T,
    request: &'a Request,
    /// Which pair of the request this is.
    pair: usize,
    /// The ranks in the job, by rank of the communicator.
    members: Vec<usize>,
    send: Vec<f64>,
    recv: Vec<f64>,
    engines: BTreeMap<Prepared, T::Engine>,
    /// Patterns that an engine moves.
    patterns: BTreeMap<Prepared, Transpose<T>>,
    ready: Option<Ready<T>>,
}

/// What the next swaps do.
enum Ready<T: Transport> {
    Pairwise {
        schedule: Schedule,
        requests: Requests,
        elements: usize,
    },
    Engine(Prepared),
    Pattern(Box<Transpose<T>>),
    Prepared(Prepared),
}

impl<'a, T: Transport> Mover<'a, T> {
    /// This rank's end of a pair of the request, or of its pattern.
    pub fn new(comm: &'a T, request: &'a Request, pair: usize) -> Self {
        let members = request.members(pair);
        let largest = request.volumes.iter().max().copied().unwrap_or(0) / size_of::<f64>();
        let mut mover = Self {
            comm,
            request,
            pair,
            members,
            send: Vec::new(),
            recv: Vec::new(),
            engines: BTreeMap::new(),
            patterns: BTreeMap::new(),
            ready: None,
        };
        let lens = |blocks: Vec<(usize, usize)>| blocks.iter().map(|block| block.1).sum();
        mover.send = vec![0.0; lens(mover.blocks(largest, true))];
        mover.recv = vec![0.0; lens(mover.blocks(largest, false))];
        data::poison(&mut mover.recv);
        mover.fill(largest);
        mover
    }

    /// Which pair of the request this is.
    pub fn pair_index(&self) -> usize {
        self.pair
    }

    /// The blocks that are sent, or that come: ranks of the communicator and elements.
    fn blocks(&self, elements: usize, sent: bool) -> Vec<(usize, usize)> {
        let (rank, size) = (self.comm.rank(), self.comm.size());
        let Some(pattern) = self.request.pattern else {
            return vec![(1 - rank, elements)];
        };
        let len = |other: usize| {
            if sent {
                pattern.len(size, elements, rank, other)
            } else {
                pattern.len(size, elements, other, rank)
            }
        };
        (0..size).map(|other| (other, len(other))).collect()
    }

    fn fill(&mut self, elements: usize) {
        let own = self.members[self.comm.rank()];
        let mut start = 0;
        for (to, len) in self.blocks(elements, true) {
            let block = &mut self.send[start..start + len];
            data::fill(block, own, self.members[to]);
            start += len;
        }
    }

    /// Gets ready for swaps of a case in `messages` messages; nothing of this is timed.
    ///
    /// # Errors
    /// An engine that cannot be had.
    pub fn prepare(&mut self, case: &Case, messages: usize) -> Result<(), TransportError> {
        let elements = case.volume / size_of::<f64>();
        if let Some(pattern) = self.request.pattern {
            self.ready = Some(self.pattern(pattern, case, elements)?);
            return Ok(());
        }
        self.ready = Some(match case.way {
            Way::Pairwise(..) => self.pairwise(case, elements, messages),
            Way::Engine(engine) => {
                let key = (engine, elements, messages, case.overlap);
                if !self.engines.contains_key(&key) {
                    let prepared = self.comm.engine(engine, &self.swap_pattern(key))?;
                    self.engines.insert(key, prepared);
                }
                Ready::Engine(key)
            }
        });
        Ok(())
    }

    fn pattern(
        &mut self,
        pattern: Shape,
        case: &Case,
        elements: usize,
    ) -> Result<Ready<T>, TransportError> {
        let (rank, size) = (self.comm.rank(), self.comm.size());
        let mut choice = ExchangeChoice::default();
        if let Some(method) = self.request.method(case) {
            choice.order = method.order;
            choice.protocol = method.protocol;
            choice.handshake = method.handshake;
            choice.max_requests = method.max_requests;
            choice.overlap = method.overlap;
        }
        let key = match case.way {
            Way::Engine(engine) => {
                choice.engine = Some(engine);
                Some((engine, elements, 1, case.overlap))
            }
            Way::Pairwise(..) => None,
        };
        if let Some(key) = key.filter(|key| self.patterns.contains_key(key)) {
            return Ok(Ready::Prepared(key));
        }
        let len = |from: usize, to: usize| pattern.len(size, elements, from, to);
        let plan =
            Plan::new(rank, size, len, &choice).map_err(|error| TransportError::NoEngine {
                engine: "pairwise",
                reason: error.to_string(),
            })?;
        let transpose = Transpose::new(self.comm, plan)?;
        Ok(match key {
            None => Ready::Pattern(Box::new(transpose)),
            Some(key) => {
                self.patterns.insert(key, transpose);
                Ready::Prepared(key)
            }
        })
    }

    fn pairwise(&self, case: &Case, elements: usize, messages: usize) -> Ready<T> {
        let len = elements / messages;
        let me = self.comm.rank();
        let step = |index: usize| {
            let leg = Some(Leg {
                peer: 1 - me,
                // The step, counted from 1 as everywhere.
                tag: (index + 1) as Tag % COLLECTIVE_TAGS,
                start: index * len,
                len,
            });
            Step {
                kind: Kind::Swap,
                role: if me == 0 { Role::First } else { Role::Second },
                send: leg,
                recv: leg,
            }
        };
        let steps: Vec<Step> = (0..messages).map(step).collect();
        // Pairs that rely on buffering come here only when they were asked for as such.
        let method = self.request.method(case);
        let schedule = method.map(|method| Schedule::unchecked(&method, &steps));
        match schedule {
            Some(schedule) => Ready::Pairwise {
                requests: Requests::for_schedule(&schedule),
                schedule,
                elements,
            },
            None => unreachable!("a pairwise case has a method"),
        }
    }

    fn swap_pattern(&self, (_, elements, messages, together): Prepared) -> Pattern {
        let block = vec![Block::contiguous(1 - self.comm.rank(), 0..elements)];
        Pattern {
            send: block.clone(),
            recv: block,
            messages,
            together,
        }
    }

    /// Swaps once.
    ///
    /// # Errors
    /// Those of the transport.
    #[inline]
    pub fn swap(&mut self) -> Result<(), TransportError> {
        match &mut self.ready {
            Some(Ready::Pairwise {
                schedule,
                requests,
                elements,
            }) => {
                let (send, recv) = (&self.send[..*elements], &mut self.recv[..*elements]);
                self.comm
                    .over(send, recv, |scope| execute(schedule, scope, requests))
            }
            Some(Ready::Engine(key)) => {
                let (send, recv) = (&self.send[..key.1], &mut self.recv[..key.1]);
                match self.engines.get_mut(key) {
                    Some(engine) => engine.execute(send, recv),
                    None => Ok(()),
                }
            }
            Some(Ready::Pattern(transpose)) => go(transpose, self.comm, &self.send, &mut self.recv),
            Some(Ready::Prepared(key)) => match self.patterns.get_mut(key) {
                Some(transpose) => go(transpose, self.comm, &self.send, &mut self.recv),
                None => Ok(()),
            },
            None => Ok(()),
        }
    }

    /// Swaps once and looks at every element that came; what is wrong, if anything is.
    ///
    /// # Errors
    /// Those of the transport.
    pub fn checked_swap(&mut self, volume: usize) -> Result<Option<String>, TransportError> {
        let elements = volume / size_of::<f64>();
        let blocks = self.blocks(elements, false);
        let all = blocks.iter().map(|block| block.1).sum();
        data::poison(&mut self.recv[..all]);
        // Blocks of several volumes begin at different places.
        self.fill(elements);
        self.swap()?;
        let own = self.members[self.comm.rank()];
        let mut start = 0;
        for (from, len) in blocks {
            let block = &self.recv[start..start + len];
            if let Some(wrong) = data::wrong(block, self.members[from], own) {
                return Ok(Some(wrong));
            }
            start += len;
        }
        Ok(None)
    }
}

fn go<T: Transport>(
    transpose: &mut Transpose<T>,
    comm: &T,
    send: &[f64],
    recv: &mut [f64],
) -> Result<(), TransportError> {
    let (sent, received) = (transpose.plan().send_len, transpose.plan().recv_len);
    let (send, recv) = (&send[..sent], &mut recv[..received]);
    transpose.execute(comm, send, recv, &mut Movement::default())
}
