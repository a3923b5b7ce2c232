//! The numbers of recently used shapes, so that most lookups need no search.

use crate::store::event::Shape;
use crate::store::index::ShapeId;

/// A direct-mapped cache of shapes, indexed by hash: programs repeat their calls.
#[derive(Default)]
pub(super) struct RecentShapes(Vec<(Option<Shape>, ShapeId)>);

impl RecentShapes {
    const PLACES_LOG2: u32 = 13;

    fn place(shape: &Shape) -> usize {
        let texts = u64::from(shape.syscall.0) | u64::from(shape.target.0) << 32;
        let rest =
            u64::from(shape.op.0) << 24 ^ u64::from(shape.errno.0) << 3 ^ shape.outcome as u64;
        let mixed = (texts ^ rest.rotate_left(17)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> (64 - RecentShapes::PLACES_LOG2)) as usize
    }

    pub(super) fn find(&self, shape: &Shape) -> Option<ShapeId> {
        let (known, number) = self.0.get(RecentShapes::place(shape))?;
        (known.as_ref() == Some(shape)).then_some(*number)
    }

    pub(super) fn keep(&mut self, shape: &Shape, number: ShapeId) {
        if self.0.is_empty() {
            self.0
                .resize(1 << RecentShapes::PLACES_LOG2, (None, ShapeId::NONE));
        }
        self.0[RecentShapes::place(shape)] = (Some(*shape), number);
    }
}
