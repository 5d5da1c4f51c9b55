//! Checkpoints: named arrays of doubles, bit for bit, with a checksum over everything.
//!
//! `checkpoint_000000000072.nc` is a classic NetCDF file (64-bit offset). Large fields are split
//! over several variables (`zeta`, `zeta.part2`, ...), since the format keeps a variable below
//! 4 GiB. The attribute `checksum` is xxh3-64 over step, time, truncation, levels, scalars, texts
//! and fields in order, names included. The last two checkpoints of a run are kept.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3Default;

use super::document::{Document, Kind, Value, Values, Variable, text};
use super::error::OutputError;
use crate::problem::definition::HistoryFormat;

/// Version of the layout; a reader refuses any other.
pub(super) const SCHEMA: i32 = 1;
/// Attribute that tells a checkpoint of this program, with the version of its layout.
pub(super) const MARK: &str = "pstswm_checkpoint";
/// Doubles in one variable at most: 1 GiB.
const PART: usize = 1 << 27;
/// Prefixes of the attributes that hold scalars and texts.
pub(super) const SCALAR: &str = "scalar.";
pub(super) const TEXT: &str = "text.";
/// The checkpoints of a run that are kept.
const KEPT: usize = 2;

/// The content of a checkpoint. Names are those NetCDF allows: letters, digits, `_`, `-`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CheckpointData {
    /// Time steps done.
    pub step: u64,
    /// Time since the start, s.
    pub time: f64,
    /// `[M, N, K]`.
    pub truncation: [usize; 3],
    /// Independent copies of the problem.
    pub levels: usize,
    /// Named arrays, in the order of the caller; complex numbers as pairs.
    pub fields: Vec<(String, Vec<f64>)>,
    /// Named numbers.
    pub scalars: Vec<(String, f64)>,
    /// Named texts, for instance the namelist.
    pub text: Vec<(String, String)>,
}

impl CheckpointData {
    /// The field of a name.
    pub fn field(&self, name: &str) -> Option<&[f64]> {
        self.fields
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, values)| values.as_slice())
    }

    /// The number of a name.
    pub fn scalar(&self, name: &str) -> Option<f64> {
        self.scalars
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, value)| *value)
    }

    /// The text of a name.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.text
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, value)| value.as_str())
    }

    /// xxh3-64 over everything, as it stands in the file.
    pub(super) fn checksum(&self) -> u64 {
        let mut sum = Xxh3Default::new();
        sum.update(&SCHEMA.to_le_bytes());
        sum.update(&self.step.to_le_bytes());
        sum.update(&self.time.to_bits().to_le_bytes());
        for size in self.truncation.iter().chain([&self.levels]) {
            sum.update(&(*size as u64).to_le_bytes());
        }
        let label = |sum: &mut Xxh3Default, name: &str| {
            sum.update(&(name.len() as u64).to_le_bytes());
            sum.update(name.as_bytes());
        };
        for (name, value) in &self.scalars {
            label(&mut sum, name);
            sum.update(&value.to_bits().to_le_bytes());
        }
        for (name, value) in &self.text {
            label(&mut sum, name);
            label(&mut sum, value);
        }
        let mut bytes = Vec::with_capacity(8 * 4096);
        for (name, values) in &self.fields {
            label(&mut sum, name);
            sum.update(&(values.len() as u64).to_le_bytes());
            for chunk in values.chunks(4096) {
                bytes.clear();
                bytes.extend(chunk.iter().flat_map(|value| value.to_bits().to_le_bytes()));
                sum.update(&bytes);
            }
        }
        sum.digest()
    }
}

/// The file name of the checkpoint of a step; names sort by step.
pub fn checkpoint_name(step: u64) -> String {
    format!("checkpoint_{step:012}.nc")
}

/// Writes checkpoints into a folder and keeps the last two it wrote. Used on one rank only.
#[derive(Debug)]
pub struct CheckpointWriter {
    directory: PathBuf,
    kept: Vec<PathBuf>,
    part: usize,
}

impl CheckpointWriter {
    /// A writer into `directory`, which is made with the first checkpoint.
    pub fn new(directory: &Path) -> Self {
        Self {
            directory: directory.to_path_buf(),
            kept: Vec::new(),
            part: PART,
        }
    }

    /// Writes a checkpoint whole, then removes the one before the last of this writer. Files that
    /// this writer did not make are never removed.
    ///
    /// # Errors
    /// [`OutputError::Write`]; earlier checkpoints are whole then.
    pub fn write(&mut self, data: &CheckpointData) -> Result<PathBuf, OutputError> {
        let path = self.directory.join(checkpoint_name(data.step));
        document(data, self.part).write(&path, HistoryFormat::Classic)?;
        self.kept.retain(|old| *old != path);
        self.kept.push(path.clone());
        while self.kept.len() > KEPT {
            // An old checkpoint that cannot be removed is no reason to stop a run.
            let _ = std::fs::remove_file(self.kept.remove(0));
        }
        Ok(path)
    }
}

fn document(data: &CheckpointData, part: usize) -> Document<'_> {
    let size = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
    let mut file = Document {
        attributes: vec![
            (MARK.into(), Value::Ints(vec![SCHEMA])),
            text(
                "title",
                "checkpoint of the parallel spectral transform shallow water model",
            ),
            text("step", data.step.to_string()),
            ("time".into(), Value::Doubles(vec![data.time])),
            (
                "truncation".into(),
                Value::Ints(data.truncation.map(size).to_vec()),
            ),
            ("levels".into(), Value::Ints(vec![size(data.levels)])),
            text("checksum", format!("{:016x}", data.checksum())),
        ],
        ..Document::default()
    };
    for (name, value) in &data.scalars {
        file.attributes
            .push((format!("{SCALAR}{name}"), Value::Doubles(vec![*value])));
    }
    for (name, value) in &data.text {
        file.attributes
            .push(text(&format!("{TEXT}{name}"), value.as_str()));
    }
    for (name, values) in &data.fields {
        // An empty field is a scalar variable with the attribute `empty`: a length of 0 would be
        // the unlimited dimension.
        if values.is_empty() {
            file.variables.push(Variable {
                name: name.clone(),
                dimensions: Vec::new(),
                kind: Kind::Double,
                attributes: vec![("empty".into(), Value::Ints(vec![1]))],
                values: Box::new(|_| Values::Doubles(Cow::Owned(vec![0.0]))),
            });
        }
        for (k, chunk) in values.chunks(part).enumerate() {
            let dimension = format!("length{}", chunk.len());
            if !file.dimensions.iter().any(|(known, _)| *known == dimension) {
                file.dimensions.push((dimension.clone(), chunk.len()));
            }
            file.doubles(
                &part_name(name, k),
                &[&dimension],
                &[],
                Cow::Borrowed(chunk),
            );
        }
    }
    file
}

/// `zeta`, `zeta.part2`, `zeta.part3`, ...
pub(super) fn part_name(name: &str, k: usize) -> String {
    if k == 0 {
        name.to_string()
    } else {
        format!("{name}.part{}", k + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::atomic::tests::scratch;
    use super::super::restart::read_checkpoint;
    use super::*;

    #[test]
    fn large_fields_are_split_and_joined_again() {
        let folder = scratch("split");
        let data = CheckpointData {
            step: 3,
            levels: 1,
            truncation: [4, 4, 4],
            fields: vec![
                ("zeta".into(), (0..23).map(f64::from).collect()),
                ("none".into(), Vec::new()),
                ("delta".into(), vec![-0.0; 5]),
            ],
            ..CheckpointData::default()
        };
        let mut writer = CheckpointWriter {
            part: 5,
            ..CheckpointWriter::new(&folder)
        };
        let path = writer.write(&data).unwrap();
        let back = read_checkpoint(&path).unwrap();
        assert_eq!(back, data);
        assert!(back.fields[2].1.iter().all(|x| x.is_sign_negative()));
    }
}
