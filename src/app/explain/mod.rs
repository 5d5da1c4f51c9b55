//! `explain`: the calls of an order and a protocol on every rank, and whether they need buffers.

mod exchange;
mod table;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::cli::ExplainOptions;
use crate::error::{Error, Result};
use crate::namelist::choices::{ORDERS, protocol_about};
use crate::swap::call::Call;
use crate::swap::check::{Need, Outcome, check};
use crate::swap::method::Method;
use crate::swap::schedule::Schedule;
use exchange::Exchange;

/// Width of a heading in the left margin.
const MARGIN: usize = 18;

/// The whole explanation.
///
/// # Errors
/// Unknown names; a length that is no number of elements; a pair that relies on buffering, unless
/// asked for.
pub fn text(options: &ExplainOptions) -> Result<String> {
    let exchange = Exchange::new(options)
        .map_err(|message| Error::Input(format!("explain {}: {message}", options.pair)))?;
    let mut text = heading(&exchange);
    text += &table::tables(&exchange);
    text += &summary(&exchange);
    Ok(text)
}

/// What the order and the protocol are, and which calls and modes they need.
fn heading(exchange: &Exchange) -> String {
    let Method {
        order, protocol, ..
    } = exchange.method;
    let row = protocol.row();
    let about = ORDERS[order as usize].about;
    let mut text = format!("{}: {}\n\n", exchange.method.label().0, exchange.title);
    let mut line = |name: &str, about: &str| {
        let _ = writeln!(text, "{name:<MARGIN$}{about}");
    };
    line(
        &format!("order {}", order as usize),
        &format!("{}: {about}", order.name()),
    );
    line(
        &format!("protocol {}", row.number),
        &format!("{}: {}", protocol.name(), protocol_about(protocol)),
    );
    if let Some(window) = window(&exchange.method) {
        line("overlap", &window);
    }
    let signal = |call: &&Call| matches!(call, Call::Signal { .. } | Call::AwaitSignal { .. });
    let names = |signals: bool| {
        let names: BTreeSet<&str> = exchange
            .calls()
            .filter(|call| signal(call) == signals)
            .map(Call::mpi_name)
            .collect();
        Vec::from_iter(names).join(", ")
    };
    let or_none = |names: String| {
        if names.is_empty() {
            "none".to_owned()
        } else {
            names
        }
    };
    line("MPI calls", &or_none(names(false)));
    if exchange.calls().any(|call| signal(&call)) {
        line(
            "signals",
            &format!("{} of no data, on a communicator of their own", names(true)),
        );
    }
    line("send modes", &or_none(modes(exchange)));
    line(
        "calls",
        "partner, tag (the step), elements of the rank's buffer",
    );
    text
}

fn window(method: &Method) -> Option<String> {
    match (method.overlap, method.max_requests) {
        (false, _) => None,
        (true, 0) => Some("all steps are started, then exchanged, then finished".to_owned()),
        (true, cap) => Some(format!(
            "a window of {cap} requests, but at least of one message, that advances in halves"
        )),
    }
}

fn modes(exchange: &Exchange) -> String {
    let mode = |call: &Call| match call {
        Call::Send { mode, .. } | Call::PostSend { mode, .. } => Some(mode.name()),
        Call::SendReceive { .. } => Some("standard"),
        _ => None,
    };
    let modes: BTreeSet<&str> = exchange.calls().filter_map(mode).collect();
    Vec::from_iter(modes).join(", ")
}

/// What a message costs, and how the exchange ends.
fn summary(exchange: &Exchange) -> String {
    let count = |which: fn(&Call) -> bool| exchange.calls().filter(|call| which(call)).count();
    let messages = count(|call| {
        matches!(
            call,
            Call::Send { .. } | Call::PostSend { .. } | Call::SendReceive { .. }
        )
    });
    let requests = count(|call| matches!(call, Call::PostSend { .. } | Call::PostReceive { .. }));
    let signals = count(|call| matches!(call, Call::Signal { .. }));
    let a_message = |count: usize| (100.0 * count as f64 / messages as f64).round() / 100.0;
    let most = exchange.schedules.iter().map(most_open).max().unwrap_or(0);
    let mut text = "\n".to_owned();
    let mut line = |name: &str, about: &str| {
        let _ = writeln!(text, "{name:<MARGIN$}{about}");
    };
    if messages > 0 {
        let [requests_each, signals_each] = [requests, signals].map(a_message);
        line(
            "each message",
            &format!("requests {requests_each}, signals {signals_each}"),
        );
        line(
            "all ranks",
            &format!(
                "messages {messages}, requests {requests}, signals {signals}; requests of a \
                 rank under way together: {most}"
            ),
        );
    }
    let (verdict, when, limit) = match exchange.need {
        Need::Nothing => ("ends when nothing is buffered".to_owned(), "", 0),
        Need::Buffered { bytes } => (
            format!(
                "ends only if messages of {bytes} bytes are buffered: works up to the eager \
                 limit of the library"
            ),
            "When nothing is buffered",
            0,
        ),
        Need::Never => ("never ends".to_owned(), "Whatever is buffered", usize::MAX),
    };
    line("verdict", &verdict);
    if let Outcome::Deadlock(deadlock) = check(&exchange.schedules, limit) {
        let _ = writeln!(text, "\n{when}:");
        for line in deadlock.to_string().lines() {
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}

/// The most requests of a rank that are under way together.
fn most_open(schedule: &Schedule) -> usize {
    let (mut open, mut most) = (0_usize, 0);
    for call in &schedule.calls {
        match call {
            Call::PostReceive { .. } | Call::PostSend { .. } => open += 1,
            Call::WaitReceive { .. } | Call::WaitSend { .. } => open -= 1,
            _ => {}
        }
        most = most.max(open);
    }
    most
}
