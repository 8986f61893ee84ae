//! Sets of vertices.

/// A bit for each vertex.
#[derive(Debug, Clone, Default)]
pub struct VertexSet {
    words: Vec<u64>,
}

impl VertexSet {
    /// No vertex of so many.
    pub fn new(vertices: usize) -> Self {
        Self {
            words: vec![0; vertices.div_ceil(64)],
        }
    }

    /// Bytes for so many vertices.
    pub fn bytes(vertices: usize) -> usize {
        vertices.div_ceil(64) * size_of::<u64>()
    }

    /// Whether a vertex is in it.
    #[inline]
    pub fn contains(&self, vertex: usize) -> bool {
        self.words[vertex / 64] & (1 << (vertex % 64)) != 0
    }

    /// Adds a vertex, and says whether it was not there.
    #[inline]
    pub fn insert(&mut self, vertex: usize) -> bool {
        let word = &mut self.words[vertex / 64];
        let bit = 1 << (vertex % 64);
        let fresh = *word & bit == 0;
        *word |= bit;
        fresh
    }

    /// Takes a vertex out.
    #[inline]
    pub fn remove(&mut self, vertex: usize) {
        self.words[vertex / 64] &= !(1 << (vertex % 64));
    }

    /// Takes out `members`, which are all there are.
    pub fn clear(&mut self, members: &[u32]) {
        if members.len() < self.words.len() / 8 {
            for vertex in members {
                self.remove(*vertex as usize);
            }
        } else {
            self.words.fill(0);
        }
    }
}
