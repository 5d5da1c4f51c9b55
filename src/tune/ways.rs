//! Ways: how the data of one stage move.

use crate::exchange::choice::{ExchangeChoice, SwapChoice, TransposeAlgorithm};
use crate::exchange::sum::{SumAlgorithm, SumChoice};
use crate::measure::Movement;
use crate::pencil::choice::AlgorithmChoice;
use crate::swap::method::Method;
use crate::swap::order::Order;
use crate::swap::protocol::Protocol;
use crate::transport::EngineKind;

/// How one stage moves its data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    /// A transpose.
    Transpose(ExchangeChoice),
    /// The butterflies of a distributed FFT.
    Butterfly(SwapChoice),
    /// The vector sum of a distributed Legendre transform.
    Sum(SumChoice),
}

/// What ways there may be.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// Orders.
    pub orders: Vec<Order>,
    /// Protocols.
    pub protocols: Vec<Protocol>,
    /// Transposes made of messages between pairs of ranks.
    pub transposes: Vec<TransposeAlgorithm>,
    /// What moves a transpose; `None`: messages between pairs of ranks.
    pub engines: Vec<Option<EngineKind>>,
    /// Vector sums.
    pub sums: Vec<SumAlgorithm>,
    /// With overlap, without, or both.
    pub overlaps: Vec<bool>,
}

impl Wanted {
    fn methods(&self) -> Vec<Method> {
        let mut methods = Vec::new();
        for &order in &self.orders {
            for &protocol in self.protocols.iter().filter(|p| p.legal_with(order)) {
                for &overlap in &self.overlaps {
                    let row = protocol.row();
                    if !overlap || row.early_receive || row.immediate_send {
                        methods.push(Method {
                            order,
                            protocol,
                            handshake: false,
                            max_requests: 0,
                            overlap,
                        });
                    }
                }
            }
        }
        methods
    }
}

impl Way {
    /// The way of a stage in a choice.
    pub fn of(stage: Movement, choice: &AlgorithmChoice) -> Self {
        match stage {
            Movement::FftTranspose | Movement::Gather => Self::Transpose(choice.fft_transpose),
            Movement::FftButterfly => Self::Butterfly(choice.fft_butterfly),
            Movement::LegendreTranspose => Self::Transpose(choice.legendre_transpose),
            Movement::LegendreSum => Self::Sum(choice.legendre_sum),
        }
    }

    /// Puts it into a choice. A way that is not of the stage's kind changes nothing.
    pub fn put(self, stage: Movement, choice: &mut AlgorithmChoice) {
        match (stage, self) {
            (Movement::FftTranspose, Self::Transpose(way)) => choice.fft_transpose = way,
            (Movement::FftButterfly, Self::Butterfly(way)) => choice.fft_butterfly = way,
            (Movement::LegendreTranspose, Self::Transpose(way)) => choice.legendre_transpose = way,
            (Movement::LegendreSum, Self::Sum(way)) => choice.legendre_sum = way,
            _ => {}
        }
    }

    fn method(&self) -> Option<Method> {
        match self {
            Self::Transpose(way) => way.engine.is_none().then(|| way.method()),
            Self::Butterfly(way) => Some(way.method),
            Self::Sum(way) => (way.algorithm != SumAlgorithm::Native).then(|| way.method()),
        }
    }

    fn with(mut self, method: &Method) -> Self {
        match &mut self {
            Self::Transpose(way) => {
                way.order = method.order;
                way.protocol = method.protocol;
                way.handshake = method.handshake;
                way.max_requests = method.max_requests;
                way.overlap = method.overlap;
            }
            Self::Butterfly(way) => way.method = *method,
            Self::Sum(way) => {
                way.order = method.order;
                way.protocol = method.protocol;
                way.handshake = method.handshake;
            }
        }
        self
    }

    /// Its name in tables.
    pub fn name(&self) -> String {
        let first = match self {
            Self::Transpose(way) => match way.engine {
                Some(engine) => engine.name(),
                None => way.transpose.name(),
            },
            Self::Butterfly(_) => "swap",
            Self::Sum(way) => way.algorithm.name(),
        };
        let mut name = first.to_owned();
        if let Some(method) = self.method() {
            name.push_str(&format!(
                " {}/{}",
                method.order.name(),
                method.protocol.name()
            ));
            if method.handshake {
                name.push_str(" handshake");
            }
            if method.overlap {
                name.push_str(" overlap");
            }
            if method.overlap && method.max_requests > 0 {
                name.push_str(&format!(" max-requests {}", method.max_requests));
            }
        }
        name
    }

    /// What it has in common with others: algorithm or engine, and whether it overlaps.
    pub fn kind(&self) -> (&'static str, bool) {
        match self {
            Self::Transpose(way) => match way.engine {
                Some(engine) => (engine.name(), false),
                None => (way.transpose.name(), way.overlap),
            },
            Self::Butterfly(way) => ("swap", way.method.overlap),
            Self::Sum(way) => (way.algorithm.name(), false),
        }
    }

    /// Its keys in a table of the namelist.
    pub fn keys(&self) -> Vec<String> {
        let mut keys = Vec::new();
        match self {
            Self::Transpose(way) => match way.engine {
                Some(engine) => keys.push(format!("engine = \"{}\"", engine.name())),
                None => {
                    keys.push("engine = \"pairwise\"".to_owned());
                    keys.push(format!("transpose = \"{}\"", way.transpose.name()));
                }
            },
            Self::Butterfly(_) => {}
            Self::Sum(way) => keys.push(format!("sum = \"{}\"", way.algorithm.name())),
        }
        if let Some(method) = self.method() {
            keys.push(format!("order = \"{}\"", method.order.name()));
            keys.push(format!("protocol = \"{}\"", method.protocol.name()));
            keys.push(format!("handshake = {}", method.handshake));
            if !matches!(self, Self::Sum(_)) {
                keys.push(format!("overlap = {}", method.overlap));
                keys.push(format!("max-requests = {}", method.max_requests));
            }
        }
        keys
    }
}

/// The ways of a stage between `ranks` ranks, without windows and additional handshakes. Where two
/// names stand for the same calls there is one of them.
pub fn ways(stage: Movement, ranks: usize, wanted: &Wanted) -> Vec<Way> {
    let methods = wanted.methods();
    let mut ways = Vec::new();
    match stage {
        Movement::FftTranspose | Movement::LegendreTranspose | Movement::Gather => {
            // Two ranks have one partner: every algorithm makes the same calls.
            let different = if ranks == 2 { 1 } else { usize::MAX };
            for &engine in &wanted.engines {
                let base = ExchangeChoice {
                    engine,
                    ..ExchangeChoice::default()
                };
                if engine.is_some() {
                    ways.push(Way::Transpose(base));
                    continue;
                }
                for &transpose in wanted.transposes.iter().take(different) {
                    let base = Way::Transpose(ExchangeChoice { transpose, ..base });
                    // Rounds of the logarithmic transpose cannot overlap.
                    let overlaps = transpose != TransposeAlgorithm::Logarithmic;
                    let fit = methods.iter().filter(|m| overlaps || !m.overlap);
                    ways.extend(fit.map(|method| base.with(method)));
                }
            }
        }
        Movement::FftButterfly => {
            let base = Way::Butterfly(SwapChoice::default());
            ways.extend(methods.iter().map(|method| base.with(method)));
        }
        Movement::LegendreSum => {
            for &algorithm in &wanted.sums {
                let base = Way::Sum(SumChoice {
                    algorithm,
                    ..SumChoice::default()
                });
                if algorithm == SumAlgorithm::Native {
                    ways.push(base);
                    continue;
                }
                // Steps of a sum do not overlap.
                let fit = methods.iter().filter(|method| !method.overlap);
                ways.extend(fit.map(|method| base.with(method)));
            }
        }
    }
    ways
}

/// Caps on requests that are tried.
const CAPS: [usize; 3] = [4, 16, 64];

/// The same way with windows, where they make a difference between `ranks` ranks, and with a
/// handshake, where the protocol has none.
pub fn refinements(way: Way, ranks: usize) -> Vec<Way> {
    let Some(method) = way.method() else {
        return Vec::new();
    };
    let row = method.protocol.row();
    let mut ways = Vec::new();
    let windows = matches!(way, Way::Transpose(_)) && method.overlap;
    if windows {
        let each = usize::from(row.early_receive) + usize::from(row.immediate_send);
        let all = each * (ranks - 1);
        for cap in CAPS.into_iter().filter(|&cap| cap < all) {
            ways.push(way.with(&Method {
                max_requests: cap,
                ..method
            }));
        }
    }
    if !row.handshake && !row.combined && row.early_receive {
        ways.push(way.with(&Method {
            handshake: true,
            ..method
        }));
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Wanted {
        Wanted {
            orders: Order::ALL.to_vec(),
            protocols: Protocol::all().collect(),
            transposes: TransposeAlgorithm::ALL.to_vec(),
            engines: vec![None, Some(EngineKind::Alltoallv)],
            sums: SumAlgorithm::ALL.to_vec(),
            overlaps: vec![false, true],
        }
    }

    #[test]
    fn every_legal_way_is_there_once() {
        // 29 legal pairs, 24 of them with overlap; rounds without; one engine.
        let count = |stage, ranks| ways(stage, ranks, &all()).len();
        assert_eq!(count(Movement::FftTranspose, 2), 53 + 1);
        assert_eq!(count(Movement::LegendreTranspose, 5), 2 * 53 + 29 + 1);
        assert_eq!(count(Movement::FftButterfly, 4), 53);
        assert_eq!(count(Movement::LegendreSum, 4), 4 * 29 + 1);
        let ways = ways(Movement::FftTranspose, 5, &all());
        let mut names: Vec<String> = ways.iter().map(Way::name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), ways.len());
    }

    #[test]
    fn windows_only_where_they_cap_something() {
        let way = |overlap| {
            Way::Transpose(ExchangeChoice {
                order: Order::Simple,
                protocol: Protocol::from_name("nonblocking").unwrap(),
                overlap,
                ..ExchangeChoice::default()
            })
        };
        let names =
            |way, ranks| -> Vec<String> { refinements(way, ranks).iter().map(Way::name).collect() };
        assert_eq!(names(way(true), 3).len(), 1);
        let found = names(way(true), 12);
        assert!(found[0].ends_with("overlap max-requests 4"), "{found:?}");
        assert_eq!(found.len(), 3);
        assert!(names(way(false), 12)[0].ends_with("handshake"));
    }

    #[test]
    fn names_and_keys_say_the_way() {
        let persistent = Way::Transpose(ExchangeChoice {
            engine: Some(EngineKind::Persistent),
            ..ExchangeChoice::default()
        });
        assert_eq!(persistent.name(), "persistent");
        assert_eq!(persistent.keys(), ["engine = \"persistent\""]);
        let sum = Way::Sum(SumChoice {
            algorithm: SumAlgorithm::Ring,
            handshake: true,
            ..SumChoice::default()
        });
        assert_eq!(sum.name(), "ring ordered/nonblocking-recv handshake");
        assert!(sum.keys().contains(&"sum = \"ring\"".to_owned()));
        assert!(!sum.keys().iter().any(|key| key.starts_with("overlap")));
    }
}
