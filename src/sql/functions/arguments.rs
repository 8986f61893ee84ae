//! The arguments of a call, by name, and what can be a value.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DFSchema, ScalarValue, plan_err};
use datafusion::error::Result;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::planner::RelationPlannerContext;
use datafusion::sql::sqlparser::ast::{
    Expr as SqlExpr, FunctionArg, FunctionArgExpr, Ident, Value, ValueWithSpan,
};

use super::signature::Signature;

/// What was written for each argument.
#[derive(Debug)]
pub struct Arguments {
    signature: Signature,
    values: Vec<(&'static str, SqlExpr)>,
}

/// A name that was written: an identifier, or a text.
#[derive(Debug, Clone)]
pub enum Name {
    /// Not quoted, so its case may not be meant.
    Folded(String),
    /// Quoted, or a text.
    Exact(String),
}

impl Name {
    /// As it was written.
    pub fn text(&self) -> &str {
        match self {
            Self::Folded(name) | Self::Exact(name) => name,
        }
    }

    /// The candidate that is meant: the one of exactly this name, or else the only one that differs in case, where the name was not
    /// quoted.
    pub fn find<'a>(&self, candidates: &[&'a str]) -> Option<&'a str> {
        let exact = candidates.iter().find(|name| **name == self.text());
        if let (None, Self::Folded(own)) = (exact, self) {
            let mut near = candidates
                .iter()
                .filter(|name| name.eq_ignore_ascii_case(own));
            return match (near.next(), near.next()) {
                (Some(only), None) => Some(only),
                _ => None,
            };
        }
        exact.copied()
    }
}

impl Arguments {
    /// Takes what was written apart.
    ///
    /// # Errors
    /// If an argument is unknown, missing, given twice, or by position after others by name.
    pub fn of(signature: Signature, arguments: Vec<FunctionArg>) -> Result<Self> {
        let function = signature.name;
        let mut values: Vec<(&'static str, SqlExpr)> = vec![];
        let mut named = false;
        for (position, argument) in arguments.into_iter().enumerate() {
            let text = argument.to_string();
            let (name, value) = match argument {
                FunctionArg::Unnamed(value) => (None, value),
                FunctionArg::Named { name, arg, .. } => (Some(name), arg),
                FunctionArg::ExprNamed {
                    name: SqlExpr::Identifier(name),
                    arg,
                    ..
                } => (Some(name), arg),
                FunctionArg::ExprNamed { name, .. } => {
                    return plan_err!("{function}: expected the name of an argument, found {name}");
                }
            };
            let FunctionArgExpr::Expr(value) = value else {
                return plan_err!("{function}: expected a value, found {text}");
            };
            let by_name = name.is_some();
            let name = match name {
                Some(name) => signature.argument(&name.value)?,
                None if named => {
                    return plan_err!(
                        "{function}: {text} has no name, but stands behind arguments with names"
                    );
                }
                None => match signature.arguments().nth(position) {
                    Some(name) => name,
                    None => {
                        return plan_err!(
                            "{function}: {text} is one argument too many; it is called as {}",
                            signature.usage()
                        );
                    }
                },
            };
            if values.iter().any(|(known, _)| *known == name) {
                return plan_err!("{function}: argument '{name}' is given twice");
            }
            named |= by_name;
            values.push((name, value));
        }
        for name in signature.required {
            if !values.iter().any(|(known, _)| known == name) {
                return plan_err!(
                    "{function}: argument '{name}' is missing; it is called as {}",
                    signature.usage()
                );
            }
        }
        Ok(Self { signature, values })
    }

    /// The function.
    pub fn function(&self) -> &'static str {
        self.signature.name
    }

    /// What was written for an argument, if it was.
    pub fn value(&self, name: &str) -> Option<&SqlExpr> {
        let mut values = self.values.iter();
        values
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    }

    /// A name: an identifier or a text.
    pub fn name(&self, name: &str) -> Result<Option<Name>> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        match value {
            SqlExpr::Identifier(Ident {
                value, quote_style, ..
            }) => Ok(Some(match quote_style {
                None => Name::Folded(value.clone()),
                Some(_) => Name::Exact(value.clone()),
            })),
            SqlExpr::Value(ValueWithSpan {
                value: Value::SingleQuotedString(text),
                ..
            }) => Ok(Some(Name::Exact(text.clone()))),
            other => plan_err!(
                "{}: expected a name for '{name}', such as g or 'g', found {other}",
                self.function()
            ),
        }
    }

    /// A constant, if it was given.
    fn constant(
        &self,
        name: &str,
        expected: &str,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<Option<ScalarValue>> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };
        let found = context.sql_to_expr(value.clone(), &DFSchema::empty());
        match found {
            Ok(Expr::Literal(constant, _)) if !constant.is_null() => Ok(Some(constant)),
            Ok(Expr::Negative(inner)) => match *inner {
                Expr::Literal(constant, _) => constant.arithmetic_negate().map(Some),
                _ => self.refuse(name, expected, value),
            },
            _ => self.refuse(name, expected, value),
        }
    }

    fn refuse<T>(&self, name: &str, expected: &str, value: &SqlExpr) -> Result<T> {
        let function = self.function();
        plan_err!("{function}: expected {expected} for '{name}', found {value}")
    }

    /// A whole number of at least `least`.
    pub fn whole(
        &self,
        name: &str,
        least: u64,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<Option<u64>> {
        let expected = format!("a constant whole number of {least} or more");
        let Some(constant) = self.constant(name, &expected, context)? else {
            return Ok(None);
        };
        let found = match constant {
            ScalarValue::Int64(Some(number)) => u64::try_from(number).ok(),
            ScalarValue::UInt64(Some(number)) => Some(number),
            _ => None,
        };
        match (found.filter(|number| *number >= least), self.value(name)) {
            (Some(number), _) => Ok(Some(number)),
            (None, Some(value)) => self.refuse(name, &expected, value),
            (None, None) => Ok(None),
        }
    }

    /// A number from `least` to `most`.
    pub fn number(
        &self,
        name: &str,
        least: f64,
        most: f64,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<Option<f64>> {
        let expected = match most.is_finite() {
            true => format!("a constant number from {least} to {most}"),
            false => format!("a constant number of {least} or more"),
        };
        let Some(constant) = self.constant(name, &expected, context)? else {
            return Ok(None);
        };
        let number = match constant.data_type().is_numeric() {
            true => constant.cast_to(&DataType::Float64)?,
            false => ScalarValue::Null,
        };
        match (number, self.value(name)) {
            (ScalarValue::Float64(Some(number)), _) if (least..=most).contains(&number) => {
                Ok(Some(number))
            }
            (_, Some(value)) => self.refuse(name, &expected, value),
            (_, None) => Ok(None),
        }
    }
}
