//! The example run files, inside the binary.

/// An example run file.
pub(crate) struct Example {
    pub(crate) name: &'static str,
    /// Where it lies in the project.
    file: &'static str,
    text: &'static str,
}

impl Example {
    /// The file it is written to.
    pub(crate) fn target(&self) -> String {
        format!("{}.yaml", self.name)
    }

    /// Its text, with itself called by the file it is written to.
    pub(crate) fn text(&self) -> String {
        self.text.replace(self.file, &self.target())
    }

    /// What it shows: its first line.
    pub(crate) fn purpose(&self) -> &'static str {
        self.text.lines().next().unwrap_or("").trim_start_matches("# Shows: ")
    }
}

macro_rules! examples {
    ($($name:literal: $file:literal,)*) => {
        /// Every example, simplest first.
        pub(crate) const EXAMPLES: &[Example] = &[
            $(Example {
                name: $name,
                file: concat!("examples/", $file),
                text: include_str!(concat!("../../../examples/", $file)),
            },)*
        ];
    };
}

examples! {
    "mnist-sample": "01-mnist-sample.yaml",
    "mnist-cnn": "02-mnist-cnn.yaml",
    "mnist-mlp": "03-mnist-mlp.yaml",
    "own-layers": "04-own-layers.yaml",
    "long-form": "05-long-form.yaml",
    "mnist-average": "06-mnist-average.yaml",
    "mnist-all-reduce": "07-mnist-sample-all-reduce.yaml",
    "mnist-vote": "08-mnist-sample-vote.yaml",
    "mnist-servers": "09-mnist-servers.yaml",
    "mnist-average-tuned": "10-mnist-average-tuned.yaml",
    "mnist-pinned": "11-mnist-pinned.yaml",
    "imdb": "12-imdb.yaml",
    "imdb-vote": "13-imdb-vote.yaml",
    "imdb-average": "14-imdb-average.yaml",
    "cats-and-dogs": "15-cats-and-dogs.yaml",
    "faces": "16-faces.yaml",
}
