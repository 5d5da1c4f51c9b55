//! What this machine is, read from the system; `None` where it cannot be known.

use std::collections::BTreeSet;
use std::fs;

use serde::{Deserialize, Serialize};

/// The processor as the system sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// Model name.
    pub model: Option<String>,
    /// Sockets.
    pub sockets: Option<usize>,
    /// Physical cores of the machine.
    pub cores: Option<usize>,
    /// Logical processors of the machine.
    pub logical: Option<usize>,
    /// Logical processors this process may use.
    pub available: Option<usize>,
    /// Whether two or more threads share a core.
    pub smt: Option<bool>,
    /// Frequency governor of the first processor.
    pub governor: Option<String>,
}

impl Cpu {
    /// Asks the system.
    pub fn detect() -> Self {
        let mut cpu = Self::parse(&read("/proc/cpuinfo").unwrap_or_default());
        cpu.available = std::thread::available_parallelism().ok().map(usize::from);
        cpu.smt = match read("/sys/devices/system/cpu/smt/active").as_deref() {
            Some("1") => Some(true),
            Some("0") => Some(false),
            _ => cpu.cores.zip(cpu.logical).map(|(c, l)| l > c),
        };
        cpu.governor = read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
        cpu
    }

    /// Reads the text of /proc/cpuinfo.
    fn parse(text: &str) -> Self {
        let values = |key: &str| -> Vec<&str> {
            text.lines()
                .filter_map(|line| line.split_once(':'))
                .filter(|(name, _)| name.trim() == key)
                .map(|(_, value)| value.trim())
                .collect()
        };
        let count = |mut list: Vec<(&str, &str)>| {
            list.sort_unstable();
            list.dedup();
            Some(list.len()).filter(|&n| n > 0)
        };
        let packages = values("physical id");
        let cores = values("core id");
        Self {
            model: values("model name").first().map(|&m| m.to_owned()),
            sockets: count(packages.iter().map(|&p| (p, "")).collect()),
            cores: count(packages.iter().copied().zip(cores).collect()),
            logical: Some(values("processor").len()).filter(|&n| n > 0),
            ..Self::default()
        }
    }
}

/// Bytes of the caches that the first processor reads data through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caches {
    /// Level 1, data.
    pub l1d_bytes: Option<u64>,
    /// Level 2.
    pub l2_bytes: Option<u64>,
    /// Level 3; where there are several, the one of the first processor.
    pub l3_bytes: Option<u64>,
}

impl Caches {
    /// Asks the system.
    pub fn detect() -> Self {
        let mut caches = Self::default();
        for index in 0..16 {
            let of = |name: &str| {
                read(&format!(
                    "/sys/devices/system/cpu/cpu0/cache/index{index}/{name}"
                ))
            };
            let Some(level) = of("level") else {
                break;
            };
            if of("type").as_deref() == Some("Instruction") {
                continue;
            }
            let bytes = of("size").as_deref().and_then(parse_size);
            match level.as_str() {
                "1" => caches.l1d_bytes = bytes,
                "2" => caches.l2_bytes = bytes,
                "3" => caches.l3_bytes = bytes,
                _ => {}
            }
        }
        caches
    }

    /// The largest.
    pub fn last(&self) -> Option<u64> {
        self.l3_bytes.or(self.l2_bytes).or(self.l1d_bytes)
    }
}

/// Reads `32K`, `8M` or plain bytes.
fn parse_size(text: &str) -> Option<u64> {
    let (digits, factor) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 1 << 10),
        b'M' => (&text[..text.len() - 1], 1 << 20),
        b'G' => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// The vector instructions this processor has, among those that matter here, narrowest first.
pub fn vector_extensions() -> Vec<String> {
    #[cfg(target_arch = "x86_64")]
    let known = [
        ("sse2", std::is_x86_feature_detected!("sse2")),
        ("avx", std::is_x86_feature_detected!("avx")),
        ("avx2", std::is_x86_feature_detected!("avx2")),
        ("fma", std::is_x86_feature_detected!("fma")),
        ("avx512f", std::is_x86_feature_detected!("avx512f")),
    ];
    #[cfg(target_arch = "aarch64")]
    let known = [
        ("neon", std::arch::is_aarch64_feature_detected!("neon")),
        ("sve", std::arch::is_aarch64_feature_detected!("sve")),
        ("sve2", std::arch::is_aarch64_feature_detected!("sve2")),
    ];
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let known: [(&str, bool); 0] = [];
    let there = known.into_iter().filter(|(_, there)| *there);
    there.map(|(name, _)| name.to_owned()).collect()
}

/// Name of this host.
pub fn host() -> Option<String> {
    read("/proc/sys/kernel/hostname")
        .or_else(|| std::env::var("HOSTNAME").ok())
        .filter(|name| !name.is_empty())
}

/// Operating system and release of its kernel.
pub fn kernel() -> Option<String> {
    read("/proc/sys/kernel/osrelease").map(|release| format!("Linux {release}"))
}

/// Memory of the machine, bytes.
pub fn memory_bytes() -> Option<u64> {
    parse_memory(&read("/proc/meminfo")?)
}

fn parse_memory(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|l| l.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// Size of the last cache level that the first processor sees, bytes.
pub fn last_cache_bytes() -> Option<usize> {
    let size = |index: usize| {
        let text = read(&format!(
            "/sys/devices/system/cpu/cpu0/cache/index{index}/size"
        ))?;
        let (digits, unit) = match text.strip_suffix('M') {
            Some(digits) => (digits, 1 << 20),
            None => (text.strip_suffix('K')?, 1 << 10),
        };
        Some(digits.parse::<usize>().ok()? * unit)
    };
    (0..8).filter_map(size).max()
}

/// Processes ready to run, averaged over the last minute.
pub fn load_average() -> Option<f64> {
    read("/proc/loadavg")?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}

/// Processors the calling thread may run on, as the kernel lists them (`0-3,8`).
pub fn allowed_cpus() -> Option<String> {
    let text = read("/proc/thread-self/status").or_else(|| read("/proc/self/status"))?;
    let line = text
        .lines()
        .find_map(|l| l.strip_prefix("Cpus_allowed_list:"))?;
    Some(line.trim().to_owned())
}

/// The processors in a kernel list.
pub fn cpus(list: &str) -> Option<BTreeSet<usize>> {
    let mut all = BTreeSet::new();
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if last < first {
            return None;
        }
        all.extend(first..=last);
    }
    Some(all)
}

/// The trimmed text of a system file.
fn read(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|t| !t.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_counted_once_per_socket() {
        let processor = |n: u32, package: u32, core: u32| {
            format!(
                "processor\t: {n}\nmodel name\t: Some CPU @ 2 GHz\nphysical id\t: {package}\n\
                 core id\t\t: {core}\nflags\t\t: fpu: avx\n\n"
            )
        };
        let text: String = [
            (0, 0, 0),
            (1, 0, 1),
            (2, 1, 0),
            (3, 1, 1),
            (4, 0, 0),
            (5, 0, 1),
        ]
        .map(|(n, p, c)| processor(n, p, c))
        .concat();
        let cpu = Cpu::parse(&text);
        assert_eq!(cpu.model.as_deref(), Some("Some CPU @ 2 GHz"));
        assert_eq!(
            (cpu.sockets, cpu.cores, cpu.logical),
            (Some(2), Some(4), Some(6))
        );
        assert_eq!(Cpu::parse(""), Cpu::default());
        assert_eq!(Cpu::parse("processor : 0\nBogoMIPS : 50\n").cores, None);
    }

    #[test]
    fn memory_and_processor_lists() {
        assert_eq!(parse_memory("MemFree: 1 kB\n"), None);
        assert_eq!(parse_memory("MemTotal:       2048 kB\n"), Some(2 << 20));
        assert_eq!(cpus("0"), Some(BTreeSet::from([0])));
        assert_eq!(
            cpus("0-3,8,10-11"),
            Some(BTreeSet::from([0, 1, 2, 3, 8, 10, 11]))
        );
        assert_eq!(cpus("3-1"), None);
        assert_eq!(cpus("none"), None);
    }

    #[test]
    fn sizes_of_caches() {
        for (text, bytes) in [
            ("32K", Some(32 << 10)),
            ("8M", Some(8 << 20)),
            ("512", Some(512)),
            ("", None),
            ("K", None),
            ("much", None),
        ] {
            assert_eq!(parse_size(text), bytes, "{text}");
        }
        let caches = Caches {
            l1d_bytes: Some(1),
            l2_bytes: Some(2),
            l3_bytes: None,
        };
        assert_eq!(caches.last(), Some(2));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_machine_answers() {
        assert!(Cpu::detect().logical.is_some());
        assert!(kernel().is_some() && memory_bytes().is_some());
        assert!(!cpus(&allowed_cpus().unwrap()).unwrap().is_empty());
    }
}
