//! The header of a measuring command: what runs where, and what may spoil the numbers.

use std::fmt::Write;

use super::provenance::Provenance;

/// Width of the names at the left.
const LABEL: usize = 15;

/// The block printed before anything is measured: `what` it is, what follows the number of ranks, and
/// lines of its own.
pub fn header(
    provenance: &Provenance,
    what: &str,
    ranks: &str,
    lines: &[(&str, String)],
) -> String {
    let mut text = format!("PSTSWM {} {what}\n\n", provenance.build.version);
    let mut line = |label: &str, value: &str| {
        let _ = writeln!(text, "{label:<LABEL$}{value}");
    };
    for (label, value) in lines {
        line(label, value);
    }
    let library = provenance.transport_library.as_deref();
    line("transport", library.unwrap_or(&provenance.transport));
    line("ranks", &format!("{}{ranks}", provenance.ranks));
    for host in &provenance.hosts {
        let name = host.name.as_deref().unwrap_or("?");
        line("host", &format!("{name}, ranks: {}", host.ranks));
    }
    if let Some(model) = &provenance.cpu.model {
        line("processor", model);
    }
    line("seed", &provenance.seed.to_string());
    for warning in &provenance.warnings {
        line("warning", warning);
    }
    text
}
