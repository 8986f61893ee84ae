//! One name against the names there are, and the places where names stand.

use datafusion::sql::sqlparser::ast::{
    Ident, JoinConstraint, JoinOperator, ObjectName, ObjectNamePart,
};

/// How a name fits a list of names.
#[derive(Debug, PartialEq, Eq)]
pub enum Match {
    /// It is in the list.
    Exact(String),
    /// One name in the list differs from it only in case.
    Folded(String),
    /// Several names in the list differ from it only in case.
    Ambiguous(Vec<String>),
    /// Nothing fits.
    None,
}

/// Finds `ident` in `names`: exactly, or without regard to case if it is not quoted.
pub fn best_match<S: AsRef<str>>(ident: &Ident, names: &[S]) -> Match {
    if names.iter().any(|name| name.as_ref() == ident.value) {
        return Match::Exact(ident.value.clone());
    }
    if ident.quote_style.is_some() {
        return Match::None;
    }
    let folded = fold(&ident.value);
    let mut alike: Vec<String> = names
        .iter()
        .map(AsRef::as_ref)
        .filter(|name| fold(name) == folded)
        .map(str::to_owned)
        .collect();
    alike.sort();
    alike.dedup();
    match alike.len() {
        0 => Match::None,
        1 => alike.pop().map_or(Match::None, Match::Folded),
        _ => Match::Ambiguous(alike),
    }
}

/// The form in which names are compared without case.
pub fn fold(name: &str) -> String {
    name.to_lowercase()
}

/// Replaces a name by the one it was found to be, which no later step may touch.
pub fn settle(ident: &mut Ident, name: &str) {
    name.clone_into(&mut ident.value);
    ident.quote_style = Some('"');
}

/// The parts of a name; nothing if one of them is computed.
pub fn idents(name: &ObjectName) -> Option<Vec<&Ident>> {
    name.0.iter().map(ObjectNamePart::as_ident).collect()
}

/// The parts of a name, to be changed; nothing if one of them is computed.
pub fn idents_mut(name: &mut ObjectName) -> Option<Vec<&mut Ident>> {
    let parts = name.0.iter_mut().map(|part| match part {
        ObjectNamePart::Identifier(ident) => Some(ident),
        ObjectNamePart::Function(_) => None,
    });
    parts.collect()
}

/// Replaces a name by these parts, keeping the position of the old last one for messages.
pub fn write_name(name: &mut ObjectName, parts: &[String]) {
    let Some(last) = name.0.last().and_then(ObjectNamePart::as_ident).cloned() else {
        return;
    };
    let settled = parts.iter().map(|part| {
        let mut ident = last.clone();
        settle(&mut ident, part);
        ObjectNamePart::Identifier(ident)
    });
    name.0 = settled.collect();
}

/// Settles the name of a table function.
pub fn settle_function(name: &mut ObjectName, functions: &[String]) {
    if let Some(mut parts) = idents_mut(name)
        && let [ident] = parts.as_mut_slice()
        && let Match::Folded(function) = best_match(ident, functions)
    {
        // Unquoted: the engine takes the quotes of a function for part of its name.
        ident.value = function;
    }
}

/// The condition of a join.
pub fn constraint(operator: &mut JoinOperator) -> Option<&mut JoinConstraint> {
    match operator {
        JoinOperator::Join(constraint)
        | JoinOperator::Inner(constraint)
        | JoinOperator::Left(constraint)
        | JoinOperator::LeftOuter(constraint)
        | JoinOperator::Right(constraint)
        | JoinOperator::RightOuter(constraint)
        | JoinOperator::FullOuter(constraint)
        | JoinOperator::CrossJoin(constraint)
        | JoinOperator::Semi(constraint)
        | JoinOperator::LeftSemi(constraint)
        | JoinOperator::RightSemi(constraint)
        | JoinOperator::Anti(constraint)
        | JoinOperator::LeftAnti(constraint)
        | JoinOperator::RightAnti(constraint)
        | JoinOperator::StraightJoin(constraint)
        | JoinOperator::AsOf { constraint, .. } => Some(constraint),
        JoinOperator::CrossApply
        | JoinOperator::OuterApply
        | JoinOperator::ArrayJoin
        | JoinOperator::LeftArrayJoin
        | JoinOperator::InnerArrayJoin => None,
    }
}
