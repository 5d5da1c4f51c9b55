//! One transpose between the working arrays: packed and exchanged, or moved as it lies.

use super::buffers::Buffers;
use super::unpack::Unpack;
use crate::exchange::transpose::{Movement as Moved, Transpose};
use crate::measure::{Movement, Phases, Start};
use crate::transport::{Transport, TransportError};

/// Along which communicator, and how the cost is booked.
pub(super) struct Along<'a, T: Transport> {
    pub comm: &'a T,
    pub movement: Movement,
    pub phases: &'a mut Phases,
}

impl<T: Transport> Along<'_, T> {
    /// Towards the grid: the first `len` elements of the first array, through messages filled by
    /// `pack(layout, message)`; what arrives is in the first array, ready for use. Where lanes
    /// stay idle, `clear` zeroes them.
    pub(super) fn inverse(
        mut self,
        plan: &mut Transpose<T>,
        buffers: &mut Buffers,
        (len, clear): (usize, bool),
        pack: impl FnOnce(&mut [f64], &mut [f64]),
        start: Start,
    ) -> Result<Start, TransportError> {
        let (send_len, recv_len) = (plan.plan().send_len, plan.plan().recv_len);
        if plan.moves_apart() {
            return self.apart(plan, buffers, (len, recv_len), clear);
        }
        let Buffers { first, second, .. } = buffers;
        pack(&mut first[..len], &mut second[..send_len]);
        self.phases.stop(self.movement.pack(), start);
        self.exchange(plan, &second[..send_len], &mut first[..recv_len])
    }

    /// From the grid: the first array as it lies, to its first `len` elements, out of messages
    /// emptied by `unpack`: all of them, or block by block as they come.
    pub(super) fn forward(
        mut self,
        plan: &mut Transpose<T>,
        buffers: &mut Buffers,
        (len, clear): (usize, bool),
        unpack: impl Unpack,
    ) -> Result<Start, TransportError> {
        let (send_len, recv_len) = (plan.plan().send_len, plan.plan().recv_len);
        if plan.moves_apart() {
            return self.apart(plan, buffers, (send_len, recv_len), clear);
        }
        let Buffers {
            first,
            second,
            third,
        } = buffers;
        if plan.unpacks_on_arrival() {
            let (send, recv) = (&first[..send_len], &mut second[..recv_len]);
            let start = self.exchange_unpacking(plan, send, recv, &mut third[..len], &unpack)?;
            std::mem::swap(first, third);
            return Ok(start);
        }
        let start = self.exchange(plan, &first[..send_len], &mut second[..recv_len])?;
        unpack.all(&mut first[..len], &second[..recv_len]);
        Ok(self.phases.next(self.movement.unpack(), start))
    }

    /// The arrays change roles: what arrives in the second is then the first.
    fn apart(
        mut self,
        plan: &mut Transpose<T>,
        buffers: &mut Buffers,
        (send_len, recv_len): (usize, usize),
        clear: bool,
    ) -> Result<Start, TransportError> {
        let Buffers { first, second, .. } = buffers;
        let to = &mut second[..recv_len];
        if clear {
            to.fill(0.0);
        }
        let start = self.exchange(plan, &first[..send_len], to)?;
        std::mem::swap(first, second);
        Ok(start)
    }

    /// Executes a transpose and books its cost.
    pub(super) fn exchange(
        &mut self,
        plan: &mut Transpose<T>,
        send: &[f64],
        recv: &mut [f64],
    ) -> Result<Start, TransportError> {
        let mut cost = Moved::default();
        plan.execute(self.comm, send, recv, &mut cost)?;
        Ok(self.book(&cost))
    }

    /// The same, and puts every block in place in `layout` as it comes.
    pub(super) fn exchange_unpacking(
        &mut self,
        plan: &mut Transpose<T>,
        send: &[f64],
        recv: &mut [f64],
        layout: &mut [f64],
        unpack: &impl Unpack,
    ) -> Result<Start, TransportError> {
        let start = self.phases.start();
        unpack.before(layout);
        self.phases.stop(self.movement.unpack(), start);
        let mut cost = Moved::default();
        plan.execute_unpacking(self.comm, send, recv, &mut cost, |peer, block| {
            unpack.block(layout, peer, block);
        })?;
        self.phases.add(self.movement.unpack(), cost.unpacking);
        Ok(self.book(&cost))
    }

    fn book(&mut self, cost: &Moved) -> Start {
        let (movement, phases) = (self.movement, &mut *self.phases);
        if cost.wait > 0.0 {
            phases.add(movement.wait(), cost.wait);
        }
        phases.add(movement.movement(), cost.moving);
        phases.sent(movement.movement(), cost.bytes, cost.messages);
        phases.start()
    }
}
