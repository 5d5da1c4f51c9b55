//! The analytic test cases: initial state, surface, exact solution, forcing, at any point.
//!
//! W92 is Williamson et al. 1992 (JCP 102, 211-224), whose section 3 describes cases 1-7 in that
//! order; GSP04 is Galewsky, Scott & Polvani 2004 (Tellus 56A, 429-440). Formulas keep the
//! papers' notation: `lat` is theta (phi in GSP04), `lon` lambda, `a` the radius.

mod cosine_bell;
mod galewsky;
mod isolated_mountain;
mod point;
mod rossby_haurwitz;
mod steady_compact;
mod steady_zonal;
mod tilt;
mod translating_low;
mod translating_low_forcing;
mod zonal_balance;

#[cfg(test)]
mod differences;
#[cfg(test)]
mod tests;

pub use point::Point;

use super::definition::{CaseName, Problem};
use super::planet::Planet;

/// Height and wind at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// Height of the free surface, m.
    pub h: f64,
    /// Eastward wind, m/s.
    pub u: f64,
    /// Northward wind, m/s.
    pub v: f64,
}

/// Sources on the right-hand sides of the equations, at a point.
///
/// ```text
/// du/dt + (V.grad) u - (f + u tan(lat)/a) v + g/(a cos(lat)) dh/dlon = fu
/// dv/dt + (V.grad) v + (f + u tan(lat)/a) u + g/a            dh/dlat = fv
/// dh/dt + div(h V)                                                   = fh
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ForcingAt {
    /// Source of eastward momentum, m/s2.
    pub fu: f64,
    /// Source of northward momentum, m/s2.
    pub fv: f64,
    /// Source of height, m/s.
    pub fh: f64,
}

/// A forcing that turns rigidly about the planet's axis: at time `t` it is the pattern of
/// `t = 0`, shifted eastward by `angular_speed() * t`.
pub trait Forcing: Send + Sync {
    /// Eastward angular speed of the pattern, rad/s.
    fn angular_speed(&self) -> f64;
    /// The sources at `t = 0`.
    fn at(&self, point: &Point) -> ForcingAt;
}

/// An initial-value problem given by formulas.
///
/// All functions are finite everywhere, poles included, and cheap (below 2 us a point).
pub trait Case: Send + Sync {
    /// The state after `seconds`: the initial state at 0; later the exact solution where it is
    /// known ([`Case::exact`]), else still the initial state.
    fn state(&self, point: &Point, seconds: f64) -> State;

    /// Height of the surface h_s, m.
    fn surface(&self, _point: &Point) -> f64 {
        0.0
    }

    /// Whether `state` at a later time is the exact solution.
    fn exact(&self) -> bool;

    /// The angle alpha, radians, of the Coriolis parameter
    /// `f = 2 Omega (-cos(lon) cos(lat) sin(alpha) + sin(lat) cos(alpha))` (W92 section 3.2).
    fn coriolis_tilt(&self) -> f64 {
        0.0
    }

    /// Whether the wind is prescribed and the height only carried along (case 1).
    fn advection_only(&self) -> bool {
        false
    }

    /// Sources added to the equations (case 4).
    fn forcing(&self) -> Option<&dyn Forcing> {
        None
    }
}

/// The case of a problem, unless its state comes from a file (williamson-7, `file`).
///
/// `problem.u0` is the speed of cases 4 and 5 and `problem.alpha` the tilt of cases 1-3, whose speed
/// is fixed at once round the sphere in 12 days; other cases have neither.
pub fn analytic(problem: &Problem) -> Option<Box<dyn Case>> {
    let (planet, alpha, u0) = (problem.planet, problem.alpha, problem.u0);
    Some(match problem.case {
        CaseName::Williamson1 => Box::new(cosine_bell::CosineBell::new(planet, alpha)),
        CaseName::Williamson2 => Box::new(steady_zonal::SteadyZonal::new(planet, alpha)),
        CaseName::Williamson3 => Box::new(steady_compact::SteadyCompact::new(planet, alpha)),
        CaseName::Williamson4 => Box::new(translating_low::TranslatingLow::new(planet, u0)),
        CaseName::Williamson5 => Box::new(isolated_mountain::IsolatedMountain::new(
            planet,
            u0,
            &problem.mountain,
        )),
        CaseName::Williamson6 => Box::new(rossby_haurwitz::RossbyHaurwitz::new(planet)),
        CaseName::Galewsky => Box::new(galewsky::Galewsky::perturbed(planet)),
        CaseName::GalewskyBalanced => Box::new(galewsky::Galewsky::balanced(planet)),
        CaseName::Williamson7 | CaseName::File => return None,
    })
}
