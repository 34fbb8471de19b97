//! Networks with what they are trained by: the built-in ones, and those a run file writes out.

use spec::{
    Activation, Adam, Bidirectional, Builtin, Conv2D, Dense, Dropout, Embedding, Flatten, Gru,
    Initializer, Layer, Loss, LossName, MergeMode, Optimizer, Padding, Pair, Pooling2D, Recurrent,
    Rmsprop,
};

use crate::facenet::facenet;
use crate::facenet_small::facenet_small;
use crate::xception::small_xception;
use crate::{Error, Graph};

/// A network, and how it is trained unless the run file says otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// What people call it: a built-in name, or `layers` for one that was written out.
    pub name: String,
    /// Its layers.
    pub graph: Graph,
    /// What training makes small.
    pub loss: Loss,
    /// How.
    pub optimizer: Optimizer,
}

impl Network {
    /// A network of given layers, trained as classifiers usually are.
    pub fn around(graph: Graph) -> Network {
        Network {
            name: "layers".into(),
            loss: Loss::of(LossName::usual(graph.output_shape().iter().product())),
            graph,
            optimizer: Optimizer::Adam(Adam::default()),
        }
    }

    /// The same to be trained by a loss, whose answers must be what that loss reads.
    pub fn by(self, loss: Option<Loss>) -> Result<Network, Error> {
        let loss = loss.unwrap_or(self.loss);
        match loss.name {
            LossName::Triplet => check_embedding(&self.graph)?,
            _ => check_probabilities(&self.graph)?,
        }
        Ok(Network { loss, ..self })
    }

    /// The same with some layers frozen.
    pub fn frozen(self, freeze: &spec::Freeze) -> Result<Network, Error> {
        Ok(Network { graph: self.graph.frozen(freeze)?, ..self })
    }
}

/// The network that a run file asks for, made for samples of shape `input` in so many `classes`. A
/// model file is not opened here: the caller loads it and puts a [`Network::around`] its layers.
pub fn network(model: &spec::Model, input: &[usize], classes: usize) -> Result<Network, Error> {
    network_by(model, input, classes, None)
}

/// The same, where the run file names the loss.
pub fn network_by(
    model: &spec::Model,
    input: &[usize],
    classes: usize,
    loss: Option<Loss>,
) -> Result<Network, Error> {
    let (name, graph) = match model {
        spec::Model::Builtin(builtin) => (builtin.name(), build(builtin, input, classes)?),
        spec::Model::Layers(layers) => ("layers", Graph::sequential(input, layers.clone())?),
        spec::Model::Frozen(model, freeze) => {
            return network_by(model, input, classes, loss)?.frozen(freeze);
        }
        spec::Model::File(file) | spec::Model::Fresh(file) => {
            return Err(Error::Unfit(format!("{file} is to be loaded, not built")));
        }
    };
    let around = Network::around(graph);
    let own = if model.embeds() { Loss::of(LossName::Triplet) } else { around.loss };
    let loss = loss.unwrap_or(own);
    check_input(&around.graph, input)?;
    if loss.name != LossName::Triplet {
        check_classes(&around.graph, classes)?;
    }
    let optimizer = match model {
        spec::Model::Builtin(Builtin::ImdbBigru { .. }) => Optimizer::Rmsprop(Rmsprop::default()),
        _ => around.optimizer,
    };
    Network { name: name.into(), optimizer, ..around }.by(Some(loss))
}

fn build(builtin: &Builtin, input: &[usize], classes: usize) -> Result<Graph, Error> {
    let layers = match *builtin {
        Builtin::MnistMlp { hidden_units } => mnist_mlp(hidden_units, input, classes),
        Builtin::MnistCnn { dropout } => mnist_cnn(dropout, classes),
        Builtin::ImdbBigru { vocabulary_size } => imdb_bigru(vocabulary_size, classes),
        Builtin::SmallXception { dropout, image_size } => {
            check_image_size(image_size, input)?;
            return Ok(small_xception(input, classes, dropout)?);
        }
        Builtin::Facenet { dropout, image_size, embedding } => {
            check_image_size(image_size, input)?;
            return Ok(facenet(input, dropout, embedding)?);
        }
        Builtin::FacenetSmall { dropout, image_size, embedding } => {
            check_image_size(image_size, input)?;
            return Ok(facenet_small(input, dropout, embedding)?);
        }
    };
    Ok(Graph::sequential(input, layers)?)
}

/// A size that is said twice is said the same.
fn check_image_size(size: Option<Pair>, input: &[usize]) -> Result<(), Error> {
    match size {
        Some(size) if input.get(..2) != Some(&[size.height, size.width]) => {
            Err(Error::Unfit(format!(
                "the network is to take pictures of [{}, {}], the data has {input:?}; \
                 set image_size in data, and leave it out here",
                size.height, size.width
            )))
        }
        _ => Ok(()),
    }
}

/// The network of S1: one hidden layer; weights start with a deviation of 1/√inputs, which for MNIST
/// is S1's 1/28.
fn mnist_mlp(hidden: usize, input: &[usize], classes: usize) -> Vec<Layer> {
    let inputs = input.iter().fold(1.0, |product, &side| product * side as f64);
    let dense = |units, activation, inputs: f64| {
        let stddev = (1.0 / inputs.sqrt()) as f32;
        Layer::Dense(Dense {
            kernel_initializer: Initializer::TruncatedNormal { stddev },
            ..dense(units, activation)
        })
    };
    let flatten = (input.len() > 1).then_some(Layer::Flatten(Flatten {}));
    let layers = [
        dense(hidden, Activation::Relu, inputs),
        dense(classes, Activation::Softmax, hidden as f64),
    ];
    flatten.into_iter().chain(layers).collect()
}

/// The network of S2: two convolutions, a pooling, and no hidden dense layer.
fn mnist_cnn(dropout: [f32; 2], classes: usize) -> Vec<Layer> {
    let conv = |filters| {
        let activation = Activation::Relu;
        Layer::Conv2D(Conv2D { activation, ..Conv2D::new(filters, Pair::square(3)) })
    };
    let [early, late] = dropout.map(|rate| Layer::Dropout(Dropout { rate }));
    vec![
        conv(32),
        conv(64),
        Layer::MaxPooling2D(Pooling2D {
            pool_size: Pair::square(2),
            strides: None,
            padding: Padding::Valid,
        }),
        early,
        Layer::Flatten(Flatten {}),
        late,
        Layer::Dense(dense(classes, Activation::Softmax)),
    ]
}

/// The network of S0: words as rows of 100 numbers, and two layers of gated recurrent units that read
/// them from both ends. One number tells two classes apart.
fn imdb_bigru(words: usize, classes: usize) -> Vec<Layer> {
    let both = |return_sequences| {
        let layer = Recurrent::Gru(Gru { return_sequences, ..Gru::new(128) });
        Layer::Bidirectional(Bidirectional {
            layer,
            merge_mode: MergeMode::Concat,
            trainable: true,
        })
    };
    let last = match classes {
        0..=2 => dense(1, Activation::Sigmoid),
        _ => dense(classes, Activation::Softmax),
    };
    let embedding = Embedding {
        input_dim: words,
        output_dim: 100,
        embeddings_initializer: Initializer::Uniform,
        mask_zero: false,
        trainable: true,
    };
    vec![Layer::Embedding(embedding), both(true), both(false), Layer::Dense(last)]
}

pub(crate) fn dense(units: usize, activation: Activation) -> Dense {
    Dense {
        units,
        activation,
        use_bias: true,
        kernel_initializer: Initializer::GlorotUniform,
        bias_initializer: Initializer::Zeros,
        trainable: true,
    }
}

/// The network takes the data's samples.
fn check_input(graph: &Graph, input: &[usize]) -> Result<(), Error> {
    if graph.input_shape() != input {
        return Err(Error::Unfit(format!(
            "the network takes samples of shape {:?}, the data has {input:?}; leave Input out, or give it the data's shape",
            graph.input_shape()
        )));
    }
    Ok(())
}

/// The network answers with a probability for each class, or with one alone for the second of two.
fn check_classes(graph: &Graph, classes: usize) -> Result<(), Error> {
    let outputs = graph.output_shape();
    if outputs.len() > 1 {
        return Err(Error::Unfit(format!(
            "the network answers with numbers of shape {outputs:?}, not one for each class; put Flatten before its last layer"
        )));
    }
    if outputs != [classes] && !(outputs == [1] && classes <= 2) {
        return Err(Error::Unfit(format!(
            "the network answers with {outputs:?} numbers, the data has {classes} classes; end with Dense and units: {classes}"
        )));
    }
    Ok(())
}

/// Whether a network's answers can be embeddings, which triplets want.
pub fn check_embedding(graph: &Graph) -> Result<(), Error> {
    let outputs = graph.output_shape();
    if outputs.len() > 1 || outputs == [1] {
        return Err(Error::Unfit(format!(
            "the network answers with numbers of shape {outputs:?}, which are no embedding; end with Dense and, say, units: 128"
        )));
    }
    match last(graph) {
        Activation::Softmax | Activation::Sigmoid => Err(Error::Unfit(
            "the network ends in probabilities, and triplets want embeddings; take softmax or sigmoid off its last layer, \
             or train it with loss: sparse_categorical_crossentropy"
                .into(),
        )),
        _ => Ok(()),
    }
}

/// The activation at the end.
fn last(graph: &Graph) -> Activation {
    match graph.nodes().last().map(|node| &node.layer) {
        Some(Layer::Dense(last)) => last.activation,
        Some(Layer::Activation(last)) => last.activation,
        _ => Activation::Linear,
    }
}

/// Whether a network's answers are probabilities, which the usual losses read. One that ends otherwise would
/// train on nonsense without a word.
pub fn check_probabilities(graph: &Graph) -> Result<(), Error> {
    match (graph.output_shape(), last(graph)) {
        ([1], Activation::Sigmoid) | (_, Activation::Softmax) => Ok(()),
        ([1], _) => Err(Error::Unfit(
            "the network's one number is no probability; give its last layer activation: sigmoid"
                .into(),
        )),
        _ => Err(Error::Unfit(
            "the network does not end in probabilities; give its last layer activation: softmax"
                .into(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PICTURE: [usize; 3] = [28, 28, 1];

    fn builtin(builtin: Builtin, input: &[usize]) -> Network {
        network(&spec::Model::Builtin(builtin), input, 10).unwrap()
    }

    fn names(network: &Network) -> Vec<&str> {
        let nodes = network.graph.nodes();
        nodes.iter().map(|node| node.name.as_str()).collect()
    }

    #[test]
    fn mnist_mlp_is_the_network_of_s1() {
        for (hidden_units, parameters) in [(100, 79_510), (1000, 795_010)] {
            let flat = builtin(Builtin::MnistMlp { hidden_units }, &[784]);
            assert_eq!(flat.graph.parameter_count(), parameters);
            assert_eq!(names(&flat), ["input", "dense", "dense_1"]);
            let picture = builtin(Builtin::MnistMlp { hidden_units }, &PICTURE);
            assert_eq!(picture.graph.parameter_count(), parameters);
            assert_eq!(names(&picture), ["input", "flatten", "dense", "dense_1"]);
            let starts: Vec<Initializer> =
                picture.graph.weights().iter().map(|weight| weight.initializer).collect();
            let normal = |stddev| Initializer::TruncatedNormal { stddev };
            let second = normal((1.0 / (hidden_units as f64).sqrt()) as f32);
            let zeros = Initializer::Zeros;
            assert_eq!(starts, [normal(1.0 / 28.0), zeros, second, zeros]);
            assert_eq!(picture.optimizer, Optimizer::Adam(Adam::default()));
        }
    }

    #[test]
    fn mnist_cnn_is_the_network_of_s2() {
        let network = builtin(Builtin::MnistCnn { dropout: [0.25, 0.5] }, &PICTURE);
        assert_eq!(network.graph.parameter_count(), 110_986);
        let shapes: Vec<&[usize]> = (0..8).map(|node| network.graph.shape(node)).collect();
        let expected: [&[usize]; 8] = [
            &[28, 28, 1],
            &[26, 26, 32],
            &[24, 24, 64],
            &[12, 12, 64],
            &[12, 12, 64],
            &[9216],
            &[9216],
            &[10],
        ];
        assert_eq!(shapes, expected);
        let rates: Vec<f32> = network
            .graph
            .nodes()
            .iter()
            .filter_map(|node| match &node.layer {
                Layer::Dropout(dropout) => Some(dropout.rate),
                _ => None,
            })
            .collect();
        assert_eq!(rates, [0.25, 0.5]);
        assert!(matches!(network.optimizer, Optimizer::Adam(adam) if adam.learning_rate == 0.001));
    }

    #[test]
    fn imdb_bigru_is_the_network_of_s0() {
        let model = spec::Model::Builtin(Builtin::ImdbBigru { vocabulary_size: 10_000 });
        let found = network(&model, &[500], 2).unwrap();
        assert_eq!(found.graph.parameter_count(), 1_473_345);
        assert_eq!(
            names(&found),
            ["input", "embedding", "bidirectional", "bidirectional_1", "dense"]
        );
        let shapes: Vec<&[usize]> = (0..5).map(|node| found.graph.shape(node)).collect();
        let expected: [&[usize]; 5] = [&[500], &[500, 100], &[500, 256], &[256], &[1]];
        assert_eq!(shapes, expected);
        assert_eq!(found.optimizer, Optimizer::Rmsprop(Rmsprop::default()));
        assert_eq!(found.loss.name, LossName::BinaryCrossentropy);
        assert_eq!(found.graph.vocabulary(), Some(10_000));
        assert_eq!(network(&model, &[500], 4).unwrap().graph.output_shape(), [4]);
    }

    #[test]
    fn networks_that_do_not_fit_the_data_are_refused_with_a_remedy() {
        let softmax = Activation::Softmax;
        let layers = |layers: Vec<Layer>| network(&spec::Model::Layers(layers), &[4], 3);
        assert!(layers(vec![Layer::Dense(dense(3, softmax))]).is_ok());
        let refused = |list: Vec<Layer>| layers(list).unwrap_err().to_string();
        let error = refused(vec![Layer::Dense(dense(4, softmax))]);
        assert!(error.contains("units: 3"), "{error}");
        let error = refused(vec![Layer::Dense(dense(3, Activation::Linear))]);
        assert!(error.contains("softmax"), "{error}");
        let input = Layer::Input(spec::Input { shape: vec![5] });
        let error = refused(vec![input, Layer::Dense(dense(3, softmax))]);
        assert!(error.contains("[4]"), "{error}");
        assert!(layers(vec![]).is_err());
        let cnn = spec::Model::Builtin(Builtin::MnistCnn { dropout: [0.25, 0.5] });
        let error = network(&cnn, &[784], 10).unwrap_err().to_string();
        assert!(error.contains("pictures"), "{error}");
        let mlp = |hidden_units| spec::Model::Builtin(Builtin::MnistMlp { hidden_units });
        assert!(network(&mlp(0), &[784], 10).is_err());
        assert!(network(&mlp(usize::MAX), &[784], 10).is_err());
        assert!(network(&mlp(9), &[usize::MAX, usize::MAX], 10).is_err());
        assert!(network(&mlp(9), &[], 10).is_err());
        assert!(network(&mlp(9), &[784], 0).is_err());
        assert!(network(&spec::Model::File("m".into()), &[784], 10).is_err());
    }
}
