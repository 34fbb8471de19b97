//! Layers from strangers: whatever they say, a checked graph or an error.

use model::Graph;

fn graph(nodes: &str) -> Result<Graph, String> {
    serde_json::from_str(nodes).map_err(|error| error.to_string())
}

fn node(name: &str, layer: &str, inputs: &str) -> String {
    format!("{{\"name\":\"{name}\",\"layer\":{layer},\"inputs\":{inputs}}}")
}

fn input(shape: &str) -> String {
    node("input", &format!("{{\"Input\":{{\"shape\":{shape}}}}}"), "[]")
}

#[test]
fn lying_layers_are_refused() {
    let dense = |units: &str| format!("{{\"Dense\":{{\"units\":{units}}}}}");
    let conv = |rest: &str| format!("{{\"Conv2D\":{{\"filters\":8,{rest}}}}}");
    let huge = "9223372036854775807";
    let long = "n".repeat(201);
    for (shape, name, layer, inputs, word) in [
        ("[4]", "d", dense("3"), "[1]", "does not come before"),
        ("[4]", "d", dense("3"), "[18446744073709551615]", "does not come before"),
        ("[4]", "d", dense("3"), "[]", "is the Input"),
        ("[4]", "d", dense("3"), "[0,0]", "takes one"),
        ("[4]", "input", dense("3"), "[0]", "has this name"),
        ("[4]", "", dense("3"), "[0]", "a name has"),
        ("[4]", "a/b", dense("3"), "[0]", "a name has"),
        ("[4]", "a\\nb", dense("3"), "[0]", "a name has"),
        ("[4]", &long, dense("3"), "[0]", "a name has"),
        ("[4]", "d", dense("0"), "[0]", "empty or too large"),
        ("[4]", "d", dense(huge), "[0]", "empty or too large"),
        ("[65536]", "d", dense("65536"), "[0]", "more than 2147483648 parameters"),
        ("[2,2]", "b", "{\"BatchNormalization\":{\"momentum\":1.5}}".into(), "[0]", "from 0 to 1"),
        ("[2,2]", "b", "{\"BatchNormalization\":{\"epsilon\":0}}".into(), "[0]", "above 0"),
        ("[2,2]", "f", "{\"RandomFlip\":{}}".into(), "[0]", "takes pictures"),
        ("[2,2,1]", "t", "{\"RandomRotation\":{\"factor\":2}}".into(), "[0]", "from 0 to 1"),
        (
            "[2,2,1]",
            "t",
            "{\"RandomTranslation\":{\"height_factor\":0,\"width_factor\":2}}".into(),
            "[0]",
            "from 0 to 1",
        ),
        ("[2,2,1]", "z", "{\"ZeroPadding2D\":{\"padding\":65537}}".into(), "[0]", "at most"),
        ("[65536,8192,4]", "z", "{\"ZeroPadding2D\":{\"padding\":9}}".into(), "[0]", "too large"),
        ("[]", "d", dense("3"), "[0]", "empty or too large"),
        ("[1,1,1,1,1,1,1,1,1]", "d", dense("3"), "[0]", "empty or too large"),
        ("[4294967296,4294967296]", "d", dense("3"), "[0]", "empty or too large"),
        ("[9,9,1]", "c", conv("\"kernel_size\":0"), "[0]", "at least 1"),
        ("[9,9,1]", "c", conv("\"kernel_size\":[3,10]"), "[0]", "does not fit"),
        ("[9,9,1]", "c", conv(&format!("\"kernel_size\":{huge},\"padding\":\"same\"")), "[0]", "at most"),
        ("[9,9,1]", "c", conv(&format!("\"kernel_size\":3,\"strides\":{huge}")), "[0]", "at most"),
        ("[9,9,9]", "c", conv("\"kernel_size\":65536,\"padding\":\"same\""), "[0]", "parameters"),
        ("[9,9,1]", "c", conv("\"kernel_size\":3,\"dilation_rate\":0"), "[0]", "at least 1"),
        ("[9,9,1]", "c", conv("\"kernel_size\":0,\"dilation_rate\":2"), "[0]", "at least 1"),
        ("[9,9,1]", "c", conv("\"kernel_size\":3,\"dilation_rate\":5"), "[0]", "reaches over 11 pixels, and does not fit into 9"),
        ("[9,9,1]", "c", conv(&format!("\"kernel_size\":3,\"padding\":\"same\",\"dilation_rate\":{huge}")), "[0]", "smaller `dilation_rate`"),
        ("[9,9,1]", "c", conv("\"kernel_size\":2,\"strides\":[1,2],\"dilation_rate\":[2,1]"), "[0]", "set the other to 1"),
        ("[9,9,3]", "c", conv("\"kernel_size\":3,\"groups\":2"), "[0]", "its 3 input channels do not fall into 2"),
        ("[9,9,3]", "c", conv("\"kernel_size\":3,\"groups\":3"), "[0]", "its 8 filters do not fall into 3"),
        ("[9,9,3]", "c", conv("\"kernel_size\":3,\"groups\":0"), "[0]", "0 equal groups"),
        ("[9,4]", "c", "{\"Conv1D\":{\"filters\":6,\"kernel_size\":2,\"groups\":4}}".into(), "[0]", "its 6 filters"),
        ("[9,9,1]", "c", "{\"DepthwiseConv2D\":{\"kernel_size\":2,\"strides\":2,\"dilation_rate\":2}}".into(), "[0]", "set the other to 1"),
        ("[9,9,1]", "c", "{\"SeparableConv2D\":{\"filters\":1,\"kernel_size\":4,\"dilation_rate\":[1,3]}}".into(), "[0]", "a window of 4 with a `dilation_rate` of 3 reaches over 10"),
        ("[4]", "r", "{\"Dropout\":{\"rate\":1.0}}".into(), "[0]", "from 0 to below 1"),
        ("[4]", "r", "{\"Dropout\":{\"rate\":-0.1}}".into(), "[0]", "from 0 to below 1"),
        ("[4]", "d", "{\"Dense\":{\"units\":2,\"kernel_initializer\":{\"truncated_normal\":{\"stddev\":-0.5}}}}".into(), "[0]", "stddev"),
        ("[4]", "g", "{\"GRU\":{\"units\":2}}".into(), "[0]", "[steps, features]"),
        ("[4,2]", "g", format!("{{\"GRU\":{{\"units\":{huge}}}}}"), "[0]", "too large"),
        ("[4]", "e", format!("{{\"Embedding\":{{\"input_dim\":{huge},\"output_dim\":2}}}}"), "[0]", "above 16777216"),
        ("[4]", "n", "{\"LayerNormalization\":{\"epsilon\":-1}}".into(), "[0]", "not above 0"),
        ("[4]", "n", "{\"GroupNormalization\":{}}".into(), "[0]", "unknown variant `GroupNormalization`"),
    ] {
        let nodes = format!("[{},{}]", input(shape), node(name, &layer, inputs));
        let error = graph(&nodes).unwrap_err();
        assert!(error.contains(word), "{layer} after {shape}: {error}");
        // The longest names all layers there are.
        assert!(error.len() < 800, "{error}");
    }
    assert!(graph("[]").unwrap_err().contains("at least one layer"));
    let long = format!("[{}1]", "1,".repeat(100_000));
    assert!(graph(&format!("[{}]", input(&long))).unwrap_err().len() < 500);
}

#[test]
fn there_is_a_limit_to_layers_and_it_is_quickly_found() {
    let chain = |count: usize| {
        let mut nodes = vec![input("[4]")];
        nodes.extend(
            (1..count).map(|n| node(&format!("f{n}"), "{\"Flatten\":{}}", &format!("[{}]", n - 1))),
        );
        graph(&format!("[{}]", nodes.join(",")))
    };
    assert_eq!(chain(10_000).unwrap().nodes().len(), 10_000);
    assert!(chain(10_001).unwrap_err().contains("at most 10000 layers"));
}
