//! The order in which Keras has the layers of a functional network, whatever the order in the file.
//!
//! It counts weights in this order, so we write layers in it: those farthest from the output first, and
//! of equally far ones that first which a walk from the output meets first.

use crate::Graph;

/// The numbers of a graph's nodes in Keras' order.
pub(crate) fn keras_order(graph: &Graph) -> Vec<usize> {
    let nodes = graph.nodes();
    let mut depth = vec![0usize; nodes.len()];
    for (number, node) in nodes.iter().enumerate().rev() {
        for &input in &node.inputs {
            depth[input] = depth[input].max(depth[number] + 1);
        }
    }
    let met = walk(graph);
    let mut order: Vec<usize> = (0..nodes.len()).collect();
    order.sort_by_key(|&number| (std::cmp::Reverse(depth[number]), met[number]));
    order
}

/// When each node is first met, going from the output to what it reads, depth first.
fn walk(graph: &Graph) -> Vec<usize> {
    let nodes = graph.nodes();
    let mut met = vec![usize::MAX; nodes.len()];
    let mut open = vec![nodes.len() - 1];
    let mut count = 0;
    while let Some(number) = open.pop() {
        if met[number] == usize::MAX {
            met[number] = count;
            count += 1;
            open.extend(nodes[number].inputs.iter().rev());
        }
    }
    met
}
