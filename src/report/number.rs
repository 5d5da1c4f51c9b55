//! Numbers in JSON: what is not finite is written as `null` (JSON has no NaN) and read as NaN.

use serde::{Deserialize, Deserializer};

/// Reads a number, `null` as NaN.
pub fn or_nan<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

/// Reads a list of numbers, `null` as NaN.
pub fn each_or_nan<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    let list = Vec::<Option<f64>>::deserialize(deserializer)?;
    Ok(list.into_iter().map(|x| x.unwrap_or(f64::NAN)).collect())
}
