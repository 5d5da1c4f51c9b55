//! Everything the namelist names: each name once, with one line, and why it is unavailable.

use crate::swap::order::Order;
use crate::swap::protocol::{Protocol, SendMode};

/// A name a key may hold.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// The namelist's spelling.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// Why it cannot be chosen in this build; `None`: it can.
    pub unavailable: Option<&'static str>,
}

const fn has(name: &'static str, about: &'static str) -> Choice {
    Choice {
        name,
        about,
        unavailable: None,
    }
}

/// Test cases.
pub const CASES: &[Choice] = &[
    has(
        "williamson-1",
        "advection of a cosine bell by solid-body rotation",
    ),
    has("williamson-2", "steady zonal geostrophic flow"),
    has("williamson-3", "steady zonal flow with compact support"),
    has("williamson-4", "forced translating low"),
    has("williamson-5", "zonal flow over an isolated mountain"),
    has("williamson-6", "Rossby-Haurwitz wave of wavenumber 4"),
    has("williamson-7", "analysed 500 hPa state from a file"),
    has(
        "galewsky",
        "barotropic instability of a perturbed mid-latitude jet",
    ),
    has("galewsky-balanced", "the same jet without the perturbation"),
    has("file", "any state from a NetCDF file"),
];

/// Time schemes.
pub const SCHEMES: &[Choice] = &[
    has(
        "semi-implicit",
        "leapfrog, linear gravity-wave terms averaged (not for williamson-1)",
    ),
    has("explicit", "leapfrog"),
    has("rk4", "classical Runge-Kutta of order four"),
];

/// Surfaces.
pub const MOUNTAINS: &[Choice] = &[
    has("none", "no mountain (not for williamson-5)"),
    has("cone", "the cone of williamson-5"),
    has(
        "smooth",
        "2000 exp(-64 (1 - cos gamma)) m about the centre of the cone",
    ),
    has("file", "surface height in m from mountain-file"),
];

/// Where the height comes from.
pub const HEIGHTS: &[Choice] = &[
    has("given", "the file has the height"),
    has(
        "balanced",
        "from the nonlinear balance equation of the wind",
    ),
];

/// Filling of the mesh.
pub const RANK_ORDERS: &[Choice] = &[
    has("row", "ranks of a mesh row are consecutive"),
    has("column", "ranks of a mesh column are consecutive"),
];

/// FFT algorithms.
pub const FFTS: &[Choice] = &[
    has(
        "distributed",
        "longitudes stay split; butterflies along the mesh row",
    ),
    has(
        "single-transpose",
        "lines become local by splitting levels, and stay so",
    ),
    has(
        "double-transpose",
        "lines of any field, level and latitude are dealt out, and go back",
    ),
];

/// Legendre algorithms.
pub const LEGENDRES: &[Choice] = &[
    has(
        "transpose",
        "each rank gets all latitudes of its (wavenumber, level) units",
    ),
    has(
        "distributed",
        "partial sums over own latitudes, then a vector sum",
    ),
];

/// Transpose algorithms.
pub const TRANSPOSES: &[Choice] = &[
    has("swap", "pairwise swaps, partner me XOR k"),
    has(
        "send-recv",
        "shifted send and receive, to me + k, from me - k",
    ),
    has(
        "logarithmic",
        "log2 P swaps of half the data; Bruck's algorithm for any P",
    ),
    has("collective", "in one go, by the engine that `engine` names"),
];

/// Vector sums: used by the distributed Legendre transform alone, so that any may stand there.
pub const SUMS: &[Choice] = &[
    has("exchange", "recursive doubling"),
    has("halving", "recursive halving, then doubling"),
    has("ring", "2 (P - 1) shifts"),
    has(
        "pipelined-ring",
        "a ring that computes a block while the one before travels",
    ),
    has("native", "the library's reduction"),
];

/// Orders.
pub const ORDERS: &[Choice] = &[
    has("simple", "both ranks send, then receive"),
    has(
        "ordered",
        "the lower rank sends, then receives; the higher receives, then sends",
    ),
    has(
        "delayed",
        "send in the exchange stage, receive in the finish stage",
    ),
];

/// Exchange engines; which of them there are depends on the transport and its library.
pub const ENGINES: &[Choice] = &[
    has(
        "pairwise",
        "messages between pairs of ranks, by order and protocol",
    ),
    has("alltoallv", "MPI_Alltoallv"),
    has("ialltoallv", "MPI_Ialltoallv and its wait"),
    has(
        "alltoallw",
        "MPI_Alltoallw with derived datatypes, no packing",
    ),
    has(
        "neighbour",
        "MPI_Neighbor_alltoallv between ranks that have something for each other",
    ),
    has(
        "persistent",
        "persistent requests, made once and started every time",
    ),
    has("put-fence", "MPI_Put between fences"),
    has("put-pscw", "MPI_Put with post, start, complete and wait"),
    has(
        "shared-window",
        "loads and stores in memory that the ranks of a node share",
    ),
    has("partitioned", "partitioned messages (MPI-4)"),
];

/// History formats.
pub const FORMATS: &[Choice] = &[
    has("classic", "NetCDF-3 with 64-bit offsets, no library needed"),
    Choice {
        name: "netcdf4",
        about: "NetCDF-4 through the system's library",
        unavailable: if cfg!(feature = "netcdf4") {
            None
        } else {
            Some("unavailable in this build: rebuild with `--features netcdf4` (needs libnetcdf)")
        },
    },
];

/// One line about a protocol, from its row of the table.
pub fn protocol_about(protocol: Protocol) -> String {
    let row = protocol.row();
    if row.combined {
        return "simple and delayed: sendrecv; ordered: send after a handshake, recv".to_owned();
    }
    let send = match row.mode {
        SendMode::Standard => "send",
        SendMode::Synchronous => "ssend",
        SendMode::Ready => "rsend",
        SendMode::Buffered => "bsend",
    };
    let immediate = if row.immediate_send { "i" } else { "" };
    let receive = if row.early_receive {
        "irecv + wait"
    } else {
        "recv"
    };
    let handshake = if row.handshake { ", handshake" } else { "" };
    format!("{immediate}{send}, {receive}{handshake}")
}

/// The orders a protocol is legal with, spelled out.
pub fn legal_orders(protocol: Protocol) -> String {
    let names: Vec<&str> = Order::ALL
        .into_iter()
        .filter(|&order| protocol.legal_with(order))
        .map(Order::name)
        .collect();
    names.join(", ")
}

/// The names that can be chosen here, for a message: `"a", "b", "c"`.
pub fn available(choices: &[Choice]) -> String {
    let names: Vec<String> = choices
        .iter()
        .filter(|choice| choice.unavailable.is_none())
        .map(|choice| format!("\"{}\"", choice.name))
        .collect();
    names.join(", ")
}

/// Every name that some build of this version has, for pages that are the same for every build.
pub fn documented(choices: &[Choice]) -> String {
    let names: Vec<String> = choices
        .iter()
        .filter_map(|choice| match (choice.name, choice.unavailable) {
            ("netcdf4", _) => Some("\"netcdf4\" (cargo feature netcdf4)".to_owned()),
            (name, None) => Some(format!("\"{name}\"")),
            (_, Some(_)) => None,
        })
        .collect();
    names.join(", ")
}

/// The order with a name or a number.
///
/// # Errors
/// What there is, and which of it may have been meant.
pub fn order_of(word: &str) -> Result<Order, String> {
    let number = word.parse().ok().and_then(|n: usize| Order::ALL.get(n));
    let found = number.copied().or_else(|| Order::from_name(word));
    let names: Vec<&str> = Order::ALL.map(Order::name).to_vec();
    found.ok_or_else(|| unknown("order", word, &names))
}

/// The protocol with a name or a number.
///
/// # Errors
/// As [`order_of`].
pub fn protocol_of(word: &str) -> Result<Protocol, String> {
    let number = word.parse().ok().and_then(Protocol::from_number);
    let names: Vec<&str> = Protocol::all().map(Protocol::name).collect();
    number
        .or_else(|| Protocol::from_name(word))
        .ok_or_else(|| unknown("protocol", word, &names))
}

/// The message about a word that is none of these numbered names.
fn unknown(what: &str, word: &str, names: &[&str]) -> String {
    let mean = nearest(word, names.iter().copied())
        .map_or(String::new(), |name| format!("did you mean {name}? "));
    let all: Vec<String> = (0..)
        .zip(names)
        .map(|(n, name)| format!("{n} {name}"))
        .collect();
    format!("no {what} of that name; {mean}there are {}", all.join(", "))
}

/// The candidate nearest to a misspelt word, when it is near enough to be meant.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word.to_lowercase().chars().take(64).collect();
    let limit = (word.len() / 3).clamp(1, 4);
    candidates
        .map(|candidate| (edits(&word, candidate), candidate))
        .filter(|&(distance, candidate)| distance <= limit && distance < candidate.len())
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// Edit distance in which `_` and `-` are one letter and a swap of neighbours is one edit.
fn edits(word: &[char], candidate: &str) -> usize {
    let word: Vec<char> = word
        .iter()
        .map(|&c| if c == '_' { '-' } else { c })
        .collect();
    let other: Vec<char> = candidate.chars().collect();
    let mut rows: Vec<Vec<usize>> = vec![(0..=other.len()).collect()];
    for i in 1..=word.len() {
        let mut row = vec![i];
        for j in 1..=other.len() {
            let same = word[i - 1] == other[j - 1];
            let mut least = (rows[i - 1][j - 1] + usize::from(!same))
                .min(rows[i - 1][j] + 1)
                .min(row[j - 1] + 1);
            if i > 1 && j > 1 && word[i - 1] == other[j - 2] && word[i - 2] == other[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[word.len()][other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::definition::{CaseName, Scheme};
    use crate::transport::EngineKind;

    #[test]
    fn near_words_are_found() {
        let names = || CASES.iter().map(|choice| choice.name);
        assert_eq!(nearest("wiliamson-2", names()), Some("williamson-2"));
        assert_eq!(nearest("Williamson_2", names()), Some("williamson-2"));
        assert_eq!(nearest("galewksy", names()), Some("galewsky"));
        assert_eq!(nearest("held-suarez", names()), None);
        assert_eq!(nearest("", names()), None);
    }

    #[test]
    fn every_name_has_its_meaning() {
        let same = |choices: &[Choice], names: Vec<&str>| {
            let listed: Vec<&str> = choices.iter().map(|choice| choice.name).collect();
            assert_eq!(listed, names);
        };
        same(CASES, CaseName::ALL.map(CaseName::name).to_vec());
        same(SCHEMES, Scheme::ALL.map(Scheme::name).to_vec());
        same(ORDERS, Order::ALL.map(Order::name).to_vec());
        let mut engines = vec!["pairwise"];
        engines.extend(EngineKind::ALL.map(EngineKind::name));
        same(ENGINES, engines);
    }
}
