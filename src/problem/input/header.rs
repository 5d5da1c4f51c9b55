//! A look at the header of a classic NetCDF file before the library parses it.
//!
//! The library believes every count and offset it reads: a damaged file would make it ask for all
//! memory there is, or stop the program. Here every count is held against the length of the file
//! first, and a file shorter than its variables is found out.
//! Format: NetCDF User's Guide, "The NetCDF classic format specification".

use std::io::{self, BufReader, Read};

/// What is wrong with the header.
#[derive(Debug)]
pub(super) enum Fault {
    /// The file ends before its last variable does.
    Truncated { needs: u64 },
    /// Anything else.
    Malformed(String),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Malformed(format!("its header cannot be read ({error})"))
    }
}

struct Scan<R> {
    input: BufReader<R>,
    position: u64,
    length: u64,
}

/// Bytes of a value of the six types of the classic format.
fn width(kind: u32) -> Option<u64> {
    match kind {
        1 | 2 => Some(1),
        3 => Some(2),
        4 | 5 => Some(4),
        6 => Some(8),
        _ => None,
    }
}

/// Checks the header of a file of `length` bytes; `input` stands at its beginning.
pub(super) fn check(input: impl Read, length: u64) -> Result<(), Fault> {
    let mut scan = Scan {
        input: BufReader::new(input),
        position: 0,
        length,
    };
    let magic = scan.bytes::<4>()?;
    let wide = magic[3] == 2;
    let records = scan.word()?;
    let mut lengths = Vec::new();
    for _ in 0..scan.list(10, 8, "dimensions")? {
        scan.name()?;
        lengths.push(u64::from(scan.word()?));
    }
    scan.attributes()?;
    let mut slabs = Vec::new();
    for _ in 0..scan.list(11, 28, "variables")? {
        slabs.push(scan.variable(&lengths, wide)?);
    }
    let record_size = slabs.iter().filter(|s| s.record).try_fold(0u64, |sum, s| {
        sum.checked_add(s.size.checked_next_multiple_of(4)?)
    });
    let record_size = record_size.ok_or_else(|| too_large("a record"))?;
    let mut recorded = slabs.iter().filter(|slab| slab.record);
    if let (Some(only), None) = (recorded.next(), recorded.next())
        && !only.size.is_multiple_of(4)
    {
        return Err(Fault::Malformed(
            "its only record variable has an odd number of small integers, which the reader \
             cannot place; store it as float"
                .into(),
        ));
    }
    let mut needs = 0;
    for slab in &slabs {
        let end = slab.end(records, record_size);
        needs = needs.max(end.ok_or_else(|| too_large("a variable"))?);
    }
    if needs > length {
        return Err(Fault::Truncated { needs });
    }
    Ok(())
}

fn too_large(what: &str) -> Fault {
    Fault::Malformed(format!("{what} would be larger than any file"))
}

/// Where a variable lies.
struct Slab {
    begin: u64,
    size: u64,
    record: bool,
}

impl Slab {
    /// The end of the variable; `None`: beyond all numbers.
    fn end(&self, records: u32, record_size: u64) -> Option<u64> {
        let last = match (self.record, records) {
            (false, _) => 0,
            // Without records a file may end before the place of the first.
            (true, 0) => return Some(0),
            // An indeterminate number of records (all ones) follows from the length of the file.
            (true, u32::MAX) => return Some(self.begin),
            (true, count) => u64::from(count) - 1,
        };
        last.checked_mul(record_size)?
            .checked_add(self.begin)?
            .checked_add(self.size)
    }
}

impl<R: Read> Scan<R> {
    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let mut bytes = [0; N];
        if self.position + N as u64 > self.length {
            return Err(Fault::Malformed("it ends within its header".into()));
        }
        self.input.read_exact(&mut bytes)?;
        self.position += N as u64;
        Ok(bytes)
    }

    fn word(&mut self) -> Result<u32, Fault> {
        Ok(u32::from_be_bytes(self.bytes()?))
    }

    fn skip(&mut self, count: u64) -> Result<(), Fault> {
        let padded = count
            .checked_next_multiple_of(4)
            .ok_or_else(|| too_large("an attribute"))?;
        if padded > self.length - self.position {
            return Err(Fault::Malformed("it ends within its header".into()));
        }
        io::copy(&mut self.input.by_ref().take(padded), &mut io::sink())?;
        self.position += padded;
        Ok(())
    }

    fn name(&mut self) -> Result<(), Fault> {
        let length = self.word()?;
        self.skip(u64::from(length))
    }

    /// Tag and count of a list whose items take at least `least` bytes.
    fn list(&mut self, tag: u32, least: u64, what: &str) -> Result<u32, Fault> {
        let (found, count) = (self.word()?, self.word()?);
        if found == 0 && count == 0 {
            return Ok(0);
        }
        if found != tag {
            return Err(Fault::Malformed(format!(
                "its list of {what} has tag {found}, not {tag}"
            )));
        }
        if u64::from(count) * least > self.length - self.position {
            return Err(Fault::Malformed(format!(
                "it ends within its list of {count} {what}"
            )));
        }
        Ok(count)
    }

    fn attributes(&mut self) -> Result<(), Fault> {
        for _ in 0..self.list(12, 12, "attributes")? {
            self.name()?;
            let kind = self.word()?;
            let count = self.word()?;
            let width = width(kind)
                .ok_or_else(|| Fault::Malformed(format!("an attribute has type {kind}")))?;
            self.skip(u64::from(count) * width)?;
        }
        Ok(())
    }

    fn variable(&mut self, lengths: &[u64], wide: bool) -> Result<Slab, Fault> {
        self.name()?;
        let count = self.word()?;
        if u64::from(count) * 4 > self.length - self.position {
            return Err(Fault::Malformed(
                "a variable has too many dimensions".into(),
            ));
        }
        let (mut items, mut record) = (1u64, false);
        for k in 0..count {
            let id = self.word()? as usize;
            match lengths.get(id) {
                None => return Err(Fault::Malformed(format!("a variable has dimension {id}"))),
                Some(0) if k == 0 => record = true,
                Some(&length) => {
                    items = items
                        .checked_mul(length)
                        .ok_or_else(|| too_large("a variable"))?;
                }
            }
        }
        self.attributes()?;
        let kind = self.word()?;
        let width =
            width(kind).ok_or_else(|| Fault::Malformed(format!("a variable has type {kind}")))?;
        self.word()?;
        let begin = if wide {
            u64::from_be_bytes(self.bytes()?)
        } else {
            u64::from(self.word()?)
        };
        let size = items
            .checked_mul(width)
            .ok_or_else(|| too_large("a variable"))?;
        Ok(Slab {
            begin,
            size,
            record,
        })
    }
}
