//! The same bits on every mesh, whatever moves the data: the checksum of the spectral state is one
//! number for a problem.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Folder, integrated, printed_checksum, run, session};
use pstswm::swap::order::Order;
use pstswm::swap::protocol::Protocol;
use pstswm::transport::EngineKind;

const MESHES: [(usize, usize); 10] = [
    (1, 1),
    (2, 1),
    (1, 2),
    (2, 2),
    (3, 1),
    (1, 3),
    (5, 1),
    (3, 2),
    (1, 7),
    (4, 3),
];
const FFTS: [&str; 2] = ["double-transpose", "single-transpose"];

/// The checksum of a problem on a mesh, with `extra` keys of the algorithm.
fn checksum(problem: &[&str], (px, py): (usize, usize), extra: &[String]) -> String {
    let mesh = format!("algorithm.mesh=[{px}, {py}]");
    let mut sets: Vec<&str> = problem.to_vec();
    sets.push(&mesh);
    sets.extend(extra.iter().map(String::as_str));
    let record = integrated(&sets, px * py);
    assert_eq!(record.verdict.reasons, Vec::<String>::new(), "{sets:?}");
    record.results.checksum
}

/// Every legal way of moving data, in an order that mixes them.
fn movements() -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for protocol in Protocol::all() {
        for order in Order::ALL {
            if protocol.legal_with(order) {
                let number = all.len();
                let transpose = ["swap", "send-recv"][number % 2];
                let rank_order = ["row", "column"][number / 2 % 2];
                let eager = ["0", "4096"][number / 3 % 2];
                all.push(vec![
                    format!("algorithm.transpose=\"{transpose}\""),
                    format!("algorithm.order=\"{}\"", order.name()),
                    format!("algorithm.protocol=\"{}\"", protocol.name()),
                    format!("algorithm.rank-order=\"{rank_order}\""),
                    format!("algorithm.eager-limit={eager}"),
                    format!("algorithm.overlap={}", number % 5 == 1),
                ]);
            }
        }
    }
    all
}

/// `problem` on `meshes`, both FFT algorithms, with a different movement each time.
fn same_on(
    problem: &[&str],
    meshes: &[(usize, usize)],
    next: &mut impl Iterator<Item = Vec<String>>,
) {
    let expected = checksum(problem, (1, 1), &[]);
    assert_ne!(expected, "0000000000000000");
    for &mesh in meshes {
        for fft in FFTS {
            let mut extra = next.next().unwrap();
            extra.push(format!("algorithm.fft=\"{fft}\""));
            let found = checksum(problem, mesh, &extra);
            assert_eq!(found, expected, "{problem:?} on {mesh:?}, {extra:?}");
        }
    }
}

#[test]
fn the_ten_meshes_at_t42() {
    let mut movement = movements().into_iter().cycle();
    for (case, levels) in [(5, 1), (6, 4)] {
        let (case, levels) = (
            format!("problem.case=\"williamson-{case}\""),
            format!("problem.levels={levels}"),
        );
        let problem = [
            &*case,
            &*levels,
            "problem.truncation=42",
            "problem.steps=3",
            "time.dt=600",
        ];
        same_on(&problem, &MESHES, &mut movement);
    }
}

/// One rank goes through the grid in windows, of some latitude blocks or of some levels: several of
/// either here, with a remainder.
#[test]
fn one_rank_in_windows() {
    let mut movement = movements().into_iter().cycle();
    let latitudes = ["problem.truncation=170", "problem.steps=2", "time.dt=120"];
    let levels = [
        "problem.truncation=85",
        "problem.levels=3",
        "problem.steps=2",
        "time.dt=300",
    ];
    for sets in [&latitudes[..], &levels[..]] {
        let mut problem = vec!["problem.case=\"williamson-6\""];
        problem.extend(sets);
        same_on(&problem, &[(1, 2), (2, 1)], &mut movement);
    }
}

#[test]
fn every_legal_movement() {
    let problem = [
        "problem.case=\"williamson-6\"",
        "problem.truncation=15",
        "problem.levels=2",
        "problem.steps=3",
        "time.dt=1200",
    ];
    let expected = checksum(&problem, (1, 1), &[]);
    let all = movements();
    // Eleven protocols ordered, nine of them also simple and delayed.
    assert_eq!(all.len(), 11 + 2 * 9);
    for (number, mut extra) in all.into_iter().enumerate() {
        let mesh = [(2, 2), (3, 2), (2, 3), (1, 5), (4, 1)][number % 5];
        for transpose in ["swap", "send-recv"] {
            for eager in [0, 4096] {
                extra[0] = format!("algorithm.transpose=\"{transpose}\"");
                extra[4] = format!("algorithm.eager-limit={eager}");
                assert_eq!(
                    checksum(&problem, mesh, &extra),
                    expected,
                    "{mesh:?} {extra:?}"
                );
            }
        }
    }
}

/// Blocks that travel through other ranks: swaps, shifts, and both in one run.
#[test]
fn the_logarithmic_transpose() {
    let problem = [
        "problem.case=\"williamson-6\"",
        "problem.truncation=15",
        "problem.levels=2",
        "problem.steps=3",
        "time.dt=1200",
    ];
    let expected = checksum(&problem, (1, 1), &[]);
    for (mesh, protocol) in [((4, 3), "ready"), ((1, 7), "native"), ((5, 2), "blocking")] {
        let extra = [
            "algorithm.transpose=\"logarithmic\"".to_owned(),
            format!("algorithm.protocol=\"{protocol}\""),
            "algorithm.eager-limit=0".to_owned(),
        ];
        assert_eq!(
            checksum(&problem, mesh, &extra),
            expected,
            "{mesh:?} {extra:?}"
        );
    }
}

#[test]
fn every_engine() {
    for levels in [1, 3] {
        let levels = format!("problem.levels={levels}");
        let problem = [
            "problem.case=\"williamson-6\"",
            "problem.truncation=15",
            &*levels,
            "problem.steps=3",
            "time.dt=1200",
        ];
        let expected = checksum(&problem, (1, 1), &[]);
        for engine in EngineKind::ALL.map(EngineKind::name) {
            // On five rows there are fewer groups of latitudes than rows: they share lanes.
            for mesh in [(2, 2), (1, 3), (3, 1), (2, 3), (5, 1), (2, 5)] {
                let extra = [format!("algorithm.engine=\"{engine}\"")];
                let found = checksum(&problem, mesh, &extra);
                assert_eq!(found, expected, "{mesh:?} {engine}");
            }
        }
        // alltoallw packs nothing.
        let sets = [
            problem.as_slice(),
            &["algorithm.mesh=[2, 3]", "algorithm.engine=\"alltoallw\""],
        ];
        let phases = integrated(&sets.concat(), 6).results.phases;
        let packs = |name: &str| name.ends_with("-pack") || name.ends_with("transpose-unpack");
        assert!(
            phases
                .iter()
                .any(|phase| phase.name == "fft-transpose-move")
        );
        assert!(!phases.iter().any(|phase| packs(&phase.name)), "{phases:?}");
        // One stage by an engine, the other by pairs.
        let mixed = [
            "algorithm.fft-transpose.engine=\"put-pscw\"".to_owned(),
            "algorithm.protocol=\"ready\"".to_owned(),
        ];
        assert_eq!(checksum(&problem, (2, 2), &mixed), expected);
        // After a stage that packs nothing the working arrays have changed roles.
        for stage in ["fft-transpose", "legendre-transpose"] {
            for fft in FFTS {
                let extra = [
                    format!("algorithm.{stage}.engine=\"alltoallw\""),
                    format!("algorithm.fft=\"{fft}\""),
                ];
                for mesh in [(2, 3), (3, 2), (2, 5)] {
                    let found = checksum(&problem, mesh, &extra);
                    assert_eq!(found, expected, "{mesh:?} {extra:?}");
                }
            }
        }
    }
}

#[test]
fn overlap_handshakes_and_barriers() {
    let problem = [
        "problem.case=\"williamson-5\"",
        "problem.truncation=21",
        "problem.levels=3",
        "problem.steps=2",
        "time.dt=1200",
    ];
    let expected = checksum(&problem, (1, 1), &[]);
    for extra in [
        "overlap=true max-requests=0",
        "overlap=true max-requests=4",
        "overlap=true max-requests=1 handshake=true",
        "handshake=true",
        "barrier=true",
    ] {
        let extra: Vec<String> = extra
            .split(' ')
            .map(|key| format!("algorithm.{key}"))
            .collect();
        for mesh in [(5, 1), (2, 3)] {
            assert_eq!(
                checksum(&problem, mesh, &extra),
                expected,
                "{mesh:?} {extra:?}"
            );
        }
    }
    // Each stage its own way.
    let own: Vec<String> = [
        "fft-transpose.order=\"simple\"",
        "fft-transpose.protocol=\"nonblocking\"",
        "legendre-transpose.transpose=\"send-recv\"",
        "legendre-transpose.protocol=\"blocking-synchronous\"",
        "gather.protocol=\"synchronous\"",
    ]
    .map(|key| format!("algorithm.{key}"))
    .to_vec();
    assert_eq!(checksum(&problem, (3, 2), &own), expected);
}

#[test]
fn awkward_truncations() {
    let mut movement = movements().into_iter().cycle().skip(7);
    for (truncation, levels) in [
        ("[10, 12, 15]", 1),
        ("[15, 15, 30]", 2),
        ("[7, 12, 12]", 3),
        ("31", 1),
        ("21", 3),
        // 20 latitudes: two groups and a half of latitude pairs.
        ("13", 2),
        ("1", 1),
        ("2", 5),
    ] {
        let (size, levels) = (
            format!("problem.truncation={truncation}"),
            format!("problem.levels={levels}"),
        );
        let problem = [
            "problem.case=\"williamson-6\"",
            &*size,
            &*levels,
            "problem.steps=3",
            "time.dt=600",
        ];
        same_on(
            &problem,
            &[(1, 2), (2, 1), (2, 2), (3, 2), (1, 5), (4, 1)],
            &mut movement,
        );
    }
}

#[test]
fn grids_that_are_no_multiple_of_the_lanes() {
    let mut movement = movements().into_iter().cycle().skip(3);
    for (truncation, nlat, nlon) in [(63, 96, 192), (20, 34, 64), (21, 36, 72), (21, 50, 90)] {
        let (size, nlat, nlon) = (
            format!("problem.truncation={truncation}"),
            format!("problem.nlat={nlat}"),
            format!("problem.nlon={nlon}"),
        );
        let problem = [
            "problem.case=\"williamson-5\"",
            &*size,
            &*nlat,
            &*nlon,
            "problem.steps=2",
            "time.dt=600",
        ];
        same_on(&problem, &[(1, 3), (7, 1), (3, 4)], &mut movement);
    }
}

#[test]
fn ranks_with_little_or_nothing_to_do() {
    let mut movement = movements().into_iter().cycle().skip(11);
    let problem = [
        "problem.case=\"williamson-5\"",
        "problem.truncation=42",
        "problem.steps=2",
        "time.dt=600",
    ];
    // More mesh rows than groups of latitudes (8); prime numbers; more columns than levels.
    same_on(
        &problem,
        &[(1, 16), (1, 20), (13, 1), (1, 11), (3, 9)],
        &mut movement,
    );
    let tiny = [
        "problem.case=\"williamson-6\"",
        "problem.truncation=3",
        "problem.steps=2",
        "time.dt=600",
    ];
    // More ranks than latitude pairs, wavenumbers or longitudes.
    same_on(&tiny, &[(17, 1), (1, 17), (5, 5)], &mut movement);
}

#[test]
fn every_case_and_scheme() {
    let mut movement = movements().into_iter().cycle().skip(5);
    for keys in [
        "problem.case=\"williamson-1\" problem.alpha=0.3",
        "problem.case=\"williamson-1\" time.scheme=\"rk4\"",
        "problem.case=\"williamson-2\" problem.alpha=1.0",
        "problem.case=\"williamson-3\" problem.alpha=0.5",
        "problem.case=\"williamson-4\" problem.u0=40",
        "problem.case=\"williamson-5\" time.scheme=\"rk4\" problem.mountain=\"smooth\"",
        "problem.case=\"williamson-5\" time.diffusion=5e15 time.asselin=0.05 time.williams=0.53",
        "problem.case=\"galewsky\" time.laplacian=1e5",
        "problem.case=\"galewsky-balanced\" time.scheme=\"explicit\" time.dt=100",
    ] {
        let mut problem = vec![
            "time.dt=300",
            "problem.truncation=31",
            "problem.levels=2",
            "problem.steps=4",
        ];
        problem.extend(keys.split(' '));
        same_on(&problem, &[(2, 2), (1, 3)], &mut movement);
    }
}

#[test]
fn levels_are_copies_bit_for_bit() {
    let sets = [
        "problem.case=\"williamson-5\"",
        "problem.truncation=21",
        "problem.levels=3",
        "problem.steps=3",
        "algorithm.mesh=[2, 1]",
    ];
    let session = session(&sets, 2);
    let states = session
        .on_threads(|comm| {
            let mut model = session.model(comm)?;
            for _ in 0..3 {
                model.step().map_err(|error| session.explain(error))?;
            }
            let layout = model.pencil().layout();
            let found: Vec<_> = layout
                .iter()
                .map(|(unit, range)| {
                    let fields = model.state().fields();
                    let bits: Vec<u64> = fields
                        .iter()
                        .flat_map(|field| &field[range.clone()])
                        .flat_map(|c| [c.re.to_bits(), c.im.to_bits()])
                        .collect();
                    (unit.m, unit.level, bits)
                })
                .collect();
            Ok(found)
        })
        .unwrap();
    let mut units = states.concat();
    units.sort_by_key(|unit| (unit.0, unit.1));
    assert_eq!(units.len(), 22 * 3);
    for levels in units.chunks_exact(3) {
        assert_eq!([levels[0].1, levels[1].1, levels[2].1], [0, 1, 2]);
        assert!(levels.iter().all(|level| level.0 == levels[0].0));
        assert!(
            levels.iter().all(|level| level.2 == levels[0].2),
            "m = {}",
            levels[0].0
        );
        assert!(levels[0].2.iter().any(|&bits| bits != 0));
    }
}

#[test]
fn the_program_prints_it() {
    let folder = Folder::new("same-bits");
    folder.file(
        "n.toml",
        "[problem]\ncase = \"williamson-6\"\ntruncation = 21\nsteps = 4\n[time]\ndt = 600.0\n\
         [output]\nsamples-per-file = 0\ncheckpoint-hours = 0\n",
    );
    let expected = checksum(
        &[
            "problem.case=\"williamson-6\"",
            "problem.truncation=21",
            "problem.steps=4",
            "time.dt=600",
        ],
        (1, 1),
        &[],
    );
    for ranks in ["1", "2", "3"] {
        let outcome = run(&folder.0, &["run", "n.toml", "--ranks", ranks]);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        assert_eq!(printed_checksum(&outcome.stdout), expected);
    }
    assert_eq!(folder.names(""), ["n.toml"]);
}
