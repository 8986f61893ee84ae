//! What the names in one part of a statement can refer to.

use datafusion::common::{Result, plan_err};
use datafusion::sql::sqlparser::ast::Ident;

use crate::sql::names::matching::{Match, best_match, settle};

/// Column names of a relation; nothing if they cannot be known before planning.
pub type Columns = Option<Vec<String>>;

/// Something in FROM.
#[derive(Debug, Clone)]
pub struct Relation {
    /// Its alias, or catalog, schema and table.
    pub qualifier: Vec<String>,
    /// Its columns.
    pub columns: Columns,
}

/// Which names win if several fit equally well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rank {
    /// Columns of FROM, as in GROUP BY and HAVING.
    #[default]
    ColumnsFirst,
    /// Names given in the select list, as in ORDER BY.
    AliasesFirst,
}

/// The relations of one FROM, and the names given in its select list.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// What stands in FROM.
    pub relations: Vec<Relation>,
    /// Names given in the select list, where they can be used.
    pub aliases: Vec<String>,
    /// Which of both wins.
    pub rank: Rank,
}

impl Scope {
    /// A scope in which only the columns of a result can be named.
    pub fn of_result(columns: &Columns) -> Self {
        let relation = Relation {
            qualifier: vec![],
            columns: columns.clone(),
        };
        Self {
            relations: vec![relation],
            ..Self::default()
        }
    }

    fn columns(&self) -> Vec<&str> {
        let known = self
            .relations
            .iter()
            .filter_map(|relation| relation.columns.as_ref());
        known.flatten().map(String::as_str).collect()
    }

    fn is_open(&self) -> bool {
        self.relations
            .iter()
            .any(|relation| relation.columns.is_none())
    }
}

/// Settles a column name: inner scopes first, and in each the exact name first.
pub fn resolve_column(scopes: &[Scope], ident: &mut Ident) -> Result<()> {
    for scope in scopes.iter().rev() {
        let columns = scope.columns();
        let aliases: Vec<&str> = scope.aliases.iter().map(String::as_str).collect();
        let layers = match scope.rank {
            Rank::ColumnsFirst => [columns, aliases],
            Rank::AliasesFirst => [aliases, columns],
        };
        let matches = layers.map(|layer| best_match(ident, &layer));
        if matches.iter().any(|found| matches!(found, Match::Exact(_))) {
            let name = ident.value.clone();
            settle(ident, &name);
            return Ok(());
        }
        // A relation whose columns are not known yet may have the exact name.
        if scope.is_open() {
            return Ok(());
        }
        for found in matches {
            match found {
                Match::Exact(name) | Match::Folded(name) => {
                    settle(ident, &name);
                    return Ok(());
                }
                Match::Ambiguous(names) => return ambiguous("column", &ident.value, &names),
                Match::None => {}
            }
        }
    }
    Ok(())
}

/// Settles a name of several parts: a relation and its column, or a column and its fields.
pub fn resolve_compound(scopes: &[Scope], parts: &mut [&mut Ident]) -> Result<()> {
    for scope in scopes.iter().rev() {
        for length in 1..parts.len() {
            if let Some(columns) = resolve_qualifier_in(scope, &mut parts[..length])? {
                return match columns {
                    None => Ok(()),
                    Some(columns) => match best_match(parts[length], &columns) {
                        Match::Exact(name) | Match::Folded(name) => {
                            settle(parts[length], &name);
                            Ok(())
                        }
                        Match::Ambiguous(names) => {
                            ambiguous("column", &parts[length].value, &names)
                        }
                        Match::None => Ok(()),
                    },
                };
            }
        }
    }
    match parts {
        [column, ..] => resolve_column(scopes, column),
        [] => Ok(()),
    }
}

/// Settles the name of a relation, as in `person.*`.
pub fn resolve_qualifier(scopes: &[Scope], parts: &mut [&mut Ident]) -> Result<()> {
    for scope in scopes.iter().rev() {
        if resolve_qualifier_in(scope, parts)?.is_some() {
            break;
        }
    }
    Ok(())
}

/// Finds the relation that `parts` name, settles them, and returns its columns.
fn resolve_qualifier_in(scope: &Scope, parts: &mut [&mut Ident]) -> Result<Option<Columns>> {
    let mut folded: Option<&Relation> = None;
    let mut spellings: Vec<String> = vec![];
    for relation in &scope.relations {
        let Some(start) = relation.qualifier.len().checked_sub(parts.len()) else {
            continue;
        };
        let names = &relation.qualifier[start..];
        let pairs = || parts.iter().zip(names);
        if pairs().all(|(part, name)| part.value == *name) {
            for part in parts.iter_mut() {
                let name = part.value.clone();
                settle(part, &name);
            }
            return Ok(Some(relation.columns.clone()));
        }
        if pairs().all(|(part, name)| best_match(part, &[name]) != Match::None) {
            spellings.push(names.join("."));
            folded.get_or_insert(relation);
        }
    }
    spellings.sort();
    spellings.dedup();
    if spellings.len() > 1 {
        let written: Vec<&str> = parts.iter().map(|part| part.value.as_str()).collect();
        return ambiguous("table", &written.join("."), &spellings);
    }
    let Some(relation) = folded else {
        return Ok(None);
    };
    let start = relation.qualifier.len() - parts.len();
    for (part, name) in parts.iter_mut().zip(&relation.qualifier[start..]) {
        settle(part, name);
    }
    Ok(Some(relation.columns.clone()))
}

/// The error for a name that fits several others equally well.
pub fn ambiguous<T>(kind: &str, name: &str, candidates: &[String]) -> Result<T> {
    let quoted: Vec<String> = candidates
        .iter()
        .map(|name| format!("\"{name}\""))
        .collect();
    plan_err!(
        "{kind} name '{name}' fits {}; write the one you mean in double quotes",
        quoted.join(" and ")
    )
}
