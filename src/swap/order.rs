//! The order of the two messages of a swap (COMMOPT of the original PSTSWM).

/// Who sends when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// Both ranks send, then receive (bidirectional).
    Simple,
    /// The lower rank sends, then receives; the higher rank receives, then sends
    /// (unidirectional). In a ring the parity of the position replaces the order of ranks.
    Ordered,
    /// Send in the exchange stage, receive in the finish stage.
    Delayed,
}

impl Order {
    /// Every order, in the numbering of the original.
    pub const ALL: [Self; 3] = [Self::Simple, Self::Ordered, Self::Delayed];

    /// The namelist's spelling.
    pub fn name(self) -> &'static str {
        match self {
            Self::Simple => "simple",
            Self::Ordered => "ordered",
            Self::Delayed => "delayed",
        }
    }

    /// The order with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|order| order.name() == name)
    }
}
