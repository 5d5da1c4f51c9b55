//! The classic format (64-bit offset) through the crate `netcdf3`.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;
use std::rc::Rc;

use netcdf3::{DataSet, DataType, FileWriter, Version};

use super::document::{Document, Kind, Value, Values};

/// The largest variable (or record of one) of the 64-bit-offset format, bytes: 2^32 - 4, and
/// whole doubles.
pub(super) const LARGEST: u128 = 4_294_967_288;

/// Writes the document to `path`; the error is in the words of the system where it has any.
pub(super) fn write(document: &Document<'_>, path: &Path) -> Result<(), String> {
    let file = File::create(path).map_err(|error| error.to_string())?;
    let sink = Sink(Rc::new(RefCell::new(Inner {
        file: BufWriter::with_capacity(1 << 20, file),
        failure: None,
    })));
    let set = define(document).map_err(|error| format!("{error:?}"))?;
    let written = fill(document, &set, sink.clone());
    let mut inner = sink.0.borrow_mut();
    // The library buffers nothing of its own; without this flush a full disk would go unseen.
    let flushed = inner.file.flush();
    if let Some(failure) = inner.failure.take() {
        return Err(failure);
    }
    flushed.map_err(|error| error.to_string())?;
    written.map_err(|error| format!("{error:?}"))
}

fn define(document: &Document<'_>) -> Result<DataSet, netcdf3::InvalidDataSet> {
    let mut set = DataSet::new();
    if let Some((name, count)) = &document.records {
        set.set_unlimited_dim(name, *count)?;
    }
    for (name, length) in &document.dimensions {
        set.add_fixed_dim(name, *length)?;
    }
    for (name, value) in &document.attributes {
        match value {
            Value::Text(text) => set.add_global_attr_string(name, text)?,
            Value::Doubles(list) => set.add_global_attr_f64(name, list.clone())?,
            Value::Ints(list) => set.add_global_attr_i32(name, list.clone())?,
        }
    }
    for variable in &document.variables {
        let kind = match variable.kind {
            Kind::Double => DataType::F64,
            Kind::Int => DataType::I32,
        };
        set.add_var(&variable.name, &variable.dimensions, kind)?;
        for (name, value) in &variable.attributes {
            match value {
                Value::Text(text) => set.add_var_attr_string(&variable.name, name, text)?,
                Value::Doubles(list) => {
                    set.add_var_attr_f64(&variable.name, name, list.clone())?;
                }
                Value::Ints(list) => set.add_var_attr_i32(&variable.name, name, list.clone())?,
            }
        }
    }
    Ok(set)
}

fn fill(document: &Document<'_>, set: &DataSet, sink: Sink) -> Result<(), netcdf3::WriteError> {
    let mut writer = FileWriter::open_seek_write("output", Box::new(sink))?;
    writer.set_def(set, Version::Offset64Bit, 0)?;
    let count = document.records.as_ref().map_or(0, |(_, count)| *count);
    for variable in document.variables.iter().filter(|v| !document.is_record(v)) {
        match (variable.values)(0) {
            Values::Doubles(list) => writer.write_var_f64(&variable.name, &list)?,
            Values::Ints(list) => writer.write_var_i32(&variable.name, &list)?,
        }
    }
    for record in 0..count {
        for variable in document.variables.iter().filter(|v| document.is_record(v)) {
            match (variable.values)(record) {
                Values::Doubles(list) => writer.write_record_f64(&variable.name, record, &list)?,
                Values::Ints(list) => writer.write_record_i32(&variable.name, record, &list)?,
            }
        }
    }
    writer.close()
}

/// A buffered file that the writer owns and we can still flush and ask for its first failure: the
/// library writes value by value, ignores short writes in the header, and keeps of an error only
/// its kind.
#[derive(Clone)]
struct Sink(Rc<RefCell<Inner>>);

struct Inner {
    file: BufWriter<File>,
    failure: Option<String>,
}

impl Sink {
    fn guard<T>(&self, act: impl FnOnce(&mut BufWriter<File>) -> io::Result<T>) -> io::Result<T> {
        let inner = &mut *self.0.borrow_mut();
        let outcome = act(&mut inner.file);
        if let (Err(error), None) = (&outcome, &inner.failure) {
            inner.failure = Some(error.to_string());
        }
        outcome
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.guard(|file| file.write_all(bytes).map(|()| bytes.len()))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.guard(Write::flush)
    }
}

impl Seek for Sink {
    fn seek(&mut self, target: SeekFrom) -> io::Result<u64> {
        // A seek to where we are would only empty the buffer.
        self.guard(|file| {
            if let SeekFrom::Start(position) = target
                && file.stream_position()? == position
            {
                return Ok(position);
            }
            file.seek(target)
        })
    }
}
