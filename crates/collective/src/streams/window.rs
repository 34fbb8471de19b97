//! Where partials from one peer wait until they can be summed.
//!
//! There is room for a fixed number of chunks. What is free is used again at once, the place that was
//! emptied last first: where nobody is late, one place is enough, and it stays in the cache.

use std::collections::VecDeque;

pub(super) struct Window {
    room: usize,
    /// Places made so far; they are made when they are needed.
    places: Vec<Vec<f32>>,
    free: Vec<usize>,
    filling: Option<usize>,
    /// Chunks that have come, the oldest first.
    waiting: VecDeque<usize>,
}

impl Window {
    pub(super) fn new(room: usize) -> Window {
        let (places, free, waiting) = (vec![], vec![], VecDeque::new());
        Window { room, places, free, filling: None, waiting }
    }

    /// The place for the chunk that is coming, of `length` floats; `None` while there is no room.
    pub(super) fn filling(&mut self, length: usize) -> Option<&mut [f32]> {
        let place = match self.filling.or_else(|| self.free.pop()) {
            Some(place) => place,
            None if self.places.len() == self.room => return None,
            None => {
                self.places.push(vec![]);
                self.places.len() - 1
            }
        };
        self.filling = Some(place);
        let place = &mut self.places[place];
        if place.len() < length {
            place.resize(length, 0.0);
        }
        Some(&mut place[..length])
    }

    /// The chunk that was coming has come.
    pub(super) fn filled(&mut self) {
        self.waiting.extend(self.filling.take());
    }

    /// Whether a whole chunk is there.
    pub(super) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The oldest chunk, or as much of it as has come.
    pub(super) fn oldest(&self) -> &[f32] {
        let place = self.waiting.front().copied().or(self.filling);
        place.map_or(&[], |place| &self.places[place])
    }

    /// The oldest chunk is done with.
    pub(super) fn free_oldest(&mut self) {
        self.free.extend(self.waiting.pop_front());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(window: &mut Window, value: f32) {
        window.filling(3).unwrap().fill(value);
        window.filled();
    }

    #[test]
    fn chunks_leave_in_the_order_they_came() {
        let mut window = Window::new(3);
        for value in [1.0, 2.0, 3.0] {
            fill(&mut window, value);
        }
        assert!(window.filling(3).is_none());
        for value in [4.0, 5.0] {
            assert_eq!(window.oldest(), [value - 3.0; 3]);
            window.free_oldest();
            fill(&mut window, value);
        }
        for value in [3.0, 4.0, 5.0] {
            assert_eq!(window.oldest(), [value; 3]);
            window.free_oldest();
        }
        assert!(!window.has_waiting());
    }

    #[test]
    fn one_place_is_enough_when_nobody_is_late() {
        let mut window = Window::new(9);
        for _ in 0..20 {
            fill(&mut window, 1.0);
            window.free_oldest();
        }
        assert_eq!(window.places.len(), 1);
    }
}
