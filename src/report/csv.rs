//! Tables for spreadsheets.
