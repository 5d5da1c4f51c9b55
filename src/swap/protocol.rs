//! The protocols as rows of data (PROTOPT of the original PSTSWM): adding one is adding a row.

use super::order::Order;
pub use crate::transport::SendMode;

/// A protocol, by its number in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Protocol(u8);

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Number in the original's table.
    pub number: u8,
    /// The namelist's spelling.
    pub name: &'static str,
    /// Mode of the send.
    pub mode: SendMode,
    /// Whether the send returns before it is complete.
    pub immediate_send: bool,
    /// Whether the receive is posted in the start stage and waited for later.
    pub early_receive: bool,
    /// Whether sends await a signal that the receive is posted.
    pub handshake: bool,
    /// Whether send and receive are one call where the order allows (MPI_Sendrecv).
    pub combined: bool,
    /// Whether the row is legal with the orders `simple` and `delayed`; all are with `ordered`.
    pub unordered: bool,
}

const fn row(number: u8, name: &'static str, mode: SendMode) -> Row {
    Row {
        number,
        name,
        mode,
        immediate_send: false,
        early_receive: false,
        handshake: false,
        combined: false,
        unordered: true,
    }
}

/// The table. Row 6 sends in standard mode after an explicit handshake when ordered.
pub const TABLE: [Row; 11] = [
    Row {
        unordered: false,
        ..row(0, "blocking", SendMode::Standard)
    },
    Row {
        immediate_send: true,
        ..row(1, "nonblocking-send", SendMode::Standard)
    },
    Row {
        early_receive: true,
        ..row(2, "nonblocking-recv", SendMode::Standard)
    },
    Row {
        immediate_send: true,
        early_receive: true,
        ..row(3, "nonblocking", SendMode::Standard)
    },
    Row {
        early_receive: true,
        handshake: true,
        ..row(4, "ready", SendMode::Ready)
    },
    Row {
        immediate_send: true,
        early_receive: true,
        handshake: true,
        ..row(5, "nonblocking-ready", SendMode::Ready)
    },
    Row {
        combined: true,
        ..row(6, "native", SendMode::Standard)
    },
    Row {
        immediate_send: true,
        ..row(7, "nonblocking-synchronous-send", SendMode::Synchronous)
    },
    Row {
        early_receive: true,
        ..row(8, "synchronous", SendMode::Synchronous)
    },
    Row {
        immediate_send: true,
        early_receive: true,
        ..row(9, "nonblocking-synchronous", SendMode::Synchronous)
    },
    Row {
        unordered: false,
        ..row(10, "blocking-synchronous", SendMode::Synchronous)
    },
];

impl Protocol {
    /// The protocol of the namelist's default.
    pub const NONBLOCKING_RECV: Self = Self(2);

    /// Every protocol.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| Self(row.number))
    }

    /// The protocol with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|protocol| protocol.row().name == name)
    }

    /// The protocol with this number.
    pub fn from_number(number: i64) -> Option<Self> {
        Self::all().find(|protocol| i64::from(protocol.0) == number)
    }

    /// Its row of the table.
    pub fn row(self) -> &'static Row {
        &TABLE[usize::from(self.0)]
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Whether no buffering is needed for a swap in this order to end.
    pub fn legal_with(self, order: Order) -> bool {
        order == Order::Ordered || self.row().unordered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_at_their_numbers() {
        for (index, row) in TABLE.iter().enumerate() {
            assert_eq!(index, usize::from(row.number));
            assert_eq!(
                Protocol::from_name(row.name),
                Protocol::from_number(index as i64)
            );
        }
        assert_eq!(Protocol::from_number(11), None);
    }
}
