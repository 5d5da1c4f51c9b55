//! Blocks put in place as they come, while others are on their way.

use crate::swap::call::Leg;
use crate::swap::run::Local;
use crate::transport::{Scope, Transport, TransportError};

/// Puts one block in place before every wait: the own one before the first, then what has come.
pub(super) struct Unpacking<'a, T: Transport, F> {
    comm: &'a T,
    /// The own block, until it is in place.
    own: Option<&'a [f64]>,
    /// A block that has come and is not yet in place.
    come: Option<Leg>,
    /// Puts a rank's block in place.
    unpack: F,
    /// Seconds that it took.
    pub(super) seconds: f64,
}

impl<'a, T: Transport, F: FnMut(usize, &[f64])> Unpacking<'a, T, F> {
    pub(super) fn new(comm: &'a T, own: &'a [f64], unpack: F) -> Self {
        Self {
            comm,
            own: (!own.is_empty()).then_some(own),
            come: None,
            unpack,
            seconds: 0.0,
        }
    }

    /// Puts in place what is not yet.
    pub(super) fn finish<S: Scope>(&mut self, scope: &S) -> Result<(), TransportError> {
        while self.own.is_some() || self.come.is_some() {
            self.next(scope)?;
        }
        Ok(())
    }

    fn next<S: Scope>(&mut self, scope: &S) -> Result<(), TransportError> {
        let (peer, block) = if let Some(own) = self.own.take() {
            (self.comm.rank(), own)
        } else if let Some(leg) = self.come.take() {
            (leg.peer, scope.arrived(leg.range())?)
        } else {
            return Ok(());
        };
        let begin = self.comm.now();
        (self.unpack)(peer, block);
        self.seconds += self.comm.now() - begin;
        Ok(())
    }
}

impl<S: Scope, T: Transport, F: FnMut(usize, &[f64])> Local<S> for Unpacking<'_, T, F> {
    #[inline]
    fn before_wait(&mut self, scope: &S) -> Result<(), TransportError> {
        // Nothing has come before the own block is in place: every arrival follows a wait.
        self.next(scope)
    }

    #[inline]
    fn arrived(&mut self, leg: &Leg) {
        self.come = Some(*leg);
    }
}
