//! Faults of communication, made on purpose: how each of them ends.
//!
//! ```text
//! cargo run --example faults -- deadlock              # two ranks as threads
//! cargo build --features mpi --example faults
//! mpirun -n 2 target/debug/examples/faults deadlock   # two MPI processes
//! ```
//!
//! | fault | what the ranks do |
//! |---|---|
//! | `deadlock` | both send 1 MiB before either receives |
//! | `mismatch` | rank 0 sends 3 elements where rank 1 expects 4 |
//! | `tags` | rank 0 sends with tag 1, rank 1 receives tag 2, and each waits for the other |
//! | `early-ready` | rank 0 sends in ready mode before rank 1 has posted its receive |
//! | `panic` | rank 1 panics while rank 0 waits for it |
//! | `killed` | rank 1 kills its process while rank 0 waits for it (MPI only) |

use std::process::ExitCode;

use pstswm::exchange::collective;
use pstswm::swap::call::Leg;
use pstswm::swap::method::Method;
use pstswm::swap::order::Order;
use pstswm::swap::protocol::Protocol;
use pstswm::swap::run::{Requests, execute};
use pstswm::swap::schedule::Schedule;
use pstswm::swap::step::{Kind, Role, Step};
use pstswm::transport::threads::{ThreadOptions, run};
use pstswm::transport::{Scope, SendMode, Transport, TransportError};

const FAULTS: [&str; 6] = [
    "deadlock",
    "mismatch",
    "tags",
    "early-ready",
    "panic",
    "killed",
];

fn main() -> ExitCode {
    let fault = std::env::args().nth(1).unwrap_or_default();
    if !FAULTS.contains(&fault.as_str()) {
        eprintln!("faults: name one of {}", FAULTS.join(", "));
        return ExitCode::from(2);
    }
    #[cfg(feature = "mpi")]
    if std::env::var_os("OMPI_COMM_WORLD_SIZE").is_some() || std::env::var_os("PMI_SIZE").is_some()
    {
        return on_mpi(&fault);
    }
    if fault == "killed" {
        eprintln!("faults: killed needs ranks that are processes: start it with mpirun -n 2");
        return ExitCode::from(2);
    }
    // What a rank's panic says comes with the failure of that rank.
    std::panic::set_hook(Box::new(|_| {}));
    let options = ThreadOptions {
        watchdog_seconds: 5.0,
        ..ThreadOptions::default()
    };
    match run(2, options, |comm| make(&comm, &fault)) {
        Ok(_) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("faults: {failure}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(feature = "mpi")]
fn on_mpi(fault: &str) -> ExitCode {
    use pstswm::transport::mpi::{MpiJob, abort_job};
    let Some(job) = MpiJob::start() else {
        return ExitCode::FAILURE;
    };
    job.watch(5.0);
    std::panic::set_hook(Box::new(|panic| {
        eprintln!("faults: {panic}");
        abort_job(1);
    }));
    match job.world().and_then(|comm| make(&comm, fault)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("faults: {error}");
            abort_job(1);
            ExitCode::FAILURE
        }
    }
}

/// Makes a fault between ranks 0 and 1.
fn make<T: Transport>(comm: &T, fault: &str) -> Result<(), TransportError> {
    let me = comm.rank();
    let data = vec![1.5; 1 << 17];
    let mut room = vec![0.0; 1 << 17];
    let first = me == 0;
    collective::barrier(comm)?;
    match fault {
        "deadlock" => swap(comm, Order::Simple, 0, data.len(), &data, &mut room),
        "mismatch" => swap(
            comm,
            Order::Ordered,
            2,
            if first { 3 } else { 4 },
            &data,
            &mut room,
        ),
        "tags" => comm.over(&data, &mut room, |scope| {
            let tag = if first { 1 } else { 2 };
            let receive = scope.irecv(1 - me, tag, 0..1)?;
            scope.send(SendMode::Synchronous, 1 - me, tag, 0..1)?;
            scope.wait(receive).map(|_| ())
        }),
        "early-ready" if first => comm.over(&data, &mut [], |scope| {
            scope.send(SendMode::Ready, 1, 1, 0..4)?;
            scope.signal(1, 1)
        }),
        "early-ready" => comm.over(&[], &mut room, |scope| {
            // The signal comes after the message: the receive is posted late for sure.
            scope.await_signal(0, 1)?;
            scope.recv(0, 1, 0..4).map(|_| ())
        }),
        "panic" if !first => panic!("on purpose"),
        "killed" if !first => {
            let own = std::process::id().to_string();
            let _ = std::process::Command::new("kill")
                .args(["-9", &own])
                .status();
            Ok(())
        }
        _ => comm.over(&[], &mut room, |scope| scope.recv(1, 1, 0..1).map(|_| ())),
    }
}

/// A swap of `len` elements, legal or not.
fn swap<T: Transport>(
    comm: &T,
    order: Order,
    protocol: i64,
    len: usize,
    data: &[f64],
    room: &mut [f64],
) -> Result<(), TransportError> {
    let method = Method {
        order,
        protocol: Protocol::from_number(protocol).unwrap_or(Protocol::NONBLOCKING_RECV),
        handshake: false,
        max_requests: 0,
        overlap: false,
    };
    let leg = Some(Leg {
        peer: 1 - comm.rank(),
        tag: 1,
        start: 0,
        len,
    });
    let step = Step {
        kind: Kind::Swap,
        role: if comm.rank() == 0 {
            Role::First
        } else {
            Role::Second
        },
        send: leg,
        recv: leg,
    };
    let schedule = Schedule::unchecked(&method, &[step]);
    let mut requests = Requests::for_schedule(&schedule);
    comm.over(data, room, |scope| execute(&schedule, scope, &mut requests))
}
