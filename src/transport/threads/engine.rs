//! Engines between threads.

use super::ThreadTransport;
use crate::transport::{EngineKind, Exchange, Pattern, TransportError};

/// An exchange prepared by an engine.
pub enum ThreadEngine {}

impl ThreadEngine {
    /// Why an engine cannot be had between threads.
    pub(super) fn lacks(_engine: EngineKind) -> Option<String> {
        Some("unavailable in this version between threads".to_owned())
    }

    /// Prepares an exchange.
    pub(super) fn new(
        _comm: &ThreadTransport,
        engine: EngineKind,
        _pattern: &Pattern,
    ) -> Result<Self, TransportError> {
        Err(TransportError::NoEngine {
            engine: engine.name(),
            reason: Self::lacks(engine).unwrap_or_default(),
        })
    }
}

impl Exchange for ThreadEngine {
    fn execute(&mut self, _send: &[f64], _recv: &mut [f64]) -> Result<(), TransportError> {
        match *self {}
    }
}
