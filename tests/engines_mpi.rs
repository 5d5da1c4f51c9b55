//! Every engine over MPI moves the right elements, and every vector sum has the documented bits: the
//! program launches itself as ranks.
//!
//! Built with `--features mpi` only; without a harness, because the ranks are started from here.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

#[path = "common/relaunch.rs"]
mod relaunch;
#[path = "common/sums.rs"]
mod sums;

use pstswm::exchange::sum::{SumAlgorithm, SumChoice};
use pstswm::exchange::{Movement, SumPlan, VectorSum, collective};
use pstswm::transport::mpi::{MpiJob, MpiTransport, library};
use pstswm::transport::{Block, EngineKind, Exchange, Pattern, Transport, TransportError};

fn main() {
    if let Some(part) = relaunch::part() {
        rank(&part);
        return;
    }
    // MPICH's waits never yield: with more ranks than cores it takes minutes.
    let most = if library().starts_with("Open MPI") {
        4
    } else {
        2
    };
    let engines = || {
        for ranks in 1..=most {
            let ended = relaunch::launch("engines", ranks);
            let marker = format!("engines complete: {ranks} ranks");
            if ended.code != Some(0) || ended.stdout.matches(&marker).count() != 1 {
                return Err(ended.all());
            }
            if ended.stderr.contains("leaked") {
                return Err(ended.all());
            }
            println!("{}", ended.stdout.trim());
        }
        Ok(())
    };
    // Open MPI 4 mixes windows of parts of the ranks, unless told to do without that component.
    let parts = || {
        let ended = relaunch::launch_with("parts", most, &[(OSC, "^rdma")]);
        if ended.code == Some(0) && ended.stdout.contains("parts complete") {
            return Ok(());
        }
        Err(ended.all())
    };
    let refusals = || {
        let ended = relaunch::launch("refusals", 2);
        if ended.code == Some(0) && ended.stdout.contains("refusals complete") {
            return Ok(());
        }
        Err(ended.all())
    };
    let sums = || {
        for ranks in 1..=most {
            let ended = relaunch::launch("sums", ranks);
            let marker = format!("sums complete: {ranks} ranks");
            if ended.code != Some(0) || ended.stdout.matches(&marker).count() != 1 {
                return Err(ended.all());
            }
            println!("{}", ended.stdout.trim());
        }
        Ok(())
    };
    relaunch::run(&[
        ("every_engine_moves_the_right_elements", &engines),
        ("every_engine_works_on_parts_of_the_ranks", &parts),
        ("what_ranks_do_not_agree_upon_is_refused", &refusals),
        ("every_vector_sum_has_the_documented_bits", &sums),
    ]);
}

fn rank(part: &str) {
    let job = MpiJob::start().unwrap();
    let comm = job.world().unwrap();
    job.watch(30.0);
    if part == "refusals" {
        refusals(&comm);
        if comm.rank() == 0 {
            println!("refusals complete");
        }
        return;
    }
    let root = comm.rank() == 0;
    if part == "sums" {
        vector_sums(&comm);
        let disagreements = nan_sums(&comm);
        if root {
            println!("native sums that differed: {disagreements}");
            println!("sums complete: {} ranks", comm.size());
        }
        return;
    }
    if part == "parts" {
        let there = |kind: &EngineKind| MpiTransport::lacks(*kind).is_none();
        for kind in EngineKind::ALL.into_iter().filter(there) {
            // A half of two ranks is one rank, which sends itself nothing.
            assert!(halves(&comm, kind) > 0 || comm.size() == 2);
        }
        if root {
            println!("parts complete");
        }
        return;
    }
    for kind in EngineKind::ALL {
        if let Some(reason) = MpiTransport::lacks(kind) {
            if root {
                println!("{}: lacks: {reason}", kind.name());
            }
            continue;
        }
        let mut moved = 0;
        for shape in SHAPES {
            for messages in [1, 4] {
                for together in [false, true] {
                    moved += exchange(&comm, kind, *shape, messages, together);
                }
            }
        }
        if kind == EngineKind::Alltoallw {
            moved += apart(&comm);
        }
        let parts = halves(&comm, kind);
        if root {
            println!("{}: {} elements right", kind.name(), moved + parts);
        }
    }
    if root {
        println!("engines complete: {} ranks", comm.size());
    }
}

/// What tells Open MPI which components may make windows.
const OSC: &str = "OMPI_MCA_osc";

/// On a part of the ranks, which are others than those of the job.
fn halves(comm: &MpiTransport, kind: EngineKind) -> usize {
    let color = comm.rank() % 2;
    let half = comm.split(color, comm.size() - comm.rank()).unwrap();
    let puts = matches!(kind, EngineKind::PutFence | EngineKind::PutPscw);
    let mixes = library().starts_with("Open MPI v4") && std::env::var(OSC).is_err();
    if puts && mixes && (2..comm.size()).contains(&half.size()) {
        let nothing = Pattern {
            send: Vec::new(),
            recv: Vec::new(),
            messages: 1,
            together: false,
        };
        let error = half.engine(kind, &nothing).err().unwrap();
        let told = matches!(&error, TransportError::NoEngine { reason, .. }
            if reason.contains("--mca osc ^rdma"));
        assert!(told, "{error}");
        return 0;
    }
    exchange(&half, kind, Shape::Uneven, 4, true)
}

/// How many elements, times the number of messages, go from one rank to another.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Even,
    Uneven,
    /// Only from ranks to those just above them, not to themselves.
    Sparse,
    /// Nothing at all.
    Nothing,
    Large,
    /// Only from the last rank to the first.
    OneWay,
}

const SHAPES: &[Shape] = &[
    Shape::Even,
    Shape::Uneven,
    Shape::Sparse,
    Shape::Nothing,
    Shape::Large,
    Shape::OneWay,
];

impl Shape {
    fn len(self, from: usize, to: usize, size: usize) -> usize {
        match self {
            Self::Even => 3,
            Self::Uneven => (from * 5 + to * 3) % 7,
            Self::Sparse if to == (from + 1) % size && to != from => 11,
            Self::OneWay if from == size - 1 && to == 0 && size > 1 => 9,
            Self::Large => 20_000 + 17 * from + to,
            Self::Nothing | Self::Sparse | Self::OneWay => 0,
        }
    }
}

/// The `index`th element that a rank sends another.
fn element(round: usize, from: usize, to: usize, index: usize) -> f64 {
    1.0 + (((round * 16 + from) * 16 + to) * 1_000_000 + index) as f64
}

const POISON: f64 = -7.5;

/// Moves twice over the same buffers, then over others; checks every element.
fn exchange(
    comm: &MpiTransport,
    kind: EngineKind,
    shape: Shape,
    messages: usize,
    together: bool,
) -> usize {
    let (rank, size) = (comm.rank(), comm.size());
    // Gaps between blocks, of other sizes on the two sides, must stay as they are.
    let blocks = |of: &dyn Fn(usize) -> usize, gap: usize| {
        let mut at = gap;
        let mut blocks = Vec::new();
        for peer in 0..size {
            let len = of(peer) * messages;
            if len > 0 {
                blocks.push(Block::contiguous(peer, at..at + len));
            }
            at += len + gap;
        }
        (blocks, at)
    };
    let (send, send_len) = blocks(&|to| shape.len(rank, to, size), 1);
    let (recv, recv_len) = blocks(&|from| shape.len(from, rank, size), 2);
    let pattern = Pattern {
        send,
        recv,
        messages,
        together,
    };
    let mut engine = comm.engine(kind, &pattern).unwrap();
    let mut moved = 0;
    let mut others = (vec![0.0; send_len], vec![0.0; recv_len]);
    let mut buffers = (vec![0.0; send_len], vec![0.0; recv_len]);
    for round in 0..5 {
        if round == 3 {
            std::mem::swap(&mut buffers, &mut others);
        }
        let (send, recv) = &mut buffers;
        send.fill(POISON);
        recv.fill(POISON);
        fill(&pattern, rank, round, send);
        engine.execute(send, recv).unwrap();
        moved += check(&pattern, rank, round, recv, &|| {
            format!("{} {shape:?} {messages} {together}", kind.name())
        });
    }
    moved
}

fn fill(pattern: &Pattern, rank: usize, round: usize, send: &mut [f64]) {
    for block in &pattern.send {
        for (index, at) in block.runs.iter().cloned().flatten().enumerate() {
            send[at] = element(round, rank, block.peer, index);
        }
    }
}

fn check(
    pattern: &Pattern,
    rank: usize,
    round: usize,
    recv: &[f64],
    what: &dyn Fn() -> String,
) -> usize {
    let mut expected = vec![POISON; recv.len()];
    let mut elements = 0;
    for block in &pattern.recv {
        for (index, at) in block.runs.iter().cloned().flatten().enumerate() {
            expected[at] = element(round, block.peer, rank, index);
            elements += 1;
        }
    }
    if let Some(at) = (0..recv.len()).find(|&at| recv[at] != expected[at]) {
        eprintln!(
            "{}: rank {rank}, round {round}, element {at}: {} instead of {}",
            what(),
            recv[at],
            expected[at]
        );
        pstswm::transport::mpi::abort_job(1);
    }
    elements
}

/// Columns of a matrix to rows, and runs without any order: no packing.
fn apart(comm: &MpiTransport) -> usize {
    let (rank, size) = (comm.rank(), comm.size());
    let (rows, width) = (5, 3);
    let regular = |peer: usize| {
        let column = move |row| row * width * size + peer * width;
        (0..rows)
            .map(move |row| column(row)..column(row) + width)
            .collect()
    };
    // The rows in another order, and cut elsewhere.
    let scattered = |peer: usize| {
        let start = peer * rows * width;
        vec![
            start + 7..start + 15,
            start..start + 5,
            start + 5..start + 7,
        ]
    };
    let blocks = |of: &dyn Fn(usize) -> Vec<std::ops::Range<usize>>| -> Vec<Block> {
        (0..size)
            .map(|peer| Block {
                peer,
                runs: of(peer),
            })
            .collect()
    };
    let mut moved = 0;
    for (send, recv) in [
        (blocks(&regular), blocks(&scattered)),
        (blocks(&scattered), blocks(&regular)),
    ] {
        let pattern = Pattern {
            send,
            recv,
            messages: 1,
            together: false,
        };
        let mut engine = comm.engine(EngineKind::Alltoallw, &pattern).unwrap();
        for round in 0..2 {
            let len = rows * width * size;
            let (mut send, mut recv) = (vec![POISON; len], vec![POISON; len]);
            fill(&pattern, rank, round, &mut send);
            engine.execute(&send, &mut recv).unwrap();
            moved += check(&pattern, rank, round, &recv, &|| {
                "alltoallw, apart".to_owned()
            });
        }
    }
    moved
}

/// Every rank gets an error, none waits, and the communicator can be used afterwards.
fn refusals(comm: &MpiTransport) {
    let (rank, other) = (comm.rank(), 1 - comm.rank());
    let pattern = |send: usize, recv: usize| Pattern {
        send: vec![Block::contiguous(other, 0..send)],
        recv: vec![Block::contiguous(other, 0..recv)],
        messages: 1,
        together: false,
    };
    // One sends 4, the other expects 5.
    let lengths = [pattern(4, 4), pattern(4, 5)];
    for kind in [EngineKind::Alltoallv, EngineKind::PutFence] {
        let error = comm.engine(kind, &lengths[rank]).err().unwrap();
        let short = TransportError::Short {
            rank: 1,
            from: 0,
            tag: 0,
            message: 4,
            expected: 5,
        };
        assert_eq!(error, short);
        // An odd number of messages on one rank.
        let mut odd = pattern(4, 4);
        odd.messages = 1 + rank;
        assert!(
            comm.engine(kind, &odd)
                .err()
                .unwrap()
                .to_string()
                .contains("messages")
        );
        // A block in two runs on one rank.
        let mut cut = pattern(4, 4);
        if rank == 1 {
            cut.send[0].runs = vec![0..2, 5..7];
        }
        let error = comm.engine(kind, &cut).err().unwrap().to_string();
        assert!(
            error.contains("rank 1 has blocks") && error.contains("alltoallw"),
            "{error}"
        );
        // A rank that does not exist, on one rank.
        let mut nobody = pattern(4, 4);
        if rank == 0 {
            nobody.send[0].peer = 7;
        }
        let error = comm.engine(kind, &nobody).err().unwrap();
        match rank {
            0 => assert!(matches!(
                error,
                TransportError::NoSuchRank { partner: 7, .. }
            )),
            _ => assert_eq!(error, TransportError::Aborted { rank: 1, failed: 0 }),
        }
        let mut engine = comm.engine(kind, &pattern(4, 4)).unwrap();
        let error = engine.execute(&[1.0; 3], &mut [0.0; 4]).unwrap_err();
        assert!(matches!(
            error,
            TransportError::OutOfRange { buffer: "send", .. }
        ));
        let mut recv = [0.0; 4];
        engine.execute(&[1.5; 4], &mut recv).unwrap();
        assert_eq!(recv, [1.5; 4]);
    }
}

/// Sums by every method. The library's order of additions is its own: of a native sum the integers
/// must be right, and the rest the same on every rank.
fn vector_sums(comm: &MpiTransport) {
    let (rank, size) = (comm.rank(), comm.size());
    for shape in sums::SHAPES {
        let segments = sums::segments(size, shape);
        let exact = sums::exact(size, &segments);
        let rounded = SumAlgorithm::ALL.map(|algorithm| sums::serial(algorithm, size, &segments));
        for choice in sums::choices() {
            let plan = SumPlan::new(rank, size, &segments, &choice).unwrap();
            let mut sum = VectorSum::new(comm, plan).unwrap();
            let mut movement = Movement::default();
            let mut total = |value| sums::add_up(comm, &mut sum, value, &mut movement).unwrap();
            let integers = total(sums::integer as fn(usize, usize) -> f64);
            assert_eq!(integers, exact, "{choice}, rank {rank} of {size}");
            let fractions = total(sums::fraction);
            if choice.algorithm == SumAlgorithm::Native {
                assert_same(comm, &fractions);
                continue;
            }
            let documented = &rounded[choice.algorithm as usize];
            assert_eq!(
                sums::bits(&fractions),
                sums::bits(documented),
                "{choice}, rank {rank} of {size}"
            );
        }
    }
}

/// Native sums of NaNs, whose payload tells the rank: a library that adds in another order on each
/// rank gives each another one, unless it is noticed. How often it was.
fn nan_sums(comm: &MpiTransport) -> u64 {
    let (rank, size) = (comm.rank(), comm.size());
    let choice = SumChoice {
        algorithm: SumAlgorithm::Native,
        ..SumChoice::default()
    };
    let mut disagreements = 0;
    for len in [1, 40, 5000] {
        let plan = SumPlan::new(rank, size, &vec![len; size], &choice).unwrap();
        let mut sum = VectorSum::new(comm, plan).unwrap();
        let nan = |rank: usize, _| f64::from_bits(f64::NAN.to_bits() | (rank as u64 + 1));
        let total = sums::add_up(comm, &mut sum, nan, &mut Movement::default()).unwrap();
        assert!(total.iter().all(|value| value.is_nan()));
        assert_same(comm, &total);
        disagreements += sum.disagreements();
    }
    disagreements
}

/// All ranks have the bits of rank 0.
fn assert_same(comm: &MpiTransport, values: &[f64]) {
    let mut root = values.to_vec();
    collective::broadcast(comm, 0, &mut root).unwrap();
    assert_eq!(
        sums::bits(values),
        sums::bits(&root),
        "rank {}",
        comm.rank()
    );
}
