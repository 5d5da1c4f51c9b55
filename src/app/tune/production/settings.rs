//! From ways to the names and values of the models' namelists.

use super::{Measured, Target};
use crate::bench::case::{Case, Way};
use crate::report::tune::{SettingRecord, WayRecord};
use crate::report::units::seconds;
use crate::transport::EngineKind;

/// What the model does unless told otherwise.
const DEFAULT: &str = "the default";

/// A case with its times.
type Found<'a> = Option<&'a (Case, WayRecord)>;

/// The settings of a model, and what must be said of them.
pub(super) fn of(target: Target, measured: &[Measured]) -> (Vec<SettingRecord>, Vec<String>) {
    match (target, measured) {
        (Target::Cam | Target::Eam, [all, gather]) => atmosphere(all, gather),
        (Target::Pio, [there, back]) => rearranger(there, back),
        (Target::Mct, [all]) => coupler(all),
        _ => (Vec::new(), Vec::new()),
    }
}

fn pairwise(case: &Case) -> bool {
    matches!(case.way, Way::Pairwise(..))
}

fn engine(case: &Case, kind: EngineKind) -> bool {
    case.way == Way::Engine(kind)
}

fn number(case: &Case) -> Option<u8> {
    match case.way {
        Way::Pairwise(_, protocol) => Some(protocol.row().number),
        Way::Engine(_) => None,
    }
}

/// Messages that may be under way at once; `None`: as many as there are.
fn window(case: &Case) -> Option<usize> {
    let Way::Pairwise(_, protocol) = case.way else {
        return None;
    };
    let row = protocol.row();
    let requests = usize::from(row.early_receive) + usize::from(row.immediate_send);
    match (case.overlap, case.max_requests) {
        (false, _) => Some(1),
        (true, 0) => None,
        (true, cap) => Some((cap / requests.max(1)).max(1)),
    }
}

/// What a setting rests on: the way and its time, and beside it what it is compared with, mostly the
/// model's own default.
fn evidence(
    measured: &Measured,
    found: &(Case, WayRecord),
    (what, other): (&str, Found<'_>),
) -> String {
    let (_, way) = found;
    let mut text = format!(
        "{}: {}, {}",
        measured.name(),
        way.way,
        seconds(way.seconds.median)
    );
    if let Some((_, other)) = other.filter(|(case, _)| *case != found.0) {
        let ratio = other.seconds.median / way.seconds.median;
        text.push_str(&format!(
            "; {what}, {}, takes {ratio:.3} as long",
            other.way
        ));
        if other.ratio.within_noise {
            text.push_str(", within noise of the fastest");
        }
    } else if other.is_some() {
        text.push_str(&format!("; that is {what}"));
    }
    text
}

fn setting(name: &str, value: impl ToString, evidence: String) -> SettingRecord {
    SettingRecord {
        name: name.to_owned(),
        value: value.to_string(),
        evidence,
    }
}

/// `swap_comm_protocol`, `swap_comm_maxreq`, `phys_alltoall`, `fc_gather_flow_cntl`.
fn atmosphere(all: &Measured, gather: &Measured) -> (Vec<SettingRecord>, Vec<String>) {
    let mut settings = Vec::new();
    let default = all.best(|case| number(case) == Some(4) && window(case).is_none());
    let best = all.best(pairwise);
    if let Some(best) = best {
        let why = evidence(all, best, (DEFAULT, default));
        if let Some(number) = number(&best.0) {
            settings.push(setting("swap_comm_protocol", number, why.clone()));
        }
        let most = window(&best.0).unwrap_or(0);
        settings.push(setting("swap_comm_maxreq", most, why));
    }
    if let Some(first) = all.ways.first() {
        let value = if engine(&first.0, EngineKind::Alltoallv) {
            0
        } else if engine(&first.0, EngineKind::PutFence) {
            2
        } else {
            1
        };
        settings.push(setting(
            "phys_alltoall",
            value,
            evidence(all, first, ("the best of the swap package", best)),
        ));
    }
    let default = gather.best(|case| window(case).is_none());
    if let Some(best) = gather.best(pairwise) {
        let ahead = window(&best.0).unwrap_or(64).min(64);
        let why = evidence(gather, best, (DEFAULT, default));
        settings.push(setting("fc_gather_flow_cntl", ahead, why));
    }
    let ranks = all.request.ranks;
    let mut notes = vec![
        "fc_gather_flow_cntl < 0 (MPI_Gather) was not measured".to_owned(),
        "phys_alltoall 3 (co-arrays) was not measured".to_owned(),
    ];
    if all.request.max_requests.len() == 1 {
        notes.push(format!(
            "windows make no difference between {ranks} ranks: swap_comm_maxreq and \
             fc_gather_flow_cntl are open"
        ));
    }
    (settings, notes)
}

/// The `pio_rearr_comm_*` of both directions.
fn rearranger(there: &Measured, back: &Measured) -> (Vec<SettingRecord>, Vec<String>) {
    let mut settings = Vec::new();
    let mut notes = Vec::new();
    let collective = |m: &Measured| {
        m.best(|case| engine(case, EngineKind::Alltoallw))
            .map(|found| found.1.seconds.median)
    };
    let messages = |m: &Measured| m.best(pairwise).map(|found| found.1.seconds.median);
    let sums = (
        collective(there).zip(collective(back)),
        messages(there).zip(messages(back)),
    );
    match sums {
        (Some(coll), Some(p2p)) => {
            let (coll, p2p) = (coll.0 + coll.1, p2p.0 + p2p.1);
            let value = if coll < p2p { "\"coll\"" } else { "\"p2p\"" };
            let why = format!(
                "both directions together: coll (alltoallw) {}, p2p {}",
                seconds(coll),
                seconds(p2p)
            );
            settings.push(setting("pio_rearr_comm_type", value, why));
        }
        _ => {
            notes.push("alltoallw cannot be had here, so coll was not compared with p2p".to_owned())
        }
    }
    let why = "flow control both ways, as set below; for p2p only".to_owned();
    settings.push(setting("pio_rearr_comm_fcd", "\"2denable\"", why));
    for (way, measured, defaults) in [("comp2io", there, (true, 2)), ("io2comp", back, (false, 3))]
    {
        let (handshake, protocol) = defaults;
        let default = measured.best(|case| {
            number(case) == Some(protocol) && case.handshake == handshake && window(case).is_none()
        });
        let Some(best) = measured.best(pairwise) else {
            continue;
        };
        let why = evidence(measured, best, (DEFAULT, default));
        let logical = |value: bool| if value { ".true." } else { ".false." };
        let isend = number(&best.0) == Some(3);
        let pending = window(&best.0).map_or("-1".to_owned(), |most| most.to_string());
        for (name, value) in [
            ("enable_hs", logical(best.0.handshake).to_owned()),
            ("enable_isend", logical(isend).to_owned()),
            ("max_pend_req", pending),
        ] {
            let name = format!("pio_rearr_comm_{name}_{way}");
            settings.push(setting(&name, value, why.clone()));
        }
    }
    if there.request.max_requests.len() == 1 {
        notes.push(format!(
            "windows make no difference between {} ranks: max_pend_req is open",
            there.request.ranks
        ));
    }
    (settings, notes)
}

/// `mct_usealltoall`.
fn coupler(all: &Measured) -> (Vec<SettingRecord>, Vec<String>) {
    let default = all.best(|case| pairwise(case) && window(case).is_none());
    let settings = all.ways.first().map(|first| {
        let value = if pairwise(&first.0) {
            ".false."
        } else {
            ".true."
        };
        setting(
            "mct_usealltoall",
            value,
            evidence(all, first, (DEFAULT, default)),
        )
    });
    (settings.into_iter().collect(), Vec::new())
}
