//! How the messages of an exchange travel.

use std::sync::LazyLock;

use super::error::PlanError;
use super::order::Order;
use super::protocol::Protocol;
use crate::transport::Label;

/// `order/protocol` for every pair, by order and number of the protocol.
static LABELS: LazyLock<Vec<Vec<Label>>> = LazyLock::new(|| {
    let pair =
        |order: Order, protocol: Protocol| Label(format!("{}/{}", order.name(), protocol.name()));
    let row = |order| {
        Protocol::all()
            .map(|protocol| pair(order, protocol))
            .collect()
    };
    Order::ALL.map(row).into()
});

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

    /// What exchanges by this method are called in reports.
    pub fn label(&self) -> &'static Label {
        &LABELS[self.order as usize][usize::from(self.protocol.row().number)]
    }

    /// Steps that are started, exchanged and finished together, and whether the next such group is
    /// started before this one is exchanged.
    pub(super) fn window(&self, steps: usize) -> (usize, bool) {
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
