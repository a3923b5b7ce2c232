//! Collects the evidence about wakers and sorts it; each kind of waker on any free core.

use super::effects::EffectIndex;
use super::wakers::Wakers;
use super::{
    backlog, child, connection, eventfd, file_watch, futex, lock, message, signal, stream, terminal,
};
use crate::waits::candidates::WaitBitmap;
use crate::waits::wakers::poll;
use crate::waits::wakers::poll_loops::{self, producers};
use rayon::prelude::*;
use trace::store::trace::Trace;

/// A kind of waker.
trait Collect: Send {
    fn collect(&mut self, trace: &Trace, told: &EffectIndex<'_>);
}

macro_rules! collects {
    ($($kind:ty),* $(,)?) => {
        $(impl Collect for $kind {
            fn collect(&mut self, trace: &Trace, told: &EffectIndex<'_>) {
                told.each(|row, known| self.take(trace, row, known));
                self.order(trace);
            }
        })*
    };
}

collects! {
    signal::Signals, stream::Streams, terminal::Terminals, futex::Futexes, lock::Locks, connection::Connections,
    eventfd::Counters, producers::Producers, message::Messages, backlog::Backlog, file_watch::Watches, poll_loops::Sleepers,
}

impl Wakers {
    /// Collect the evidence that queries need.
    pub fn new(trace: &Trace) -> Wakers {
        let (mut wakers, children) =
            rayon::join(|| Wakers::empty(trace), || child::Children::new(trace));
        wakers.shapes.take_vforks(trace, children.vforks());
        let looks = wakers.shapes.looks();
        let (wakers, outline) = rayon::join(
            || wakers.collected(trace),
            || WaitBitmap::new(trace, &looks),
        );
        Wakers {
            children,
            outline,
            ..wakers
        }
    }

    /// Build from the calls with evidence about the waits of others; each core takes some of the kinds of wakers.
    fn collected(mut self, trace: &Trace) -> Wakers {
        let shapes = std::mem::take(&mut self.shapes);
        self.futexes = futex::Futexes::new(trace);
        self.polled = poll::Polled::new(trace);
        self.producers = producers::Producers::new(trace);
        self.streams.know_fifos(trace, shapes.fifos());
        let told = shapes.told(trace);
        let kinds: [&mut dyn Collect; 12] = [
            &mut self.streams,
            &mut self.producers,
            &mut self.locks,
            &mut self.futexes,
            &mut self.terminals,
            &mut self.watches,
            &mut self.signals,
            &mut self.messages,
            &mut self.connections,
            &mut self.counters,
            &mut self.sleepers,
            &mut self.backlog,
        ];
        kinds
            .into_par_iter()
            .with_max_len(1)
            .for_each(|kind| kind.collect(trace, &told));
        Wakers { shapes, ..self }
    }
}
