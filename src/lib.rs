//! PSTSWM: the parallel spectral transform shallow water model.
//!
//! Data flows one way, and a module uses only what stands above it:
//!
//! ```text
//! namelist      the run file, checked as a whole
//! problem       the sphere, the test cases, states from files
//! dd            double-double arithmetic (anyone may use it)
//! decomp        who owns which latitudes, wavenumbers and levels
//! grid          Gaussian latitudes
//! spectral      truncations, associated Legendre functions
//! transport     messages between ranks (threads of one process; MPI)
//! swap          two ranks exchange messages: order, protocol
//! exchange      transposes and collectives built from swaps, on flat buffers
//! transform     one rank's share of the FFT and the Legendre transform
//! pencil        the distributed transform: transform and exchange meet
//! solver        the shallow-water equations on top of pencil
//! measure       clocks, phases, statistics
//! report        results as text, JSON and NetCDF
//! check         figures, norms and reference values that results are compared with
//! app           one file per subcommand
//! ```

pub mod app;
pub mod check;
pub mod dd;
pub mod decomp;
pub mod error;
pub mod exchange;
pub mod grid;
pub mod measure;
pub mod namelist;
pub mod pencil;
pub mod problem;
pub mod report;
pub mod solver;
pub mod spectral;
pub mod swap;
pub mod transform;
pub mod transport;
