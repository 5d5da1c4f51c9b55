//! Progress.
