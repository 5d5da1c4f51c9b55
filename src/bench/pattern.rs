//! Patterns of whole groups of ranks: who sends whom how much.

use std::fmt;

/// An exchange of all ranks, of so many elements a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Every rank sends every rank the same share: the transposes of a spectral model.
    AllToAll,
    /// Every rank sends each of so many I/O ranks the same share: rearrangement for output.
    Gather(usize),
    /// Every one of so many I/O ranks sends every rank the same share: rearrangement of input.
    Scatter(usize),
}

impl Pattern {
    /// The pattern of a word: `all-to-all`, `gather:K`, `scatter:K`.
    ///
    /// # Errors
    /// What is allowed.
    pub fn parse(word: &str) -> Result<Self, String> {
        let wrong = || {
            "must be pair, all-to-all, gather:K or scatter:K, with K I/O ranks (1 or more)"
                .to_owned()
        };
        if word == "all-to-all" {
            return Ok(Self::AllToAll);
        }
        let (name, count) = word.split_once(':').ok_or_else(wrong)?;
        let count = count.parse().ok().filter(|&count| count > 0);
        match (name, count) {
            ("gather", Some(count)) => Ok(Self::Gather(count)),
            ("scatter", Some(count)) => Ok(Self::Scatter(count)),
            _ => Err(wrong()),
        }
    }

    /// I/O ranks, where there are some.
    pub fn io_ranks(self) -> Option<usize> {
        match self {
            Self::AllToAll => None,
            Self::Gather(count) | Self::Scatter(count) => Some(count),
        }
    }

    /// Equal parts that the elements of a rank are cut into between `ranks` ranks.
    pub fn parts(self, ranks: usize) -> usize {
        self.io_ranks().unwrap_or(ranks)
    }

    /// Elements that rank `from` sends rank `to` of `ranks`, when each sends, or with `scatter`
    /// receives, `elements` in all. I/O ranks are spread evenly, from rank 0 on.
    pub fn len(self, ranks: usize, elements: usize, from: usize, to: usize) -> usize {
        let share = elements / self.parts(ranks);
        let count = self.io_ranks().unwrap_or(ranks);
        // Rank i * ranks / count is the I/O rank i.
        let is_io = |rank: usize| (rank * count).div_ceil(ranks) * ranks / count == rank;
        match self {
            Self::AllToAll => share,
            Self::Gather(_) if is_io(to) => share,
            Self::Scatter(_) if is_io(from) => share,
            Self::Gather(_) | Self::Scatter(_) => 0,
        }
    }

    /// Elements that travel between ranks, of all.
    pub fn travels(self, ranks: usize, elements: usize) -> usize {
        let share = elements / self.parts(ranks);
        let senders = self.io_ranks().unwrap_or(ranks);
        // Each of these exchanges with all ranks but itself.
        senders * (ranks - 1) * share
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AllToAll => f.write_str("all-to-all"),
            Self::Gather(count) => write!(f, "gather:{count}"),
            Self::Scatter(count) => write!(f, "scatter:{count}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_back() {
        for word in ["all-to-all", "gather:1", "scatter:12"] {
            assert_eq!(Pattern::parse(word).unwrap().to_string(), word);
        }
        for word in ["pairs", "gather", "gather:0", "gather:-1", "scatter:x", ""] {
            assert!(
                Pattern::parse(word).unwrap_err().contains("gather:K"),
                "{word}"
            );
        }
    }

    #[test]
    fn what_one_sends_is_what_all_receive() {
        for ranks in [2, 3, 5, 8, 12] {
            for pattern in [
                Pattern::AllToAll,
                Pattern::Gather(1),
                Pattern::Gather(2),
                Pattern::Scatter(2),
            ] {
                let elements = 120;
                let pairs = || (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to)));
                let len = |&(from, to): &(usize, usize)| pattern.len(ranks, elements, from, to);
                let between: usize = pairs().filter(|(a, b)| a != b).map(|p| len(&p)).sum();
                assert_eq!(
                    between,
                    pattern.travels(ranks, elements),
                    "{pattern} {ranks}"
                );
                let all: usize = pairs().map(|pair| len(&pair)).sum();
                let parts = pattern.parts(ranks);
                assert_eq!(all, ranks * (elements / parts) * parts, "{pattern} {ranks}");
            }
        }
    }
}
