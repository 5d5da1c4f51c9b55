//! Runs that fail: blow-ups, disks that fill, folders that refuse.

use std::path::Path;
use std::process::Command;

use super::common::Folder;
use super::{go, quick};

fn blow_up(name: &str, problem: &str, time: &str, ranks: &str, said: &[&str]) {
    let folder = Folder::new(name);
    folder.file(
        "n.toml",
        format!(
            "[problem]\n{problem}\n[time]\n{time}\n[output]\ndirectory = \"out\"\n\
             samples-per-file = 1\ncheckpoint-hours = 0\n"
        ),
    );
    let outcome = go(
        &folder,
        &format!("run n.toml --ranks {ranks} --json r.json"),
    );
    assert_eq!(outcome.code, 1, "{}{}", outcome.stdout, outcome.stderr);
    assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
    for word in ["blew up in step", "day", " E", "level 0", "likely cause"] {
        assert!(outcome.stderr.contains(word), "{word}: {}", outcome.stderr);
    }
    for word in said {
        assert!(outcome.stderr.contains(word), "{word}: {}", outcome.stderr);
    }
    // The start was written before it happened, and stays; no result is made up.
    assert_eq!(folder.names("out"), ["history_0001.nc"]);
    netcdf3::FileReader::open(folder.0.join("out/history_0001.nc")).unwrap();
    assert_eq!(folder.names(""), ["n.toml", "out"]);
    assert!(!outcome.stdout.contains("VALID"), "{}", outcome.stdout);
}

#[test]
fn too_long_steps() {
    blow_up(
        "blow-explicit",
        "case = \"williamson-5\"\ntruncation = 42\ndays = 20.0",
        "dt = 1200.0\nscheme = \"explicit\"",
        "2",
        &["time.dt", "gravity waves", "semi-implicit"],
    );
    blow_up(
        "blow-implicit",
        "case = \"williamson-6\"\ntruncation = 42\ndays = 20.0",
        "dt = 7200.0",
        "3",
        &["time.dt", "the wind"],
    );
    blow_up(
        "blow-rk4",
        "case = \"williamson-2\"\ntruncation = 42\ndays = 20.0",
        "dt = 3600.0\nscheme = \"rk4\"",
        "1",
        &["time.dt", "gravity waves"],
    );
}

#[test]
fn too_little_diffusion_and_odd_input() {
    // The smallest scales of a jet on a tiny planet fill within a day.
    blow_up(
        "blow-diffusion",
        "case = \"williamson-5\"\ntruncation = 21\ndays = 20.0\nphibar = 1.0",
        "dt = 120.0",
        "1",
        &["time.diffusion", "enstrophy"],
    );
}

/// A state that has just gone out of bounds in the last step is no valid result.
#[test]
fn a_run_that_ends_while_it_blows_up() {
    let folder = Folder::new("blow-last");
    folder.file(
        "n.toml",
        "[problem]\ncase = \"williamson-5\"\ntruncation = 42\nsteps = 100\n[time]\n\
         dt = 1200.0\nscheme = \"explicit\"\n[output]\nsamples-per-file = 0\n\
         checkpoint-hours = 0\n",
    );
    let whole = go(&folder, "run n.toml");
    assert_eq!(whole.code, 1, "{}", whole.stderr);
    let (_, rest) = whole.stderr.split_once("in step ").unwrap();
    let step: u64 = rest.split(' ').next().unwrap().parse().unwrap();
    let last = go(
        &folder,
        &format!("run n.toml --set problem.steps={}", step - 1),
    );
    assert_eq!(last.code, 3, "{}", last.stdout);
    assert!(last.stdout.contains("INVALID"), "{}", last.stdout);
    assert!(last.stderr.contains("blowing up"), "{}", last.stderr);
    let before = go(
        &folder,
        &format!("run n.toml --set problem.steps={}", step - 2),
    );
    assert_eq!(before.code, 0, "{}", before.stderr);
}

#[test]
fn a_folder_that_cannot_be_made() {
    // Not even root makes a folder there.
    if !Path::new("/proc/self").exists() {
        return;
    }
    let folder = Folder::new("unwritable");
    quick(&folder, "samples-per-file = 1");
    let outcome = go(
        &folder,
        "run n.toml --set output.directory=\"/proc/nowhere\"",
    );
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    // Before the first step, not after the last.
    assert_eq!(outcome.stdout, "");
    assert!(
        outcome.stderr.contains("/proc/nowhere"),
        "{}",
        outcome.stderr
    );
    assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
    assert_eq!(folder.names(""), ["n.toml"]);
}

/// A small file system of its own; `None` where we may not mount.
struct Disk(std::path::PathBuf);

impl Disk {
    fn new(folder: &Folder, kilobytes: usize) -> Option<Self> {
        let path = folder.0.join("out");
        std::fs::create_dir(&path).unwrap();
        let made = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={kilobytes}k"), "tmpfs"])
            .arg(&path)
            .output();
        made.is_ok_and(|made| made.status.success())
            .then_some(Self(path))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).output();
    }
}

#[test]
fn a_disk_that_fills() {
    let folder = Folder::new("disk");
    quick(
        &folder,
        "samples-per-file = 2\nevery-hours = 1.0\ncheckpoint-hours = 0",
    );
    // A sample of T10 is 5 fields of 16 x 32 doubles: 20 KiB.
    let Some(disk) = Disk::new(&folder, 160) else {
        eprintln!("not allowed to mount a small disk here: only the size of a file is limited");
        return a_file_that_may_not_grow(&folder);
    };
    let outcome = go(&folder, "run n.toml --set problem.steps=40 --ranks 2");
    assert_eq!(outcome.code, 1, "{}{}", outcome.stdout, outcome.stderr);
    assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
    for word in ["cannot write", "history_0", "No space left", "whole"] {
        assert!(outcome.stderr.contains(word), "{word}: {}", outcome.stderr);
    }
    let names = folder.names("out");
    assert!(names.len() >= 2, "{names:?}");
    for (number, name) in names.iter().enumerate() {
        assert_eq!(*name, format!("history_{:04}.nc", number + 1));
        let mut file = netcdf3::FileReader::open(disk.0.join(name)).unwrap();
        let times = file.read_var_f64("time").unwrap();
        assert_eq!(times.len(), 2);
        let h = file.read_var_f64("h").unwrap();
        assert!(h.iter().all(|h| (8000.0..11000.0).contains(h)), "{name}");
    }
}

/// Where nothing can be mounted: the system's limit on the size of a file stops the second file.
fn a_file_that_may_not_grow(folder: &Folder) {
    let output = Command::new("bash")
        .args([
            "-c",
            "trap '' XFSZ; ulimit -f 100; exec \"$0\" \"$@\"",
            env!("CARGO_BIN_EXE_pstswm"),
            "run",
            "n.toml",
            "--set",
            "problem.steps=20",
            "--set",
            "output.samples-per-file=9",
        ])
        .current_dir(&folder.0)
        .output()
        .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("cannot write"), "{message}");
    assert!(message.contains("history_0001.nc"), "{message}");
    assert_eq!(folder.names("out"), Vec::<String>::new());
}
