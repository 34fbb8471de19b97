//! What people try a model with.

use model::Model;
use preprocess::{Form, Pixels};
use serde::Serialize;
use spec::Color;

/// What a model is asked about, and so which page it gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Digits, drawn or brought along.
    Digits,
    /// Texts.
    Texts,
    /// Pictures of anything.
    Pictures,
    /// Faces, which are near to each other or not.
    Faces,
    /// Numbers of which nothing more is known.
    Numbers,
}

/// A side of a picture, at least: below, `[3, 3, 1]` may as well be something else.
const SMALLEST: usize = 8;

impl Kind {
    /// What a model is asked about: its card says, or its shapes.
    pub fn of(model: &Model) -> Kind {
        let shape = model.graph.input_shape();
        let outputs: usize = model.graph.output_shape().iter().product();
        match &model.card.input.form {
            _ if model.card.embedding => Kind::Faces,
            Form::Text(_) => Kind::Texts,
            _ if is_mnist(shape) && outputs == 10 => Kind::Digits,
            Form::Pixels(_) => Kind::Pictures,
            Form::Numbers if pixels(shape).is_some() => Kind::Pictures,
            Form::Numbers => Kind::Numbers,
        }
    }
}

fn is_mnist(shape: &[usize]) -> bool {
    matches!(shape, [28, 28] | [28, 28, 1] | [784])
}

/// How a picture becomes a sample of a shape, where that can be told from the shape alone.
pub(crate) fn pixels(shape: &[usize]) -> Option<Pixels> {
    let (height, width, color) = match *shape {
        [height, width] | [height, width, 1] => (height, width, Color::Grey),
        [height, width, 3] => (height, width, Color::Rgb),
        _ => return None,
    };
    (height.min(width) >= SMALLEST).then_some(Pixels { height, width, color })
}
