//! What the interpreter of schedules costs over the same calls written by hand.
//!
//! ```text
//! cargo bench --bench interpreter
//! cargo bench --bench interpreter -- --count interpreter|by-hand CASE N
//! ```
//!
//! Messages go to a scope that moves nothing, so that only the code that makes the calls is timed.
//! Both kinds alternate in one run: A B B A. `--count` makes exactly N exchanges and prints
//! nothing, for tools that count instructions (`scripts/count_instructions.sh`).

use std::hint::black_box;
use std::io::{self, Write};
use std::ops::Range;
use std::process::ExitCode;
use std::time::Instant;

use pstswm::swap::call::Leg;
use pstswm::swap::method::Method;
use pstswm::swap::order::Order;
use pstswm::swap::protocol::Protocol;
use pstswm::swap::run::{Requests, execute};
use pstswm::swap::schedule::Schedule;
use pstswm::swap::step::{Kind, Role, Step};
use pstswm::transport::{Label, Request, Scope, SendMode, Tag, TransportError};

/// Messages of an exchange.
const MESSAGES: usize = 1024;
/// Elements of a message.
const LEN: usize = 256;
/// The other rank.
const PEER: usize = 1;
/// Exchanges of one timing.
const EXCHANGES: usize = 40;
/// Rounds A B B A; the first is not counted.
const ROUNDS: usize = 151;

type Outcome = Result<(), TransportError>;

/// Calls that do nothing but exist: each is a real call whose arguments are really made.
struct NullScope {
    calls: u32,
}

impl NullScope {
    fn made(&mut self, peer: usize, tag: Tag, range: &Range<usize>) -> Request {
        black_box((peer, tag, range));
        self.calls = self.calls.wrapping_add(1);
        Request {
            index: self.calls,
            serial: tag,
        }
    }
}

impl Scope for NullScope {
    #[inline(never)]
    fn send(&mut self, mode: SendMode, to: usize, tag: Tag, range: Range<usize>) -> Outcome {
        black_box(mode);
        self.made(to, tag, &range);
        Ok(())
    }

    #[inline(never)]
    fn isend(
        &mut self,
        mode: SendMode,
        to: usize,
        tag: Tag,
        range: Range<usize>,
    ) -> Result<Request, TransportError> {
        black_box(mode);
        Ok(self.made(to, tag, &range))
    }

    #[inline(never)]
    fn recv(
        &mut self,
        from: usize,
        tag: Tag,
        range: Range<usize>,
    ) -> Result<usize, TransportError> {
        self.made(from, tag, &range);
        Ok(black_box(LEN))
    }

    #[inline(never)]
    fn irecv(
        &mut self,
        from: usize,
        tag: Tag,
        range: Range<usize>,
    ) -> Result<Request, TransportError> {
        Ok(self.made(from, tag, &range))
    }

    #[inline(never)]
    fn wait(&mut self, request: Request) -> Result<usize, TransportError> {
        black_box(request);
        Ok(black_box(LEN))
    }

    #[inline(never)]
    fn test(&mut self, request: Request) -> Result<Option<usize>, TransportError> {
        self.wait(request).map(Some)
    }

    fn arrived(&self, _: Range<usize>) -> Result<&[f64], TransportError> {
        Ok(&[])
    }

    fn job_rank(&self, rank: Option<usize>) -> usize {
        rank.unwrap_or(0)
    }

    #[inline(never)]
    fn label(&mut self, label: &'static Label) {
        black_box(label);
    }

    #[inline(never)]
    fn sendrecv(
        &mut self,
        to: (usize, Tag, Range<usize>),
        from: (usize, Tag, Range<usize>),
    ) -> Result<usize, TransportError> {
        self.made(to.0, to.1, &to.2);
        self.made(from.0, from.1, &from.2);
        Ok(black_box(LEN))
    }

    #[inline(never)]
    fn signal(&mut self, to: usize, tag: Tag) -> Outcome {
        self.made(to, tag, &(0..0));
        Ok(())
    }

    #[inline(never)]
    fn await_signal(&mut self, from: usize, tag: Tag) -> Outcome {
        self.made(from, tag, &(0..0));
        Ok(())
    }
}

/// A way to swap messages, and the same written by hand, as the lower rank.
struct Case {
    name: &'static str,
    order: Order,
    protocol: &'static str,
    overlap: bool,
    by_hand: fn(&mut NullScope, &mut Hand) -> Outcome,
}

/// Requests of the sequences written by hand, allocated once as those of the interpreter.
#[derive(Default)]
struct Hand {
    receives: Vec<Request>,
    sends: Vec<Request>,
}

fn range(message: usize) -> Range<usize> {
    message * LEN..(message + 1) * LEN
}

const CASES: [Case; 7] = [
    Case {
        name: "blocking",
        order: Order::Ordered,
        protocol: "blocking",
        overlap: false,
        by_hand: |scope, _| {
            for i in 0..MESSAGES {
                scope.send(SendMode::Standard, PEER, i as Tag, range(i))?;
                scope.recv(PEER, i as Tag, range(i))?;
            }
            Ok(())
        },
    },
    Case {
        name: "nonblocking-recv",
        order: Order::Ordered,
        protocol: "nonblocking-recv",
        overlap: false,
        by_hand: |scope, _| {
            for i in 0..MESSAGES {
                let receive = scope.irecv(PEER, i as Tag, range(i))?;
                scope.send(SendMode::Standard, PEER, i as Tag, range(i))?;
                scope.wait(receive)?;
            }
            Ok(())
        },
    },
    Case {
        name: "nonblocking",
        order: Order::Simple,
        protocol: "nonblocking",
        overlap: false,
        by_hand: |scope, _| {
            for i in 0..MESSAGES {
                let receive = scope.irecv(PEER, i as Tag, range(i))?;
                let send = scope.isend(SendMode::Standard, PEER, i as Tag, range(i))?;
                scope.wait(receive)?;
                scope.wait(send)?;
            }
            Ok(())
        },
    },
    Case {
        name: "nonblocking-overlap",
        order: Order::Simple,
        protocol: "nonblocking",
        overlap: true,
        by_hand: |scope, hand| {
            hand.receives.clear();
            hand.sends.clear();
            for i in 0..MESSAGES {
                hand.receives.push(scope.irecv(PEER, i as Tag, range(i))?);
            }
            for i in 0..MESSAGES {
                let send = scope.isend(SendMode::Standard, PEER, i as Tag, range(i))?;
                hand.sends.push(send);
                scope.wait(hand.receives[i])?;
            }
            for send in &hand.sends {
                scope.wait(*send)?;
            }
            Ok(())
        },
    },
    Case {
        name: "ready",
        order: Order::Simple,
        protocol: "ready",
        overlap: false,
        by_hand: |scope, _| {
            for i in 0..MESSAGES {
                let receive = scope.irecv(PEER, i as Tag, range(i))?;
                scope.signal(PEER, i as Tag)?;
                scope.await_signal(PEER, i as Tag)?;
                scope.send(SendMode::Ready, PEER, i as Tag, range(i))?;
                scope.wait(receive)?;
            }
            Ok(())
        },
    },
    Case {
        name: "native",
        order: Order::Simple,
        protocol: "native",
        overlap: false,
        by_hand: |scope, _| {
            for i in 0..MESSAGES {
                let both = (PEER, i as Tag, range(i));
                scope.sendrecv(both.clone(), both)?;
            }
            Ok(())
        },
    },
    Case {
        name: "synchronous",
        order: Order::Simple,
        protocol: "synchronous",
        overlap: false,
        by_hand: |scope, _| {
            for i in 0..MESSAGES {
                let receive = scope.irecv(PEER, i as Tag, range(i))?;
                scope.send(SendMode::Synchronous, PEER, i as Tag, range(i))?;
                scope.wait(receive)?;
            }
            Ok(())
        },
    },
];

/// Both ways of one case, ready to run.
struct Pair {
    case: &'static Case,
    scope: NullScope,
    schedule: Schedule,
    requests: Requests,
    hand: Hand,
}

impl Pair {
    fn new(case: &'static Case) -> Result<Self, String> {
        let protocol = Protocol::from_name(case.protocol);
        let method = Method {
            order: case.order,
            protocol: protocol.ok_or_else(|| format!("no protocol {}", case.protocol))?,
            handshake: false,
            max_requests: 0,
            overlap: case.overlap,
        };
        let step = |message: usize| {
            let leg = Some(Leg {
                peer: PEER,
                tag: message as Tag,
                start: message * LEN,
                len: LEN,
            });
            Step {
                kind: Kind::Swap,
                role: Role::First,
                send: leg,
                recv: leg,
            }
        };
        let steps: Vec<Step> = (0..MESSAGES).map(step).collect();
        let schedule = Schedule::new(&method, &steps).map_err(|error| error.to_string())?;
        Ok(Self {
            case,
            scope: NullScope { calls: 0 },
            requests: Requests::for_schedule(&schedule),
            schedule,
            hand: Hand::default(),
        })
    }

    fn interpreter(&mut self, exchanges: usize) -> Outcome {
        for _ in 0..exchanges {
            let schedule = black_box(&self.schedule);
            execute(schedule, &mut self.scope, &mut self.requests)?;
        }
        Ok(())
    }

    fn by_hand(&mut self, exchanges: usize) -> Outcome {
        let by_hand = black_box(self.case.by_hand);
        for _ in 0..exchanges {
            by_hand(&mut self.scope, &mut self.hand)?;
        }
        Ok(())
    }

    /// Nanoseconds for each message, of the interpreter, by hand, and their difference, by round.
    fn timed(&mut self) -> Result<[Vec<f64>; 3], TransportError> {
        let nanoseconds = |begin: Instant| {
            begin.elapsed().as_secs_f64() * 1e9 / (2 * EXCHANGES * MESSAGES) as f64
        };
        let mut samples = [const { Vec::new() }; 3];
        for round in 0..ROUNDS {
            let begin = Instant::now();
            self.interpreter(EXCHANGES)?;
            let mut interpreter = nanoseconds(begin);
            let begin = Instant::now();
            self.by_hand(2 * EXCHANGES)?;
            let by_hand = nanoseconds(begin);
            let begin = Instant::now();
            self.interpreter(EXCHANGES)?;
            interpreter += nanoseconds(begin);
            if round > 0 {
                for (samples, sample) in
                    samples
                        .iter_mut()
                        .zip([interpreter, by_hand, interpreter - by_hand])
                {
                    samples.push(sample);
                }
            }
        }
        for samples in &mut samples {
            samples.sort_by(f64::total_cmp);
        }
        Ok(samples)
    }
}

/// Times every case and prints a line for each.
fn bench(out: &mut impl Write) -> Result<(), String> {
    let failed = |error: io::Error| error.to_string();
    writeln!(
        out,
        "ns for each of {MESSAGES} messages, on a scope that moves nothing: medians of {} rounds\n\
         case                 interpreter  by hand  difference  (quartiles of the difference)",
        ROUNDS - 1
    )
    .map_err(failed)?;
    for case in &CASES {
        let samples = Pair::new(case)?.timed().map_err(|e| e.to_string())?;
        let [interpreter, by_hand, _] = &samples;
        let quantile = |samples: &[f64], quarter: usize| samples[samples.len() * quarter / 4];
        writeln!(
            out,
            "{:<20} {:>11.2} {:>8.2} {:>11.2}  ({:.2} to {:.2})",
            case.name,
            quantile(interpreter, 2),
            quantile(by_hand, 2),
            quantile(&samples[2], 2),
            quantile(&samples[2], 1),
            quantile(&samples[2], 3)
        )
        .map_err(failed)?;
    }
    Ok(())
}

/// Makes so many exchanges in one way, and nothing else.
fn count(way: &str, name: &str, exchanges: &str) -> Result<(), String> {
    let names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
    let case = CASES.iter().find(|case| case.name == name);
    let case = case.ok_or_else(|| format!("no case {name:?}: there are {}", names.join(", ")))?;
    let exchanges: usize = exchanges
        .parse()
        .map_err(|_| format!("{exchanges:?} is no number of exchanges"))?;
    let mut pair = Pair::new(case)?;
    match way {
        "interpreter" => pair.interpreter(exchanges),
        "by-hand" => pair.by_hand(exchanges),
        _ => return Err(format!("{way:?} is neither interpreter nor by-hand")),
    }
    .map_err(|error| error.to_string())
}

fn main() -> ExitCode {
    // Cargo adds --bench.
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let result = match words[..] {
        [] => bench(&mut io::stdout().lock()),
        ["--cases"] => CASES
            .iter()
            .try_for_each(|case| writeln!(io::stdout(), "{}", case.name))
            .map_err(|error| error.to_string()),
        ["--count", way, name, exchanges] => count(way, name, exchanges),
        _ => Err("usage: [--cases | --count interpreter|by-hand CASE N]".to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _ = writeln!(io::stderr(), "interpreter: {message}");
            ExitCode::from(2)
        }
    }
}
