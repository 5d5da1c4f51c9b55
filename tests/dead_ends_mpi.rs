//! What cannot go on under MPI ends within seconds, and says why: the program launches itself as
//! ranks.
//!
//! Built with `--features mpi` only; without a harness, because the ranks are started from here.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

#[path = "common/relaunch.rs"]
mod relaunch;

use std::sync::LazyLock;
use std::time::Duration;

use pstswm::transport::mpi::{MpiJob, MpiTransport, abort_job};
use pstswm::transport::{Block, EngineKind, Exchange, Label, Pattern};
use pstswm::transport::{Scope, SendMode, Transport};

/// Seconds of the watchdog.
const LIMIT: f64 = 1.0;

fn main() {
    if let Some(part) = relaunch::part() {
        rank(&part);
        return;
    }
    let buffering = || {
        let said = |rank: usize| {
            format!(
                "pstswm: rank {rank}: waited 1 s in MPI_Send for rank {} (simple/blocking, step 5, \
                 8388608 bytes): does the exchange rely on buffering",
                1 - rank
            )
        };
        ends("buffering", &[&said(0), &said(1)])
    };
    let mismatch = || {
        let said = "pstswm: rank 1: waited 1 s in MPI_Recv for rank 0 (ordered/blocking, step 8, \
                    32 bytes)";
        ends("mismatch", &[said])
    };
    let split = || {
        // Ranks are those of the job, also where a communicator numbers them the other way round.
        let said = "pstswm: rank 0: waited 1 s in MPI_Wait (receive) for rank 1 (tag 3, 8 bytes)";
        ends("split", &[said])
    };
    let engine = || {
        let said = "pstswm: rank 0: waited 1 s in MPI_Alltoallv (engine alltoallv, 32 bytes)";
        ends("engine", &[said])
    };
    let truncated = || ends("truncated", &["pstswm: rank 1: ", "only room for 4"]);
    let killed = || ends("killed", &[]);
    let patient = || {
        let ended = relaunch::launch("patient", 2);
        if ended.code == Some(0) && ended.stdout.contains("patient complete") {
            return Ok(());
        }
        Err(ended.all())
    };
    relaunch::run(&[
        ("an_exchange_that_relies_on_buffering", &buffering),
        ("tags_that_differ", &mismatch),
        ("a_communicator_of_another_order", &split),
        ("an_engine_that_one_rank_leaves_out", &engine),
        ("a_message_too_long_with_others_under_way", &truncated),
        ("a_killed_rank", &killed),
        ("waits_within_the_limit_are_no_dead_end", &patient),
    ]);
}

/// Ends by itself, with a code that is not 0, within seconds, and says this.
fn ends(part: &str, said: &[&str]) -> Result<(), String> {
    let ended = relaunch::launch(part, 2);
    let silent = said.iter().find(|said| !ended.stderr.contains(**said));
    let in_time = ended.took < Duration::from_secs(30);
    let failed = !matches!(ended.code, Some(0 | 124 | 137) | None) || part == "killed";
    if failed && ended.code != Some(0) && in_time && silent.is_none() {
        return Ok(());
    }
    Err(format!("expected {silent:?} from\n{}", ended.all()))
}

fn rank(part: &str) {
    let job = MpiJob::start().unwrap();
    let comm = job.world().unwrap();
    if part != "killed" {
        job.watch(LIMIT);
    }
    match part {
        "buffering" => buffering(&comm),
        "mismatch" => mismatch(&comm),
        "split" => split(&comm),
        "engine" => engine(&comm),
        "truncated" => truncated(&comm),
        "killed" => killed(&comm),
        _ => patient(&comm),
    }
    if part != "patient" {
        println!("rank {} came through", comm.rank());
    }
}

fn buffering(comm: &MpiTransport) {
    static LABEL: LazyLock<Label> = LazyLock::new(|| Label("simple/blocking".to_owned()));
    let (other, len) = (1 - comm.rank(), 1 << 20);
    let (send, mut recv) = (vec![1.5; len], vec![0.5; len]);
    let result = comm.over(&send, &mut recv, |scope| {
        scope.label(&LABEL);
        scope.send(SendMode::Standard, other, 5, 0..len)?;
        scope.recv(other, 5, 0..len)
    });
    result.unwrap();
}

fn mismatch(comm: &MpiTransport) {
    static LABEL: LazyLock<Label> = LazyLock::new(|| Label("ordered/blocking".to_owned()));
    let rank = comm.rank();
    let result = comm.over(&[1.5; 4], &mut [0.5; 4], |scope| {
        scope.label(&LABEL);
        match rank {
            0 => scope.send(SendMode::Standard, 1, 7, 0..4),
            _ => scope.recv(0, 8, 0..4).map(|_| ()),
        }
    });
    result.unwrap();
}

fn split(comm: &MpiTransport) {
    let reversed = comm.split(0, comm.size() - comm.rank()).unwrap();
    if comm.rank() == 0 {
        let result = reversed.over(&[], &mut [0.5], |scope| {
            let request = scope.irecv(0, 3, 0..1)?;
            scope.wait(request)
        });
        result.unwrap();
    }
}

fn engine(comm: &MpiTransport) {
    let block = || vec![Block::contiguous(1 - comm.rank(), 0..4)];
    let pattern = Pattern {
        send: block(),
        recv: block(),
        messages: 1,
        together: false,
    };
    let mut engine = comm.engine(EngineKind::Alltoallv, &pattern).unwrap();
    if comm.rank() == 0 {
        engine.execute(&[1.5; 4], &mut [0.5; 4]).unwrap();
    }
    std::mem::forget(engine);
}

fn truncated(comm: &MpiTransport) {
    let rank = comm.rank();
    let result = comm.over(&[1.5; 8], &mut [0.5; 8], |scope| match rank {
        0 => scope.send(SendMode::Standard, 1, 1, 0..8),
        _ => {
            // Under way when the error comes, so that the buffer must not be given back.
            scope.irecv(0, 2, 4..8)?;
            scope.recv(0, 1, 0..4).map(|_| ())
        }
    });
    if rank == 1 {
        eprintln!("came back: {result:?}");
    }
}

/// Rank 1 kills itself; rank 0 would wait for ever.
fn killed(comm: &MpiTransport) {
    if comm.rank() == 1 {
        let own = std::process::id().to_string();
        let _ = std::process::Command::new("kill")
            .args(["-9", &own])
            .status();
        std::thread::sleep(Duration::from_secs(60));
    }
    let _ = comm.over(&[], &mut [0.5], |scope| scope.recv(1, 0, 0..1));
    abort_job(9);
}

/// Waits of more than half the limit, more of them than the limit is long.
fn patient(comm: &MpiTransport) {
    let (rank, other) = (comm.rank(), 1 - comm.rank());
    for round in 0..4 {
        if rank == round % 2 {
            std::thread::sleep(Duration::from_secs_f64(0.6 * LIMIT));
        }
        let result = comm.over(&[1.5], &mut [0.5], |scope| {
            scope.sendrecv((other, 1, 0..1), (other, 1, 0..1))
        });
        assert_eq!(result, Ok(1));
    }
    // No wait at all is none, however long.
    std::thread::sleep(Duration::from_secs_f64(2.0 * LIMIT));
    if rank == 0 {
        println!("patient complete");
    }
}
