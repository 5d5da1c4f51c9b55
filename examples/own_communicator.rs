//! A transpose on a communicator of your own: each half of the ranks does its own.
//!
//! `mpiexec -n 4 target/debug/examples/own_communicator`
//! (built by `cargo build --features mpi --example own_communicator`).

use std::error::Error;
use std::io::Write;

use mpi::topology::{Color, Communicator};
use pstswm::exchange::choice::ExchangeChoice;
use pstswm::exchange::{Movement, Plan, Transpose};
use pstswm::transport::Transport;
use pstswm::transport::mpi::MpiTransport;

/// Elements that rank `from` of a half has for rank `to`.
fn count(from: usize, to: usize) -> usize {
    1 + from + 2 * to
}

fn main() -> Result<(), Box<dyn Error>> {
    let universe = mpi::initialize().ok_or("MPI was started before")?;
    let world = universe.world();
    let half = world.rank() % 2;
    let part = world
        .split_by_color(Color::with_value(half))
        .ok_or("no communicator")?;

    let comm = MpiTransport::over_communicator(&part)?;
    let (rank, size) = (comm.rank(), comm.size());
    let sends: Vec<usize> = (0..size).map(|to| count(rank, to)).collect();
    let receives: Vec<usize> = (0..size).map(|from| count(from, rank)).collect();
    let plan = Plan::new(rank, size, count, &ExchangeChoice::default())?;
    let mut transpose = Transpose::new(&comm, plan)?;

    let element = |from: usize, to: usize| f64::from(half) * 1e4 + (from * 100 + to) as f64;
    let blocks = |counts: &[usize], value: &dyn Fn(usize) -> f64| -> Vec<f64> {
        let block = |(peer, &count): (usize, &usize)| vec![value(peer); count];
        counts.iter().enumerate().flat_map(block).collect()
    };
    let send = blocks(&sends, &|to| element(rank, to));
    let mut recv = vec![f64::NAN; transpose.plan().recv_len];
    transpose.execute(&comm, &send, &mut recv, &mut Movement::default())?;

    if recv != blocks(&receives, &|from| element(from, rank)) {
        return Err(format!("half {half}, rank {rank}: wrong elements").into());
    }
    writeln!(
        std::io::stdout(),
        "half {half}, rank {rank} of {size}: {} elements right",
        recv.len()
    )?;
    Ok(())
}
