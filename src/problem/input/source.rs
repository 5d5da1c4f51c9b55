//! An open NetCDF file, whatever its format: what is in it, and values as doubles.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use netcdf3::{DataType, DataVector, FileReader};

use super::error::InputError;
use super::header::{self, Fault};
#[cfg(feature = "netcdf4")]
use super::system;

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    /// Text, without trailing zeros.
    Text(String),
    /// Numbers of any type.
    Numbers(Vec<f64>),
}

/// What the file says about a variable.
#[derive(Clone, Debug)]
pub struct VariableInfo {
    /// Its name.
    pub name: String,
    /// Names and lengths of its dimensions, slowest first.
    pub dimensions: Vec<(String, usize)>,
    /// Its attributes.
    pub attributes: Vec<(String, Attribute)>,
    /// Whether its values are numbers.
    pub numeric: bool,
    /// Whether one index of the first dimension can be read alone.
    record: bool,
}

impl VariableInfo {
    /// A variable of which any part can be read alone.
    #[cfg(feature = "netcdf4")]
    pub(super) fn new(
        name: String,
        dimensions: Vec<(String, usize)>,
        attributes: Vec<(String, Attribute)>,
        numeric: bool,
    ) -> Self {
        Self {
            name,
            dimensions,
            attributes,
            numeric,
            record: true,
        }
    }

    /// The text of an attribute.
    pub fn text(&self, name: &str) -> Option<&str> {
        find_text(&self.attributes, name)
    }

    /// The first number of an attribute.
    pub fn number(&self, name: &str) -> Option<f64> {
        find_numbers(&self.attributes, name).and_then(|list| list.first().copied())
    }
}

fn find<'a>(list: &'a [(String, Attribute)], name: &str) -> Option<&'a Attribute> {
    list.iter()
        .find(|(known, _)| known == name)
        .map(|(_, value)| value)
}

fn find_text<'a>(list: &'a [(String, Attribute)], name: &str) -> Option<&'a str> {
    match find(list, name) {
        Some(Attribute::Text(text)) => Some(text),
        _ => None,
    }
}

fn find_numbers<'a>(list: &'a [(String, Attribute)], name: &str) -> Option<&'a [f64]> {
    match find(list, name) {
        Some(Attribute::Numbers(list)) => Some(list),
        _ => None,
    }
}

enum Backend {
    Classic(FileReader),
    #[cfg(feature = "netcdf4")]
    System(netcdf::File),
}

/// An open NetCDF file.
pub struct Source {
    path: PathBuf,
    backend: Backend,
    variables: Vec<VariableInfo>,
    attributes: Vec<(String, Attribute)>,
}

impl std::fmt::Debug for Source {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Source")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl Source {
    /// Opens a file and reads what is in it, not yet its values.
    ///
    /// # Errors
    /// A file that is not there, of another format, damaged, or truncated.
    pub fn open(path: &Path) -> Result<Self, InputError> {
        let file = path.to_path_buf();
        let fail = |reason: String| InputError::Open {
            file: path.to_path_buf(),
            reason,
        };
        if path.is_dir() {
            return Err(fail("it is a folder".into()));
        }
        let mut handle = File::open(path).map_err(|error| fail(error.to_string()))?;
        let length = handle
            .metadata()
            .map_err(|error| fail(error.to_string()))?
            .len();
        let mut magic = Vec::new();
        let begin = handle.by_ref().take(8).read_to_end(&mut magic);
        begin.map_err(|error| fail(error.to_string()))?;
        match magic.as_slice() {
            [b'C', b'D', b'F', 1 | 2, ..] => {}
            [b'C', b'D', b'F', 5, ..] => return Self::other(file, "CDF-5 (64-bit data)"),
            [0x89, b'H', b'D', b'F', b'\r', b'\n', 0x1a, b'\n'] => {
                return Self::other(file, "NetCDF-4 (HDF5)");
            }
            [] => {
                return Err(InputError::Malformed {
                    file,
                    reason: "it is empty".into(),
                });
            }
            other => {
                return Err(InputError::NotNetCdf {
                    file,
                    found: format!("\"{}\"", other.escape_ascii()),
                });
            }
        }
        handle
            .seek(SeekFrom::Start(0))
            .map_err(|error| fail(error.to_string()))?;
        header::check(handle, length).map_err(|fault| match fault {
            Fault::Truncated { needs } => InputError::Truncated {
                file: file.clone(),
                has: length,
                needs,
            },
            Fault::Malformed(reason) => InputError::Malformed {
                file: file.clone(),
                reason,
            },
        })?;
        Self::open_classic(file)
    }

    #[cfg(not(feature = "netcdf4"))]
    fn other(file: PathBuf, format: &'static str) -> Result<Self, InputError> {
        Err(InputError::OtherNetCdf {
            file,
            format,
            advice: "build with --features netcdf4 or ",
        })
    }

    #[cfg(feature = "netcdf4")]
    fn other(file: PathBuf, _: &'static str) -> Result<Self, InputError> {
        let malformed = |error: netcdf::Error| InputError::Malformed {
            file: file.clone(),
            reason: error.to_string(),
        };
        let system = netcdf::open(&file).map_err(malformed)?;
        let variables = system.variables().map(|v| system::info(&v)).collect();
        let attributes = system::attributes(system.attributes());
        Ok(Self {
            path: file,
            backend: Backend::System(system),
            variables,
            attributes,
        })
    }

    fn open_classic(file: PathBuf) -> Result<Self, InputError> {
        let reader = guarded(&file, || FileReader::open(&file))?;
        let set = reader.data_set();
        let variables = set.get_vars().into_iter().map(|variable| VariableInfo {
            name: variable.name().to_string(),
            dimensions: variable
                .get_dims()
                .iter()
                .map(|d| (d.name(), d.size()))
                .collect(),
            attributes: attributes(&variable.get_attrs()),
            numeric: variable.data_type() != DataType::U8,
            record: variable.is_record_var(),
        });
        let variables = variables.collect();
        let attributes = attributes(&set.get_global_attrs());
        Ok(Self {
            path: file,
            backend: Backend::Classic(reader),
            variables,
            attributes,
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the file holds.
    pub fn variables(&self) -> &[VariableInfo] {
        &self.variables
    }

    /// The variable of a name.
    pub fn variable(&self, name: &str) -> Option<&VariableInfo> {
        self.variables.iter().find(|variable| variable.name == name)
    }

    /// All attributes of the file.
    pub fn attributes(&self) -> &[(String, Attribute)] {
        &self.attributes
    }

    /// The text of an attribute of the file.
    pub fn text(&self, name: &str) -> Option<&str> {
        find_text(&self.attributes, name)
    }

    /// The numbers of an attribute of the file.
    pub fn numbers(&self, name: &str) -> Option<&[f64]> {
        find_numbers(&self.attributes, name)
    }

    /// All values of a variable as stored (packed numbers stay packed).
    ///
    /// # Errors
    /// What the library says about the file.
    pub fn read(&mut self, name: &str) -> Result<Vec<f64>, InputError> {
        let path = &self.path;
        match &mut self.backend {
            Backend::Classic(reader) => Ok(doubles(guarded(path, || reader.read_var(name))?)),
            #[cfg(feature = "netcdf4")]
            Backend::System(file) => system::read(path, file, name, None),
        }
    }

    /// The values at one index of the first dimension of a variable.
    ///
    /// # Errors
    /// What the library says about the file.
    pub fn read_at(&mut self, name: &str, index: usize) -> Result<Vec<f64>, InputError> {
        let (record, first) = match self.variable(name) {
            Some(info) => (info.record, info.dimensions.first().map_or(1, |(_, n)| *n)),
            None => (false, 1),
        };
        let path = &self.path;
        match &mut self.backend {
            Backend::Classic(reader) if record => {
                Ok(doubles(guarded(path, || reader.read_record(name, index))?))
            }
            Backend::Classic(reader) => {
                let all = doubles(guarded(path, || reader.read_var(name))?);
                let length = all.len() / first.max(1);
                let slab = all.get(index * length..(index + 1) * length);
                Ok(slab.map(<[f64]>::to_vec).unwrap_or_default())
            }
            #[cfg(feature = "netcdf4")]
            Backend::System(file) => system::read(path, file, name, Some(index)),
        }
    }
}

/// Calls the library; its errors and, should it have any left, its panics become ours.
fn guarded<T>(
    file: &Path,
    call: impl FnOnce() -> Result<T, netcdf3::ReadError>,
) -> Result<T, InputError> {
    let malformed = |reason: String| InputError::Malformed {
        file: file.to_path_buf(),
        reason,
    };
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(netcdf3::ReadError::IOErrorKind(kind))) => Err(InputError::Open {
            file: file.to_path_buf(),
            reason: kind.to_string(),
        }),
        // The library's error carries the rest of the header, which helps nobody.
        Ok(Err(netcdf3::ReadError::ParseHeader(error))) => Err(malformed(format!(
            "its header is broken ({:?})",
            error.kind
        ))),
        Ok(Err(error)) => Err(malformed(format!("{error:?}"))),
        Err(_) => Err(malformed("the NetCDF library gave up on it".into())),
    }
}

fn attributes(list: &[&netcdf3::Attribute]) -> Vec<(String, Attribute)> {
    let value = |attribute: &netcdf3::Attribute| match attribute.data_type() {
        DataType::U8 => {
            let bytes = attribute.get_u8().unwrap_or_default();
            let text = String::from_utf8_lossy(bytes);
            Attribute::Text(text.trim_end_matches('\0').to_string())
        }
        DataType::I8 => numbers(attribute.get_i8()),
        DataType::I16 => numbers(attribute.get_i16()),
        DataType::I32 => numbers(attribute.get_i32()),
        DataType::F32 => numbers(attribute.get_f32()),
        DataType::F64 => Attribute::Numbers(attribute.get_f64().unwrap_or_default().to_vec()),
    };
    list.iter()
        .map(|a| (a.name().to_string(), value(a)))
        .collect()
}

fn numbers<T: Copy + Into<f64>>(list: Option<&[T]>) -> Attribute {
    Attribute::Numbers(widen(list.unwrap_or_default()))
}

fn widen<T: Copy + Into<f64>>(list: &[T]) -> Vec<f64> {
    list.iter().map(|&value| value.into()).collect()
}

fn doubles(data: DataVector) -> Vec<f64> {
    match data {
        DataVector::I8(list) => widen(&list),
        DataVector::U8(list) => widen(&list),
        DataVector::I16(list) => widen(&list),
        DataVector::I32(list) => widen(&list),
        DataVector::F32(list) => widen(&list),
        DataVector::F64(list) => list,
    }
}
