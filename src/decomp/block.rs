//! Even blocks of a range.

use std::ops::Range;

/// Block `index` of `0..total` cut into `parts`: sizes differ by one at most, larger ones first.
pub fn block(total: usize, parts: usize, index: usize) -> Range<usize> {
    let (size, larger) = (total / parts, total % parts);
    let start = index * size + index.min(larger);
    start..start + size + usize::from(index < larger)
}

/// The same in whole multiples of `unit` while every part can have one; else singly.
pub fn block_of_units(total: usize, unit: usize, parts: usize, index: usize) -> Range<usize> {
    let units = total.div_ceil(unit);
    if units < parts {
        return block(total, parts, index);
    }
    let range = block(units, parts, index);
    range.start * unit..(range.end * unit).min(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_without_overlap() {
        for total in 0..40 {
            for parts in 1..15 {
                for unit in [1, 4] {
                    let mut next = 0;
                    for index in 0..parts {
                        let range = block_of_units(total, unit, parts, index);
                        assert_eq!(range.start.min(total), next.min(total));
                        next = range.end.max(next);
                        assert!(range.len() <= total.div_ceil(unit).div_ceil(parts) * unit);
                    }
                    assert_eq!(next, total);
                }
            }
        }
    }
}
