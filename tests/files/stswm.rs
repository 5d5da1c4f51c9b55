//! STSWM's spectral file, when the environment says where it is.

use std::path::PathBuf;

use pstswm::problem::definition::{HeightFrom, StateFile, VariableNames};
use pstswm::problem::input::{FileState, read_state, read_stswm};
use pstswm::problem::planet::Planet;
use pstswm::spectral::truncation::Truncation;

use crate::made::{Data, Places, Var, var, write};
use crate::support::scratch;

#[test]
fn the_state_of_21_december_1978() {
    let Some(path) = std::env::var_os("PSTSWM_STSWM_FILE").map(PathBuf::from) else {
        eprintln!("skipped: PSTSWM_STSWM_FILE does not name STSWM's case 7 file");
        return;
    };
    let planet = Planet::default();
    let file = StateFile {
        path: path.clone(),
        time_index: 0,
        height: HeightFrom::Given,
        names: VariableNames::default(),
    };
    let FileState::Spectral(state) = read_state(&file, &planet).unwrap() else {
        panic!("not told to be spectral");
    };
    assert_eq!(state.truncation, Truncation::triangular(42));
    assert_eq!(state.time, 0.0);
    // The global mean of relative vorticity and divergence vanishes.
    assert!(state.zeta[0][0].norm() < 1e-10 && state.delta[0][0].norm() < 1e-10);
    // f is gone: what is left is of the size of the flow.
    assert!(state.zeta[0][1].norm() < 2e-5, "{}", state.zeta[0][1]);
    let lat: Vec<f64> = (0..64).map(|j| 88.6 - 2.8125 * f64::from(j)).collect();
    let lon: Vec<f64> = (0..128).map(|i| 2.8125 * f64::from(i)).collect();
    let h = Places {
        lat: &lat,
        lon: &lon,
    }
    .scalar(&state.phi);
    let least = h.iter().copied().fold(f64::INFINITY, f64::min) / planet.gravity;
    let most = h.iter().copied().fold(0.0, f64::max) / planet.gravity;
    assert!(
        (least - 9161.0).abs() < 25.0 && (most - 10275.2).abs() < 5.0,
        "{least} {most}"
    );
    let day = read_stswm(&path, 1, &planet).unwrap();
    assert_eq!(day.time, 86400.0);
    let message = read_stswm(&path, 2, &planet).unwrap_err().to_string();
    assert!(message.contains("2 times: allowed is 0 to 1"), "{message}");
    // Cut off, and filled with zeros.
    assert_eq!(
        state.at(&state.zeta, &Truncation::triangular(21), 3),
        state.zeta[3][..19]
    );
    let wide = state.at(&state.zeta, &Truncation::triangular(63), 42);
    assert!(wide[0] == state.zeta[42][0] && wide[1..].iter().all(|c| c.norm() == 0.0));
    assert!(
        state
            .at(&state.zeta, &Truncation::triangular(63), 50)
            .iter()
            .all(|c| c.norm() == 0.0)
    );
}

#[test]
fn a_file_of_that_kind() {
    let path = scratch("spectral").join("made.nc");
    let planet = Planet::default();
    let (rows, columns) = (4, 4);
    let dims = ["timestep", "n", "m", "complex"];
    let values = |factor: f32| {
        let mut list = Vec::new();
        for t in 0..2 {
            for n in 0..rows {
                for m in 0..columns {
                    let fill = m > n;
                    let re = if fill {
                        f32::INFINITY
                    } else {
                        factor * (100 * t + 10 * n + m) as f32
                    };
                    list.extend([re, if fill { f32::INFINITY } else { 0.5 * factor }]);
                }
            }
        }
        Data::F32(list)
    };
    let number = |name, value: f64| var(name, &[], vec![value]);
    let field = |name, factor| Var {
        data: values(factor),
        ..var(name, &dims, vec![])
    };
    let mut vars = vec![
        number("mm", 3.0),
        number("nn", 3.0),
        number("kk", 3.0),
        var("time", &["timestep"], vec![0.0, 24.0]),
        field("vorticity", 1.0),
        field("divergence", 2.0),
        field("geopotential", 4.0),
    ];
    let sizes = [("n", rows), ("m", columns), ("complex", 2)];
    write(&path, Some(("timestep", 2)), &sizes, &vars);
    let state = read_stswm(&path, 1, &planet).unwrap();
    assert_eq!(state.time, 86400.0);
    assert_eq!(state.truncation, Truncation::triangular(3));
    assert_eq!(state.phi[2][1].re, 4.0 * 132.0);
    assert_eq!(state.delta[0][3].im, 1.0);
    let f = 2.0 * planet.omega * (2.0f64 / 3.0).sqrt();
    assert_eq!(state.zeta[0][1].re, 110.0 - f);

    let mut refused = |name: &str, data: Data, words: &str| {
        let old = vars.clone();
        vars.iter_mut().find(|v| v.name == name).unwrap().data = data;
        write(&path, Some(("timestep", 2)), &sizes, &vars);
        vars = old;
        let message = read_stswm(&path, 0, &planet).unwrap_err().to_string();
        assert!(message.contains(words), "{message}");
    };
    refused(
        "mm",
        Data::F64(vec![-1.0]),
        "`mm` is -1; allowed is 1 to 100000",
    );
    refused("kk", Data::F64(vec![2.0]), "is no truncation");
    refused(
        "kk",
        Data::F64(vec![5.0]),
        "too few for mm, nn, kk = [3, 3, 5]",
    );
    let infinite = Data::F32(vec![f32::INFINITY; 2 * rows * columns * 2]);
    refused("divergence", infinite, "at n = 0, m = 0");
}
