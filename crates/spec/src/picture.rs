//! Layers that prepare pictures.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Numbers times a constant, plus another. A network that begins with it takes pixels as they are, from 0
/// to 255; without it they come as numbers from 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rescaling {
    /// What each number is multiplied by: `0.003921569` for 1/255.
    pub scale: f32,
    /// What is added.
    #[serde(default)]
    pub offset: f32,
}

/// Flips pictures at random while training.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RandomFlip {
    /// Which way.
    pub mode: Flip,
}

/// Which way pictures are flipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Flip {
    /// Left and right are exchanged.
    Horizontal,
    /// Top and bottom are exchanged.
    Vertical,
    /// Each for itself.
    #[default]
    HorizontalAndVertical,
}

/// Turns pictures at random while training, around the middle. Pixels are interpolated between four.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomRotation {
    /// By up to so many whole turns either way: 0.1 is 36 degrees.
    #[schemars(extend("minimum" = 0, "maximum" = 1))]
    pub factor: f32,
    /// What lies outside the picture.
    #[serde(default)]
    pub fill_mode: Fill,
}

/// Shifts pictures at random while training. Pixels are interpolated between four.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomTranslation {
    /// Up or down by up to so much of the height.
    #[schemars(extend("minimum" = 0, "maximum" = 1))]
    pub height_factor: f32,
    /// To the left or right by up to so much of the width.
    #[schemars(extend("minimum" = 0, "maximum" = 1))]
    pub width_factor: f32,
    /// What lies outside the picture.
    #[serde(default)]
    pub fill_mode: Fill,
}

/// What lies outside a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fill {
    /// Its mirror image.
    #[default]
    Reflect,
    /// The picture again.
    Wrap,
    /// Its edge.
    Nearest,
    /// Zeros.
    Constant,
}

/// Zeros around a picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZeroPadding2D {
    /// How many rows and columns: one number for all sides, `[rows, columns]`, or
    /// `[[top, bottom], [left, right]]`.
    #[serde(default = "one_around")]
    pub padding: Sides,
}

/// Rows above and below, columns to the left and to the right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "SidesForm", into = "[[usize; 2]; 2]")]
#[schemars(with = "SidesForm")]
pub struct Sides {
    /// Rows above.
    pub top: usize,
    /// Rows below.
    pub bottom: usize,
    /// Columns to the left.
    pub left: usize,
    /// Columns to the right.
    pub right: usize,
}

/// `1`, `[1, 2]` or `[[1, 0], [2, 1]]`.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum SidesForm {
    All(#[schemars(range(min = 0, max = 65_536))] usize),
    Each(#[schemars(inner(range(min = 0, max = 65_536)))] [usize; 2]),
    Four([[usize; 2]; 2]),
}

impl From<SidesForm> for Sides {
    fn from(form: SidesForm) -> Self {
        let [[top, bottom], [left, right]] = match form {
            SidesForm::All(all) => [[all; 2]; 2],
            SidesForm::Each([rows, columns]) => [[rows; 2], [columns; 2]],
            SidesForm::Four(four) => four,
        };
        Sides { top, bottom, left, right }
    }
}

impl From<Sides> for [[usize; 2]; 2] {
    fn from(sides: Sides) -> Self {
        [[sides.top, sides.bottom], [sides.left, sides.right]]
    }
}

fn one_around() -> Sides {
    SidesForm::All(1).into()
}
