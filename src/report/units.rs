//! Numbers with units for people.

/// A duration in s with four digits and the unit that fits.
pub fn seconds(value: f64) -> String {
    const UNITS: [(f64, &str); 4] = [(1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")];
    if !value.is_finite() {
        return "-".to_owned();
    }
    if value == 0.0 {
        return "0 s".to_owned();
    }
    // Rounding to four digits may reach the next unit: 0.99999 s is 1.000 s.
    let (scale, unit) = UNITS
        .into_iter()
        .find(|(scale, _)| value.abs() >= 0.99995 * scale)
        .unwrap_or(UNITS[3]);
    format!("{} {unit}", digits(value / scale, 4))
}

/// Bytes with three digits; kB, MB, ... are powers of 1000.
pub fn bytes(value: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if value < 1000 {
        return format!("{value} B");
    }
    let mut scaled = value as f64 / 1000.0;
    let mut unit = 0;
    while scaled >= 999.5 && unit + 1 < UNITS.len() {
        scaled /= 1000.0;
        unit += 1;
    }
    format!("{} {}", digits(scaled, 3), UNITS[unit])
}

/// A rate or count: whole from 100 on, three digits below.
pub fn count(value: f64) -> String {
    if !value.is_finite() {
        "-".to_owned()
    } else {
        digits(value, 3)
    }
}

/// At least `digits` significant digits, never an exponent.
fn digits(value: f64, digits: usize) -> String {
    let before = match value.abs() {
        x if x >= 999.95 => 4,
        x if x >= 99.995 => 3,
        x if x >= 9.9995 => 2,
        _ => 1,
    };
    format!("{value:.*}", digits.saturating_sub(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_take_the_unit_that_fits() {
        for (value, text) in [
            (0.0, "0 s"),
            (1.5, "1.500 s"),
            (75.25, "75.25 s"),
            (12345.6, "12346 s"),
            (0.999999, "1.000 s"),
            (0.0123456, "12.35 ms"),
            (4.2e-6, "4.200 us"),
            (3.1e-8, "31.00 ns"),
            (1e-12, "0.001 ns"),
            (f64::NAN, "-"),
        ] {
            assert_eq!(seconds(value), text);
        }
    }

    #[test]
    fn bytes_are_decimal() {
        for (value, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.00 kB"),
            (131_072, "131 kB"),
            (999_950, "1.00 MB"),
            (24_691_356, "24.7 MB"),
            (u64::MAX, "18.4 EB"),
        ] {
            assert_eq!(bytes(value), text);
        }
    }

    #[test]
    fn rates() {
        assert_eq!(count(176_991.15), "176991");
        assert_eq!(count(2.34567), "2.35");
        assert_eq!(count(f64::INFINITY), "-");
    }
}
