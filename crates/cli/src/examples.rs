//! The example run files, inside the binary.

/// Name, what it shows, and text of an example.
pub(crate) struct Example {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
}

impl Example {
    /// What it shows: its first line.
    pub(crate) fn purpose(&self) -> &'static str {
        self.text
            .lines()
            .next()
            .unwrap_or("")
            .trim_start_matches("# ")
    }
}

macro_rules! examples {
    ($($name:literal: $file:literal,)*) => {
        /// Every example, simplest first.
        pub(crate) const EXAMPLES: &[Example] = &[
            $(Example { name: $name, text: include_str!(concat!("../../../examples/", $file)) },)*
        ];
    };
}

examples! {
    "mnist-sample": "01-mnist-sample.yaml",
    "mnist-cnn": "02-mnist-cnn.yaml",
    "mnist-mlp": "03-mnist-mlp.yaml",
    "own-layers": "04-own-layers.yaml",
    "long-form": "05-long-form.yaml",
}
