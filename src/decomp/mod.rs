//! Who owns which latitudes, wavenumbers and levels: pure arithmetic, no communicator.

pub mod mesh;
