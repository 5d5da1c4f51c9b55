//! A run killed at any moment leaves whole files only, and the next run goes on from them.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use common::{Folder, Random, printed_checksum, program, run};
use netcdf3::FileReader;
use pstswm::report::netcdf::read_checkpoint;

const NAMELIST: &str = "[problem]\ncase = \"williamson-5\"\ntruncation = 21\nsteps = 24\n\
    [time]\ndt = 1800.0\nasselin = 0.02\n[output]\ndirectory = \"out\"\nevery-hours = 0.5\n\
    checkpoint-hours = 0.5\nsamples-per-file = 2\n";

/// Time, checksum and the bits of h of every sample of a history file.
fn samples(path: &Path) -> Vec<(u64, String, Vec<u64>)> {
    let mut file = FileReader::open(path).unwrap_or_else(|e| panic!("{}: {e:?}", path.display()));
    let sums = file
        .data_set()
        .get_global_attr_as_string("checksum")
        .unwrap();
    let times = file.read_var_f64("time").unwrap();
    let sums: Vec<&str> = sums.split(' ').collect();
    assert_eq!(sums.len(), times.len(), "{}", path.display());
    let h = file.read_var_f64("h").unwrap();
    let per_sample = h.len() / times.len();
    assert_eq!(per_sample, 32 * 64);
    let samples = times.iter().zip(sums).zip(h.chunks_exact(per_sample));
    samples
        .map(|((time, sum), h)| {
            let bits = h.iter().map(|h| h.to_bits()).collect();
            (time.to_bits(), sum.to_owned(), bits)
        })
        .collect()
}

/// Checks every file under a final name; the newest checkpoint, and how many leftovers there are.
fn inspect(
    folder: &Folder,
    truth: &BTreeMap<u64, (String, Vec<u64>)>,
) -> (Option<String>, usize, usize) {
    let (mut newest, mut leftovers, mut whole) = (None, 0, 0);
    for name in folder.names("out") {
        let path = folder.0.join("out").join(&name);
        if name.ends_with(".part") {
            assert!(name.starts_with('.'), "{name}");
            leftovers += 1;
        } else if name.starts_with("history_") {
            for (time, sum, h) in samples(&path) {
                let (true_sum, true_h) = &truth[&time];
                assert_eq!(&sum, true_sum, "{name}");
                assert!(&h == true_h, "{name}: other bits");
            }
            whole += 1;
        } else {
            let data = read_checkpoint(&path).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(name, format!("checkpoint_{:012}.nc", data.step));
            newest = Some(format!("out/{name}"));
            whole += 1;
        }
    }
    (newest, leftovers, whole)
}

#[test]
fn twenty_kills_leave_whole_files() {
    let reference = Folder::new("killed-reference");
    reference.file("n.toml", NAMELIST);
    let start = Instant::now();
    let outcome = run(&reference.0, &["run", "n.toml", "--ranks", "2"]);
    let duration = start.elapsed().as_secs_f64();
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let last = printed_checksum(&outcome.stdout);
    let mut truth = BTreeMap::new();
    for name in reference.names("out") {
        if name.starts_with("history_") {
            for (time, sum, h) in samples(&reference.0.join("out").join(name)) {
                truth.insert(time, (sum, h));
            }
        }
    }
    assert_eq!(truth.len(), 25);

    let mut random = Random(1);
    let (mut all_leftovers, mut all_whole) = (0, 0);
    for attempt in 0..20 {
        let folder = Folder::new(&format!("killed-{attempt}"));
        // Files of two samples, or of more than there are between checkpoints.
        let namelist = NAMELIST.replace("file = 2", ["file = 2", "file = 9"][attempt / 2 % 2]);
        folder.file("n.toml", namelist);
        let mut child = program()
            .args(["run", "n.toml", "--ranks", "2"])
            .current_dir(&folder.0)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_secs_f64(duration * 0.9 * random.unit()));
        if attempt % 2 == 1 {
            // As soon as the next file is being written, and a moment into it.
            let give_up = Instant::now() + Duration::from_secs(2);
            let writing = |name: &String| name.ends_with(".part");
            while !folder.names("out").iter().any(writing) && Instant::now() < give_up {
                std::hint::spin_loop();
            }
            std::thread::sleep(Duration::from_micros(random.bits() % 400));
        }
        child.kill().unwrap();
        child.wait().unwrap();

        let (newest, leftovers, whole) = inspect(&folder, &truth);
        all_leftovers += leftovers;
        all_whole += whole;

        // What is there can be gone on from; without a checkpoint the run starts afresh.
        let mut arguments = vec!["run", "n.toml"];
        let newest = newest.unwrap_or_default();
        if newest.is_empty() {
            let _ = std::fs::remove_file(folder.0.join("out/history_0001.nc"));
        } else if newest.ends_with("_000000000024.nc") {
            continue;
        } else {
            arguments.extend(["--restart", &newest]);
        }
        let outcome = run(&folder.0, &arguments);
        assert_eq!(outcome.code, 0, "{attempt}: {}", outcome.stderr);
        assert_eq!(printed_checksum(&outcome.stdout), last, "{attempt}");
        // Every output time once, whoever wrote it.
        let mut times = Vec::new();
        for name in folder.names("out") {
            if name.starts_with("history_") {
                times.extend(
                    samples(&folder.0.join("out").join(name))
                        .into_iter()
                        .map(|s| s.0),
                );
            }
        }
        let expected: Vec<u64> = truth.keys().copied().collect();
        times.sort_unstable();
        assert_eq!(times, expected, "{attempt}: {:?}", folder.names("out"));
        let (_, leftovers, _) = inspect(&folder, &truth);
        assert_eq!(leftovers, 0, "{attempt}: {:?}", folder.names("out"));
    }
    assert!(all_whole > 20, "{all_whole} whole files: killed too early");
    assert!(all_leftovers > 0, "no kill in the middle of a write");
}
