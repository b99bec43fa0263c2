//! Gates as they are, with deadlines; `tests/gate_models.rs` has their models, which compile `gate.rs` and so can't have this in it.

use std::time::Instant;

use super::gate::{Gate, Outcome};

#[test]
fn opens_for_waiters_and_times_out_otherwise() {
    let gate = Gate::default();
    assert_eq!(gate.wait(Some(Instant::now()), || false), Outcome::TimedOut);
    assert_eq!(gate.wait(None, || true), Outcome::Interrupted);
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| gate.wait(None, || false));
        gate.open();
        assert_eq!(waiter.join().unwrap(), Outcome::Open);
    });
    assert_eq!(gate.wait(Some(Instant::now()), || true), Outcome::Open);
}
