//! How a model was trained, in Keras' words: what it needs to be compiled again.

use serde_json::{Value, json};
use spec::{Loss, LossName, Optimizer, Reduction};

use crate::Trained;

/// For `.h5`.
pub(super) fn legacy(trained: &Trained) -> Value {
    let (class, config) = optimizer(&trained.optimizer);
    json!({
        "loss": loss(&trained.loss), "metrics": ["accuracy"], "weighted_metrics": null, "loss_weights": null,
        "optimizer_config": {"class_name": class, "config": config},
    })
}

/// For `.keras`.
pub(super) fn compile(trained: &Trained) -> Value {
    let (class, config) = optimizer(&trained.optimizer);
    json!({
        "optimizer": {"module": "keras.optimizers", "class_name": class, "config": config, "registered_name": null},
        "loss": loss(&trained.loss), "metrics": ["accuracy"], "weighted_metrics": null, "loss_weights": null,
    })
}

/// Our arguments have Keras' names.
fn optimizer(optimizer: &Optimizer) -> (&'static str, Value) {
    match optimizer {
        Optimizer::Sgd(sgd) => ("SGD", json!(sgd)),
        Optimizer::Adam(adam) => ("Adam", json!(adam)),
        Optimizer::Adamw(adamw) => ("AdamW", json!(adamw)),
        Optimizer::Rmsprop(rmsprop) => ("RMSprop", json!(rmsprop)),
    }
}

fn loss(loss: &Loss) -> Value {
    let (name, class) = match loss.name {
        LossName::SparseCategoricalCrossentropy => {
            ("sparse_categorical_crossentropy", "SparseCategoricalCrossentropy")
        }
        LossName::CategoricalCrossentropy => {
            ("categorical_crossentropy", "CategoricalCrossentropy")
        }
        LossName::BinaryCrossentropy => ("binary_crossentropy", "BinaryCrossentropy"),
        LossName::MeanSquaredError => ("mean_squared_error", "MeanSquaredError"),
        // Keras has none; whoever goes on in Keras compiles the model with a loss of their own.
        LossName::Triplet => return Value::Null,
    };
    match loss.reduction {
        Reduction::Mean => json!(name),
        Reduction::Sum => json!({
            "module": "keras.losses", "class_name": class, "config": {"reduction": "sum", "name": name},
            "registered_name": null,
        }),
    }
}
