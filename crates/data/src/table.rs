//! CSV files as a source: a column with the class, and columns of numbers, or one column of texts.
//!
//! One file is all to train on; in a folder or an archive there are `train.csv` and, if wanted,
//! `validation.csv` and `test.csv`. The first row is a header when it names the column of the class or
//! of the texts, or when it has no number and the second row has one.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use spec::Data;

use crate::columns::{Columns, number};
use crate::csv::{Row, Rows};
use crate::error::{DataError, Result};
use crate::samples::{Samples, Values};
use crate::source::{Raw, Whole};
use crate::texts::{Encoding, Split};
use crate::tree::Tree;

/// A file is held in memory while it is read.
const LARGEST: u64 = 16 << 30;

/// CSV files, one for each split.
#[derive(Debug)]
pub(crate) struct Tables {
    label: Option<String>,
    text: Option<String>,
    encoding: Encoding,
    files: Files,
}

/// Where they are.
#[derive(Debug)]
enum Files {
    One(PathBuf),
    /// In a tree: to train on, to validate on, to test on.
    Tree(Tree, [Option<usize>; 3]),
}

/// A file's rows, and which column is what.
struct Table {
    place: String,
    columns: Columns,
    rows: Vec<Row>,
}

/// Whether a file is a table by its name.
pub(crate) fn is_table(path: &str) -> bool {
    let end = path.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase());
    matches!(end.as_deref(), Some("csv" | "tsv"))
}

impl Tables {
    /// A file alone.
    pub(crate) fn one(data: &Data, path: &Path) -> Tables {
        Tables::new(data, Files::One(path.to_owned()))
    }

    /// The tables of a tree, if it has one to train on: `train.csv`, or the only one.
    pub(crate) fn find(data: &Data, tree: Tree) -> Result<Tables, Tree> {
        let tables: Vec<(usize, &str)> = tree
            .entries
            .iter()
            .enumerate()
            .filter(|(_, entry)| is_table(&entry.path))
            .map(|(number, entry)| (number, stem(&entry.path)))
            .collect();
        let named = |names: &[&str]| {
            let is = |stem: &str| names.iter().any(|name| stem.eq_ignore_ascii_case(name));
            tables.iter().find(|(_, stem)| is(stem)).map(|(number, _)| *number)
        };
        let only = || if let [(number, _)] = tables[..] { Some(number) } else { None };
        let train = named(&["train", "training"]).or_else(only);
        let files = [train, named(&["validation", "valid", "val"]), named(&["test", "testing"])];
        match train {
            None => Err(tree),
            Some(_) => Ok(Tables::new(data, Files::Tree(tree, files))),
        }
    }

    fn new(data: &Data, files: Files) -> Tables {
        let (label, text) = (data.label.clone(), data.text.clone());
        Tables { label, text, encoding: Encoding::new(data), files }
    }

    /// What there is. Reads all rows, and no numbers.
    pub(crate) fn facts(&self) -> Result<Whole> {
        let tables = self.read()?;
        let labels = classes(&tables);
        let [train, validation, test] = tables;
        let count = |table: &Option<Table>| table.as_ref().map_or(0, |table| table.rows.len());
        let columns = train.as_ref().map(|table| table.columns);
        let encoding = &self.encoding;
        let (shape, width, vocabulary) = match columns {
            Some(Columns { text: None, all, .. }) => (vec![all - 1], 4, None),
            _ => (vec![encoding.length()], encoding.kind().width(), Some(encoding.words())),
        };
        // A field is text until it is a number: so many bytes beside its letters.
        let fields =
            |table: &Option<Table>| count(table) * columns.map_or(0, |columns| columns.all);
        let working = 48 * (fields(&train) + fields(&validation) + fields(&test)) as u64;
        let (train, validation, test) = (count(&train), count(&validation), count(&test));
        let classes = labels.len();
        Ok(Whole { train, validation, test, shape, classes, labels, width, vocabulary, working })
    }

    /// Reads everything.
    pub(crate) fn load(&self) -> Result<Raw> {
        let tables = self.read()?;
        let labels = classes(&tables);
        let texts = tables.iter().flatten().any(|table| table.columns.text.is_some());
        if texts {
            let splits =
                tables.map(|table| table.map_or_else(Split::default, |table| table.texts(&labels)));
            return self.encoding.encode(splits, labels);
        }
        let mut samples = Vec::new();
        for table in tables {
            samples.push(table.map(|table| table.numbers(&labels)).transpose()?);
        }
        let (test, validation) = (samples.pop().flatten(), samples.pop().flatten());
        let train = samples.pop().flatten();
        let train = train.ok_or_else(|| DataError::malformed("holds no rows to train on"))?;
        Ok(Raw { validation, labels, ..Raw::numbers((train, test)) })
    }

    fn read(&self) -> Result<[Option<Table>; 3]> {
        let mut tables = [None, None, None];
        match &self.files {
            Files::One(path) => {
                let mut bytes = Vec::new();
                File::open(path)
                    .and_then(|file| file.take(LARGEST).read_to_end(&mut bytes))
                    .map_err(DataError::io("read", path))?;
                tables[0] = Some(self.table(path.display().to_string(), &bytes)?);
            }
            Files::Tree(tree, files) => {
                for (table, file) in tables.iter_mut().zip(files) {
                    let Some(file) = *file else { continue };
                    let bytes = tree.read(file, LARGEST)?;
                    *table = Some(self.table(tree.name(&tree.entries[file]), &bytes)?);
                }
            }
        }
        let mut found = tables.iter().flatten();
        let first = found.next().map(|table| (table.columns, table.place.clone()));
        if let (Some((columns, place)), Some(other)) =
            (first, found.find(|table| first_differs(&tables, table)))
        {
            return Err(DataError::malformed(format!(
                "has {} columns with the class in column {}, and {place} has {} and {}",
                other.columns.all,
                other.columns.label + 1,
                columns.all,
                columns.label + 1
            ))
            .in_place(&other.place));
        }
        Ok(tables)
    }

    /// Reads the rows of a file.
    fn table(&self, place: String, bytes: &[u8]) -> Result<Table> {
        let separator = if place.to_ascii_lowercase().ends_with("tsv") { b'\t' } else { b',' };
        let named = |error: DataError| error.in_place(&place);
        let rows: Result<Vec<Row>> = Rows::new(bytes, separator).collect();
        let mut rows = rows.map_err(named)?;
        let wanted = (self.label.as_deref(), self.text.as_deref());
        let columns = Columns::of(&rows, wanted).map_err(named)?;
        if let Some(row) = rows.iter().find(|row| row.fields.len() != columns.all) {
            return Err(named(DataError::malformed(format!(
                "line {} has {} columns, and the first row has {}",
                row.line,
                row.fields.len(),
                columns.all
            ))));
        }
        if columns.header {
            rows.remove(0);
        }
        if let Some(row) = rows.iter().find(|row| row.fields[columns.label].trim().is_empty()) {
            let problem =
                format!("line {}, column {}: the class is missing", row.line, columns.label + 1);
            return Err(named(DataError::malformed(problem)));
        }
        Ok(Table { place, columns, rows })
    }
}

fn first_differs(tables: &[Option<Table>; 3], table: &Table) -> bool {
    let first = tables.iter().flatten().next().map(|first| first.columns);
    first.is_some_and(|first| {
        (first.all, first.label, first.text)
            != (table.columns.all, table.columns.label, table.columns.text)
    })
}

impl Table {
    fn y(&self, labels: &[String]) -> Vec<u32> {
        let numbers: HashMap<&str, u32> = labels.iter().map(String::as_str).zip(0..).collect();
        let class = |row: &Row| numbers[row.fields[self.columns.label].trim()];
        self.rows.iter().map(class).collect()
    }

    /// Rows as texts.
    fn texts(mut self, labels: &[String]) -> Split {
        let y = self.y(labels);
        let text = self.columns.text.unwrap_or_default();
        Split { texts: self.rows.iter_mut().map(|row| row.fields.swap_remove(text)).collect(), y }
    }

    /// Rows as numbers.
    fn numbers(&self, labels: &[String]) -> Result<Samples> {
        let mut x = Vec::with_capacity(self.rows.len() * (self.columns.all - 1));
        for row in &self.rows {
            for (column, field) in row.fields.iter().enumerate() {
                if column == self.columns.label {
                    continue;
                }
                x.push(number(field).ok_or_else(|| {
                    let shown: String = field.chars().take(40).collect();
                    DataError::malformed(format!(
                        "line {}, column {}: `{shown}` is no number; name a column of texts with \
                         `data.text`, or the one of the class with `data.label`",
                        row.line,
                        column + 1
                    ))
                    .in_place(&self.place)
                })?);
            }
        }
        let shape = vec![self.columns.all - 1];
        Samples::new(shape, Values::F32(x), self.y(labels), Some(labels.len()))
            .map_err(|error| error.in_place(&self.place))
    }
}

/// The classes of all tables: by number where all are whole numbers, else by name.
fn classes(tables: &[Option<Table>; 3]) -> Vec<String> {
    let mut names: Vec<String> = tables
        .iter()
        .flatten()
        .flat_map(|table| table.rows.iter().map(|row| row.fields[table.columns.label].trim()))
        .collect::<BTreeSet<&str>>()
        .into_iter()
        .map(str::to_owned)
        .collect();
    if names.iter().all(|name| name.parse::<u64>().is_ok()) {
        names.sort_by_key(|name| name.parse::<u64>().unwrap_or_default());
    }
    names
}

/// A file's name without its end.
fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}
