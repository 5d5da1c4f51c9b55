//! The standard cases against reference values, those that take seconds; and that a wrong
//! reference is noticed.

#![allow(clippy::unwrap_used)]

use pstswm::app::validate::{Selection, figures, stored, verdict};

fn selection(cases: &[&str]) -> Selection {
    Selection {
        cases: cases.iter().map(|&case| case.to_owned()).collect(),
        full: false,
        ranks: 1,
    }
}

#[test]
fn the_short_set_passes() {
    let cases = [
        "transform",
        "williamson-1",
        "williamson-2",
        "williamson-3",
        "williamson-4",
        "williamson-5",
        "galewsky",
    ];
    let figures = figures(&selection(&cases), &stored().unwrap(), false).unwrap();
    for figure in &figures {
        eprintln!("{:<18} {}", figure.case, figure.line());
    }
    assert!(figures.len() > 90);
    let verdict = verdict(&figures);
    assert!(verdict.is_valid(), "{:#?}", verdict.reasons);
}

/// williamson-6 passes against the stored heights, and fails when one is off by a millimetre.
#[test]
fn a_wrong_reference_fails() {
    let mut reference = stored().unwrap();
    let day = reference
        .runs
        .get_mut("case6_T42")
        .and_then(|run| run.days.get_mut("1.0"))
        .unwrap();
    day.h_m[3] += 1e-3;
    let figures = figures(&selection(&["williamson-6"]), &reference, false).unwrap();
    let failed: Vec<_> = figures.iter().filter(|figure| !figure.pass).collect();
    assert_eq!(failed.len(), 1, "{failed:#?}");
    assert_eq!(failed[0].quantity, "day 1: h at probes");
    assert!((failed[0].value - 1e-3).abs() < 1e-5);
    let verdict = verdict(&figures);
    assert!(!verdict.is_valid());
    assert!(
        verdict.reasons[0].contains("williamson-6, T42 rk4"),
        "{:?}",
        verdict.reasons
    );
}

#[test]
fn an_unknown_name_is_refused_with_the_list() {
    let error = figures(&selection(&["williamson-9"]), &stored().unwrap(), false).unwrap_err();
    assert_eq!(error.exit_code(), 2);
    let text = error.to_string();
    assert!(
        text.contains("williamson-9") && text.contains("galewsky-balanced"),
        "{text}"
    );
}
