//! What is explained: the steps and schedules of all ranks.

use crate::app::cli::ExplainOptions;
use crate::exchange::choice::TransposeAlgorithm;
use crate::exchange::plan::steps_of;
use crate::namelist::choices::{legal_orders, order_of, protocol_of};
use crate::swap::call::{Call, Leg};
use crate::swap::check::{Need, needed_eager_limit};
use crate::swap::method::Method;
use crate::swap::schedule::Schedule;
use crate::swap::step::{Kind, Role, Step};
use crate::transport::Tag;

/// What is explained.
pub(super) struct Exchange {
    /// How the messages travel.
    pub(super) method: Method,
    /// What is exchanged, in words.
    pub(super) title: String,
    /// Steps of each rank.
    pub(super) steps: Vec<Vec<Step>>,
    /// Their calls.
    pub(super) schedules: Vec<Schedule>,
    pub(super) need: Need,
}

impl Exchange {
    /// What the options ask for.
    ///
    /// # Errors
    /// Unknown names; a length that is no number of elements; a pair that relies on buffering,
    /// unless asked for.
    pub(super) fn new(options: &ExplainOptions) -> std::result::Result<Self, String> {
        let mut method = method(options)?;
        let bytes = options.bytes;
        let size = size_of::<f64>() as u64;
        if bytes == 0 || !bytes.is_multiple_of(size) || bytes > 1 << 40 {
            return Err(format!(
                "--bytes {bytes}: a positive multiple of {size}, at most 2^40, is needed"
            ));
        }
        let len = (bytes / size) as usize;
        let (title, steps) = match options.ranks {
            Some(ranks) => {
                let named = |one: &TransposeAlgorithm| one.name() == options.transpose;
                let algorithm = TransposeAlgorithm::ALL.into_iter().find(named);
                let algorithm = algorithm.unwrap_or(TransposeAlgorithm::Swap);
                // A round sends what the one before brought.
                method.overlap &= algorithm != TransposeAlgorithm::Logarithmic;
                transpose(ranks as usize, algorithm, len)
            }
            None => swap(options.messages, len),
        };
        let schedule = |steps: &Vec<Step>| Schedule::unchecked(&method, steps);
        let schedules: Vec<Schedule> = steps.iter().map(schedule).collect();
        let need = needed_eager_limit(&schedules);
        if method.check().is_err() && !options.unsafe_order {
            let reason = match need {
                Need::Never => "it would never end",
                _ => "it would end only where messages are buffered",
            };
            return Err(format!(
                "both ranks would send before either receives, {reason}; legal orders of \
                 protocol {}: {}; --unsafe-order shows the calls all the same",
                method.protocol.name(),
                legal_orders(method.protocol)
            ));
        }
        Ok(Self {
            method,
            title,
            steps,
            schedules,
            need,
        })
    }

    /// The calls of all ranks.
    pub(super) fn calls(&self) -> impl Iterator<Item = &Call> {
        self.schedules.iter().flat_map(|schedule| &schedule.calls)
    }
}

fn method(options: &ExplainOptions) -> std::result::Result<Method, String> {
    let Some((order, protocol)) = options.pair.split_once('/') else {
        return Err("an order and a protocol are needed, for example ordered/ready or 1/4".into());
    };
    Ok(Method {
        order: order_of(order)?,
        protocol: protocol_of(protocol)?,
        handshake: options.handshake,
        max_requests: options.max_requests as usize,
        overlap: options.overlap,
    })
}

/// Two ranks swap messages of so many elements.
fn swap(messages: u32, len: usize) -> (String, Vec<Vec<Step>>) {
    let steps = |(role, peer): (Role, usize)| -> Vec<Step> {
        let step = |number: u32| {
            let leg = Some(Leg {
                peer,
                tag: (number + 1) as Tag,
                start: number as usize * len,
                len,
            });
            Step {
                kind: Kind::Swap,
                role,
                send: leg,
                recv: leg,
            }
        };
        (0..messages).map(step).collect()
    };
    let title = format!(
        "a swap of two ranks, {messages} message{} of {} bytes each way",
        plural(messages as usize),
        len * size_of::<f64>()
    );
    let both = [(Role::First, 1), (Role::Second, 0)];
    (title, both.into_iter().map(steps).collect())
}

/// Every rank has a block of so many elements for every other.
fn transpose(ranks: usize, algorithm: TransposeAlgorithm, len: usize) -> (String, Vec<Vec<Step>>) {
    let title = format!(
        "a {} transpose of {ranks} rank{}, blocks of {} bytes",
        algorithm.name(),
        plural(ranks),
        len * size_of::<f64>()
    );
    let steps = |rank| steps_of(rank, ranks, algorithm, |_, _| len);
    (title, (0..ranks).map(steps).collect())
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}
