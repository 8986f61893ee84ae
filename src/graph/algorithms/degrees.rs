//! Numbers of edges, where the offsets of a list do not say them.

use crate::graph::{Csr, Stop, Stopped};

/// For each vertex of the other end how often it is a neighbour. O(V + E); 8 bytes for each vertex.
///
/// # Errors
/// If it is asked to stop.
pub fn degrees_by_neighbor(csr: &Csr, stop: &Stop) -> Result<Vec<u64>, Stopped> {
    let count = usize::try_from(csr.others()).unwrap_or(usize::MAX);
    let mut degrees = vec![0; count];
    csr.each_piece(stop, |_, part, vertices| {
        let rows = [part.rows(vertices)].into_iter();
        part.neighbors.visit(rows, |_, id| degrees[id] += 1);
    })?;
    Ok(degrees)
}

/// For each vertex the number of edges that it is any end of: an edge from it to itself is one. The lists of one end will do; both ends
/// are of the same type.
///
/// # Errors
/// If it is asked to stop.
pub fn degrees_either_way(csr: &Csr, stop: &Stop) -> Result<Vec<u64>, Stopped> {
    let count = usize::try_from(csr.others()).unwrap_or(usize::MAX);
    let mut degrees = vec![0; count];
    csr.each_piece(stop, |first, part, vertices| {
        let first = usize::try_from(first).unwrap_or(usize::MAX);
        part.neighbors
            .visit(part.rows_of_each(vertices), |inside, id| {
                degrees[id] += 1;
                degrees[first + inside] += u64::from(first + inside != id);
            });
    })?;
    Ok(degrees)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::*;
    use super::*;

    proptest! {
        #[test]
        fn degrees_are_numbers_of_steps(graph in graph()) {
            let expected = |way: Way| -> Vec<u64> {
                (0..VERTICES).map(|id| graph.steps(id, way).len() as u64).collect()
            };
            let (stop, out, back) = (Stop::default(), graph.lists(0).csr, graph.lists(1).csr);
            prop_assert_eq!(degrees_by_neighbor(&out, &stop).unwrap(), expected(Way::In));
            prop_assert_eq!(degrees_by_neighbor(&back, &stop).unwrap(), expected(Way::Out));
            for csr in [out, back] {
                prop_assert_eq!(degrees_either_way(&csr, &stop).unwrap(), expected(Way::Any));
            }
        }
    }
}
