//! The pool as a whole, with real threads. Every interleaving of its parts is in `tests/pool_models.rs`.

use std::panic::AssertUnwindSafe;
use std::sync::Barrier;
use std::sync::atomic::AtomicBool;

use super::*;

/// Jobs whose units wait for each other need all their helpers, which the pool promises to nobody: while another job
/// runs they may stay with that one. So such tests run alone.
static ALONE: Mutex<()> = Mutex::new(());

fn terms(threads: usize) -> Terms {
    Terms { threads, owner: Owner::default(), wake: Wake::AtOnce }
}

/// Each unit once, whatever the number of units and threads.
fn check_units(units: usize, threads: usize) {
    let counts: Vec<_> = (0..units).map(|_| AtomicUsize::new(0)).collect();
    run(units, terms(threads), &|unit, _| {
        counts[unit].fetch_add(1, Ordering::Relaxed);
    });
    assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == 1), "{units} units, {threads} threads");
}

#[test]
fn every_unit_runs_once() {
    let _alone = ALONE.lock();
    for units in [0, 1, 2, 3, 17, 1000] {
        for threads in [1, 2, 3, 8] {
            check_units(units, threads);
        }
    }
}

#[test]
fn many_jobs_from_many_launchers() {
    let _alone = ALONE.lock();
    std::thread::scope(|scope| {
        for launcher in 0..8 {
            scope.spawn(move || (0..3000).for_each(|round| check_units(round % 13, 2 + (launcher + round) % 3)));
        }
    });
}

#[test]
fn more_launchers_than_seats() {
    let _alone = ALONE.lock();
    let all_in = Barrier::new(SEATS + 8);
    std::thread::scope(|scope| {
        for _ in 0..SEATS + 8 {
            scope.spawn(|| {
                let first = AtomicBool::new(true);
                run(20, terms(2), &|_, _| {
                    // Every launcher is in a job at the same time.
                    if first.swap(false, Ordering::Relaxed) {
                        all_in.wait();
                    }
                });
            });
        }
    });
}

#[test]
fn helpers_do_help() {
    let _alone = ALONE.lock();
    // Two units that wait for each other: only two threads can finish them. Helpers that sleep must wake for it.
    for pause in [0, 0, 0, 30, 0, 30] {
        std::thread::sleep(std::time::Duration::from_millis(pause));
        let both = Barrier::new(2);
        run(2, terms(2), &|_, _| {
            both.wait();
        });
    }
}

#[test]
fn helpers_come_for_brief_jobs_after_the_first_unit() {
    let _alone = ALONE.lock();
    for pause in [0, 0, 0, 30, 0, 30] {
        std::thread::sleep(std::time::Duration::from_millis(pause));
        let both = Barrier::new(2);
        run(3, Terms { wake: Wake::AfterUnit, ..terms(2) }, &|unit, _| {
            if unit > 0 {
                both.wait();
            }
        });
    }
}

#[test]
fn helpers_come_to_brief_jobs_that_follow_each_other() {
    let _alone = ALONE.lock();
    for pause in [30, 0, 30] {
        std::thread::sleep(Duration::from_millis(pause));
        let threads = Mutex::new(std::collections::HashSet::new());
        let came = (0..100_000).any(|_| {
            run(2, Terms { wake: Wake::ForNext, ..terms(2) }, &|_, _| {
                let start = Instant::now();
                while start.elapsed() < Duration::from_micros(20) {
                    spin_loop();
                }
                threads.lock().insert(std::thread::current().id());
            });
            threads.lock().len() == 2
        });
        assert!(came);
    }
}

#[test]
fn the_launcher_begins_with_the_first_unit_and_helpers_with_the_last() {
    let _alone = ALONE.lock();
    let by = Mutex::new(std::collections::HashMap::<_, Vec<_>>::new());
    let both = Barrier::new(2);
    run(100, terms(2), &|unit, _| {
        if unit == 0 || unit == 99 {
            both.wait();
        }
        by.lock().entry(std::thread::current().id()).or_default().push(unit);
    });
    let by = by.lock();
    let here = &by[&std::thread::current().id()];
    let there = by.values().find(|units| *units != here).unwrap();
    assert!(here.iter().copied().eq(0..here.len()));
    assert!(there.iter().copied().eq((here.len()..100).rev()));
}

#[test]
fn a_waiter_helps_its_owner_and_nobody_else() {
    let _alone = ALONE.lock();
    // The launcher is in the first unit until the waiter has done the others.
    let helped = |launcher: Owner, waiter: Owner| {
        let (ran, looked) = (Mutex::new(Vec::new()), AtomicBool::new(false));
        let started = Barrier::new(2);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let this = Waiter::new(waiter);
                started.wait();
                assert!(this.sees_job());
                assert!(!this.sees_job());
                this.help();
                looked.store(true, Ordering::Release);
                std::thread::current().id()
            });
            // Brief: no helper is woken before the first unit is done.
            run(3, Terms { threads: 2, owner: launcher, wake: Wake::AfterUnit }, &|unit, _| {
                if unit == 0 {
                    started.wait();
                    while !looked.load(Ordering::Acquire) {
                        std::thread::yield_now();
                    }
                }
                ran.lock().push((unit, std::thread::current().id()));
            });
            let waiting = waiting.join().unwrap();
            let ran = ran.lock();
            ran.iter().filter(|(_, thread)| *thread == waiting).count()
        })
    };
    // A helper that has not gone to sleep yet may come first, and then stays awake for the next job, unless that comes late.
    let after_a_pause = || {
        std::thread::sleep(std::time::Duration::from_millis(1));
        helped(Owner(7), Owner(7))
    };
    assert!((0..100).any(|_| after_a_pause() == 2));
    assert_eq!(helped(Owner(8), Owner(7)), 0);
}

#[test]
fn all_threads_of_a_large_job_come() {
    let _alone = ALONE.lock();
    let all = Barrier::new(8);
    let names = Mutex::new(std::collections::HashSet::new());
    run(8, terms(8), &|_, _| {
        all.wait();
        names.lock().insert(std::thread::current().id());
    });
    assert_eq!(names.lock().len(), 8);
}

#[test]
fn a_panic_comes_back_and_the_pool_lives_on() {
    let _alone = ALONE.lock();
    for round in 0..200 {
        let panicking = round % 20;
        let result = std::panic::catch_unwind(AssertUnwindSafe(|| {
            run(20, terms(3), &|unit, _| {
                if unit == panicking {
                    // Without the message that a plain panic writes.
                    resume_unwind(Box::new(unit));
                }
            });
        }));
        assert_eq!(result.unwrap_err().downcast_ref(), Some(&panicking));
        check_units(20, 3);
    }
}

#[test]
fn a_unit_may_launch_too() {
    let _alone = ALONE.lock();
    let count = AtomicUsize::new(0);
    run(4, terms(2), &|_, _| {
        run(4, terms(2), &|_, _| {
            count.fetch_add(1, Ordering::Relaxed);
        });
    });
    assert_eq!(count.load(Ordering::Relaxed), 16);
}

#[test]
#[cfg(not(miri))]
fn a_forked_child_has_helpers_of_its_own() {
    let _alone = ALONE.lock();
    check_units(10, 3);
    // SAFETY: the child only runs jobs, which take no lock that another thread of the parent may have held, and leaves
    // without running destructors.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let both = Barrier::new(2);
        run(2, terms(2), &|_, _| {
            both.wait();
        });
        // SAFETY: ends the child.
        unsafe { libc::_exit(7) };
    }
    let mut status = 0;
    // For so long that only a child that hangs is missed.
    let ended = (0..1000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        // SAFETY: asks about the child above.
        unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) == child }
    });
    if !ended {
        // SAFETY: the child above.
        unsafe { libc::kill(child, libc::SIGKILL) };
    }
    assert!(ended, "the child hangs");
    assert_eq!(libc::WEXITSTATUS(status), 7);
}
