//! The calls of a whole exchange of many steps.

use std::fmt;
use std::ops::Range;

use super::call::Call;
use super::error::PlanError;
use super::method::Method;
use super::step::{Stage, Step, stage_calls};
use crate::transport::Label;

/// The calls of one rank, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The calls.
    pub calls: Vec<Call>,
    /// Steps, so that requests can be kept by step.
    pub steps: usize,
    /// What the exchange is called in reports.
    pub label: &'static Label,
}

/// Which calls of a schedule the three stages of a step are, in the order of [`Stage::ALL`].
pub type StageCalls = [Range<usize>; 3];

impl Schedule {
    /// The calls of a whole exchange, in the order of [`stages`].
    ///
    /// # Errors
    /// [`PlanError::Illegal`].
    pub fn new(method: &Method, steps: &[Step]) -> Result<Self, PlanError> {
        method.check()?;
        Ok(Self::unchecked(method, steps))
    }

    /// The calls of an exchange whose steps depend on each other: one step after the other, whatever
    /// the method says of overlap. Beside it stand the stages of every step.
    ///
    /// # Errors
    /// [`PlanError::Illegal`].
    pub fn one_by_one(
        method: &Method,
        steps: &[Step],
    ) -> Result<(Self, Vec<StageCalls>), PlanError> {
        method.check()?;
        let mut calls = Vec::new();
        let mut stages = Vec::with_capacity(steps.len());
        for (number, step) in steps.iter().enumerate() {
            stages.push(Stage::ALL.map(|stage| {
                let begin = calls.len();
                stage_calls(method, step, number, stage, &mut calls);
                begin..calls.len()
            }));
        }
        let schedule = Self {
            calls,
            steps: steps.len(),
            label: method.label(),
        };
        Ok((schedule, stages))
    }

    /// As [`Schedule::new`], also for methods that rely on buffering.
    pub fn unchecked(method: &Method, steps: &[Step]) -> Self {
        let mut calls = Vec::new();
        for (number, stage) in stages(method, steps.len()) {
            stage_calls(method, &steps[number], number, stage, &mut calls);
        }
        Self {
            calls,
            steps: steps.len(),
            label: method.label(),
        }
    }
}

/// The stages of an exchange of this many steps, in the order in which they are made.
///
/// Without overlap every step ends before the next begins. With it, every step is started, then
/// every step exchanged, then every step finished; under a cap in half windows: while one half is
/// exchanged the receives of the next are posted already.
pub fn stages(method: &Method, steps: usize) -> Vec<(usize, Stage)> {
    let (group, ahead) = method.window(steps);
    let lag = usize::from(ahead);
    let mut stages = Vec::with_capacity(Stage::ALL.len() * steps);
    let mut add = |number: usize, stage: Stage| {
        let first = number * group;
        stages.extend((first..steps.min(first + group)).map(|step| (step, stage)));
    };
    for number in 0..=lag {
        add(number, Stage::Start);
    }
    for number in 0..steps.div_ceil(group) + lag {
        add(number, Stage::Exchange);
        if number >= lag {
            add(number - lag, Stage::Finish);
            add(number + 1, Stage::Start);
        }
    }
    stages
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.calls.iter().try_for_each(|call| writeln!(f, "{call}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::swap::call::Leg;
    use crate::swap::order::Order;
    use crate::swap::protocol::Protocol;
    use crate::swap::step::{Kind, Role};

    fn method(order: Order, protocol: i64) -> Method {
        Method {
            order,
            protocol: Protocol::from_number(protocol).unwrap(),
            handshake: false,
            max_requests: 0,
            overlap: false,
        }
    }

    fn swap(role: Role) -> Step {
        let leg = Some(Leg {
            peer: if role == Role::First { 1 } else { 0 },
            tag: 3,
            start: 0,
            len: 8,
        });
        Step {
            kind: Kind::Swap,
            role,
            send: leg,
            recv: leg,
        }
    }

    #[test]
    fn a_capped_window_advances_in_halves() {
        let steps = [swap(Role::First); 5];
        let window = |overlap, max_requests| {
            let method = Method {
                overlap,
                max_requests,
                ..method(Order::Simple, 2)
            };
            let schedule = Schedule::new(&method, &steps).unwrap();
            let letter = |call: &Call| match call {
                Call::PostReceive { step, .. } => Some(format!("s{step}")),
                Call::WaitReceive { step, .. } => Some(format!("x{step}")),
                _ => None,
            };
            let letters: Vec<_> = schedule.calls.iter().filter_map(letter).collect();
            letters.join(" ")
        };
        let one_by_one = "s0 x0 s1 x1 s2 x2 s3 x3 s4 x4";
        assert_eq!(window(false, 0), one_by_one);
        assert_eq!(window(false, 4), one_by_one);
        assert_eq!(window(true, 0), "s0 s1 s2 s3 s4 x0 x1 x2 x3 x4");
        assert_eq!(window(true, 1), one_by_one);
        assert_eq!(window(true, 2), "s0 s1 x0 x1 s2 x2 s3 x3 s4 x4");
        assert_eq!(window(true, 4), "s0 s1 s2 s3 x0 x1 x2 x3 s4 x4");
    }

    #[test]
    fn a_schedule_prints_its_calls() {
        let schedule = Schedule::new(&method(Order::Ordered, 4), &[swap(Role::Second)]).unwrap();
        let text = "irecv        from 0 tag 3 0..8\n\
                    signal       to 0 tag 3\n\
                    wait recv    from 0 tag 3 0..8\n\
                    rsend        to 0 tag 3 0..8\n";
        assert_eq!(schedule.to_string(), text);
    }
}
