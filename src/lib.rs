//! PSTSWM: the parallel spectral transform shallow water model.
//!
//! Data flows one way, and a module uses only what stands above it:
//!
//! ```text
//! error         the program's error: one message, one exit code
//! dd            double-double arithmetic
//! measure       clocks, phases, statistics; these three may be used by all
//! grid          Gaussian latitudes
//! spectral      truncations, associated Legendre functions
//! problem       the sphere, the test cases, states from files
//! decomp        who owns which latitudes, wavenumbers and levels
//! transport     messages between ranks (threads of one process; MPI)
//! swap          two ranks exchange messages: order, protocol
//! exchange      transposes, vector sums and collectives built from swaps, on flat buffers
//! bench         measuring programs: the swap test
//! transform     one rank's share of the FFT and the Legendre transform
//! pencil        the distributed transform: transform and exchange meet
//! namelist      the run file, checked as a whole, into the plain data of the layers above
//! report        results as text, JSON and NetCDF
//! solver        the shallow-water equations on top of pencil
//! tune          the search for the fastest way to run a problem
//! check         figures, norms and reference values that results are compared with
//! app           one file per subcommand
//! ```

pub mod app;
pub mod bench;
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
pub mod tune;
