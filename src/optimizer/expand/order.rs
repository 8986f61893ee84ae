//! In which order relations are joined, and how.

use datafusion::common::{Column, HashMap, HashSet};

use super::leaf::{Element, Leaf};
use crate::config::GraphArOptions;
use crate::format::{DESTINATION_ID, SOURCE_ID, VERTEX_ID};
use crate::optimizer::join_tree::{JoinTree, LeafColumn};

/// How a relation is joined with those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Move {
    /// It is the first.
    Start,
    /// The edges of an id: the end that is known, and the set of the other end if that is known, too.
    Expand { end: usize, target: Option<usize> },
    /// The vertex of an id.
    Lookup,
    /// It says nothing that is not known: its id is this column.
    Elide(LeafColumn),
    /// DataFusion joins it.
    Join,
}

/// A relation and how it is joined.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) leaf: usize,
    pub(super) how: Move,
    /// About how many rows there are before.
    pub(super) rows: f64,
}

/// Relations that are joined, and what is known of them.
pub(super) struct Relations {
    pub(super) tree: JoinTree,
    /// The columns that are asked for, by their names in the joins.
    pub(super) outputs: Vec<(Column, LeafColumn)>,
    pub(super) leaves: Vec<Leaf>,
    /// The set of equal columns of each column that is joined by.
    pub(super) sets: HashMap<LeafColumn, usize>,
    /// Columns that are in the result, or in conditions on several relations.
    pub(super) used: HashSet<LeafColumn>,
    /// The rules that are on: follow edges, fetch vertices, leave vertices out, close cycles.
    rules: [bool; 4],
}

/// The costs of what steps do, in rows that are read in order.
mod cost {
    /// To fetch the rows of one of a few ids.
    pub(super) const WINDOW: f64 = 20.0;
    /// To load the offsets of an edge's vertex.
    pub(super) const OFFSET: f64 = 0.02;
    /// To load an edge as adjacency, and to look into a list that may be anywhere.
    pub(super) const ADJACENCY: f64 = 0.15;
    /// To put a row with any columns into memory, to be found by id.
    pub(super) const ROW: f64 = 2.0;
    /// To give out a row.
    pub(super) const OUT: f64 = 0.5;
    /// To compare the neighbours of an id with another id, each.
    pub(super) const COMPARE: f64 = 0.1;
}

/// How a relation can be joined, at which cost, and how many rows come out for each.
struct Choice {
    how: Move,
    cost: f64,
    growth: f64,
    /// What is done first: what costs nothing, then what leaves rows out.
    rank: u8,
}

impl Relations {
    pub(super) fn new(
        tree: JoinTree,
        outputs: Vec<(Column, LeafColumn)>,
        options: &GraphArOptions,
    ) -> Self {
        let leaves = tree.leaves.iter().map(Leaf::of).collect();
        let mut used: HashSet<LeafColumn> = outputs.iter().map(|(_, at)| *at).collect();
        let conditions = tree.conditions.iter();
        used.extend(conditions.flat_map(|condition| condition.columns.iter().map(|(_, at)| *at)));
        Self {
            leaves,
            used,
            outputs,
            sets: sets(&tree.equal),
            tree,
            rules: [
                options.rule_join_to_expand,
                options.rule_vertex_lookup,
                options.rule_elide_vertex_join,
                options.rule_close_cycle,
            ],
        }
    }

    /// The order of least cost, of those in which each next relation is the best one; `None` if it has no use for the
    /// operators of graphs.
    pub(super) fn steps(&self) -> Option<Vec<Step>> {
        if self.leaves.iter().all(|leaf| leaf.element.is_none()) {
            return None;
        }
        let orders = (0..self.leaves.len()).map(|start| self.steps_from(start));
        let best = orders.min_by(|(one, _), (other, _)| one.total_cmp(other))?;
        let (_, steps) = best;
        let graph = |step: &Step| !matches!(step.how, Move::Start | Move::Join);
        steps.iter().any(graph).then_some(steps)
    }

    fn steps_from(&self, start: usize) -> (f64, Vec<Step>) {
        let mut rows = self.leaves[start].rows;
        let mut total = rows;
        let mut steps = vec![Step {
            leaf: start,
            how: Move::Start,
            rows: 0.0,
        }];
        let mut done = vec![false; self.leaves.len()];
        done[start] = true;
        while steps.len() < self.leaves.len() {
            let left = (0..self.leaves.len()).filter(|leaf| !done[*leaf]);
            let choices = left.map(|leaf| (leaf, self.choice(leaf, &done, rows)));
            let best = choices.min_by(|(_, one), (_, other)| {
                let rank = one.rank.cmp(&other.rank);
                rank.then(one.growth.total_cmp(&other.growth))
            });
            let Some((leaf, choice)) = best else {
                break;
            };
            let how = choice.how;
            steps.push(Step { leaf, how, rows });
            done[leaf] = true;
            rows = (rows * choice.growth).max(1.0);
            total += choice.cost + rows * cost::OUT;
        }
        (total, steps)
    }

    /// A column of a relation by its name.
    pub(super) fn column(&self, leaf: usize, name: &str) -> Option<LeafColumn> {
        let schema = self.tree.leaves[leaf].schema();
        let column = schema.index_of_column_by_name(None, name)?;
        Some(LeafColumn { leaf, column })
    }

    /// The name of a column.
    pub(super) fn column_name(&self, column: LeafColumn) -> &str {
        self.tree.leaves[column.leaf]
            .schema()
            .field(column.column)
            .name()
    }

    /// Whether a set has a column of a relation that is joined already.
    fn bound(&self, set: usize, done: &[bool]) -> bool {
        let mut members = self.sets.iter().filter(|(_, other)| **other == set);
        members.any(|(column, _)| done[column.leaf])
    }

    /// The set of a column, if its value is known.
    fn known(&self, leaf: usize, name: &str, done: &[bool]) -> Option<usize> {
        let set = *self.sets.get(&self.column(leaf, name)?)?;
        self.bound(set, done).then_some(set)
    }

    fn choice(&self, leaf: usize, done: &[bool], rows: f64) -> Choice {
        let found = self.leaves[leaf].element.as_ref();
        let graph = found.and_then(|element| match &element.edges {
            Some(_) => self.expand(leaf, element, done, rows),
            None => self.vertex(leaf, element, done, rows),
        });
        graph.unwrap_or_else(|| self.join(leaf, done, rows))
    }

    fn join(&self, leaf: usize, done: &[bool], rows: f64) -> Choice {
        let own = self.leaves[leaf].rows;
        let mut columns = self.sets.iter().filter(|(column, _)| column.leaf == leaf);
        let connected = columns.any(|(_, set)| self.bound(*set, done));
        let growth = match connected {
            true => (own / rows.max(1.0)).max(1.0),
            false => own.max(1.0),
        };
        Choice {
            how: Move::Join,
            cost: rows + own * cost::ROW,
            growth,
            rank: if connected { 2 } else { 4 },
        }
    }

    fn expand(&self, leaf: usize, element: &Element, done: &[bool], rows: f64) -> Option<Choice> {
        let edges = element.edges.as_ref().filter(|_| self.rules[0])?;
        let names = [SOURCE_ID, DESTINATION_ID];
        let known = names.map(|name| self.known(leaf, name, done));
        let total = element.total();
        let degree = |end: usize| total / (edges.vertices(end) as f64).max(1.0);
        let ends = (0..2).filter(|end| known[*end].is_some() && edges.has_lists_of(*end));
        let end = ends.min_by(|one, other| degree(*one).total_cmp(&degree(*other)))?;
        let target = known[1 - end].filter(|_| self.rules[3]);
        // Ends that are not asked for, or can be had from adjacency.
        let mut columns = self
            .used
            .iter()
            .chain(self.sets.keys())
            .filter(|column| column.leaf == leaf);
        let only_ends = columns.all(|column| names.contains(&self.column_name(*column)));
        let far = self.column(leaf, names[1 - end]);
        let far = far.is_some_and(|far| self.used.contains(&far) || self.sets.contains_key(&far));
        let all = match (only_ends && element.filters.is_empty(), far) {
            (true, false) => total * cost::OFFSET,
            (true, true) => total * cost::ADJACENCY,
            (false, _) => total * element.selectivity.max(0.01) * cost::ROW,
        };
        let closed = known[1 - end].is_some();
        let mut growth = degree(end) * element.selectivity;
        let mut cost = (rows * cost::WINDOW).min(all) + rows;
        if closed {
            cost += rows * growth * cost::COMPARE;
            growth /= (edges.vertices(1 - end) as f64).max(1.0);
        }
        Some(Choice {
            how: Move::Expand { end, target },
            cost,
            growth,
            rank: if growth < 1.0 { 1 } else { 2 },
        })
    }

    fn vertex(&self, leaf: usize, element: &Element, done: &[bool], rows: f64) -> Option<Choice> {
        let count = element.table()?.vertices()?;
        let set = self.known(leaf, VERTEX_ID, done)?;
        let id = self.column(leaf, VERTEX_ID)?;
        let mut columns = self
            .used
            .iter()
            .chain(self.sets.keys())
            .filter(|column| column.leaf == leaf);
        let only_id = columns.all(|column| *column == id);
        if only_id
            && element.filters.is_empty()
            && self.rules[2]
            && let Some(end) = self.end_in(set, count, done)
        {
            return Some(Choice {
                how: Move::Elide(end),
                cost: 0.0,
                growth: 1.0,
                rank: 0,
            });
        }
        let total = element.total() * element.selectivity.max(0.01);
        self.rules[1].then(|| Choice {
            how: Move::Lookup,
            cost: (rows * cost::WINDOW).min(total * cost::ROW) + rows,
            growth: element.selectivity,
            rank: if element.filters.is_empty() { 3 } else { 1 },
        })
    }

    /// The end of an edge in a set, of a relation that is joined already, that is always below `count`.
    fn end_in(&self, set: usize, count: u64, done: &[bool]) -> Option<LeafColumn> {
        let members = self
            .sets
            .iter()
            .filter(|(column, other)| **other == set && done[column.leaf]);
        let ends = members.map(|(column, _)| *column).filter(|column| {
            let element = self.leaves[column.leaf].element.as_ref();
            let edges = element.and_then(|element| element.edges.as_ref());
            let names = [SOURCE_ID, DESTINATION_ID];
            let end = names
                .iter()
                .position(|name| *name == self.column_name(*column));
            edges
                .zip(end)
                .is_some_and(|(edges, end)| edges.vertices(end) <= count)
        });
        ends.min()
    }
}

/// The sets of equal columns, by number.
fn sets(equal: &[[LeafColumn; 2]]) -> HashMap<LeafColumn, usize> {
    let mut sets: HashMap<LeafColumn, usize> = HashMap::new();
    for (number, [one, other]) in equal.iter().enumerate() {
        let own = [one, other].map(|column| *sets.entry(*column).or_insert(number));
        // The lower number for all of both.
        let (least, most) = (own[0].min(own[1]), own[0].max(own[1]));
        for set in sets.values_mut().filter(|set| **set == most) {
            *set = least;
        }
    }
    sets
}
