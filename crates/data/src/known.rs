//! The datasets that are known by name: where they live, and what they must hold.
//!
//! `mnist-sample` is part of the binary: 1,000 training and 200 test images of each digit, cut from
//! MNIST by `examples/cut_mnist_sample.rs`. MNIST is by Yann LeCun and Corinna Cortes, CC BY-SA 3.0
//! (see `assets/mnist-sample/LICENSE.md`). It is kept in MNIST's own form, gzipped idx, 1.9 MB:
//! deflate after a predictor or a transposition came out larger, and xz would save a seventh.

/// A dataset of 28×28 grey pictures in ten classes.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) name: &'static str,
    /// Addresses of folders with the four files; none for what is built in.
    pub(crate) homes: &'static [&'static str],
    pub(crate) train: Expected,
    pub(crate) test: Expected,
    pub(crate) labels: [&'static str; 10],
}

/// What a split must hold, whatever file it came in.
#[derive(Debug)]
pub(crate) struct Expected {
    pub(crate) samples: usize,
    /// See [`Samples::sha256`](crate::Samples::sha256).
    pub(crate) sha256: &'static str,
}

/// The shape of a sample in all of them.
pub(crate) const SHAPE: [usize; 3] = [28, 28, 1];

const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

/// The name of the sample that is part of the binary.
pub(crate) const BUILT_IN: &str = "mnist-sample";

/// In the order of [`folder::FILES`](crate::folder::FILES).
pub(crate) const SAMPLE: [&[u8]; 4] = [
    include_bytes!("../assets/mnist-sample/train-images-idx3-ubyte.gz"),
    include_bytes!("../assets/mnist-sample/train-labels-idx1-ubyte.gz"),
    include_bytes!("../assets/mnist-sample/t10k-images-idx3-ubyte.gz"),
    include_bytes!("../assets/mnist-sample/t10k-labels-idx1-ubyte.gz"),
];

pub(crate) static KNOWN: [Known; 3] = [
    Known {
        name: BUILT_IN,
        homes: &[],
        train: Expected {
            samples: 10_000,
            sha256: "05e32a02e30e21df395f9499f16fc6587df1b010a177e72ff2f5118478ecbe68",
        },
        test: Expected {
            samples: 2_000,
            sha256: "7364391c590b20d637aa265e912ababc2a66bbb71045e9d45ca81bb242179f22",
        },
        labels: DIGITS,
    },
    Known {
        name: "mnist",
        homes: &[
            "https://storage.googleapis.com/cvdf-datasets/mnist",
            "https://ossci-datasets.s3.amazonaws.com/mnist",
        ],
        train: Expected {
            samples: 60_000,
            sha256: "6a364e333ea1f8ab86e4d641d64a8cf8d8644433f54b0a78e32c2b9e143672d0",
        },
        test: Expected {
            samples: 10_000,
            sha256: "45a60edfded3b2bb860a7fd195c83431011e7f04318268b4f2de30030af9444e",
        },
        labels: DIGITS,
    },
    Known {
        name: "fashion-mnist",
        homes: &["http://fashion-mnist.s3-website.eu-central-1.amazonaws.com"],
        train: Expected {
            samples: 60_000,
            sha256: "c7d8cfe8172756709eda8bbe8b201cb44f70785b4cd9974a82408b36cc1f72e4",
        },
        test: Expected {
            samples: 10_000,
            sha256: "2589de149ea70a51076dfb7116c581fbd9b4c7b39b8e9c9f19ec089d65d659b8",
        },
        labels: [
            "T-shirt/top",
            "Trouser",
            "Pullover",
            "Dress",
            "Coat",
            "Sandal",
            "Shirt",
            "Sneaker",
            "Bag",
            "Ankle boot",
        ],
    },
];

/// Finds a dataset by name.
pub(crate) fn find(name: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.name == name)
}
