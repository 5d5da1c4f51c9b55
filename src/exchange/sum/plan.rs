//! The plan of a vector sum: what one rank sends and adds in which step. Plain data.

use std::fmt;
use std::ops::Range;

use super::choice::{SumAlgorithm, SumChoice};
use super::steps::{Arrival, SumStep, steps_of};
use crate::swap::call::{Call, Leg};
use crate::swap::error::PlanError;
use crate::swap::order::Order;
use crate::swap::schedule::{Schedule, StageCalls};
use crate::swap::step::{Stage, Step};

/// The plan of one rank.
#[derive(Clone, Debug)]
pub struct SumPlan {
    /// This rank.
    pub rank: usize,
    /// Ranks.
    pub size: usize,
    /// How the data move, and in which order they are added.
    pub choice: SumChoice,
    /// The segments whose local values are computed before the first step; the others are computed
    /// during the steps that name them.
    pub first: Range<usize>,
    /// The steps, one after the other.
    pub steps: Vec<SumStep>,
    /// Their calls. Both buffers of a step begin with its message.
    pub schedule: Schedule,
    /// Which of them are the stages of each step.
    pub stages: Vec<StageCalls>,
    /// Messages to other ranks; 0 for a native sum, whose messages are the library's.
    pub messages: u64,
    /// Bytes to other ranks; 0 for a native sum.
    pub bytes: u64,
    bounds: Vec<usize>,
}

impl SumPlan {
    /// Plans the sum over `size` ranks of a vector (f64) that is cut into as many segments:
    /// `segments[s]` elements each, consecutive, any of them empty. The same on every rank.
    ///
    /// # Errors
    /// An order and protocol that need buffering; not one segment for each rank.
    pub fn new(
        rank: usize,
        size: usize,
        segments: &[usize],
        choice: &SumChoice,
    ) -> Result<Self, PlanError> {
        if rank >= size {
            return Err(PlanError::Rank { rank, size });
        }
        if segments.len() != size {
            return Err(PlanError::Segments {
                expected: size,
                found: segments.len(),
            });
        }
        let mut bounds = vec![0];
        bounds.extend(segments.iter().scan(0, |end, len| {
            *end += len;
            Some(*end)
        }));
        let steps = steps_of(choice.algorithm, rank, size, &bounds);
        let calls: Vec<Step> = steps.iter().map(step).collect();
        let (schedule, stages) = Schedule::one_by_one(&choice.method(), &calls)?;
        let pipelined = choice.algorithm == SumAlgorithm::PipelinedRing && size > 1;
        let before = (rank + size - 1) % size;
        let sent = || steps.iter().filter_map(|step| step.send);
        let elements: usize = sent().map(|leg| leg.len).sum();
        Ok(Self {
            rank,
            size,
            choice: *choice,
            first: if pipelined {
                before..before + 1
            } else {
                0..size
            },
            schedule,
            stages,
            messages: sent().count() as u64,
            bytes: (elements * size_of::<f64>()) as u64,
            steps,
            bounds,
        })
    }

    /// Elements of the vector.
    pub fn len(&self) -> usize {
        self.bounds[self.size]
    }

    /// Whether the vector has no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements of a segment, counted from 0.
    pub fn segment(&self, segment: usize) -> Range<usize> {
        self.bounds[segment]..self.bounds[segment + 1]
    }

    /// Whether the sum is the library's, or between threads the tree in its place.
    pub fn is_native(&self) -> bool {
        self.choice.algorithm == SumAlgorithm::Native && self.size > 1 && !self.is_empty()
    }

    /// Elements that arrive and are added, at most; all of a native sum.
    pub(super) fn room(&self) -> usize {
        if self.is_native() {
            return self.len();
        }
        let added = self.steps.iter().filter(|s| s.arrival == Arrival::Added);
        let lengths = added.filter_map(|step| step.recv).map(|leg| leg.len);
        lengths.max().unwrap_or(0)
    }

    /// The stage of a step after which local values are computed: while its message is on its way.
    ///
    /// A receive that is posted early and waited for in the exchange stage is under way before that
    /// stage, all others at best after it.
    pub fn local_after(&self) -> Stage {
        let early = self.choice.protocol.row().early_receive;
        if early && self.choice.order != Order::Delayed {
            Stage::Start
        } else {
            Stage::Exchange
        }
    }
}

/// The step of the swap kernel, over buffers that begin with the messages.
fn step(step: &SumStep) -> Step {
    let at_begin = |leg: Leg| Leg { start: 0, ..leg };
    Step {
        kind: step.kind,
        role: step.role,
        send: step.send.map(at_begin),
        recv: step.recv.map(at_begin),
    }
}

/// One line for each step: elements of the vector, and the calls of the stages.
impl fmt::Display for SumPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "rank {} of {}: {}, elements: {}, messages: {}, bytes: {}",
            self.rank,
            self.size,
            self.choice,
            self.len(),
            self.messages,
            self.bytes
        )?;
        for segment in self.first.clone() {
            writeln!(f, "local {:?}", self.segment(segment))?;
        }
        for (step, stages) in self.steps.iter().zip(&self.stages) {
            write!(f, "step {}:", step.number)?;
            if let Some(leg) = step.send {
                write!(f, " send {:?} to {},", leg.range(), leg.peer)?;
            }
            if let Some(leg) = step.recv {
                let verb = match step.arrival {
                    Arrival::Added => "add",
                    Arrival::Placed => "receive",
                };
                write!(f, " {verb} {:?} from {},", leg.range(), leg.peer)?;
            }
            if let Some(segment) = step.local {
                let stage = self.local_after().name();
                write!(f, " local {:?} after {stage},", self.segment(segment))?;
            }
            let calls = stages.clone().map(|stage| {
                let names: Vec<_> = self.schedule.calls[stage].iter().map(Call::name).collect();
                if names.is_empty() {
                    "-".to_owned()
                } else {
                    names.join(", ")
                }
            });
            writeln!(f, " calls {}", calls.join(" / "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(algorithm: SumAlgorithm) -> SumChoice {
        SumChoice {
            algorithm,
            ..SumChoice::default()
        }
    }

    /// Messages and elements that each rank sends.
    fn sent(algorithm: SumAlgorithm, segments: &[usize]) -> Vec<(usize, usize)> {
        let size = segments.len();
        let plan = |rank| SumPlan::new(rank, size, segments, &choice(algorithm)).unwrap();
        let sent = |plan: SumPlan| (plan.messages as usize, plan.bytes as usize / 8);
        (0..size).map(|rank| sent(plan(rank))).collect()
    }

    #[test]
    fn messages_and_bytes_are_those_of_the_formulas() {
        for size in 1..=64_usize {
            let core = 1 << size.ilog2();
            let log = size.ilog2() as usize;
            // Divisible by the ranks and by the powers of two, so that all parts are equal.
            let segments = vec![64; size];
            let len = 64 * size;
            let folded = |rank: usize, messages: usize, elements: usize| {
                if rank >= core {
                    (1, len)
                } else if rank + core < size {
                    (messages + 1, elements + len)
                } else {
                    (messages, elements)
                }
            };
            let exchange = sent(SumAlgorithm::Exchange, &segments);
            let expected: Vec<_> = (0..size).map(|r| folded(r, log, len * log)).collect();
            assert_eq!(exchange, expected, "{size} ranks");

            let halving = sent(SumAlgorithm::Halving, &segments);
            let even = size == core;
            for (rank, &(messages, elements)) in halving.iter().enumerate() {
                let formula = folded(rank, 2 * log, 2 * len * (core - 1) / core);
                assert_eq!(messages, formula.0, "{size} ranks");
                // Whole segments do not divide by 2^k: at most one more in each message.
                let spare = if even { 0 } else { 64 * 2 * log };
                assert!(elements.abs_diff(formula.1) <= spare, "{size} ranks");
            }

            for algorithm in [SumAlgorithm::Ring, SumAlgorithm::PipelinedRing] {
                let ring = sent(algorithm, &segments);
                let formula = (2 * (size - 1), 2 * len * (size - 1) / size);
                assert_eq!(ring, vec![formula; size], "{size} ranks");
            }
            assert_eq!(sent(SumAlgorithm::Native, &segments), vec![(0, 0); size]);
        }
    }

    #[test]
    fn every_element_arrives_once_for_each_addition() {
        // In a sum over P ranks there are P - 1 additions of each element, and P - 1 ranks are told
        // the result, whatever the parts; recursive doubling adds everywhere instead.
        for size in 1..=24_usize {
            let segments: Vec<_> = (0..size).map(|segment| (segment * 5) % 4).collect();
            for algorithm in [SumAlgorithm::Halving, SumAlgorithm::Ring] {
                let len = segments.iter().sum::<usize>();
                let (mut added, mut placed) = (vec![0; len], vec![0; len]);
                for rank in 0..size {
                    let plan = SumPlan::new(rank, size, &segments, &choice(algorithm)).unwrap();
                    for step in &plan.steps {
                        let Some(leg) = step.recv else { continue };
                        let counted = match step.arrival {
                            Arrival::Added => &mut added,
                            Arrival::Placed => &mut placed,
                        };
                        leg.range().for_each(|at| counted[at] += 1);
                    }
                }
                let once = vec![size - 1; len];
                assert_eq!((&added, &placed), (&once, &once), "{algorithm:?}, {size}");
            }
        }
    }

    #[test]
    fn local_values_are_computed_while_something_moves() {
        let plan = |order, name| {
            let choice = SumChoice {
                algorithm: SumAlgorithm::PipelinedRing,
                order,
                protocol: crate::swap::protocol::Protocol::from_name(name).unwrap(),
                ..SumChoice::default()
            };
            SumPlan::new(0, 3, &[1, 1, 1], &choice).unwrap()
        };
        for (order, name, stage) in [
            (Order::Simple, "nonblocking", Stage::Start),
            (Order::Ordered, "nonblocking-recv", Stage::Start),
            (Order::Delayed, "nonblocking", Stage::Exchange),
            (Order::Simple, "nonblocking-send", Stage::Exchange),
            (Order::Ordered, "blocking", Stage::Exchange),
        ] {
            assert_eq!(plan(order, name).local_after(), stage, "{order:?} {name}");
        }
    }

    #[test]
    fn a_plan_prints_what_it_does() {
        let print = |algorithm, rank| {
            let plan = SumPlan::new(rank, 3, &[2, 0, 3], &choice(algorithm)).unwrap();
            plan.to_string()
        };
        let pipelined = "\
            rank 1 of 3: pipelined-ring ordered/nonblocking-recv, elements: 5, messages: 3, bytes: 56\n\
            local 0..2\n\
            step 1: send 0..2 to 2, add 2..5 from 0, local 2..5 after start, \
            calls irecv / wait recv, send / -\n\
            step 2: send 2..5 to 2, local 2..2 after start, calls - / send / -\n\
            step 3: receive 0..2 from 0, calls irecv / wait recv / -\n\
            step 4: send 0..2 to 2, receive 2..5 from 0, calls irecv / wait recv, send / -\n";
        assert_eq!(print(SumAlgorithm::PipelinedRing, 1), pipelined);
        let halving = "\
            rank 0 of 3: halving ordered/nonblocking-recv, elements: 5, messages: 3, bytes: 80\n\
            local 0..2\nlocal 2..2\nlocal 2..5\n\
            step 0: add 0..5 from 2, calls irecv / wait recv / -\n\
            step 1: send 2..5 to 1, add 0..2 from 1, calls irecv / send, wait recv / -\n\
            step 2: send 0..2 to 1, receive 2..5 from 1, calls irecv / send, wait recv / -\n\
            step 3: send 0..5 to 2, calls - / send / -\n";
        assert_eq!(print(SumAlgorithm::Halving, 0), halving);
    }
}
