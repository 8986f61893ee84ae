//! Settles the names of statements other than queries.

use std::slice;

use datafusion::common::Result;
use datafusion::sql::parser::{CopyToSource, Statement};
use datafusion::sql::sqlparser::ast::{
    Assignment, AssignmentTarget, Delete, FromTable, Ident, Insert, ObjectName, ObjectType,
    Statement as SqlStatement, TableObject, Update, UpdateTableFromKind,
};

use crate::format::{LABELS, VERTEX_ID};
use crate::sql::names::scope::Scope;
use crate::sql::names::walk::Walker;

impl Walker<'_> {
    /// Settles a statement of DataFusion's.
    pub fn whole(&mut self, statement: &mut Statement) -> Result<()> {
        match statement {
            Statement::Statement(inner) => self.statement(inner),
            Statement::Explain(explain) => self.whole(&mut explain.statement),
            Statement::CopyTo(copy) => match &mut copy.source {
                CopyToSource::Relation(name) => self.table(name).map(|_| ()),
                CopyToSource::Query(query) => self.query(query).map(|_| ()),
            },
            Statement::CreateExternalTable(_) | Statement::Reset(_) => Ok(()),
        }
    }

    /// Settles a statement of the parser's.
    pub fn statement(&mut self, statement: &mut SqlStatement) -> Result<()> {
        match statement {
            SqlStatement::Query(query) => self.query(query).map(|_| ()),
            SqlStatement::CreateView(view) => self.query(&mut view.query).map(|_| ()),
            SqlStatement::CreateTable(table) => match &mut table.query {
                Some(query) => self.query(query).map(|_| ()),
                None => Ok(()),
            },
            SqlStatement::Explain { statement, .. } | SqlStatement::Prepare { statement, .. } => {
                self.statement(statement)
            }
            SqlStatement::ExplainTable { table_name, .. } => self.table(table_name).map(|_| ()),
            SqlStatement::ShowCreate { obj_name, .. } => self.table(obj_name).map(|_| ()),
            SqlStatement::ShowColumns { show_options, .. } => {
                match show_options
                    .show_in
                    .as_mut()
                    .and_then(|place| place.parent_name.as_mut())
                {
                    Some(name) => self.table(name).map(|_| ()),
                    None => Ok(()),
                }
            }
            SqlStatement::Drop {
                object_type: ObjectType::Table | ObjectType::View,
                names,
                ..
            } => names
                .iter_mut()
                .try_for_each(|name| self.table(name).map(|_| ())),
            SqlStatement::Insert(insert) => self.insert(insert),
            SqlStatement::Update(update) => self.update(update),
            SqlStatement::Delete(delete) => self.delete(delete),
            _ => Ok(()),
        }
    }

    fn insert(&mut self, insert: &mut Insert) -> Result<()> {
        let mut table = None;
        if let TableObject::TableName(name) = &mut insert.table {
            let (_, columns) = self.table(name)?;
            self.scopes.push(Scope::of_result(&columns));
            insert
                .columns
                .iter_mut()
                .try_for_each(|column| self.column_name(column))?;
            self.leave();
            table = columns;
        }
        let given = match &mut insert.source {
            Some(source) => self.query(source)?,
            None => None,
        };
        if let (Some(table), true) = (table, insert.columns.is_empty()) {
            let given = given.map(|columns| columns.len());
            insert.columns = inserted(table, given).into_iter().map(column).collect();
        }
        Ok(())
    }

    fn update(&mut self, update: &mut Update) -> Result<()> {
        self.enter(slice::from_mut(&mut update.table))?;
        if let Some(UpdateTableFromKind::BeforeSet(from) | UpdateTableFromKind::AfterSet(from)) =
            &mut update.from
        {
            from.iter_mut().try_for_each(|tables| self.joined(tables))?;
        }
        for Assignment { target, value } in &mut update.assignments {
            match target {
                AssignmentTarget::ColumnName(name) => self.column_name(name)?,
                AssignmentTarget::Tuple(names) => {
                    names
                        .iter_mut()
                        .try_for_each(|name| self.column_name(name))?;
                }
            }
            self.visit(value)?;
        }
        self.visit(&mut update.selection)?;
        self.leave();
        Ok(())
    }

    fn delete(&mut self, delete: &mut Delete) -> Result<()> {
        let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &mut delete.from;
        self.enter(from)?;
        self.visit(&mut delete.selection)?;
        self.leave();
        Ok(())
    }
}

/// The columns that an `INSERT` without a list of them fills in a table of vertices, whose ids come by themselves: all but the
/// id, and but the labels if the rows have one column less. None for other tables, and for rows that give every column.
fn inserted(table: Vec<String>, given: Option<usize>) -> Vec<String> {
    if given == Some(table.len()) || !table.iter().any(|name| name == VERTEX_ID) {
        return vec![];
    }
    let mut columns = table;
    columns.retain(|name| name != VERTEX_ID);
    if given.is_some_and(|given| given < columns.len()) {
        columns.retain(|name| name != LABELS);
    }
    columns
}

fn column(name: String) -> ObjectName {
    ObjectName::from(Ident::with_quote('"', name))
}
