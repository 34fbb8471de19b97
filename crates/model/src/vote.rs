//! How the members of an ensemble answer as one.
//!
//! Each member votes for the class that it finds most probable, the first of equals. The class with
//! the most votes wins; of several, the one that the members together find most probable, the first
//! of equals. The probabilities of the ensemble are the means of its members': summed in the order
//! of ranks and divided once, so that everybody gets the same bits.

/// What an ensemble answers to some samples. Numbers by class lie sample after sample.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// The class that won, for each sample.
    pub classes: Vec<usize>,
    /// How probable the members find each class, on average.
    pub probabilities: Vec<f32>,
    /// How many members voted for each class.
    pub votes: Vec<u32>,
}

impl Verdict {
    /// The most probable of so many classes, for each sample: what counts where nobody votes.
    pub fn most_probable(&self, classes: usize) -> Vec<usize> {
        self.probabilities.chunks_exact(classes).map(|row| most(row, |_| true)).collect()
    }
}

/// Counts the votes on some samples. `answers` are the members' by rank: the probabilities of so
/// many `classes`, sample after sample.
///
/// # Panics
/// When there are no members or no classes, or when members answer differently many samples.
pub fn vote(answers: &[Vec<f32>], classes: usize) -> Verdict {
    assert!(!answers.is_empty() && classes > 0, "somebody answers something");
    let len = answers[0].len();
    let mut votes = vec![0; len];
    let mut probabilities = vec![0.0; len];
    for answer in answers {
        assert_eq!(answer.len(), len, "all members answer the same samples");
        for (sample, row) in answer.chunks_exact(classes).enumerate() {
            votes[sample * classes + most(row, |_| true)] += 1;
        }
        for (sum, probability) in probabilities.iter_mut().zip(answer) {
            *sum += probability;
        }
    }
    probabilities.iter_mut().for_each(|sum| *sum /= answers.len() as f32);
    let rows = votes.chunks_exact(classes).zip(probabilities.chunks_exact(classes));
    let classes = rows.map(|(votes, probabilities)| winner(votes, probabilities)).collect();
    Verdict { classes, probabilities, votes }
}

fn winner(votes: &[u32], probabilities: &[f32]) -> usize {
    let most_votes = votes.iter().max();
    most(probabilities, |class| Some(&votes[class]) == most_votes)
}

/// The first largest of those that may be taken; the first of them where none is a number.
fn most(row: &[f32], may: impl Fn(usize) -> bool) -> usize {
    let larger = |best: usize, class: usize| if row[class] > row[best] { class } else { best };
    (0..row.len()).filter(|&class| may(class)).reduce(larger).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The verdict of members on one sample.
    fn on_one(answers: &[&[f32]]) -> Verdict {
        let classes = answers[0].len();
        let answers: Vec<Vec<f32>> = answers.iter().map(|row| row.to_vec()).collect();
        vote(&answers, classes)
    }

    #[test]
    fn the_most_votes_win_against_the_highest_mean() {
        let verdict = on_one(&[&[0.5, 0.25, 0.25], &[0.5, 0.0, 0.5], &[0.0, 1.0, 0.0]]);
        assert_eq!(verdict.votes, [2, 1, 0]);
        assert_eq!(verdict.classes, [0]);
        assert!(verdict.probabilities[1] > verdict.probabilities[0]);
    }

    #[test]
    fn a_tie_goes_to_the_highest_mean_among_the_tied() {
        // Class 0 has the highest mean and no vote.
        let verdict = on_one(&[&[0.4, 0.6, 0.0], &[0.4, 0.0, 0.6], &[0.4, 0.5, 0.1]]);
        assert_eq!((verdict.votes, verdict.classes), (vec![0, 2, 1], vec![1]));
        let verdict = on_one(&[&[0.4, 0.5, 0.1], &[0.4, 0.0, 0.6]]);
        assert!(verdict.probabilities[0] > verdict.probabilities[2]);
        assert_eq!((verdict.votes, verdict.classes), (vec![0, 1, 1], vec![2]));
    }

    #[test]
    fn of_equals_the_first_is_taken() {
        assert_eq!(on_one(&[&[0.0, 0.5, 0.5]]).classes, [1]);
        let verdict = on_one(&[&[0.0, 0.25, 0.75], &[0.0, 0.75, 0.25]]);
        assert_eq!((verdict.votes, verdict.classes), (vec![0, 1, 1], vec![1]));
    }

    #[test]
    fn means_are_summed_in_the_order_of_ranks() {
        // In f32 this sum depends on its order.
        let [a, b, c] = [1e8f32, 3.3, -1e8];
        let verdict = on_one(&[&[a, 0.1], &[b, 0.1], &[c, 0.1]]);
        assert_eq!(verdict.probabilities[0].to_bits(), (((a + b) + c) / 3.0).to_bits());
        let alone = on_one(&[&[0.3, 0.7]]);
        assert_eq!(
            alone,
            Verdict { classes: vec![1], probabilities: vec![0.3, 0.7], votes: vec![0, 1] }
        );
    }

    #[test]
    fn samples_do_not_mix() {
        let answers = [vec![0.9, 0.1, 0.2, 0.8], vec![0.6, 0.4, 0.7, 0.3]];
        let verdict = vote(&answers, 2);
        assert_eq!(verdict.votes, [2, 0, 1, 1]);
        assert_eq!(verdict.classes, [0, 1]);
        assert_eq!(vote(&[vec![], vec![]], 2), Verdict::default());
    }

    #[test]
    fn what_is_not_a_number_stays_visible() {
        let verdict = on_one(&[&[f32::NAN, f32::NAN], &[0.1, 0.9]]);
        assert!(verdict.probabilities.iter().all(|p| p.is_nan()));
        assert_eq!(verdict.votes.iter().sum::<u32>(), 2);
    }
}
