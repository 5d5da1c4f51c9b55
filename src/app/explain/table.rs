//! The calls of the ranks side by side, stage by stage.

use std::fmt::Write as _;

use super::MARGIN;
use super::exchange::Exchange;
use crate::swap::call::Call;
use crate::swap::schedule::stages;
use crate::swap::step::stage_calls;

/// Blanks between two columns.
const GAP: usize = 3;

/// The calls of every rank, two ranks side by side.
pub(super) fn tables(exchange: &Exchange) -> String {
    let ranks: Vec<usize> = (0..exchange.steps.len()).collect();
    if ranks.len() == 1 {
        return "\nA rank alone copies its block and makes no calls.\n".to_owned();
    }
    ranks
        .chunks(2)
        .map(|ranks| table(exchange, ranks))
        .collect()
}

/// Margin and one cell for each rank.
type Row = (String, Vec<String>);

fn table(exchange: &Exchange, ranks: &[usize]) -> String {
    let heading = ranks.iter().map(|rank| format!("rank {rank}")).collect();
    let mut rows: Vec<Row> = vec![(String::new(), heading)];
    let mut before = None;
    for (number, stage) in stages(&exchange.method, exchange.steps[0].len()) {
        let column = |rank: &usize| -> Vec<Call> {
            let mut calls = Vec::new();
            let step = &exchange.steps[*rank][number];
            stage_calls(&exchange.method, step, number, stage, &mut calls);
            calls
        };
        let columns: Vec<Vec<Call>> = ranks.iter().map(column).collect();
        let step = if before == Some(number) {
            String::new()
        } else {
            format!("step {}", number + 1)
        };
        before = Some(number);
        let height = columns.iter().map(Vec::len).max().unwrap_or(0).max(1);
        for line in 0..height {
            let cell = |calls: &Vec<Call>| match calls.get(line) {
                Some(call) => call.to_string(),
                None if line == 0 => "-".to_owned(),
                None => String::new(),
            };
            let margin = match line {
                0 => format!("{step:<9}{}", stage.name()),
                _ => String::new(),
            };
            rows.push((margin, columns.iter().map(cell).collect()));
        }
    }
    print(&rows)
}

fn print(rows: &[Row]) -> String {
    let longest = rows.iter().map(|(_, cells)| cells[0].len()).max();
    let width = longest.unwrap_or(0) + GAP;
    let mut text = "\n".to_owned();
    for (margin, cells) in rows {
        let mut line = format!("{margin:<MARGIN$}");
        for cell in cells {
            let _ = write!(line, "{cell:<width$}");
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}
