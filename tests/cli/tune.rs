//! The search, from the command line.

use serde_json::Value;

use super::{Folder, go, refused_in_a_line};

/// A small problem, and a small choice of ways.
const SMALL: &str = "tune n.toml --ranks 2 --set problem.truncation=21 --order ordered,simple \
                     --protocol 2,3 --engine pairwise,alltoallv,alltoallw";

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    std::fs::write(
        folder.0.join("n.toml"),
        "[problem]\ncase = \"williamson-2\"\ntruncation = 42\ndays = 1.0\n[time]\ndt = 1200.0\n",
    )
    .unwrap();
    folder
}

fn text(folder: &Folder, name: &str) -> String {
    std::fs::read_to_string(folder.0.join(name)).unwrap()
}

fn result(folder: &Folder, name: &str) -> Value {
    let record: Value = serde_json::from_str(&text(folder, name)).unwrap();
    assert_eq!(record["kind"], "tune");
    assert_eq!(record["verdict"]["status"], "VALID");
    record["results"].clone()
}

#[test]
fn a_search_ranks_choices_and_its_fragment_runs() {
    let folder = folder("tune-search");
    let words = format!("{SMALL} --json r.json --csv r.csv --fragment best.toml");
    let outcome = go(&folder, &words);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    for needed in [
        "floor",
        "Ranking",
        "default",
        "Spent",
        "sensitivity",
        "VALID",
    ] {
        assert!(
            outcome.stdout.contains(needed),
            "{needed}:\n{}",
            outcome.stdout
        );
    }
    let results = result(&folder, "r.json");
    assert_eq!(results["mode"], "search");
    // 2x1 with three FFTs, 1x2 with two Legendre transforms.
    assert_eq!(results["layouts"].as_array().unwrap().len(), 5);
    let ranking = results["ranking"].as_array().unwrap();
    assert!(!ranking.is_empty() && ranking.iter().any(|one| one["default"] == true));
    assert!(results["default"]["median"].as_f64().unwrap() >= 0.5);
    for stage in results["stages"].as_array().unwrap() {
        let ways = stage["ways"].as_array().unwrap();
        assert!(
            ways.len() > 1 && ways[0]["ratio"]["median"] == 1.0,
            "{stage}"
        );
    }
    let lines = text(&folder, "r.csv");
    let ways = results["stages"].as_array().unwrap().iter();
    let ways: usize = ways
        .map(|stage| stage["ways"].as_array().unwrap().len())
        .sum();
    assert_eq!(lines.lines().count(), 1 + ways + ranking.len());
    // The fragment is what is printed, and a namelist takes it.
    let fragment = text(&folder, "best.toml");
    assert_eq!(fragment, results["fragment"].as_str().unwrap());
    let namelist = text(&folder, "n.toml").replace("days = 1.0", "steps = 3");
    std::fs::write(
        folder.0.join("best_n.toml"),
        format!("{namelist}{fragment}\n[output]\ndirectory = \"o\"\n"),
    )
    .unwrap();
    let outcome = go(&folder, "run best_n.toml --ranks 2");
    assert_eq!(outcome.code, 0, "{}{}", outcome.stdout, outcome.stderr);
    let again = go(
        &folder,
        &format!("{SMALL} --only best.toml --json again.json"),
    );
    assert_eq!(again.code, 0, "{}", again.stderr);
    let results = result(&folder, "again.json");
    assert_eq!(results["ranking"].as_array().unwrap().len(), 1);
    assert_eq!(
        results["ranking"][0]["fragment"].as_str().unwrap(),
        fragment
    );
}

#[test]
fn an_exhaustive_search_drops_nothing() {
    let folder = folder("tune-all");
    let words = format!("{SMALL} --exhaustive --mesh 1x2 --legendre transpose --json r.json");
    let outcome = go(&folder, &words);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let results = result(&folder, "r.json");
    let ranking = results["ranking"].as_array().unwrap();
    // Two orders with two protocols, with and without overlap, two engines; the default is among them.
    assert_eq!(ranking.len(), 2 * 2 * 2 + 2);
    for one in ranking {
        assert_eq!(
            (&one["dropped"], &one["step_seconds"]["samples"]),
            (&false.into(), &40.into())
        );
    }
}

#[test]
fn what_hung_before_is_left_out() {
    let folder = folder("tune-journal");
    let hung = "legendre-transpose of 1x2, legendre transpose: alltoallv";
    std::fs::write(folder.0.join("j"), format!("begin {hung}\n")).unwrap();
    let words = format!("{SMALL} --mesh 1x2 --legendre transpose --journal j --json r.json");
    let outcome = go(&folder, &words);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let results = result(&folder, "r.json");
    assert_eq!(results["failed"][0]["candidate"], hung);
    let ways = results["stages"][0]["ways"].as_array().unwrap();
    assert!(ways.iter().all(|way| way["way"] != "alltoallv"), "{ways:?}");
    let journal = text(&folder, "j");
    let begun = journal
        .lines()
        .filter(|line| line.starts_with("begin "))
        .count();
    let ended = journal
        .lines()
        .filter(|line| line.starts_with("end "))
        .count();
    assert!(begun > 5 && begun == ended + 1, "{journal}");
}

#[test]
fn settings_of_production_models() {
    let folder = folder("tune-for");
    for (target, names) in [
        (
            "cam",
            &[
                "swap_comm_protocol",
                "swap_comm_maxreq",
                "phys_alltoall",
                "fc_gather_flow_cntl",
            ][..],
        ),
        (
            "eam",
            &["swap_comm_protocol", "swap_comm_maxreq", "phys_alltoall"],
        ),
        (
            "pio",
            &[
                "pio_rearr_comm_type",
                "pio_rearr_comm_enable_hs_comp2io",
                "pio_rearr_comm_enable_isend_io2comp",
                "pio_rearr_comm_max_pend_req_comp2io",
            ],
        ),
        ("mct", &["mct_usealltoall"]),
    ] {
        let words = "tune n.toml --ranks 4 --set problem.truncation=21 --json r.json --for";
        let outcome = go(&folder, &format!("{words} {target}"));
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        let results = result(&folder, "r.json");
        assert_eq!(results["mode"], format!("for {target}"));
        let settings = results["settings"].as_array().unwrap();
        for name in names {
            let setting = settings
                .iter()
                .find(|setting| setting["name"] == *name)
                .unwrap();
            let (value, why) = (setting["value"].as_str(), setting["evidence"].as_str());
            let line = format!("    {name} = {}\n", value.unwrap());
            assert!(outcome.stdout.contains(&line), "{line}");
            assert!(outcome.stdout.contains(why.unwrap()));
        }
        if target == "cam" {
            let protocol = settings[0]["value"].as_str().unwrap();
            let way = &results["stages"][0]["ways"];
            let best = way.as_array().unwrap().iter();
            let best = best.map(|way| way["way"].as_str().unwrap());
            let mut pairwise = best.filter(|way| way.starts_with("simple/"));
            let name = pairwise.next().unwrap().split_whitespace().next().unwrap();
            let numbers = [
                "nonblocking-recv",
                "nonblocking",
                "ready",
                "nonblocking-ready",
            ];
            let place = numbers
                .iter()
                .position(|known| format!("simple/{known}") == name);
            assert_eq!(protocol, (2 + place.unwrap()).to_string());
        }
    }
    for (words, said) in [
        ("--for wrf", "cam, eam, pio, mct"),
        (
            "--for pio --io-ranks 3",
            "--io-ranks 3: must be from 1 to 2",
        ),
        ("--for cam --order simple", "cannot be used with"),
        ("--io-ranks 1", "--for"),
    ] {
        super::refused(&folder, &format!("tune n.toml --ranks 2 {words}"), &[said]);
    }
}

#[test]
fn bad_options_are_refused_in_a_line() {
    let folder = folder("tune-bad");
    std::fs::write(folder.0.join("other.toml"), "[time]\ndt = 1.0\n").unwrap();
    std::fs::write(
        folder.0.join("typo.toml"),
        "[algorithm]\nordre = \"simple\"\n",
    )
    .unwrap();
    for (words, said) in [
        ("--mesh 3x1", &["--mesh 3x1", "1x2, 2x1"][..]),
        (
            "--fft doubel-transpose",
            &["did you mean double-transpose?"],
        ),
        ("--order simple --protocol 0", &["no pair of them is legal"]),
        ("--engine alltoall", &["did you mean alltoallv?"]),
        ("--budget 0", &["--budget 0", "above 0"]),
        ("--budget -3", &["--budget -3", "above 0"]),
        ("--only other.toml", &["--only other.toml", "holds time"]),
        ("--only typo.toml", &["--only typo.toml", "ordre"]),
        (
            "--only nosuch.toml",
            &["--only nosuch.toml", "cannot be read"],
        ),
        ("--json n.toml", &["--json n.toml", "is the file of FILE"]),
        ("--json r --fragment r", &["--fragment r", "--json"]),
        ("--journal n.toml", &["--journal n.toml"]),
        ("--set problem.levels=x", &["problem.levels"]),
    ] {
        refused_in_a_line(&folder, &format!("tune n.toml --ranks 2 {words}"), said);
    }
    refused_in_a_line(&folder, "tune nosuch.toml", &["nosuch.toml"]);
    let many = "tune n.toml --ranks 4 --exhaustive";
    refused_in_a_line(&folder, many, &["combinations, at most 4096"]);
}

#[test]
fn a_run_records_the_algorithms_it_used() {
    let folder = folder("tune-record");
    let set = "--set algorithm.legendre=\"distributed\" --set algorithm.fft=\"single-transpose\"";
    let words = format!(
        "run n.toml --ranks 4 --set algorithm.mesh=[2,2] --set problem.days=0.125 {set} \
         --set output.samples-per-file=0 --set output.checkpoint-hours=0 --json r.json"
    );
    let outcome = go(&folder, &words);
    assert_eq!(outcome.code, 0, "{}{}", outcome.stdout, outcome.stderr);
    let record: Value = serde_json::from_str(&text(&folder, "r.json")).unwrap();
    let algorithm = &record["results"]["setup"]["algorithm"];
    assert_eq!(algorithm["legendre"], "distributed");
    assert_eq!(algorithm["fft"], "single-transpose");
}
