//! The line of progress of a run on rank 0's terminal.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::problem::planet::DAY;

/// Shortest time between two drawings.
const INTERVAL: Duration = Duration::from_millis(100);

/// One line on stderr: day, simulated days per day, time left, largest wind. Drawn only by
/// [`Progress::update`], never from a thread of its own, so that it stays out of timed regions.
/// Without a terminal nothing is drawn and [`Progress::due`] is always false.
#[derive(Debug)]
pub struct Progress {
    bar: Option<ProgressBar>,
    clock: Pace,
    drawn: Instant,
}

impl Progress {
    /// A line for `steps` time steps of `dt` s, the first of which is number `first + 1`
    /// (a restart begins at `first`). Shown on rank 0 if stderr is a terminal.
    pub fn new(rank: usize, first: u64, steps: u64, dt: f64) -> Self {
        let bar = (rank == 0 && std::io::stderr().is_terminal()).then(|| {
            let bar =
                ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr_with_hz(10));
            let style = ProgressStyle::with_template("{wide_msg}")
                .unwrap_or_else(|_| ProgressStyle::default_spinner());
            bar.set_style(style);
            bar
        });
        let now = Instant::now();
        Self {
            bar,
            clock: Pace {
                began: now,
                first,
                steps,
                dt,
            },
            drawn: now,
        }
    }

    /// Whether the line is worth a new drawing; ask before computing the wind.
    pub fn due(&self) -> bool {
        self.bar.is_some() && self.drawn.elapsed() >= INTERVAL
    }

    /// Draws the line for `step` steps taken and the largest wind in m/s, unless the last
    /// drawing was less than a tenth of a second ago.
    pub fn update(&mut self, step: u64, max_wind: Option<f64>) {
        if !self.due() {
            return;
        }
        if let Some(bar) = &self.bar {
            self.drawn = Instant::now();
            let seconds = self.clock.began.elapsed().as_secs_f64();
            bar.set_message(self.clock.line(step, seconds, max_wind));
        }
    }

    /// Runs `print` with the line out of the way.
    pub fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Removes the line for good.
    pub fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The numbers of the line.
#[derive(Clone, Debug)]
struct Pace {
    began: Instant,
    first: u64,
    steps: u64,
    dt: f64,
}

impl Pace {
    /// The line after `seconds` of wall time.
    fn line(&self, step: u64, seconds: f64, max_wind: Option<f64>) -> String {
        let days = |steps: u64| steps as f64 * self.dt / DAY;
        let done = step.saturating_sub(self.first);
        let mut line = format!("day {:.2} of {:.2}", days(step), days(self.steps));
        if done > 0 && seconds > 0.0 {
            let rate = done as f64 / seconds;
            let left = self.steps.saturating_sub(step) as f64 / rate;
            line += &format!(", {:.0} simulated days/day", rate * self.dt);
            line += &format!(", {} left", duration(left));
        }
        if let Some(wind) = max_wind {
            line += &format!(", max wind {wind:.1} m/s");
        }
        line
    }
}

/// Seconds as `h:mm:ss` or `m:ss`.
fn duration(seconds: f64) -> String {
    let total = seconds.round() as u64;
    let (hours, minutes, seconds) = (total / 3600, total / 60 % 60, total % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_tells_day_rate_time_left_and_wind() {
        let pace = Pace {
            began: Instant::now(),
            first: 0,
            steps: 720,
            dt: 600.0,
        };
        assert_eq!(
            pace.line(72, 2.0, Some(38.61)),
            "day 0.50 of 5.00, 21600 simulated days/day, 0:18 left, max wind 38.6 m/s"
        );
        assert_eq!(pace.line(0, 1.0, None), "day 0.00 of 5.00");
    }

    #[test]
    fn a_restart_counts_only_its_own_steps() {
        let pace = Pace {
            began: Instant::now(),
            first: 100,
            steps: 200,
            dt: 864.0,
        };
        assert_eq!(
            pace.line(150, 5.0, None),
            "day 1.50 of 2.00, 8640 simulated days/day, 0:05 left"
        );
    }

    #[test]
    fn other_ranks_and_files_stay_silent() {
        let mut progress = Progress::new(1, 0, 10, 60.0);
        std::thread::sleep(INTERVAL);
        assert!(!progress.due());
        progress.update(3, Some(1.0));
        assert_eq!(progress.suspend(|| 3), 3);
        progress.finish();
    }

    #[test]
    fn durations() {
        assert_eq!(duration(5.4), "0:05");
        assert_eq!(duration(3661.0), "1:01:01");
    }
}
