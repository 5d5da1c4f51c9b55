//! The logical mesh PX x PY of ranks.

/// How ranks fill the mesh, hence which of them share a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RankOrder {
    /// Ranks of a row are consecutive.
    Row,
    /// Ranks of a column are consecutive.
    Column,
}

/// The mesh in the namelist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshChoice {
    /// Chosen for the problem and the number of ranks.
    Auto,
    /// PX, PY.
    Given(usize, usize),
}

/// PX columns split longitude or wavenumber; PY rows split latitude pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mesh {
    /// Ranks in a mesh row.
    pub px: usize,
    /// Ranks in a mesh column.
    pub py: usize,
    /// How ranks fill it.
    pub order: RankOrder,
}

impl Mesh {
    /// Ranks in the mesh.
    pub fn ranks(&self) -> usize {
        self.px * self.py
    }

    /// Position `(x, y)` of a rank.
    pub fn position(&self, rank: usize) -> (usize, usize) {
        match self.order {
            RankOrder::Row => (rank % self.px, rank / self.px),
            RankOrder::Column => (rank / self.py, rank % self.py),
        }
    }

    /// The rank at `(x, y)`.
    pub fn rank(&self, x: usize, y: usize) -> usize {
        match self.order {
            RankOrder::Row => y * self.px + x,
            RankOrder::Column => x * self.py + y,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_and_ranks_are_inverse() {
        for order in [RankOrder::Row, RankOrder::Column] {
            let mesh = Mesh {
                px: 3,
                py: 5,
                order,
            };
            for rank in 0..mesh.ranks() {
                let (x, y) = mesh.position(rank);
                assert!(x < 3 && y < 5);
                assert_eq!(mesh.rank(x, y), rank);
            }
        }
    }
}
