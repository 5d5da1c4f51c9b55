//! One rank's end of the swaps: through the same schedules, interpreter and engines as the
//! transposes of the model.

use std::collections::BTreeMap;

use super::case::{Case, Request, Way};
use super::data;
use crate::swap::call::Leg;
use crate::swap::run::{Requests, execute};
use crate::swap::schedule::Schedule;
use crate::swap::step::{Kind, Role, Step};
use crate::transport::{
    Block, COLLECTIVE_TAGS, EngineKind, Exchange, Pattern, Tag, Transport, TransportError,
};

/// Engine, elements, messages, overlap.
type Prepared = (EngineKind, usize, usize, bool);

/// Swaps with the other rank of a communicator of two.
pub struct Mover<'a, T: Transport> {
    pair: &'a T,
    request: &'a Request,
    /// The two ranks in the job, this one first.
    names: (usize, usize),
    send: Vec<f64>,
    recv: Vec<f64>,
    engines: BTreeMap<Prepared, T::Engine>,
    ready: Option<Ready>,
}

/// What the next swaps do.
enum Ready {
    Pairwise {
        schedule: Schedule,
        requests: Requests,
        elements: usize,
    },
    Engine(Prepared),
}

impl<'a, T: Transport> Mover<'a, T> {
    /// The end of rank `names.0` of the job, whose partner is rank `names.1`.
    pub fn new(pair: &'a T, request: &'a Request, names: (usize, usize)) -> Self {
        let largest = request.volumes.iter().max().copied().unwrap_or(0) / size_of::<f64>();
        let mut send = vec![0.0; largest];
        data::fill(&mut send, names.0, names.1);
        let mut recv = vec![0.0; largest];
        data::poison(&mut recv);
        Self {
            pair,
            request,
            names,
            send,
            recv,
            engines: BTreeMap::new(),
            ready: None,
        }
    }

    /// Which pair of the request this is.
    pub fn pair_index(&self) -> usize {
        let (a, b) = self.names;
        let own = (a.min(b), a.max(b));
        let mut pairs = self.request.pairs.iter();
        pairs.position(|&pair| pair == own).unwrap_or(0)
    }

    /// Gets ready for swaps of a case in `messages` messages; nothing of this is timed.
    ///
    /// # Errors
    /// An engine that cannot be had.
    pub fn prepare(&mut self, case: &Case, messages: usize) -> Result<(), TransportError> {
        let elements = case.volume / size_of::<f64>();
        self.ready = Some(match case.way {
            Way::Pairwise(..) => self.pairwise(case, elements, messages),
            Way::Engine(engine) => {
                let key = (engine, elements, messages, case.overlap);
                if !self.engines.contains_key(&key) {
                    let prepared = self.pair.engine(engine, &self.pattern(key))?;
                    self.engines.insert(key, prepared);
                }
                Ready::Engine(key)
            }
        });
        Ok(())
    }

    fn pairwise(&self, case: &Case, elements: usize, messages: usize) -> Ready {
        let len = elements / messages;
        let me = self.pair.rank();
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

    fn pattern(&self, (_, elements, messages, together): Prepared) -> Pattern {
        let block = vec![Block::contiguous(1 - self.pair.rank(), 0..elements)];
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
                self.pair
                    .over(send, recv, |scope| execute(schedule, scope, requests))
            }
            Some(Ready::Engine(key)) => {
                let (send, recv) = (&self.send[..key.1], &mut self.recv[..key.1]);
                match self.engines.get_mut(key) {
                    Some(engine) => engine.execute(send, recv),
                    None => Ok(()),
                }
            }
            None => Ok(()),
        }
    }

    /// Swaps once and looks at every element that came; what is wrong, if anything is.
    ///
    /// # Errors
    /// Those of the transport.
    pub fn checked_swap(&mut self, volume: usize) -> Result<Option<String>, TransportError> {
        let elements = volume / size_of::<f64>();
        data::poison(&mut self.recv[..elements]);
        self.swap()?;
        Ok(data::wrong(
            &self.recv[..elements],
            self.names.1,
            self.names.0,
        ))
    }
}
