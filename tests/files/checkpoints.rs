//! Checkpoints: bit for bit, the last two, and everything damaged refused.

use std::fs;

use pstswm::report::netcdf::{
    CheckpointData, CheckpointError, CheckpointWriter, checkpoint_name, read_checkpoint,
};

use crate::support::{Random, scratch};

fn state(step: u64) -> CheckpointData {
    let mut random = Random(step);
    let mut zeta: Vec<f64> = (0..501).map(|_| random.unit()).collect();
    zeta[..6].copy_from_slice(&[-0.0, 5e-324, f64::MIN_POSITIVE, -1e308, 0.1, f64::EPSILON]);
    CheckpointData {
        step,
        time: 1200.0 * step as f64 / 7.0,
        truncation: [42, 42, 42],
        levels: 3,
        fields: vec![
            ("zeta".into(), zeta),
            ("delta".into(), (0..501).map(|_| random.unit()).collect()),
            (
                "previous_zeta".into(),
                (0..7).map(|_| random.unit()).collect(),
            ),
        ],
        scalars: vec![("phibar".into(), 29400.1 / 3.0), ("mass".into(), -0.0)],
        text: vec![
            ("namelist".into(), "a = 1 # π\nb = \"x\"\n".into()),
            ("none".into(), "".into()),
        ],
    }
}

fn bits(data: &CheckpointData) -> Vec<u64> {
    let fields = data
        .fields
        .iter()
        .flat_map(|(_, v)| v.iter().map(|x| x.to_bits()));
    let scalars = data.scalars.iter().map(|(_, x)| x.to_bits());
    fields.chain(scalars).chain([data.time.to_bits()]).collect()
}

#[test]
fn a_checkpoint_comes_back_bit_for_bit() {
    let folder = scratch("bits");
    let data = state(12);
    let path = CheckpointWriter::new(&folder).write(&data).unwrap();
    assert_eq!(path, folder.join(checkpoint_name(12)));
    let back = read_checkpoint(&path).unwrap();
    assert_eq!(back, data);
    assert_eq!(bits(&back), bits(&data));
    assert_eq!(back.scalar("phibar"), Some(29400.1 / 3.0));
    assert_eq!(back.field("previous_zeta").unwrap().len(), 7);
    assert!(back.text("namelist").unwrap().contains('π'));
}

#[test]
fn the_last_two_are_kept_and_those_of_others_stay() {
    let folder = scratch("two");
    fs::write(folder.join(checkpoint_name(1)), b"of another run").unwrap();
    let mut writer = CheckpointWriter::new(&folder);
    for step in [10, 20, 30, 40] {
        writer.write(&state(step)).unwrap();
    }
    let mut names: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [checkpoint_name(1), checkpoint_name(30), checkpoint_name(40)]
    );
}

#[test]
fn what_is_no_checkpoint_is_refused_with_its_name() {
    let folder = scratch("foreign");
    let path = folder.join("checkpoint_9.nc");
    let refused = |content: &[u8], words: &str| {
        fs::write(&path, content).unwrap();
        let message = read_checkpoint(&path).unwrap_err().to_string();
        assert!(message.contains(words), "{message}");
        assert!(message.contains("checkpoint_9.nc"), "{message}");
        assert!(!message.contains('\n'), "{message}");
    };
    refused(b"", "is empty");
    refused(b"hello, world", "is not a NetCDF file");
    refused(b"\x89HDF\r\n\x1a\n and more", "NetCDF");
    let good = CheckpointWriter::new(&folder).write(&state(9)).unwrap();
    let bytes = fs::read(good).unwrap();
    refused(&bytes[..bytes.len() - 1], "truncated");
    refused(&bytes[..bytes.len() / 2], "truncated");
    refused(&bytes[..100], "ends within its");
    let mut other = bytes.clone();
    let end = other.len() - 9;
    other[end] ^= 1;
    refused(&other, "damaged checkpoint (its checksum is");
    let at = bytes
        .windows(17)
        .position(|w| w == b"pstswm_checkpoint")
        .unwrap();
    let mut foreign = bytes.clone();
    foreign[at] = b'q';
    refused(&foreign, "not a checkpoint of this program");
    let mut future = bytes.clone();
    future[at + 20 + 11] = 2;
    refused(&future, "layout 2, this program reads layout 1");
    let absent = folder.join("nowhere.nc");
    assert!(matches!(
        read_checkpoint(&absent),
        Err(CheckpointError::Unreadable(_))
    ));
}

#[test]
fn no_damage_passes_and_none_panics() {
    let folder = scratch("damage");
    let mut small = state(5);
    small.fields.truncate(1);
    small.fields[0].1.truncate(9);
    let good = CheckpointWriter::new(&folder).write(&small).unwrap();
    let bytes = fs::read(&good).unwrap();
    let path = folder.join("damaged.nc");
    let mut random = Random(1);
    for cut in 0..bytes.len() {
        fs::write(&path, &bytes[..cut]).unwrap();
        assert!(read_checkpoint(&path).is_err(), "cut at {cut}");
    }
    for position in 0..bytes.len() {
        for value in [0xff, bytes[position] ^ 1, random.bits() as u8] {
            let mut damaged = bytes.clone();
            damaged[position] = value;
            fs::write(&path, &damaged).unwrap();
            // A changed title or padding does no harm; what is read must be what was written.
            if let Ok(back) = read_checkpoint(&path) {
                assert_eq!(bits(&back), bits(&small), "byte {position} = {value}");
                assert_eq!(back, small);
            }
        }
    }
}
