//! What is sent, and the check of what arrives: every element names its sender, its receiver and
//! its place, and none is zero (a page of zeros may be one shared page, which moves faster).

/// Stands in a receive buffer before a checked swap.
const POISON: f64 = -1.0;

/// Places that an element can name.
const PLACES: usize = 1 << 32;

/// Element `place` of what rank `from` sends rank `to`.
fn element(from: usize, to: usize, place: usize) -> f64 {
    // 10 + 10 + 32 bits are exact in a double.
    let pair = (from % 1024) * 1024 + to % 1024;
    (pair * PLACES + place % PLACES + 1) as f64
}

/// Fills a send buffer.
pub fn fill(send: &mut [f64], from: usize, to: usize) {
    for (place, value) in send.iter_mut().enumerate() {
        *value = element(from, to, place);
    }
}

/// Makes whatever a receive buffer holds wrong.
pub fn poison(recv: &mut [f64]) {
    recv.fill(POISON);
}

/// The first wrong element, in words; `None`: all are right.
pub fn wrong(recv: &[f64], from: usize, to: usize) -> Option<String> {
    let at = |&(place, value): &(usize, &f64)| *value != element(from, to, place);
    let (place, value) = recv.iter().enumerate().find(at)?;
    let found = if *value == POISON {
        "nothing".to_owned()
    } else {
        value.to_string()
    };
    Some(format!(
        "element {place} from rank {from} to rank {to} is {found} instead of {}",
        element(from, to, place)
    ))
}

/// Memory larger than the last cache level: walking through it leaves nothing else in the caches.
pub struct Eviction {
    memory: Vec<u64>,
}

impl Eviction {
    /// Twice the last cache level, `cache` bytes.
    pub fn new(cache: usize) -> Self {
        Self {
            memory: vec![1; Self::bytes(cache).div_ceil(size_of::<u64>())],
        }
    }

    /// Bytes walked through for a last cache level of `cache` bytes.
    pub fn bytes(cache: usize) -> usize {
        2 * cache
    }

    /// Fills the caches of the calling thread's core.
    pub fn evict(&mut self) {
        for word in &mut self.memory {
            *word = word.wrapping_mul(3).wrapping_add(1);
        }
        std::hint::black_box(&self.memory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_element_is_found_and_named() {
        let mut data = vec![0.0; 100];
        poison(&mut data);
        assert!(
            wrong(&data, 0, 1)
                .unwrap()
                .contains("element 0 from rank 0 to rank 1 is nothing")
        );
        fill(&mut data, 0, 1);
        assert_eq!(wrong(&data, 0, 1), None);
        assert!(wrong(&data, 1, 0).is_some());
        data.swap(7, 8);
        assert!(wrong(&data, 0, 1).unwrap().starts_with("element 7 "));
        assert!(data.iter().all(|x| *x != 0.0));
    }
}
