//! The token that whoever asks must know, in a file of its owner's.

use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Result, anyhow, bail};
use serve::Token;

use crate::output;

/// The token in a file, which is made where there is none.
pub(super) fn read(file: &Path) -> Result<Token> {
    let shown = file.display();
    match std::fs::read_to_string(file) {
        Ok(text) => Token::new(&text).map_err(|problem| anyhow!("{shown}: {problem}")),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let token = Token::fresh();
            store::publish_private(file, format!("{}\n", token.reveal()).as_bytes())?;
            output::talk(&format!("a token was made: {shown}"));
            Ok(token)
        }
        Err(error) => bail!("cannot read {shown}: {error}"),
    }
}
