//! Starting the ranks, and what comes back.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::thread::Builder;

use thiserror::Error;

use super::world::{Group, World};
use super::{ThreadOptions, ThreadTransport};

/// The first rank that failed, and why.
#[derive(Debug, Error)]
pub enum RankFailure<E> {
    /// Its body returned an error.
    #[error("{error}")]
    Error {
        /// The rank.
        rank: usize,
        /// Its error.
        error: E,
    },
    /// Its body panicked.
    #[error("rank {rank} panicked: {message}")]
    Panic {
        /// The rank.
        rank: usize,
        /// The panic's message.
        message: String,
    },
    /// Its thread could not be started.
    #[error("rank {rank}: no thread could be started: {reason}")]
    Start {
        /// The rank.
        rank: usize,
        /// The system's reason.
        reason: String,
    },
}

impl<E> RankFailure<E> {
    /// The rank.
    pub fn rank(&self) -> usize {
        match self {
            Self::Error { rank, .. } | Self::Panic { rank, .. } | Self::Start { rank, .. } => *rank,
        }
    }
}

/// Runs `body` as `ranks` threads; returns what each returned, in the order of ranks.
///
/// When one fails, every wait of the others ends with `Aborted` and the first failure is returned.
///
/// # Errors
/// The first rank that returned an error or panicked, or a thread that could not be started.
pub fn run<T, E>(
    ranks: usize,
    options: ThreadOptions,
    body: impl Fn(ThreadTransport) -> Result<T, E> + Sync,
) -> Result<Vec<T>, RankFailure<E>>
where
    T: Send,
    E: Send,
{
    let world = Arc::new(World::new(ranks, options));
    let group = Arc::new(Group::new((0..ranks).collect()));
    let one = |rank: usize| -> Result<T, (bool, RankFailure<E>)> {
        world.enter(rank);
        let (world, group) = (Arc::clone(&world), Arc::clone(&group));
        let local = Rc::new(RefCell::default());
        let transport = ThreadTransport::new(Arc::clone(&world), group, rank, local);
        let failure = match catch_unwind(AssertUnwindSafe(|| body(transport))) {
            Ok(Ok(result)) => {
                world.end(rank);
                return Ok(result);
            }
            Ok(Err(error)) => RankFailure::Error { rank, error },
            Err(panic) => RankFailure::Panic {
                rank,
                message: message(panic.as_ref()),
            },
        };
        Err((world.fail(rank), failure))
    };
    let ends = std::thread::scope(|scope| {
        let one = &one;
        let mut handles = Vec::with_capacity(ranks);
        for rank in 0..ranks {
            let thread = Builder::new()
                .name(format!("rank {rank}"))
                .stack_size(options.stack_bytes);
            match thread.spawn_scoped(scope, move || one(rank)) {
                Ok(handle) => handles.push(Ok(handle)),
                Err(error) => {
                    let reason = error.to_string();
                    let first = world.fail(rank);
                    handles.push(Err((first, RankFailure::Start { rank, reason })));
                    break;
                }
            }
        }
        let end = |(rank, handle): (usize, Result<_, _>)| match handle {
            Ok(handle) => join(rank, handle),
            Err(failure) => Err(failure),
        };
        handles.into_iter().enumerate().map(end).collect::<Vec<_>>()
    });
    let mut results = Vec::with_capacity(ranks);
    let mut failure = None;
    for end in ends {
        match end {
            Ok(result) => results.push(result),
            Err((first, error)) if first || failure.is_none() => failure = Some(error),
            Err(_) => {}
        }
    }
    failure.map_or(Ok(results), Err)
}

/// What a rank's thread came to; its own panics are caught inside it.
fn join<T, E>(
    rank: usize,
    handle: std::thread::ScopedJoinHandle<'_, Result<T, (bool, RankFailure<E>)>>,
) -> Result<T, (bool, RankFailure<E>)> {
    handle.join().unwrap_or_else(|panic| {
        let message = message(panic.as_ref());
        Err((false, RankFailure::Panic { rank, message }))
    })
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let owned = || panic.downcast_ref::<String>().cloned();
    text.map(str::to_owned)
        .or_else(owned)
        .unwrap_or_else(|| "no message".to_owned())
}
