//! History files: whole, never over another run's, readable.

use std::fs;

use ndarray::Array2;
use pstswm::problem::definition::HistoryFormat;
use pstswm::problem::input::Source;
use pstswm::report::netcdf::{
    HistoryPlan, HistoryWriter, LevelFields, OutputError, Sample, check_target, next_history_number,
};

use crate::support::{Random, scratch};

const NLAT: usize = 6;
const NLON: usize = 8;

fn plan(directory: &std::path::Path, levels: usize) -> HistoryPlan {
    HistoryPlan {
        directory: directory.to_path_buf(),
        first_number: 1,
        samples_per_file: 2,
        format: HistoryFormat::Classic,
        latitudes: (0..NLAT).map(|j| 75.0 - 30.0 * j as f64).collect(),
        longitudes: (0..NLON).map(|i| 45.0 * i as f64).collect(),
        levels,
        surface: Array2::from_shape_fn((NLAT, NLON), |(j, i)| (10 * j + i) as f64),
        title: "williamson-2 at T2".into(),
        source: "pstswm 0.1.0".into(),
        history: "2000-01-01 pstswm run a.toml".into(),
        namelist: "[problem]\ncase = \"williamson-2\"\n".into(),
    }
}

fn sample(time: f64, levels: usize) -> Sample {
    let mut random = Random(time.to_bits());
    let mut field = || Array2::from_shape_fn((NLAT, NLON), |_| random.unit());
    let levels = (0..levels).map(|_| LevelFields {
        h: field(),
        u: field(),
        v: field(),
        zeta: field(),
        delta: field(),
    });
    Sample {
        time,
        levels: levels.collect(),
        checksum: Some(0xabc),
    }
}

#[test]
fn samples_come_back_and_files_appear_only_when_whole() {
    let formats = if cfg!(feature = "netcdf4") {
        vec![HistoryFormat::Classic, HistoryFormat::NetCdf4]
    } else {
        vec![HistoryFormat::Classic]
    };
    for (levels, format) in formats
        .into_iter()
        .flat_map(|format| [(1, format), (3, format)])
    {
        let folder = scratch(&format!("history{levels}{format:?}")).join("made/later");
        check_target(&folder, false).unwrap();
        let plan = HistoryPlan {
            format,
            ..plan(&folder, levels)
        };
        let mut writer = HistoryWriter::new(plan).unwrap();
        assert!(!folder.exists());
        writer.push(sample(0.0, levels)).unwrap();
        assert!(!folder.exists(), "one of two samples is no file yet");
        writer.push(sample(3600.0, levels)).unwrap();
        assert!(folder.join("history_0001.nc").exists());
        writer.push(sample(7200.0, levels)).unwrap();
        assert_eq!(writer.written().len(), 1);
        let files = writer.finish().unwrap();
        assert_eq!(
            files,
            [
                folder.join("history_0001.nc"),
                folder.join("history_0002.nc")
            ]
        );
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);

        let mut first = Source::open(&files[0]).unwrap();
        assert_eq!(first.read("time").unwrap(), [0.0, 3600.0]);
        let expected: Vec<f64> = sample(3600.0, levels)
            .levels
            .iter()
            .flat_map(|l| l.v.iter().copied())
            .collect();
        assert_eq!(first.read_at("v", 1).unwrap(), expected);
        assert_eq!(first.read("h_s").unwrap()[NLON + 1], 11.0);
        assert_eq!(
            first.text("checksum"),
            Some("0000000000000abc 0000000000000abc")
        );
        assert!(first.text("namelist").unwrap().contains("williamson-2"));
        assert_eq!(first.variable("level").is_some(), levels > 1);
        let mut second = Source::open(&files[1]).unwrap();
        assert_eq!(second.read("time").unwrap(), [7200.0]);
    }
}

#[test]
fn files_of_an_earlier_run_are_not_touched() {
    let folder = scratch("earlier");
    fs::write(folder.join("history_0001.nc"), b"precious").unwrap();
    let error = check_target(&folder, false).unwrap_err();
    assert!(error.to_string().contains("history_0001.nc"), "{error}");
    assert!(matches!(
        pstswm::error::Error::from(error),
        pstswm::error::Error::Input(_)
    ));
    assert!(matches!(
        HistoryWriter::new(plan(&folder, 1)),
        Err(OutputError::Exists { .. })
    ));
    let continued = HistoryPlan {
        first_number: next_history_number(&folder),
        ..plan(&folder, 1)
    };
    let mut writer = HistoryWriter::new(continued).unwrap();
    writer.push(sample(0.0, 1)).unwrap();
    assert_eq!(writer.finish().unwrap(), [folder.join("history_0002.nc")]);
    assert_eq!(
        fs::read(folder.join("history_0001.nc")).unwrap(),
        b"precious"
    );
}

#[test]
fn an_unwritable_folder_is_a_failure_in_clear_words() {
    let folder = scratch("unwritable");
    fs::write(folder.join("file"), b"x").unwrap();
    let mut writer = HistoryWriter::new(plan(&folder.join("file"), 1)).unwrap();
    writer.push(sample(0.0, 1)).unwrap();
    let error = writer.finish().unwrap_err();
    assert!(error.to_string().contains("cannot write"), "{error}");
    assert!(matches!(
        pstswm::error::Error::from(error),
        pstswm::error::Error::Failed(_)
    ));
}

#[test]
fn what_the_format_or_the_build_cannot_hold_is_refused_at_once() {
    let folder = scratch("large");
    let large = HistoryPlan {
        latitudes: vec![0.0; 1920],
        longitudes: vec![0.0; 3840],
        surface: Array2::zeros((1920, 3840)),
        ..plan(&folder, 137)
    };
    let message = HistoryWriter::new(large).unwrap_err().to_string();
    assert!(
        message.contains("137 levels x 1920 x 3840") && message.contains("netcdf4"),
        "{message}"
    );
    if !cfg!(feature = "netcdf4") {
        let other = HistoryPlan {
            format: HistoryFormat::NetCdf4,
            ..plan(&folder, 1)
        };
        let message = HistoryWriter::new(other).unwrap_err().to_string();
        assert!(message.contains("--features netcdf4"), "{message}");
    }
    assert!(
        HistoryWriter::new(HistoryPlan {
            samples_per_file: 0,
            ..plan(&folder, 1)
        })
        .is_err()
    );
}
