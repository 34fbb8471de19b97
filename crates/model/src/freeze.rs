//! Layers that training leaves as they are.

use spec::{Freeze, nearest};

use crate::{Error, Graph};

impl Graph {
    /// The same network with some layers frozen. The input is not counted.
    pub fn frozen(self, freeze: &Freeze) -> Result<Graph, Error> {
        let mut nodes = Vec::from(self);
        let layers = nodes.len() - 1;
        match freeze {
            Freeze::First(count) if *count > layers => {
                return Err(Error::Unfit(format!(
                    "freeze is {count}, and the network has {layers} layers; choose {layers} or less"
                )));
            }
            Freeze::First(count) => {
                nodes[1..=*count].iter_mut().for_each(|node| node.layer.freeze());
            }
            Freeze::Named(names) => {
                for name in names {
                    let Some(node) = nodes.iter().position(|node| node.name == *name) else {
                        let known = nodes[1..].iter().map(|node| node.name.as_str());
                        return Err(unknown(name, known.collect()));
                    };
                    nodes[node].layer.freeze();
                }
            }
        }
        Ok(Graph::new(nodes)?)
    }
}

/// How many names a message lists.
const SHOWN: usize = 5;

fn unknown(name: &str, known: Vec<&str>) -> Error {
    let name: String = name.chars().take(60).collect();
    let hint = match nearest(&name, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => {
            let shown: Vec<String> =
                known.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
            let more = if known.len() > SHOWN { ", …" } else { "" };
            format!("there are {}{more}", shown.join(", "))
        }
    };
    Error::Unfit(format!("freeze names `{name}`, and no layer is called so; {hint}"))
}

#[cfg(test)]
mod tests {
    use spec::Builtin;

    use super::*;
    use crate::{Kind, network};

    fn cnn() -> Graph {
        let cnn = Builtin::MnistCnn { dropout: [0.25, 0.5] };
        network(&spec::Model::Builtin(cnn), &[28, 28, 1], 10).unwrap().graph
    }

    fn frozen(freeze: &Freeze) -> Vec<String> {
        let graph = cnn().frozen(freeze).unwrap();
        assert_eq!(graph.parameter_count(), cnn().parameter_count());
        let weights = graph.weights().iter().filter(|weight| weight.kind == Kind::Frozen);
        weights.map(|weight| weight.name.clone()).collect()
    }

    #[test]
    fn the_first_layers_or_those_named_are_frozen() {
        assert!(frozen(&Freeze::First(0)).is_empty());
        assert_eq!(frozen(&Freeze::First(1)), ["conv2d/kernel", "conv2d/bias"]);
        assert_eq!(frozen(&Freeze::First(7)).len(), 6);
        let named = Freeze::Named(vec!["conv2d_1".into(), "flatten".into()]);
        assert_eq!(frozen(&named), ["conv2d_1/kernel", "conv2d_1/bias"]);
    }

    #[test]
    fn what_is_not_there_is_not_frozen() {
        let error = |freeze| cnn().frozen(&freeze).unwrap_err().to_string();
        assert!(error(Freeze::First(8)).contains("the network has 7 layers"));
        let wrong = |name: &str| error(Freeze::Named(vec![name.into()]));
        assert!(wrong("conv2d_2").contains("did you mean `conv2d"), "{}", wrong("conv2d_2"));
        assert!(
            wrong("block35").contains("there are `conv2d`, `conv2d_1`"),
            "{}",
            wrong("block35")
        );
    }
}
