//! Layers for sequences: their shapes, weights and masks.

use std::ops::Range;

use spec::{Activation, Embedding, Initializer, Layer, MergeMode, Recurrent};

use crate::Graph;

/// Ids of words are held as floats, which count exactly up to here.
const MAX_WORDS: usize = 1 << 24;

/// Suffix, shape and start of a weight.
type Start = (&'static str, Vec<usize>, Initializer);

/// A layer that reads a sequence, alone or in both directions.
pub(crate) fn recurrent(layer: &Layer) -> Option<(Recurrent, Option<MergeMode>)> {
    match layer {
        Layer::Gru(gru) => Some((Recurrent::Gru(gru.clone()), None)),
        Layer::Lstm(lstm) => Some((Recurrent::Lstm(lstm.clone()), None)),
        Layer::Bidirectional(both) => Some((both.layer.clone(), Some(both.merge_mode))),
        _ => None,
    }
}

/// The shape of a layer that reads a sequence, or ids.
pub(crate) fn shape(layer: &Layer, input: &[usize]) -> Result<Vec<usize>, String> {
    if let Layer::Embedding(embedding) = layer {
        return embedded(embedding, input);
    }
    let Some((layer, merge)) = recurrent(layer) else {
        return Err("it reads no sequence".into());
    };
    let &[steps, _] = input else {
        return Err(format!("it takes sequences [steps, features], not {input:?}"));
    };
    let (tanh, sigmoid) = match &layer {
        Recurrent::Gru(gru) => (gru.activation, gru.recurrent_activation),
        Recurrent::Lstm(lstm) => (lstm.activation, lstm.recurrent_activation),
    };
    if tanh != Activation::Tanh || sigmoid != Activation::Sigmoid {
        return Err("it is computed with activation: tanh and recurrent_activation: sigmoid alone; leave both out".into());
    }
    if merge.is_some() && layer.go_backwards() {
        return Err("one of its directions goes backwards anyway; leave go_backwards out".into());
    }
    let units = layer.units();
    let features = match merge {
        Some(MergeMode::Concat) => units.checked_mul(2).ok_or("it has too many units")?,
        _ => units,
    };
    Ok(if layer.return_sequences() { vec![steps, features] } else { vec![features] })
}

fn embedded(embedding: &Embedding, input: &[usize]) -> Result<Vec<usize>, String> {
    let &[steps] = input else {
        return Err(format!("it takes a row of ids, not {input:?}"));
    };
    if embedding.input_dim > MAX_WORDS {
        return Err(format!("an input_dim of {} is above {MAX_WORDS}", embedding.input_dim));
    }
    Ok(vec![steps, embedding.output_dim])
}

/// The weights of such a layer, in Keras' order and layout.
pub(crate) fn weights(layer: &Layer, input: &[usize]) -> Vec<Start> {
    if let Layer::Embedding(e) = layer {
        let shape = vec![e.input_dim, e.output_dim];
        return vec![("embeddings", shape, e.embeddings_initializer)];
    }
    let Some((layer, merge)) = recurrent(layer) else { return vec![] };
    let names = match (&layer, merge) {
        (_, None) => vec![["kernel", "recurrent_kernel", "bias"]],
        (Recurrent::Gru(_), Some(_)) => vec![
            ["forward_gru/kernel", "forward_gru/recurrent_kernel", "forward_gru/bias"],
            ["backward_gru/kernel", "backward_gru/recurrent_kernel", "backward_gru/bias"],
        ],
        (Recurrent::Lstm(_), Some(_)) => vec![
            ["forward_lstm/kernel", "forward_lstm/recurrent_kernel", "forward_lstm/bias"],
            ["backward_lstm/kernel", "backward_lstm/recurrent_kernel", "backward_lstm/bias"],
        ],
    };
    let units = layer.units();
    let (gates, use_bias, starts) = match &layer {
        Recurrent::Gru(g) => {
            let starts = [g.kernel_initializer, g.recurrent_initializer, g.bias_initializer];
            (units.saturating_mul(3), g.use_bias, starts)
        }
        Recurrent::Lstm(l) => {
            let starts = [l.kernel_initializer, l.recurrent_initializer, l.bias_initializer];
            (units.saturating_mul(4), l.use_bias, starts)
        }
    };
    let bias = match &layer {
        Recurrent::Gru(gru) if gru.reset_after => vec![2, gates],
        _ => vec![gates],
    };
    let shapes = [vec![input[1], gates], vec![units, gates], bias];
    let each = |names: [&'static str; 3]| {
        let all = names.into_iter().zip(shapes.clone()).zip(starts);
        let all = all.map(|((name, shape), start)| (name, shape, start));
        all.take(2 + usize::from(use_bias)).collect::<Vec<Start>>()
    };
    names.into_iter().flat_map(each).collect()
}

/// Whether a number is the id of one of so many words.
pub fn is_word(id: f32, words: usize) -> bool {
    id >= 0.0 && id < words as f32 && id.trunc() == id
}

impl Graph {
    /// How many words the network knows, where its samples are ids of words: ids are below this.
    pub fn vocabulary(&self) -> Option<usize> {
        let sizes = self.nodes().iter().filter_map(|node| match &node.layer {
            Layer::Embedding(embedding) => Some(embedding.input_dim),
            _ => None,
        });
        sizes.min()
    }

    /// Why a network does not take texts whose ids are below `size`, or numbers if `None`: these may be ids
    /// all the same, as they are in an array that somebody encoded.
    pub fn misfit(&self, size: Option<usize>) -> Option<String> {
        match (self.vocabulary(), size) {
            (None, Some(_)) => Some(
                "samples are texts, and the network takes numbers; begin it with Embedding".into(),
            ),
            (Some(known), Some(size)) if size > known => Some(format!(
                "ids of words are below {size}, and the network's Embedding has input_dim: {known}; \
                 give it {size}, or the data vocabulary_size: {known}"
            )),
            _ => None,
        }
    }

    /// Whether a node's output is a sequence whose steps with the id 0 recurrent layers pass by.
    pub fn is_masked(&self, mut node: usize) -> bool {
        while let Some(found) = self.nodes().get(node) {
            let passes = match &found.layer {
                Layer::Embedding(embedding) => return embedding.mask_zero,
                Layer::Dropout(_) | Layer::Activation(_) | Layer::Dense(_) => true,
                Layer::LayerNormalization(_) | Layer::UnitNormalization(_) => true,
                layer => recurrent(layer).is_some_and(|(layer, _)| layer.return_sequences()),
            };
            match found.inputs.first() {
                Some(&input) if passes => node = input,
                _ => return false,
            }
        }
        false
    }

    /// What is wrong with a new layer that reads `inputs` where ids or masks go.
    pub(crate) fn check_sequence(&self, layer: &Layer, inputs: &[usize]) -> Result<(), String> {
        let is_embedding = matches!(layer, Layer::Embedding(_));
        if is_embedding && inputs != [0] {
            return Err(
                "it takes ids of words, and so comes first; layers before it make other numbers"
                    .into(),
            );
        }
        let embeds = |node: &crate::Node| matches!(node.layer, Layer::Embedding(_));
        let others = self.nodes().iter().filter(|node| node.inputs.contains(&0));
        if inputs.contains(&0) && others.into_iter().any(|node| embeds(node) != is_embedding) {
            return Err("the input is either ids for Embedding or numbers for other layers".into());
        }
        // Keras puts masks together where branches meet, and leaves steps out of means.
        let joins = matches!(
            layer,
            Layer::Add(_)
                | Layer::Concatenate(_)
                | Layer::BatchNormalization(_)
                | Layer::GlobalAveragePooling1D(_)
        );
        if joins && inputs.iter().any(|&input| self.is_masked(input)) {
            return Err("it reads a sequence with mask_zero, which does not pass through it".into());
        }
        Ok(())
    }

    /// The constants of gates that forget, which start at one.
    pub(crate) fn forget_biases(&self) -> Vec<Range<usize>> {
        let mut ranges = vec![];
        for (number, node) in self.nodes().iter().enumerate() {
            let Some((Recurrent::Lstm(lstm), _)) = recurrent(&node.layer) else { continue };
            let weights = self.weights_of(number).iter();
            let biases = weights.filter(|weight| weight.name.ends_with("/bias"));
            if lstm.unit_forget_bias {
                let second = |start: usize| start + lstm.units..start + 2 * lstm.units;
                ranges.extend(biases.map(|bias| second(bias.range.start)));
            }
        }
        ranges
    }
}

#[cfg(test)]
mod tests {
    use spec::{Add, Bidirectional, Input, Model};

    use super::*;
    use crate::Node;

    fn layers(yaml: &str) -> Vec<Layer> {
        let text = format!("name: a\ndata: mnist-sample\nmodel:\n  layers: {yaml}\n");
        let file = spec::parse(&text, "a.yaml", &[]).unwrap();
        let step = file.steps.into_iter().find_map(|step| match step.action {
            spec::Action::Train(train) => Some(train.model),
            _ => None,
        });
        match step {
            Some(Model::Layers(layers)) => layers,
            other => panic!("{other:?}"),
        }
    }

    fn graph(input: &[usize], yaml: &str) -> Result<Graph, crate::GraphError> {
        Graph::sequential(input, layers(yaml))
    }

    #[test]
    fn weights_have_keras_names_shapes_and_order() {
        let yaml = "[{Embedding: {input_dim: 9, output_dim: 4}}, \
                     {Bidirectional: {layer: {GRU: {units: 5, return_sequences: true}}}}, \
                     {LSTM: {units: 3}}]";
        let graph = graph(&[7], yaml).unwrap();
        let found: Vec<(&str, &[usize])> =
            graph.weights().iter().map(|w| (w.name.as_str(), &w.shape[..])).collect();
        let expected: [(&str, &[usize]); 10] = [
            ("embedding/embeddings", &[9, 4]),
            ("bidirectional/forward_gru/kernel", &[4, 15]),
            ("bidirectional/forward_gru/recurrent_kernel", &[5, 15]),
            ("bidirectional/forward_gru/bias", &[2, 15]),
            ("bidirectional/backward_gru/kernel", &[4, 15]),
            ("bidirectional/backward_gru/recurrent_kernel", &[5, 15]),
            ("bidirectional/backward_gru/bias", &[2, 15]),
            ("lstm/kernel", &[10, 12]),
            ("lstm/recurrent_kernel", &[3, 12]),
            ("lstm/bias", &[12]),
        ];
        assert_eq!(found, expected);
        assert_eq!((graph.shape(2), graph.shape(3)), (&[7, 10][..], &[3][..]));
        let weights = graph.initialize(0);
        let bias = &weights[graph.weights()[9].range.clone()];
        assert_eq!(bias, [0., 0., 0., 1., 1., 1., 0., 0., 0., 0., 0., 0.]);
    }

    #[test]
    fn masks_go_as_far_as_keras_lets_them() {
        let yaml = |mask| {
            format!(
                "[{{Embedding: {{input_dim: 9, output_dim: 4, mask_zero: {mask}}}}}, \
                 {{Dropout: {{rate: 0.5}}}}, {{GRU: {{units: 5, return_sequences: true}}}}, Flatten]"
            )
        };
        let masked = |mask| {
            let graph = graph(&[7], &yaml(mask)).unwrap();
            (0..5).map(|node| graph.is_masked(node)).collect::<Vec<_>>()
        };
        assert_eq!(masked(true), [false, true, true, true, false]);
        assert_eq!(masked(false), [false; 5]);
        // Keras would leave steps out of the mean; the largest is that of all steps there too.
        let ends = |layer: &str| {
            let first = "{Embedding: {input_dim: 9, output_dim: 4, mask_zero: true}}";
            graph(&[7], &format!("[{first}, {{LayerNormalization: {{}}}}, {{{layer}: {{}}}}]"))
        };
        assert!(ends("GlobalMaxPooling1D").is_ok());
        let error = ends("GlobalAveragePooling1D").unwrap_err();
        assert!(error.problem.contains("mask_zero"), "{error}");
    }

    #[test]
    fn what_is_no_sequence_of_ids_is_refused_in_a_sentence() {
        let refused = |input: &[usize], yaml: &str| graph(input, yaml).unwrap_err().problem;
        let embedding = "{Embedding: {input_dim: 9, output_dim: 4}}";
        let problem = refused(&[7], &format!("[{{Dense: {{units: 7}}}}, {embedding}]"));
        assert!(problem.contains("comes first"), "{problem}");
        let problem = refused(&[7, 2], &format!("[{embedding}]"));
        assert!(problem.contains("a row of ids"), "{problem}");
        let problem = refused(&[7], "[{GRU: {units: 3}}]");
        assert!(problem.contains("[steps, features]"), "{problem}");
        let problem = refused(&[7, 2], "[{GRU: {units: 3, activation: relu}}]");
        assert!(problem.contains("tanh"), "{problem}");
        let problem =
            refused(&[7, 2], "[{Bidirectional: {layer: {LSTM: {units: 3, go_backwards: true}}}}]");
        assert!(problem.contains("leave go_backwards out"), "{problem}");
        let gru = layers("[{GRU: {units: 3, return_sequences: true}}]");
        let Layer::Gru(gru) = gru[0].clone() else { panic!("a GRU") };
        let both = Bidirectional {
            layer: Recurrent::Gru(gru),
            merge_mode: MergeMode::Sum,
            trainable: true,
        };
        let first = layers("[{Embedding: {input_dim: 9, output_dim: 3, mask_zero: true}}]");
        let list = [
            (Layer::Input(Input { shape: vec![7] }), vec![]),
            (first[0].clone(), vec![0]),
            (Layer::Bidirectional(both), vec![1]),
            (Layer::Add(Add {}), vec![1, 2]),
        ];
        let node = |(n, (layer, inputs))| Node { name: format!("n{n}"), layer, inputs };
        let nodes: Vec<Node> = list.into_iter().enumerate().map(node).collect();
        let error = Graph::new(nodes).unwrap_err();
        assert!(error.problem.contains("mask_zero"), "{error}");
    }

    #[test]
    fn data_that_are_no_ids_or_have_too_many_words_do_not_fit() {
        let texts = graph(&[7], "[{Embedding: {input_dim: 9, output_dim: 4}}]").unwrap();
        let numbers = graph(&[7], "[{Dense: {units: 2}}]").unwrap();
        assert_eq!((texts.misfit(Some(9)), numbers.misfit(None)), (None, None));
        assert_eq!(texts.misfit(None), None);
        assert!(texts.misfit(Some(10)).unwrap().contains("vocabulary_size: 9"));
        assert!(numbers.misfit(Some(3)).unwrap().contains("Embedding"));
    }
}
