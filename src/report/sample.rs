//! Test only: a result with fixed numbers, for the tests of every form it takes.

use super::env::*;
use super::machine::{Caches, Cpu};
use super::placement::Placed;
use super::provenance::{Build, Host, Provenance};
use super::record::{Kind, Record, Verdict};
use super::run::*;
use super::swap::*;
use super::tune::*;
use crate::measure::{Phase, Phases, phases_over_ranks};

pub(super) fn setup() -> Setup {
    let exchange = ExchangeRecord {
        transpose: "swap".into(),
        engine: "pairwise".into(),
        order: Some("ordered".into()),
        protocol: Some("nonblocking-recv".into()),
        handshake: Some(false),
        max_requests: Some(0),
        overlap: Some(false),
    };
    Setup {
        case: "williamson-2".into(),
        truncation: [42, 42, 42],
        nlat: 64,
        nlon: 128,
        levels: 4,
        dt: 1200.0,
        steps: 360,
        days: 5.0,
        scheme: "semi-implicit".into(),
        courant: Courant {
            advective: 0.31,
            gravity_wave: 1.374,
        },
        ranks: 2,
        mesh: MeshRecord {
            px: 2,
            py: 1,
            rank_order: "row".into(),
        },
        algorithm: AlgorithmRecord {
            fft: "double-transpose".into(),
            legendre: "transpose".into(),
            fft_transpose: Some(exchange.clone()),
            fft_butterfly: Some(ButterflyRecord {
                order: "ordered".into(),
                protocol: "nonblocking".into(),
                handshake: false,
                overlap: true,
            }),
            legendre_transpose: Some(exchange),
            legendre_sum: Some(SumRecord {
                sum: "ring".into(),
                order: Some("simple".into()),
                protocol: Some("nonblocking-recv".into()),
                handshake: Some(false),
            }),
        },
        memory_bytes: MemoryRecord::of(vec![3_500_000, 3_400_000]),
        wind_bound: 493.05,
    }
}

pub(super) fn diagnostics(step: u64, day: f64) -> DiagnosticsRecord {
    let grown = day * 1e-13;
    let norm = Norm {
        l1: grown,
        l2: 2.0 * grown,
        linf: 4.0 * grown,
    };
    DiagnosticsRecord {
        step,
        day,
        norms: Some(Norms {
            h: norm,
            v: Some(norm),
        }),
        mass: 0.0,
        energy: -grown,
        enstrophy: grown,
        zeta_mean: 1.5e-21,
        delta_mean: -2e-22,
        max_wind: 38.61,
        case1: None,
        spectrum: vec![0.0, 248.5, 0.0],
    }
}

pub(super) fn results() -> RunResults {
    let rank = |factor: f64| {
        let mut phases = Phases::new();
        // Those of a run that moves its data by transposes.
        let transposed = |phase: &&Phase| {
            let name = phase.name();
            !name.starts_with("fft-butterfly") && !name.starts_with("legendre-sum")
        };
        let in_step = Phase::ALL.iter().filter(|p| p.in_step()).filter(transposed);
        for (index, &phase) in in_step.enumerate() {
            phases.add(phase, factor * 0.01 * (index + 1) as f64);
        }
        phases.sent(Phase::FftTransposeMove, 12_345_678, 1440);
        phases.add(Phase::Step, 2.0);
        phases.add(Phase::Diagnostics, 0.125);
        phases.flatten()
    };
    let phases = phases_over_ranks(&[rank(1.0), rank(1.5)]);
    let mut results = RunResults {
        setup: setup(),
        steps: 360,
        warmup_steps: 3,
        seconds_per_step: StepTimes::of((0..357).map(|i| 0.005 + 1e-5 * i as f64).collect()),
        simulated_days_per_day: f64::NAN,
        transforms_per_step: TransformCount {
            inverse: 4,
            forward: 5,
        },
        flops_per_step: 1.2345e7,
        flops_formula: "FFT 2.5 N log2 N per line of N; Legendre 4 per coefficient and \
                        latitude pair; 30 per grid point"
            .into(),
        gflops: f64::NAN,
        phases: phases.iter().map(PhaseRecord::from).collect(),
        diagnostics: vec![diagnostics(0, 0.0), diagnostics(360, 5.0)],
        checksum: "0123456789abcdef".into(),
        kernel: "portable".into(),
        points: vec![PointRecord {
            day: 5.0,
            lat: 40.46,
            lon: 255.94,
            h: 5640.5,
            u: 1.0,
            v: -2.0,
            zeta: 1e-5,
            delta: f64::NAN,
        }],
    };
    results.set_rates();
    results
}

pub(super) fn provenance() -> Provenance {
    Provenance {
        build: Build {
            version: "0.1.0".into(),
            git: Some("0123456789abcdef0123456789abcdef01234567".into()),
            git_dirty: Some(false),
            rustc: Some("rustc 1.88.0".into()),
            profile: Some("release".into()),
            opt_level: Some("3".into()),
            target: Some("x86_64-unknown-linux-gnu".into()),
            target_features: vec!["sse2".into()],
            features: vec![],
        },
        transport: "threads".into(),
        transport_library: None,
        launcher: None,
        ranks: 2,
        hosts: vec![Host {
            name: Some("node".into()),
            ranks: 2,
        }],
        binding: vec![Some("0-1".into()), None],
        cpu: Cpu {
            model: Some("Some CPU".into()),
            available: Some(2),
            ..Cpu::default()
        },
        memory_bytes: Some(1 << 34),
        kernel: Some("Linux 6.1".into()),
        load_average: Some(0.2),
        environment: std::collections::BTreeMap::new(),
        started: "2026-01-01T00:00:00Z".into(),
        ended: Some("2026-01-01T00:00:03Z".into()),
        command: vec!["pstswm".into(), "run".into(), "case2.toml".into()],
        seed: 1,
        warnings: vec!["the load average was high; time on an idle machine".into()],
    }
}

pub(super) fn record() -> RunRecord {
    let input = serde_json::json!({"problem": {"case": "williamson-2"}});
    Record::new(Kind::Run, Verdict::valid(), provenance(), input, results())
}

pub(super) fn env() -> EnvRecord {
    let rate = |median: f64| Rate::of(&[0.9 * median, median, 1.1 * median]);
    let engine = |name: &str, lacks: Option<&str>| EngineRecord {
        name: name.into(),
        lacks: lacks.map(Into::into),
    };
    let results = EnvResults {
        kernel: "fused (AVX2 + FMA)".into(),
        vector_extensions: vec!["sse2".into(), "avx2".into()],
        mpi: Some(MpiRecord {
            library: "Open MPI v4.1.4".into(),
            standard: "3.1".into(),
            launcher: "start it with that library's mpirun".into(),
        }),
        engines: vec![
            engine("alltoallv", None),
            engine("partitioned", Some("needs MPI 4.0")),
        ],
        orders: 3,
        protocols: 11,
        legal_pairs: 29,
        ranks: vec![Placed {
            first: 0,
            last: 1,
            host: Some("node".into()),
            cpus: Some("0-1".into()),
        }],
        clocks: vec![TimerRecord {
            name: "monotonic".into(),
            resolution: 3e-8,
            overhead: 2.5e-8,
        }],
        caches: Caches {
            l1d_bytes: Some(32 << 10),
            l2_bytes: Some(1 << 20),
            l3_bytes: None,
        },
        copy: vec![CopyRecord {
            buffer_bytes: 1 << 17,
            bytes_per_second: rate(2e10),
        }],
        peak_flops: rate(5e10),
        eager: Some(EagerRecord {
            between: [0, 1],
            buffered_bytes: 4096,
            tried_bytes: 4 << 20,
        }),
    };
    let input = serde_json::json!({"ranks": 2});
    Record::new(Kind::Env, Verdict::valid(), provenance(), input, results)
}

/// A record of the swap test.
pub(super) type SwapRecord = Record<SwapResults>;

pub(super) fn swap_record() -> SwapRecord {
    let figures = Figures {
        bandwidth_mb_s: 70.8,
        bandwidth_messages: 2,
        latency_us: Latency {
            t512_t256: Some(73.1),
            t1024_t512: None,
        },
        model_error: Some(0.23),
        model_error_t1024_t512: None,
    };
    let times = SwapTimes {
        min: 0.059,
        median: 0.06,
        ci95_low: Some(0.059),
        ci95_high: None,
        samples: vec![0.06, 0.059],
        rounds: vec![0, 2],
    };
    let ratio = Ratio {
        way: "simple/ready".into(),
        ratio: 1.5,
    };
    let results = SwapResults {
        definitions: vec!["a definition".into()],
        clock: ClockRecord {
            resolution: 2e-8,
            overhead: 3e-8,
            shortest_reliable: 8e-6,
            uncertainty: 1e-6,
        },
        eager_limit_bytes: Some(4096),
        cases: vec![CaseRecord {
            order: Some("ordered".into()),
            protocol: Some("ready".into()),
            engine: "pairwise".into(),
            pattern: "pair".into(),
            ranks: [0, 1],
            overlap: false,
            handshake: false,
            max_requests: 0,
            cold: false,
            volume_bytes: 2_097_152,
            iterations: 10,
            curve: vec![CurvePoint {
                messages: 2,
                message_bytes: 1_048_576,
                seconds: Some(times),
                late: 1,
                late_kept: false,
            }],
            figures,
            from_minima: figures,
            bandwidth_ci95_mb_s: Some([69.9, 71.1]),
            verified: Some(true),
        }],
        sensitivity: vec![SensitivityRecord {
            volume_bytes: 2_097_152,
            iterations: 10,
            overlap: false,
            messages: 2,
            ways: 2,
            min: 0.06,
            median: 0.0605,
            max: 0.061,
            typical: 0.008,
            worst: 0.016,
            grade: "low".into(),
            fastest: "ordered/ready".into(),
            slowest: "simple/ready".into(),
        }],
        recommendation: Recommendation {
            overall: Some(Advice {
                way: "ordered/ready".into(),
                namelist: vec!["[algorithm]".into()],
                mean_ratio: 1.01,
                within_noise: vec![],
                default: Some(ratio),
                slowest: None,
            }),
            points: vec![PointAdvice {
                volume_bytes: 2_097_152,
                iterations: 10,
                messages: 2,
                way: "ordered/ready".into(),
                seconds: 0.06,
                within_noise: vec!["simple/ready".into()],
                ways: 2,
            }],
        },
        notes: vec!["8 bytes cannot be cut into 2 equal messages of whole doubles".into()],
        unavailable: vec![Unavailable {
            engine: "partitioned".into(),
            reason: "needs MPI 4".into(),
        }],
    };
    let input = serde_json::json!({"messages": [2]});
    Record::new(Kind::Swap, Verdict::valid(), provenance(), input, results)
}

/// A record of a search.
pub(super) type TuneRecord = Record<TuneResults>;

pub(super) fn tune_record() -> TuneRecord {
    let time = TimeRecord {
        min: 1e-3,
        median: 1.1e-3,
        ci95_low: Some(1.05e-3),
        ci95_high: Some(1.2e-3),
        samples: 40,
    };
    let ratio = RatioRecord {
        median: 1.0,
        ci95_low: Some(1.0),
        ci95_high: Some(1.0),
        within_noise: true,
    };
    let fragment = "[algorithm]\nmesh = [2, 1]\n";
    let results = TuneResults {
        definitions: vec!["a definition".into()],
        mode: "search".into(),
        cost: CostRecord {
            budget_seconds: 60.0,
            seconds: 2.0,
            preparing_seconds: 0.5,
            layouts_seconds: 0.5,
            stages_seconds: 0.5,
            finalists_seconds: 0.5,
            ways: 62,
            candidates: 9,
            steps: 300,
        },
        layouts: vec![LayoutRecord {
            layout: "2x1, fft double-transpose".into(),
            mesh: [2, 1],
            rank_order: "row".into(),
            fft: "double-transpose".into(),
            legendre: "transpose".into(),
            step_seconds: Some(time),
            floor_seconds: Some(9e-4),
            messages: 8,
            bytes: 1_970_000,
            dropped: Some("slower".into()),
        }],
        stages: vec![StageRecord {
            stage: "fft-transpose".into(),
            layouts: vec!["2x1, fft double-transpose".into()],
            ranks: 2,
            ways: vec![WayRecord {
                way: "alltoallw".into(),
                seconds: time,
                ratio,
                dropped: false,
            }],
            typical: Some(0.5),
            worst: Some(1.2),
            grade: Some("high".into()),
        }],
        ranking: vec![FinalistRecord {
            layout: "2x1, fft double-transpose".into(),
            ways: vec![StageWayRecord {
                stage: "fft-transpose".into(),
                way: "alltoallw".into(),
            }],
            default: false,
            step_seconds: time,
            ratio,
            dropped: false,
            fragment: fragment.into(),
        }],
        default: Some(ratio),
        settings: vec![SettingRecord {
            name: "swap_comm_protocol".into(),
            value: "4".into(),
            evidence: "a measurement".into(),
        }],
        failed: vec![FailedRecord {
            candidate: "fft-transpose of 2x1: partitioned".into(),
            reason: "needs MPI 4".into(),
        }],
        wrong: vec!["a candidate: off by 1.0e0".into()],
        notes: vec!["a note".into()],
        unavailable: vec![Unavailable {
            engine: "partitioned".into(),
            reason: "needs MPI 4".into(),
        }],
        fragment: fragment.into(),
    };
    let input = serde_json::json!({"ranks": 2});
    Record::new(Kind::Tune, Verdict::valid(), provenance(), input, results)
}
