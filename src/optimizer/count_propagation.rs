//! Counts over joins of edges, without the joins.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::catalog::default_table_source::source_as_provider;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, HashMap};
use datafusion::error::Result;
use datafusion::functions_aggregate::sum::sum;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::{
    Aggregate, Expr, Extension, LogicalPlan, Projection, TableScan, cast,
};
use datafusion::optimizer::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};

use super::join_tree::{JoinTree, LeafColumn};
use crate::config::GraphArOptions;
use crate::format::{DESTINATION_ID, SOURCE_ID, VERTEX_ID};
use crate::logical::CountWalks;
use crate::physical::walks::{EdgeSource, PatternEdge, Place, Seed, WalkOutput, WalkPattern};
use crate::table::ElementTable;

/// The column of the numbers of matches.
const WALKS: &str = "__walks";

/// The column of the root's ids, where rows have no column for it.
const ROOT_ID: &str = "__root_id";

/// Where conditions on ids leave over less than this part of a table, its joins read a few windows of rows, and passes over all
/// edges cost more.
const SELECTIVE: u64 = 64;

/// Turns `count(*)` over inner joins that follow edges into [`CountWalks`].
///
/// ```text
/// Aggregate: groupBy=[], aggr=[count(*)]        Projection: __walks AS count(*)
///   Join: a._dst_id = b._src_id            =>     CountWalks: root=b._src_id, steps=[degree knows …, degree knows …]
///     TableScan: knows AS a
///     TableScan: knows AS b
/// ```
///
/// Valid where
/// - all joins are inner, on equal columns alone, and these are ids of vertices: `_src_id`, `_dst_id`, `_vertex_id`, or a `BIGINT` column
///   of any other relation, whose rows then count as often as their ids come;
/// - seen as a graph whose vertices are the sets of equal ids and whose edges are the edge tables, the joins are a tree;
/// - nothing is asked for but `count(*)`, or `count` of what is never null;
/// - groups, if any, are columns of one relation that is no edge table, or one id of an edge table.
///
/// Conditions on any single relation are no hindrance. Edge tables need at least one ordered layout, and known numbers of vertices at
/// both ends. Not taken where a condition on ids selects less than a 64th of a table, or has an open parameter: few rows are found faster by offsets. The switch is
/// `graphar.rule_count_propagation`.
#[derive(Debug, Default)]
pub struct CountPropagation;

impl OptimizerRule for CountPropagation {
    fn name(&self) -> &'static str {
        "graphar_count_propagation"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        let options = config.options();
        let LogicalPlan::Aggregate(aggregate) = &plan else {
            return Ok(Transformed::no(plan));
        };
        if !GraphArOptions::of(&options).rule_count_propagation
            || !aggregate.aggr_expr.iter().all(counts_rows)
            || aggregate.aggr_expr.is_empty()
        {
            return Ok(Transformed::no(plan));
        }
        match counted(aggregate)? {
            Some(counted) => Ok(Transformed::yes(counted)),
            None => Ok(Transformed::no(plan)),
        }
    }
}

/// Whether an aggregate is the number of rows.
fn counts_rows(expr: &Expr) -> bool {
    let AggregateFunction { func, params } = match expr {
        Expr::AggregateFunction(function) => function,
        Expr::Alias(alias) => return counts_rows(&alias.expr),
        _ => return false,
    };
    let never_null = |arg: &Expr| match arg {
        Expr::Literal(value, _) => !value.is_null(),
        _ => false,
    };
    func.name() == "count"
        && !params.distinct
        && params.filter.is_none()
        && params.order_by.is_empty()
        && params.args.iter().all(never_null)
}

/// What a relation of the joins is.
enum Role {
    /// An edge table, and where its rows have source and destination.
    Edge {
        source: Arc<EdgeSource>,
        ends: [Option<usize>; 2],
        filtered: bool,
    },
    /// A vertex table with all its rows.
    AllVertices { count: u64, id: usize },
    /// Anything else.
    Other,
}

/// The table behind a plan of a scan and conditions.
fn scan_of(plan: &LogicalPlan) -> Option<(&TableScan, bool)> {
    match plan {
        LogicalPlan::TableScan(scan) if scan.fetch.is_none() => {
            Some((scan, !scan.filters.is_empty()))
        }
        LogicalPlan::Filter(filter) => Some((scan_of(&filter.input)?.0, true)),
        _ => None,
    }
}

/// What a relation is; `None` if few of its rows are wanted, which is not for this rule.
fn role_of(plan: &LogicalPlan) -> Option<Role> {
    let Some((scan, filtered)) = scan_of(plan) else {
        return Some(Role::Other);
    };
    let Ok(provider) = source_as_provider(&scan.source) else {
        return Some(Role::Other);
    };
    let Some(table) = provider.downcast_ref::<ElementTable>() else {
        return Some(Role::Other);
    };
    let open = |filter: &Expr| filter.exists(|expr| Ok(matches!(expr, Expr::Placeholder(_))));
    if scan
        .filters
        .iter()
        .any(|filter| open(filter).unwrap_or(true))
    {
        // A parameter mostly asks for one id.
        return None;
    }
    if let Some((selected, all)) = table.estimate(&scan.filters)
        && selected.saturating_mul(SELECTIVE) < all
    {
        return None;
    }
    let place = |name| plan.schema().index_of_column_by_name(None, name);
    if let Some(source) = table.edge_source() {
        let ends = [place(SOURCE_ID), place(DESTINATION_ID)];
        // Rows that are tested have to show both ends.
        if !filtered || ends.iter().all(Option::is_some) {
            let source = Arc::new(source);
            return Some(Role::Edge {
                source,
                ends,
                filtered,
            });
        }
    }
    if let (Some(count), Some(id), false) = (table.vertices(), place(VERTEX_ID), filtered) {
        return Some(Role::AllVertices { count, id });
    }
    Some(Role::Other)
}

/// A set of equal ids is found by any of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Id {
    /// The end of an edge table.
    End(usize, usize),
    /// A column of another relation.
    Column(LeafColumn),
}

/// Sets of equal ids.
#[derive(Default)]
struct Sets {
    numbers: HashMap<Id, usize>,
    /// For each number one that is equal; its own if there is none.
    parents: Vec<usize>,
}

impl Sets {
    fn number(&mut self, id: Id) -> usize {
        let next = self.parents.len();
        let number = *self.numbers.entry(id).or_insert(next);
        if number == next {
            self.parents.push(next);
        }
        self.root(number)
    }

    fn root(&self, mut number: usize) -> usize {
        while self.parents[number] != number {
            number = self.parents[number];
        }
        number
    }

    /// Makes two sets one.
    fn join(&mut self, one: Id, other: Id) {
        let (one, other) = (self.number(one), self.number(other));
        self.parents[one] = other;
    }
}

/// The pattern of some joins, as far as it is known.
struct Found {
    tree: JoinTree,
    roles: Vec<Role>,
    sets: Sets,
    /// The only column by which each relation that is no edge table is joined.
    keys: Vec<Option<LeafColumn>>,
    places: Vec<Place>,
    /// The place of each set, by the root of the set.
    numbers: HashMap<usize, usize>,
}

impl Found {
    /// The pattern of a tree of joins; `None` if it is none.
    fn of(tree: JoinTree) -> Option<Self> {
        let roles: Vec<Role> = tree.leaves.iter().map(role_of).collect::<Option<_>>()?;
        let mut this = Self {
            keys: vec![None; roles.len()],
            roles,
            tree,
            sets: Sets::default(),
            places: vec![],
            numbers: HashMap::new(),
        };
        for leaf in 0..this.roles.len() {
            if matches!(this.roles[leaf], Role::Edge { .. }) {
                this.sets.number(Id::End(leaf, 0));
                this.sets.number(Id::End(leaf, 1));
            }
        }
        for [one, other] in this.tree.equal.clone() {
            let (one, other) = (this.id(one)?, this.id(other)?);
            this.sets.join(one, other);
        }
        this.find_places()?;
        Some(this)
    }

    /// What a column that is joined by is; `None` if it is no id.
    fn id(&mut self, column: LeafColumn) -> Option<Id> {
        let LeafColumn { leaf, column: at } = column;
        if let Role::Edge { ends, .. } = &self.roles[leaf] {
            let end = ends.iter().position(|end| *end == Some(at))?;
            return Some(Id::End(leaf, end));
        }
        let schema = self.tree.leaves[leaf].schema();
        let known = *self.keys[leaf].get_or_insert(column);
        let id = schema.field(at).data_type() == &DataType::Int64;
        (id && known == column).then_some(Id::Column(column))
    }

    /// Numbers the sets, each of which at least one edge table ends in.
    fn find_places(&mut self) -> Option<()> {
        let mut found: Vec<(Id, u64)> = vec![];
        for (leaf, role) in self.roles.iter().enumerate() {
            match role {
                Role::Edge { source, .. } => {
                    found.push((Id::End(leaf, 0), source.vertices(0)));
                    found.push((Id::End(leaf, 1), source.vertices(1)));
                }
                Role::AllVertices { count, id } => {
                    let key = self.keys[leaf]?;
                    if key.column == *id {
                        found.push((Id::Column(key), *count));
                    }
                }
                Role::Other => {
                    self.keys[leaf]?;
                }
            }
        }
        for (id, vertices) in found {
            let set = self.sets.number(id);
            let next = self.places.len();
            let place = *self.numbers.entry(set).or_insert(next);
            if place == next {
                let name = self.name(id);
                self.places.push(Place { vertices, name });
            }
            let place = &mut self.places[place];
            place.vertices = place.vertices.min(vertices);
        }
        Some(())
    }

    /// What an id is called in plans.
    fn name(&self, id: Id) -> String {
        let (leaf, column) = match id {
            Id::End(leaf, 0) => (leaf, SOURCE_ID),
            Id::End(leaf, _) => (leaf, DESTINATION_ID),
            Id::Column(LeafColumn { leaf, .. }) => (leaf, VERTEX_ID),
        };
        match scan_of(&self.tree.leaves[leaf]) {
            Some((scan, _)) => format!("{}.{column}", scan.table_name.table()),
            None => column.to_owned(),
        }
    }

    fn place(&mut self, id: Id) -> Option<usize> {
        let set = self.sets.number(id);
        self.numbers.get(&set).copied()
    }
}

/// The plan that counts instead of joining; `None` if the joins are none of those.
fn counted(aggregate: &Aggregate) -> Result<Option<LogicalPlan>> {
    let tree = JoinTree::of(&aggregate.input);
    if tree.leaves.len() < 2 {
        return Ok(None);
    }
    let Some(mut found) = Found::of(tree) else {
        return Ok(None);
    };
    let Some(groups) = Groups::of(aggregate, &mut found) else {
        return Ok(None);
    };
    let (mut inputs, mut seeds, mut edges) = (vec![], vec![], vec![]);
    let mut output = groups.output;
    if let WalkOutput::Rows(id) = &mut output {
        let (rows, at) = groups.rows(aggregate, &found)?;
        *id = at;
        inputs.push(rows);
    }
    for leaf in 0..found.roles.len() {
        match &found.roles[leaf] {
            Role::Edge {
                source,
                ends,
                filtered,
            } => {
                let source = Arc::clone(source);
                let input = match (filtered, ends) {
                    (true, [Some(from), Some(to)]) => {
                        inputs.push(columns(&found.tree.leaves[leaf], &[*from, *to])?);
                        Some(inputs.len() - 1)
                    }
                    _ => None,
                };
                let places = [found.place(Id::End(leaf, 0)), found.place(Id::End(leaf, 1))];
                let [Some(from), Some(to)] = places else {
                    return Ok(None);
                };
                edges.push(PatternEdge {
                    source,
                    places: [from, to],
                    input,
                });
            }
            role => {
                let Some(key) = found.keys[leaf] else {
                    return Ok(None);
                };
                let all = matches!(role, Role::AllVertices { id, .. } if *id == key.column);
                let Some(place) = found.place(Id::Column(key)) else {
                    return Ok(None);
                };
                if groups.leaf != Some(leaf) && !all {
                    let input = inputs.len();
                    inputs.push(columns(&found.tree.leaves[leaf], &[key.column])?);
                    seeds.push(Seed { place, input });
                }
            }
        }
    }
    let places = std::mem::take(&mut found.places);
    let Some(pattern) = WalkPattern::try_new(places, edges, seeds, groups.root, output) else {
        return Ok(None);
    };
    groups.plan(aggregate, pattern, inputs).map(Some)
}

/// Some columns of a relation.
fn columns(plan: &LogicalPlan, wanted: &[usize]) -> Result<LogicalPlan> {
    let exprs = wanted.iter().map(|at| Expr::Column(column_at(plan, *at)));
    let projection = Projection::try_new(exprs.collect(), Arc::new(plan.clone()))?;
    Ok(LogicalPlan::Projection(projection))
}

fn column_at(plan: &LogicalPlan, at: usize) -> Column {
    Column::from(plan.schema().qualified_field(at))
}

/// What the counts are grouped by.
struct Groups {
    output: WalkOutput,
    /// The place whose vertices have the counts; `None` if any will do.
    root: Option<usize>,
    /// The relation whose columns the groups are, unless it is an edge table.
    leaf: Option<usize>,
    /// The columns, by their positions in the aggregate's input, and in the relation.
    columns: Vec<(usize, usize)>,
}

impl Groups {
    fn of(aggregate: &Aggregate, found: &mut Found) -> Option<Self> {
        let mut columns = vec![];
        let mut leaf = None;
        for expr in &aggregate.group_expr {
            let schema = aggregate.input.schema();
            let Expr::Column(column) = expr else {
                return None;
            };
            let at = schema.maybe_index_of_column(column)?;
            let origin = (*found.tree.columns.get(at)?)?;
            if *leaf.get_or_insert(origin.leaf) != origin.leaf {
                return None;
            }
            columns.push((at, origin.column));
        }
        let Some(leaf) = leaf else {
            return Some(Self {
                output: WalkOutput::Total,
                root: None,
                leaf: None,
                columns,
            });
        };
        if let Role::Edge { ends, .. } = &found.roles[leaf] {
            let [(_, column)] = columns.as_slice() else {
                return None;
            };
            let end = ends.iter().position(|end| *end == Some(*column))?;
            return Some(Self {
                output: WalkOutput::Vertices,
                root: Some(found.place(Id::End(leaf, end))?),
                leaf: None,
                columns,
            });
        }
        let key = found.keys[leaf]?;
        Some(Self {
            output: WalkOutput::Rows(0),
            root: Some(found.place(Id::Column(key))?),
            leaf: Some(leaf),
            columns,
        })
    }

    /// The rows that are counted for, with the columns of the groups under the names that they have there, and the position of
    /// the root's ids among them.
    fn rows(&self, aggregate: &Aggregate, found: &Found) -> Result<(LogicalPlan, usize)> {
        let leaf = self.leaf.unwrap_or_default();
        let plan = &found.tree.leaves[leaf];
        let mut exprs = vec![];
        for (at, column) in &self.columns {
            let (qualifier, field) = aggregate.input.schema().qualified_field(*at);
            let own = column_at(plan, *column);
            let same = own.relation.as_ref() == qualifier && own.name == *field.name();
            let own = Expr::Column(own);
            exprs.push(match same {
                true => own,
                false => own.alias_qualified(qualifier.cloned(), field.name()),
            });
        }
        let key = found.keys[leaf].map_or(0, |key| key.column);
        let id = exprs.len();
        exprs.push(Expr::Column(column_at(plan, key)).alias(ROOT_ID));
        let rows = Projection::try_new(exprs, Arc::new(plan.clone()))?;
        Ok((LogicalPlan::Projection(rows), id))
    }

    /// The node, and above it what gives its columns the names and groups of the aggregate.
    fn plan(
        &self,
        aggregate: &Aggregate,
        pattern: WalkPattern,
        inputs: Vec<LogicalPlan>,
    ) -> Result<LogicalPlan> {
        let walks = Arc::new(Field::new(WALKS, DataType::Int64, false));
        let mut fields = match self.output {
            WalkOutput::Total => vec![],
            WalkOutput::Vertices => {
                let group = self.columns.iter().map(|(at, _)| *at);
                let group = group.map(|at| aggregate.input.schema().qualified_field(at));
                group
                    .map(|(qualifier, field)| (qualifier.cloned(), Arc::clone(field)))
                    .collect()
            }
            WalkOutput::Rows(_) => {
                let schema = inputs[0].schema();
                let fields = schema.iter();
                fields
                    .map(|(qualifier, field)| (qualifier.cloned(), Arc::clone(field)))
                    .collect()
            }
        };
        fields.push((None, walks));
        let schema = Arc::new(DFSchema::new_with_metadata(
            fields,
            HashMap::new().into_iter().collect(),
        )?);
        let node = CountWalks::new(Arc::new(pattern), inputs, schema);
        let mut plan = LogicalPlan::Extension(Extension {
            node: Arc::new(node),
        });
        let mut number = Expr::Column(Column::from_name(WALKS));
        if matches!(self.output, WalkOutput::Rows(_)) {
            // Sums of BIGINT wrap around, those of decimals do not, and the cast back fails where it has to.
            let wide = sum(cast(number, DataType::Decimal128(38, 0)));
            let groups = aggregate.group_expr.clone();
            let grouped = Aggregate::try_new(Arc::new(plan), groups, vec![wide])?;
            let last = grouped.schema.fields().len() - 1;
            let wide = Column::from(grouped.schema.qualified_field(last));
            number = cast(Expr::Column(wide), DataType::Int64);
            plan = LogicalPlan::Aggregate(grouped);
        }
        let groups = aggregate.group_expr.len();
        let mut exprs = vec![];
        for (at, (qualifier, field)) in aggregate.schema.iter().enumerate() {
            exprs.push(match at < groups {
                true => Expr::Column(Column::from((qualifier, field))),
                false => number
                    .clone()
                    .alias_qualified(qualifier.cloned(), field.name()),
            });
        }
        let projection = Projection::try_new(exprs, Arc::new(plan))?;
        Ok(LogicalPlan::Projection(projection))
    }
}
