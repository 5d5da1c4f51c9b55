//! Which processors the ranks may run on: in few words, and what is wrong with it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::machine;
use super::provenance::Place;

/// Neighbouring ranks on one host that may run on the same processors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placed {
    /// First rank.
    pub first: usize,
    /// Last rank.
    pub last: usize,
    /// Their host.
    pub host: Option<String>,
    /// The processors each of them may run on, as the kernel lists them.
    pub cpus: Option<String>,
}

/// Ranks in order, neighbours with the same host and processors together.
pub fn compressed(places: &[Place]) -> Vec<Placed> {
    let mut all: Vec<Placed> = Vec::new();
    for (rank, place) in places.iter().enumerate() {
        match all.last_mut() {
            Some(last) if last.host == place.host && last.cpus == place.cpus => last.last = rank,
            _ => all.push(Placed {
                first: rank,
                last: rank,
                host: place.host.clone(),
                cpus: place.cpus.clone(),
            }),
        }
    }
    all
}

/// What to do when more ranks than processors run, by the library they run on.
pub fn fewer_ranks(processors: usize, library: Option<&str>) -> String {
    let most = format!("use at most {processors} ranks on this machine for timings");
    match library {
        Some(name) if name.starts_with("Open MPI") => {
            format!(
                "{most} (to try something out: mpirun --oversubscribe --mca mpi_yield_when_idle 1)"
            )
        }
        Some(name) if name.starts_with("MPICH") => {
            format!("{most} (MPICH's ranks never give their processor away while they wait)")
        }
        _ => most,
    }
}

/// What may spoil timings, each with its remedy, host by host. Ranks that may use all of `usable`
/// processors are not kept together by a binding; how many they are is judged elsewhere.
pub fn warnings(places: &[Place], usable: Option<usize>, library: Option<&str>) -> Vec<String> {
    let mut hosts: BTreeMap<Option<&str>, Vec<(usize, BTreeSet<usize>)>> = BTreeMap::new();
    for (rank, place) in places.iter().enumerate() {
        let ranks = hosts.entry(place.host.as_deref()).or_default();
        if let Some(cpus) = place.cpus.as_deref().and_then(machine::cpus) {
            ranks.push((rank, cpus));
        }
    }
    let mut warnings = Vec::new();
    for (host, ranks) in hosts {
        let host = host.unwrap_or("one host");
        warnings.extend(crowded(host, &ranks, usable, library));
        warnings.extend(half_bound(host, &ranks));
    }
    warnings
}

/// More bound ranks than processors that they are bound to.
fn crowded(
    host: &str,
    ranks: &[(usize, BTreeSet<usize>)],
    usable: Option<usize>,
    library: Option<&str>,
) -> Option<String> {
    let mut by_cpus: BTreeMap<&BTreeSet<usize>, Vec<usize>> = BTreeMap::new();
    for (rank, cpus) in ranks {
        by_cpus.entry(cpus).or_default().push(*rank);
    }
    let bound = |cpus: &BTreeSet<usize>| usable.is_none_or(|usable| cpus.len() < usable);
    let (cpus, crowd) = by_cpus
        .iter()
        .find(|(cpus, crowd)| crowd.len() > cpus.len() && bound(cpus))?;
    let remedy = match library {
        Some(name) if name.starts_with("Open MPI") => {
            "bind each to a core of its own (mpirun --map-by core --bind-to core; --report-bindings \
             shows it; of two jobs side by side, --bind-to none for both)"
        }
        Some(_) => "bind each to a core of its own (mpiexec -bind-to core)",
        None => "use fewer ranks, or allow the process more processors (taskset, the job's limits)",
    };
    Some(format!(
        "on {host} the {} ranks {} may run on {} only and take turns; {remedy}",
        crowd.len(),
        listed(crowd.iter().copied()),
        processors(cpus)
    ))
}

/// Some ranks are kept to fewer processors than others, which may run there, too.
fn half_bound(host: &str, ranks: &[(usize, BTreeSet<usize>)]) -> Option<String> {
    let sizes = || ranks.iter().map(|(_, cpus)| cpus.len());
    let (least, most) = (sizes().min()?, sizes().max()?);
    let wide: Vec<usize> = ranks
        .iter()
        .filter(|(_, cpus)| cpus.len() == most && least < most)
        .filter(|(_, cpus)| {
            ranks
                .iter()
                .any(|(_, own)| own.len() < most && own.is_subset(cpus))
        })
        .map(|(rank, _)| *rank)
        .collect();
    (!wide.is_empty()).then(|| {
        format!(
            "on {host} the ranks {} may run on the processors to which others are bound, and get in \
             their way; bind all ranks, or none",
            listed(wide.into_iter())
        )
    })
}

/// `processor 3`, `processors 0-1`.
fn processors(cpus: &BTreeSet<usize>) -> String {
    let word = if cpus.len() == 1 {
        "processor"
    } else {
        "processors"
    };
    format!("{word} {}", listed(cpus.iter().copied()))
}

/// Ascending numbers as the kernel lists them: `0-3,8`.
fn listed(numbers: impl Iterator<Item = usize>) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let run = |(first, last): (usize, usize)| match last - first {
        0 => first.to_string(),
        _ => format!("{first}-{last}"),
    };
    runs.into_iter().map(run).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(on: &[(&str, &str)]) -> Vec<Place> {
        on.iter()
            .map(|(host, cpus)| Place {
                host: Some((*host).to_owned()),
                cpus: Some((*cpus).to_owned()).filter(|cpus| !cpus.is_empty()),
            })
            .collect()
    }

    #[test]
    fn ranks_are_shown_in_few_lines() {
        let all = compressed(&places(&[("a", "0"), ("a", "0"), ("a", "1"), ("b", "1")]));
        let few: Vec<_> = all.iter().map(|p| (p.first, p.last)).collect();
        assert_eq!(few, [(0, 1), (2, 2), (3, 3)]);
        assert_eq!(all[2].host.as_deref(), Some("b"));
        assert!(compressed(&[]).is_empty());
    }

    #[test]
    fn good_places_have_no_warning() {
        for on in [
            &[("a", "0"), ("a", "1"), ("b", "0"), ("b", "1")][..],
            &[("a", "0-3"), ("a", "0-3")],
            &[("a", "0-1"), ("a", "2-3"), ("a", "2-3")],
            &[("a", ""), ("a", "")],
            // Neither gets in the other's way.
            &[("a", "0-2"), ("a", "3")],
        ] {
            assert_eq!(
                warnings(&places(on), Some(4), None),
                Vec::<String>::new(),
                "{on:?}"
            );
        }
    }

    #[test]
    fn each_trouble_is_named_with_its_remedy() {
        let shared = places(&[("a", "0"), ("b", "1"), ("b", "1"), ("b", "2")]);
        let warning = warnings(&shared, Some(4), Some("Open MPI v4.1.4"));
        assert_eq!(warning.len(), 1);
        for word in ["on b the 2 ranks 1-2", "processor 1 only", "--bind-to core"] {
            assert!(warning[0].contains(word), "{word}: {warning:?}");
        }
        assert!(warnings(&shared, None, Some("MPICH Version: 4.0"))[0].contains("-bind-to core)"));
        assert!(warnings(&shared, Some(4), None)[0].contains("taskset"));
        let mixed = warnings(
            &places(&[("a", "0-7"), ("a", "0"), ("a", "0-7")]),
            Some(8),
            None,
        );
        assert_eq!(mixed.len(), 1);
        assert!(mixed[0].contains("ranks 0,2 may run"), "{mixed:?}");
        // Not kept there by a binding: the machine has no more.
        let few = places(&[("a", "0-1"), ("a", "0-1"), ("a", "0-1")]);
        assert_eq!(warnings(&few, Some(2), None), Vec::<String>::new());
        assert_eq!(warnings(&few, Some(4), None).len(), 1);
    }

    #[test]
    fn remedies_know_the_library() {
        assert!(fewer_ranks(2, Some("Open MPI v4")).contains("mpi_yield_when_idle"));
        assert!(fewer_ranks(2, Some("MPICH Version")).contains("never"));
        assert_eq!(fewer_ranks(2, None).matches('(').count(), 0);
    }
}
