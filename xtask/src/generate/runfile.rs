//! The run file's schema, for editors, and its reference, for people.

use anyhow::Result;

use super::Page;

pub(super) fn schema() -> Result<Page> {
    let mut text = serde_json::to_string_pretty(&spec::schema())?;
    text.push('\n');
    Ok(Page { path: "docs/reference/runfile.schema.json", text })
}

pub(super) fn reference() -> Page {
    Page { path: "docs/reference/runfile.md", text: spec::reference() }
}
