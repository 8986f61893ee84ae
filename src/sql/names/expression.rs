//! Settles the names inside expressions.

use std::ops::ControlFlow;

use datafusion::common::Result;
use datafusion::error::DataFusionError;
use datafusion::sql::sqlparser::ast::{
    AccessExpr, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, Query,
    VisitorMut,
};

use crate::sql::names::matching::settle;
use crate::sql::names::scope::{Scope, resolve_compound};
use crate::sql::names::walk::Walker;

impl Walker<'_> {
    fn expression(&mut self, expr: &mut Expr) -> Result<()> {
        match expr {
            Expr::Identifier(ident) => self.column(ident),
            Expr::CompoundIdentifier(parts) => {
                let mut parts: Vec<&mut Ident> = parts.iter_mut().collect();
                resolve_compound(&self.scopes, &mut parts)
            }
            Expr::CompoundFieldAccess { root, access_chain } => {
                self.field_access(root, access_chain)
            }
            Expr::QualifiedWildcard(name, _) => self.qualifier(name),
            Expr::Function(function) => self.arguments(function),
            Expr::Lambda(lambda) => {
                // Parameters hide columns inside the body only.
                let aliases = lambda
                    .params
                    .iter()
                    .map(|param| self.defined(&param.name))
                    .collect();
                self.scopes.push(Scope {
                    aliases,
                    ..Scope::default()
                });
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Settles `p.list[1]`, which the parser takes apart into `p` and what is done with it.
    fn field_access(&mut self, root: &mut Expr, chain: &mut [AccessExpr]) -> Result<()> {
        let mut parts: Vec<&mut Ident> = vec![];
        match root {
            Expr::Identifier(ident) => parts.push(ident),
            Expr::CompoundIdentifier(idents) => parts.extend(idents),
            _ => {}
        }
        let names = chain.iter_mut().map_while(|access| match access {
            AccessExpr::Dot(Expr::Identifier(ident)) => Some(ident),
            _ => None,
        });
        if parts.is_empty() {
            names.for_each(keep);
            return Ok(());
        }
        parts.extend(names);
        resolve_compound(&self.scopes, &mut parts)?;
        parts.into_iter().for_each(keep);
        Ok(())
    }

    fn arguments(&self, function: &mut Function) -> Result<()> {
        let FunctionArguments::List(list) = &mut function.args else {
            return Ok(());
        };
        for argument in &mut list.args {
            if let FunctionArg::Unnamed(FunctionArgExpr::QualifiedWildcard(name)) = argument {
                self.qualifier(name)?;
            }
        }
        Ok(())
    }
}

/// Keeps a field's name from being taken for a column's.
fn keep(ident: &mut Ident) {
    let name = ident.value.clone();
    settle(ident, &name);
}

fn flow(result: Result<()>) -> ControlFlow<Box<DataFusionError>> {
    match result {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => ControlFlow::Break(Box::new(error)),
    }
}

impl VisitorMut for Walker<'_> {
    type Break = Box<DataFusionError>;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Self::Break> {
        if self.settled == 0 {
            flow(self.query(query).map(|_| ()))?;
        }
        self.settled += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<Self::Break> {
        self.settled -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Self::Break> {
        if self.settled == 0 {
            flow(self.expression(expr))
        } else {
            ControlFlow::Continue(())
        }
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Self::Break> {
        if self.settled == 0 && matches!(expr, Expr::Lambda(_)) {
            self.scopes.pop();
        }
        ControlFlow::Continue(())
    }
}
