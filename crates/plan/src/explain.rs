//! A plan in words.

use crate::{Facts, Plan};

/// What will run, in order, as a person reads it.
pub fn explain(plan: &Plan, _facts: &Facts) -> String {
    let mut text = String::new();
    for task in &plan.tasks {
        text.push_str(&format!("{} {}\n", task.id, task.role.name()));
    }
    text
}
