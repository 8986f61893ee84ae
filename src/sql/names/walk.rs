//! Settles the names of a statement, from FROM outwards.

use std::ops::ControlFlow;
use std::slice;

use datafusion::common::Result;
use datafusion::sql::sqlparser::ast::{
    Cte, ExcludeSelectItem, Expr, Ident, JoinConstraint, JoinOperator, ObjectName, Query, Select,
    SelectItem, SelectItemQualifiedWildcardKind, SetExpr, TableAlias, TableFactor, TableWithJoins,
    VisitMut, WildcardAdditionalOptions,
};

use crate::sql::names::catalog::{Lookup, Tables};
use crate::sql::names::matching::{
    Match, best_match, constraint, idents, idents_mut, settle_function, write_name,
};
use crate::sql::names::scope::{
    Columns, Rank, Relation, Scope, ambiguous, resolve_column, resolve_compound, resolve_qualifier,
};

/// A common table expression in reach.
struct Named {
    name: String,
    columns: Columns,
}

/// Walks a statement.
pub struct Walker<'a> {
    tables: &'a Tables,
    /// Whether the engine will fold unquoted names to lower case.
    normalizes: bool,
    ctes: Vec<Named>,
    pub(super) scopes: Vec<Scope>,
    /// How deep the visitor is inside a query that this walker has already settled.
    pub(super) settled: usize,
}

impl<'a> Walker<'a> {
    /// A walker for one statement.
    pub fn new(tables: &'a Tables, normalizes: bool) -> Self {
        Self {
            tables,
            normalizes,
            ctes: vec![],
            scopes: vec![],
            settled: 0,
        }
    }

    /// Settles a query and returns the columns of its result.
    pub fn query(&mut self, query: &mut Query) -> Result<Columns> {
        let reach = self.ctes.len();
        if let Some(with) = &mut query.with {
            for cte in &mut with.cte_tables {
                self.cte(cte, with.recursive)?;
            }
        }
        let (columns, mut scope) = self.body(&mut query.body, None)?;
        scope.rank = Rank::AliasesFirst;
        self.scopes.push(scope);
        self.visit(&mut query.order_by)?;
        self.visit(&mut query.limit_clause)?;
        self.visit(&mut query.fetch)?;
        self.scopes.pop();
        self.ctes.truncate(reach);
        Ok(columns)
    }

    fn cte(&mut self, cte: &mut Cte, recursive: bool) -> Result<()> {
        let name = self.defined(&cte.alias.name);
        if !recursive {
            let columns = self.query(&mut cte.query)?;
            let columns = self.renamed(&cte.alias, columns);
            self.ctes.push(Named { name, columns });
            return Ok(());
        }
        let columns = self.renamed(&cte.alias, None);
        let own = self.ctes.len();
        self.ctes.push(Named { name, columns });
        let first = (self.ctes[own].columns.is_none()).then_some(own);
        let plain = cte.query.with.is_none() && cte.query.order_by.is_none();
        let columns = if plain {
            self.body(&mut cte.query.body, first)?.0
        } else {
            self.query(&mut cte.query)?
        };
        self.ctes[own].columns = self.renamed(&cte.alias, columns);
        Ok(())
    }

    /// Settles what stands between WITH and ORDER BY. The columns of the first operand of a set
    /// operation become those of CTE `recursive`, which the second operand may name.
    fn body(&mut self, body: &mut SetExpr, recursive: Option<usize>) -> Result<(Columns, Scope)> {
        match body {
            SetExpr::Select(select) => self.select(select),
            SetExpr::Query(query) => {
                let columns = self.query(query)?;
                let scope = Scope::of_result(&columns);
                Ok((columns, scope))
            }
            SetExpr::SetOperation { left, right, .. } => {
                let (columns, _) = self.body(left, recursive)?;
                if let Some(cte) = recursive {
                    self.ctes[cte].columns.clone_from(&columns);
                }
                self.body(right, None)?;
                let scope = Scope::of_result(&columns);
                Ok((columns, scope))
            }
            SetExpr::Values(values) => {
                let width = values.rows.first().map_or(0, |row| row.content.len());
                self.visit(values)?;
                let columns = Some(
                    (1..=width)
                        .map(|number| format!("column{number}"))
                        .collect(),
                );
                let scope = Scope::of_result(&columns);
                Ok((columns, scope))
            }
            SetExpr::Insert(statement)
            | SetExpr::Update(statement)
            | SetExpr::Delete(statement)
            | SetExpr::Merge(statement) => {
                self.statement(statement)?;
                Ok((None, Scope::default()))
            }
            SetExpr::Table(_) => Ok((None, Scope::of_result(&None))),
        }
    }

    fn select(&mut self, select: &mut Select) -> Result<(Columns, Scope)> {
        self.enter(&mut select.from)?;
        for item in &mut select.projection {
            self.select_item(item)?;
        }
        self.visit(&mut select.lateral_views)?;
        self.visit(&mut select.selection)?;
        self.visit(&mut select.named_window)?;
        let aliases = select.projection.iter().filter_map(|item| match item {
            SelectItem::ExprWithAlias { alias, .. } => Some(self.defined(alias)),
            _ => None,
        });
        let aliases = aliases.collect();
        if let Some(scope) = self.scopes.last_mut() {
            scope.aliases = aliases;
        }
        self.visit(&mut select.distinct)?;
        self.visit(&mut select.group_by)?;
        self.visit(&mut select.having)?;
        self.visit(&mut select.qualify)?;
        let columns = self.output(&select.projection);
        Ok((columns, self.leave()))
    }

    /// Opens a scope with these relations in it.
    pub fn enter(&mut self, from: &mut [TableWithJoins]) -> Result<()> {
        self.scopes.push(Scope::default());
        from.iter_mut().try_for_each(|tables| self.joined(tables))
    }

    /// Closes the innermost scope.
    pub fn leave(&mut self) -> Scope {
        self.scopes.pop().unwrap_or_default()
    }

    /// Adds the relations of one item of FROM to the innermost scope.
    pub fn joined(&mut self, tables: &mut TableWithJoins) -> Result<()> {
        self.factor(&mut tables.relation)?;
        for join in &mut tables.joins {
            self.factor(&mut join.relation)?;
            if let JoinOperator::AsOf {
                match_condition, ..
            } = &mut join.join_operator
            {
                self.visit(match_condition)?;
            }
            match constraint(&mut join.join_operator) {
                Some(JoinConstraint::On(condition)) => self.visit(condition)?,
                Some(JoinConstraint::Using(columns)) => {
                    columns
                        .iter_mut()
                        .try_for_each(|name| self.column_name(name))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Adds one relation to the innermost scope.
    fn factor(&mut self, factor: &mut TableFactor) -> Result<()> {
        let text = matches!(
            factor,
            TableFactor::Table { args: Some(_), .. }
                | TableFactor::Function { .. }
                | TableFactor::TableFunction { .. }
                | TableFactor::UNNEST { .. }
        )
        .then(|| factor.to_string());
        match factor {
            TableFactor::Table {
                name,
                alias,
                args: None,
                ..
            } => {
                let (full, columns) = self.table(name)?;
                self.add(alias.as_ref(), full, columns);
            }
            TableFactor::Table {
                name,
                alias,
                args: Some(args),
                ..
            } => {
                self.visit(args)?;
                let full = self.function(name);
                let columns = self.computed(text);
                self.add_as_is(alias.as_ref(), full, columns);
            }
            TableFactor::Derived {
                subquery, alias, ..
            } => {
                let columns = self.query(subquery)?;
                self.add(alias.as_ref(), vec![], columns);
            }
            TableFactor::NestedJoin {
                table_with_joins,
                alias: None,
            } => {
                self.joined(table_with_joins)?;
            }
            TableFactor::NestedJoin {
                table_with_joins,
                alias,
            } => {
                self.enter(slice::from_mut(table_with_joins))?;
                let inner = self.leave();
                let columns: Option<Vec<Vec<String>>> = inner
                    .relations
                    .into_iter()
                    .map(|relation| relation.columns)
                    .collect();
                self.add(
                    alias.as_ref(),
                    vec![],
                    columns.map(|columns| columns.concat()),
                );
            }
            TableFactor::Function { args, alias, .. } => {
                self.visit(args)?;
                let columns = self.computed(text);
                self.add_as_is(alias.as_ref(), vec![], columns);
            }
            TableFactor::UNNEST {
                array_exprs, alias, ..
            } => {
                self.visit(array_exprs)?;
                let columns = self.computed(text);
                self.add_as_is(alias.as_ref(), vec![], columns);
            }
            TableFactor::TableFunction { expr, alias } => {
                self.visit(expr)?;
                let columns = self.computed(text);
                self.add_as_is(alias.as_ref(), vec![], columns);
            }
            // The engine has none of the others.
            _ => self.add_as_is(None, vec![], None),
        }
        Ok(())
    }

    fn add(&mut self, alias: Option<&TableAlias>, full: Vec<String>, columns: Columns) {
        let columns = match alias {
            Some(alias) => self.renamed(alias, columns),
            None => columns,
        };
        self.add_as_is(alias, full, columns);
    }

    fn add_as_is(&mut self, alias: Option<&TableAlias>, full: Vec<String>, columns: Columns) {
        let qualifier = alias.map_or(full, |alias| vec![self.defined(&alias.name)]);
        if let Some(scope) = self.scopes.last_mut() {
            scope.relations.push(Relation { qualifier, columns });
        }
    }

    fn computed(&self, text: Option<String>) -> Columns {
        self.tables.factor_columns(&text?).cloned()
    }

    /// Settles the name of a table or CTE; returns its full name and columns.
    pub fn table(&self, name: &mut ObjectName) -> Result<(Vec<String>, Columns)> {
        let Some(parts) = idents(name) else {
            return Ok((vec![], None));
        };
        let table = self.tables.lookup(&parts);
        if let [ident] = parts.as_slice() {
            let near: Vec<&str> = self.ctes.iter().map(|cte| cte.name.as_str()).collect();
            let exact_table = matches!(table, Lookup::Table(found) if found.exact);
            let cte = match best_match(ident, &near) {
                Match::Exact(cte) => Some(cte),
                Match::Folded(cte) if !exact_table => Some(cte),
                Match::Ambiguous(ctes) if !exact_table => {
                    return ambiguous("table", &ident.value, &ctes);
                }
                _ => None,
            };
            if let Some(cte) = cte {
                write_name(name, slice::from_ref(&cte));
                let named = self.ctes.iter().rev().find(|named| named.name == cte);
                return Ok((vec![cte], named.and_then(|named| named.columns.clone())));
            }
        }
        match table {
            Lookup::Table(found) => {
                let (full, columns) = (found.full.clone(), found.columns.clone());
                write_name(name, &found.name);
                Ok((full, Some(columns)))
            }
            Lookup::Ambiguous(names) => ambiguous("table", &name.to_string(), names),
            Lookup::Missing => {
                let full = parts.iter().map(|ident| ident.value.clone()).collect();
                Ok((full, None))
            }
        }
    }

    /// Settles the name of a table function, and returns it as a qualifier.
    fn function(&self, name: &mut ObjectName) -> Vec<String> {
        settle_function(name, self.tables.functions());
        idents(name)
            .into_iter()
            .flatten()
            .map(|ident| ident.value.clone())
            .collect()
    }

    fn select_item(&mut self, item: &mut SelectItem) -> Result<()> {
        match item {
            SelectItem::UnnamedExpr(expr)
            | SelectItem::ExprWithAlias { expr, .. }
            | SelectItem::ExprWithAliases { expr, .. } => self.visit(expr),
            SelectItem::QualifiedWildcard(kind, options) => {
                match kind {
                    SelectItemQualifiedWildcardKind::ObjectName(name) => {
                        self.qualifier(name)?;
                    }
                    SelectItemQualifiedWildcardKind::Expr(expr) => self.visit(expr)?,
                }
                self.wildcard_options(options)
            }
            SelectItem::Wildcard(options) => self.wildcard_options(options),
        }
    }

    fn wildcard_options(&mut self, options: &mut WildcardAdditionalOptions) -> Result<()> {
        match &mut options.opt_exclude {
            Some(ExcludeSelectItem::Single(name)) => self.column_name(name)?,
            Some(ExcludeSelectItem::Multiple(names)) => {
                names
                    .iter_mut()
                    .try_for_each(|name| self.column_name(name))?;
            }
            None => {}
        }
        if let Some(except) = &mut options.opt_except {
            self.column(&mut except.first_element)?;
            except
                .additional_elements
                .iter_mut()
                .try_for_each(|name| self.column(name))?;
        }
        if let Some(replace) = &mut options.opt_replace {
            for item in &mut replace.items {
                self.visit(&mut item.expr)?;
                self.column(&mut item.column_name)?;
            }
        }
        Ok(())
    }

    /// The names of the columns that a settled select list gives, as far as it says them.
    fn output(&self, projection: &[SelectItem]) -> Columns {
        let scope = self.scopes.last()?;
        let mut names = vec![];
        for item in projection {
            match item {
                SelectItem::UnnamedExpr(Expr::Identifier(ident)) => names.push(self.defined(ident)),
                SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts)) => {
                    names.extend(parts.last().map(|ident| self.defined(ident)));
                }
                // The engine makes up a name nobody writes unquoted.
                SelectItem::UnnamedExpr(expr) => names.push(expr.to_string()),
                SelectItem::ExprWithAlias { alias, .. } => names.push(self.defined(alias)),
                SelectItem::QualifiedWildcard(
                    SelectItemQualifiedWildcardKind::ObjectName(name),
                    _,
                ) => {
                    let parts: Vec<String> = idents(name)?
                        .iter()
                        .map(|ident| ident.value.clone())
                        .collect();
                    let relation = scope
                        .relations
                        .iter()
                        .find(|r| r.qualifier.ends_with(&parts))?;
                    names.extend(relation.columns.clone()?);
                }
                SelectItem::Wildcard(_) => {
                    for relation in &scope.relations {
                        names.extend(relation.columns.clone()?);
                    }
                }
                SelectItem::QualifiedWildcard(..) | SelectItem::ExprWithAliases { .. } => {
                    return None;
                }
            }
        }
        Some(names)
    }

    /// The columns of a relation under its alias, which may rename them.
    fn renamed(&self, alias: &TableAlias, columns: Columns) -> Columns {
        let new = alias
            .columns
            .iter()
            .map(|column| self.defined(&column.name));
        if alias.columns.is_empty() {
            return columns;
        }
        let rest = columns.into_iter().flatten().skip(alias.columns.len());
        Some(new.chain(rest).collect())
    }

    /// The name that a definition such as `AS N` makes.
    pub fn defined(&self, ident: &Ident) -> String {
        if self.normalizes && ident.quote_style.is_none() {
            ident.value.to_lowercase()
        } else {
            ident.value.clone()
        }
    }

    /// Settles a column name.
    pub fn column(&self, ident: &mut Ident) -> Result<()> {
        resolve_column(&self.scopes, ident)
    }

    /// Settles a column name that is written where a table name could stand.
    pub fn column_name(&self, name: &mut ObjectName) -> Result<()> {
        let Some(mut parts) = idents_mut(name) else {
            return Ok(());
        };
        resolve_compound(&self.scopes, &mut parts)
    }

    /// Settles the name of a relation, as in `person.*`.
    pub fn qualifier(&self, name: &mut ObjectName) -> Result<()> {
        match idents_mut(name) {
            Some(mut parts) => resolve_qualifier(&self.scopes, &mut parts),
            None => Ok(()),
        }
    }

    /// Settles all names in the expressions of `node`.
    pub fn visit<N: VisitMut>(&mut self, node: &mut N) -> Result<()> {
        match node.visit(self) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(error) => Err(*error),
        }
    }
}
