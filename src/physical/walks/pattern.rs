//! What is counted, and in which steps.

use std::fmt;
use std::sync::Arc;

use super::EdgeSource;

/// A place of a pattern: what one variable for a vertex stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Ids from 0 to below this can match.
    pub vertices: u64,
    /// What column of the query it is, for plans.
    pub name: String,
}

/// An edge of a pattern.
#[derive(Debug, Clone)]
pub struct PatternEdge {
    /// The edges that match.
    pub source: Arc<EdgeSource>,
    /// The places of source and destination.
    pub places: [usize; 2],
    /// The input whose rows are the edges that match, source id first; `None` if all of them do.
    pub input: Option<usize>,
}

/// A relation whose ids match a place, each as often as it comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seed {
    /// The place.
    pub place: usize,
    /// The input, whose first column is the ids.
    pub input: usize,
}

/// What comes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WalkOutput {
    /// One row: the number of matches.
    Total,
    /// A row for each vertex of the root that any match has: its id and how many.
    Vertices,
    /// The rows of the first input, each with the number of matches of the rest; those without any are left out. The number is the
    /// column of the root's ids.
    Rows(usize),
}

/// How a step moves weights along an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// All weights are 1: degrees, from the offsets.
    Degree,
    /// By the lists of the vertices that get sums.
    Gather,
    /// By the lists of the vertices that have weights.
    Scatter,
    /// By the rows of an input.
    Rows,
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Degree => "degree",
            Self::Gather => "gather",
            Self::Scatter => "scatter",
            Self::Rows => "rows",
        })
    }
}

/// One edge of the pattern, from a place whose weights are known to the next one towards the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The edge.
    pub edge: usize,
    /// The place whose weights are known.
    pub from: usize,
    /// The place whose weights are multiplied by the sums.
    pub to: usize,
    /// How.
    pub how: How,
}

/// A tree of places and edges, and the order in which its matches are counted.
#[derive(Debug, Clone)]
pub struct WalkPattern {
    places: Vec<Place>,
    edges: Vec<PatternEdge>,
    seeds: Vec<Seed>,
    root: usize,
    output: WalkOutput,
    steps: Vec<Step>,
}

impl WalkPattern {
    /// A pattern whose steps are the cheapest for the root, which is chosen as well where `root` is `None`. `None` if it is no tree that
    /// reaches all places.
    pub fn try_new(
        places: Vec<Place>,
        edges: Vec<PatternEdge>,
        seeds: Vec<Seed>,
        root: Option<usize>,
        output: WalkOutput,
    ) -> Option<Self> {
        if places.len() != edges.len() + 1 {
            return None;
        }
        let mut this = Self {
            places,
            edges,
            seeds,
            root: root.unwrap_or(0),
            output,
            steps: vec![],
        };
        let roots = match root {
            Some(root) => root..root + 1,
            None => 0..this.places.len(),
        };
        let plans = roots.filter_map(|root| Some((this.plan(root)?, root)));
        let ((_, steps), root) = plans.min_by_key(|((cost, _), _)| *cost)?;
        this.steps = steps;
        this.root = root;
        Some(this)
    }

    /// The places.
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// The edges.
    pub fn edges(&self) -> &[PatternEdge] {
        &self.edges
    }

    /// The relations that match places.
    pub fn seeds(&self) -> &[Seed] {
        &self.seeds
    }

    /// The place whose weights are the result.
    pub fn root(&self) -> usize {
        self.root
    }

    /// What comes out.
    pub fn output(&self) -> WalkOutput {
        self.output
    }

    /// The steps, in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Steps towards a root, and about how many vertices and edges they touch.
    fn plan(&self, root: usize) -> Option<(u64, Vec<Step>)> {
        let mut steps: Vec<Step> = vec![];
        let mut reached = vec![false; self.places.len()];
        let mut cost = 0_u64;
        // From the root outwards; the other way round it is the order in which weights become known.
        let mut open = vec![root];
        reached[root] = true;
        while let Some(place) = open.pop() {
            for (number, edge) in self.edges.iter().enumerate() {
                if steps.iter().any(|step| step.edge == number) {
                    continue;
                }
                let end = match edge.places {
                    [one, other] if one == other => return None,
                    [one, _] if one == place => 0,
                    [_, other] if other == place => 1,
                    _ => continue,
                };
                let from = edge.places[1 - end];
                if std::mem::replace(&mut reached[from], true) {
                    return None;
                }
                open.push(from);
                steps.push(Step {
                    edge: number,
                    from,
                    to: place,
                    how: How::Rows,
                });
            }
        }
        if reached.contains(&false) {
            return None;
        }
        steps.reverse();
        for at in 0..steps.len() {
            let (how, more) = self.how(&steps, at);
            steps[at].how = how;
            cost = cost.saturating_add(more);
        }
        Some((cost, steps))
    }

    fn how(&self, steps: &[Step], at: usize) -> (How, u64) {
        let Step { edge, from, to, .. } = steps[at];
        let PatternEdge {
            source,
            places,
            input,
        } = &self.edges[edge];
        let (edges, vertices) = (source.edges(), self.places[to].vertices);
        if input.is_some() {
            // Rows are decoded with their conditions, and come one by one.
            return (How::Rows, edges.saturating_mul(4).saturating_add(vertices));
        }
        let end = usize::from(places[1] == to);
        let ones = self.places[from].vertices >= source.vertices(1 - end)
            && !self.seeds.iter().any(|seed| seed.place == from)
            && !steps.iter().any(|step| step.to == from);
        let cost = edges.saturating_add(vertices);
        match (source.has_lists_of(end), ones) {
            (true, true) => (How::Degree, vertices),
            (true, false) => (How::Gather, cost),
            (false, _) => (How::Scatter, cost.saturating_mul(2)),
        }
    }
}

impl fmt::Display for WalkPattern {
    /// `knows: degree from b, knows: gather from c, total at a`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "root={}, steps=[", self.places[self.root].name)?;
        for (number, step) in self.steps.iter().enumerate() {
            let comma = if number == 0 { "" } else { ", " };
            let Step {
                edge, from, how, ..
            } = step;
            let (name, from) = (self.edges[*edge].source.name(), &self.places[*from].name);
            write!(f, "{comma}{how} {name} from {from}")?;
        }
        write!(f, "]")
    }
}
