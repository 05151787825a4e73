//! Tests of streams, memory and errors, without kernels.

use super::{
    Driver,
    config::Config,
    error::{Code, Result},
    work::Work,
};
use crate::fault::Fault;

fn driver(config: Config) -> Driver {
    let mut driver = Driver::new(config);
    driver.initialise().unwrap();
    driver.retain(0).unwrap();
    driver
}

fn small() -> Driver {
    driver(Config { memory: 1000, ..Config::default() })
}

fn read(driver: &mut Driver, address: u64, bytes: usize, stream: u64) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    driver.copy_out(0, address, bytes, stream, |bytes| content = bytes.to_vec())?;
    Ok(content)
}

/// Enqueues work that fails with a fault, like an incorrect kernel.
fn crash(driver: &mut Driver, stream: u64) {
    let job = Box::new(|_: &mut crate::memory::Memory| Err(Fault::Failed("on purpose".to_string())));
    driver.put_on(stream, "crash", Work::On(0, job), 0).unwrap();
}

const BLOCKING: u32 = 0;
const NON_BLOCKING: u32 = 1;

#[test]
fn nothing_works_before_the_driver_is_ready() {
    let mut none = Driver::new(Config { devices: 0, ..Config::default() });
    assert_eq!(none.initialise(), Err(Code::NO_DEVICE));
    assert_eq!(none.check_initialised(), Err(Code::NOT_INITIALIZED));
    let mut driver = Driver::new(Config::default());
    driver.initialise().unwrap();
    assert_eq!(driver.device_of(0), Err(Code::INVALID_CONTEXT));
    let context = driver.retain(0).unwrap();
    assert_eq!(driver.device_of(context), Ok(0));
    driver.release(0).unwrap();
    assert_eq!(driver.device_of(context), Err(Code::CONTEXT_IS_DESTROYED));
    assert_eq!(driver.release(0), Err(Code::INVALID_CONTEXT));
    assert_eq!(driver.retain(1), Err(Code::INVALID_DEVICE));
}

#[test]
fn work_of_a_stream_waits_until_someone_waits_for_it() {
    let mut driver = driver(Config::default());
    let (writer, reader) =
        (driver.stream_create(0, NON_BLOCKING).unwrap(), driver.stream_create(0, NON_BLOCKING).unwrap());
    let memory = driver.allocate(0, 4).unwrap();
    let mut source = [1, 2, 3, 4];
    driver.copy_in(0, memory, &source, writer).unwrap();
    source.fill(9);
    assert_eq!(read(&mut driver, memory, 4, reader), Ok(vec![0xff; 4]), "the other stream was not waited for");
    assert_eq!(driver.stream_query(0, writer), Err(Code::NOT_READY));
    assert_eq!(read(&mut driver, memory, 4, reader), Ok(vec![1, 2, 3, 4]), "as it was when the copy was called");
    assert_eq!(driver.stream_query(0, writer), Ok(()));
    driver.fill(0, memory + 1, 7, 2, writer).unwrap();
    assert_eq!(read(&mut driver, memory, 4, writer), Ok(vec![1, 7, 7, 4]));
    assert_eq!(driver.counts().all(), [0, 1, 1, 4, 3, 12, 0]);
}

#[test]
fn events_order_streams() {
    let mut driver = driver(Config::default());
    let (writer, reader) =
        (driver.stream_create(0, NON_BLOCKING).unwrap(), driver.stream_create(0, NON_BLOCKING).unwrap());
    let memory = driver.allocate(0, 1).unwrap();
    let event = driver.event_create(0, 0).unwrap();
    // a stream does not wait for an event that was never recorded
    driver.stream_wait_event(0, reader, event).unwrap();
    driver.fill(0, memory, 1, 1, writer).unwrap();
    assert_eq!(read(&mut driver, memory, 1, reader), Ok(vec![0xff]));
    driver.event_record(0, event, writer).unwrap();
    driver.fill(0, memory, 2, 1, writer).unwrap();
    driver.stream_wait_event(0, reader, event).unwrap();
    assert_eq!(driver.event_query(event), Err(Code::NOT_READY));
    assert_eq!(read(&mut driver, memory, 1, reader), Ok(vec![1]), "no more than up to the event");
    assert_eq!(driver.event_query(event), Ok(()));
    // a stream waits for the position that the event has when `stream_wait_event` is called
    driver.event_record(0, event, writer).unwrap();
    driver.stream_wait_event(0, reader, event).unwrap();
    driver.fill(0, memory, 3, 1, writer).unwrap();
    driver.event_record(0, event, writer).unwrap();
    assert_eq!(read(&mut driver, memory, 1, reader), Ok(vec![2]));
    let later = driver.event_create(0, 0).unwrap();
    assert_eq!(driver.event_elapsed(event, later), Err(Code::INVALID_HANDLE), "never recorded");
    driver.event_record(0, later, writer).unwrap();
    assert_eq!(driver.event_elapsed(event, later), Err(Code::NOT_READY));
    driver.event_synchronize(later).unwrap();
    assert!(driver.event_elapsed(event, later).unwrap() >= 0.0);
    driver.event_destroy(later).unwrap();
    assert_eq!(driver.event_synchronize(later), Err(Code::INVALID_HANDLE));
}

#[test]
fn the_default_stream_and_blocking_streams_wait_for_each_other() {
    let mut driver = driver(Config::default());
    let (blocking, other) =
        (driver.stream_create(0, BLOCKING).unwrap(), driver.stream_create(0, NON_BLOCKING).unwrap());
    let memory = driver.allocate(0, 2).unwrap();
    driver.fill(0, memory, 1, 1, blocking).unwrap();
    driver.fill(0, memory + 1, 1, 1, other).unwrap();
    assert_eq!(read(&mut driver, memory, 2, 0), Ok(vec![1, 0xff]));
    driver.fill(0, memory, 2, 1, 0).unwrap();
    assert_eq!(read(&mut driver, memory, 2, other), Ok(vec![1, 1]));
    assert_eq!(read(&mut driver, memory, 2, blocking), Ok(vec![2, 1]));
    assert_eq!(driver.stream_create(0, 2), Err(Code::INVALID_VALUE));
}

#[test]
fn a_destroyed_stream_does_its_work_nevertheless() {
    let mut driver = driver(Config::default());
    let stream = driver.stream_create(0, NON_BLOCKING).unwrap();
    let memory = driver.allocate(0, 1).unwrap();
    driver.fill(0, memory, 5, 1, stream).unwrap();
    driver.stream_destroy(0, stream).unwrap();
    assert_eq!(driver.stream_synchronize(0, stream), Err(Code::INVALID_HANDLE));
    assert_eq!(driver.stream_destroy(0, 0), Err(Code::INVALID_HANDLE));
    driver.finish_device(0);
    assert_eq!(read(&mut driver, memory, 1, 0), Ok(vec![5]));
}

#[test]
fn long_queues_run() {
    let mut driver = driver(Config::default());
    let streams = [0, 1].map(|_| driver.stream_create(0, NON_BLOCKING).unwrap());
    let event = driver.event_create(0, 0).unwrap();
    let memory = driver.allocate(0, 1).unwrap();
    // each work item waits for the previous one, which is in the other stream
    for i in 0..20_000 {
        let stream = streams[i % 2];
        driver.stream_wait_event(0, stream, event).unwrap();
        driver.fill(0, memory, (i % 200) as u8, 1, stream).unwrap();
        driver.event_record(0, event, stream).unwrap();
    }
    assert_eq!(read(&mut driver, memory, 1, streams[1]), Ok(vec![199]));
}

#[test]
fn copies_on_the_device_are_in_order() {
    let mut driver = driver(Config { devices: 2, ..Config::default() });
    driver.retain(1).unwrap();
    let (a, b) = (driver.allocate(0, 4).unwrap(), driver.allocate(1, 4).unwrap());
    driver.copy_in(0, a, &[1, 2, 3, 4], 0).unwrap();
    driver.copy(0, a + 1, a, 3, 0).unwrap();
    driver.copy(0, b, a, 4, 0).unwrap();
    assert_eq!(read(&mut driver, b, 4, 0), Ok(vec![1, 1, 2, 3]));
    assert_eq!(driver.copy(0, b, a, 0, 0), Ok(()));
    assert_eq!(driver.copy(0, b, a + 1, 4, 0), Err(Code::INVALID_VALUE));
}

#[test]
fn copies_beyond_an_allocation_are_refused() {
    let mut driver = driver(Config::default());
    let memory = driver.allocate(0, 4).unwrap();
    assert_eq!(driver.copy_in(0, memory + 1, &[0; 4], 0), Err(Code::INVALID_VALUE));
    assert_eq!(driver.fill(0, memory - 1, 0, 1, 0), Err(Code::INVALID_VALUE));
    assert_eq!(read(&mut driver, 16, 1, 0), Err(Code::INVALID_VALUE));
    assert_eq!(driver.copy_in(0, memory, &[0; 4], 77), Err(Code::INVALID_HANDLE));
    assert_eq!(driver.copy_in(0, memory, &[0; 4], 2), Err(Code::NOT_SUPPORTED));
}

#[test]
fn memory_is_used_up_and_given_back() {
    let mut driver = small();
    assert_eq!(driver.allocate(0, 0), Err(Code::INVALID_VALUE));
    assert_eq!(driver.allocate(0, 1001), Err(Code::OUT_OF_MEMORY));
    let stream = driver.stream_create(0, NON_BLOCKING).unwrap();
    let first = driver.allocate(0, 600).unwrap();
    assert_eq!(driver.allocate(0, 600), Err(Code::OUT_OF_MEMORY));
    driver.free_on(0, first, stream).unwrap();
    let second = driver.allocate(0, 600).unwrap();
    assert_ne!(first, second, "the queued free ran for it");
    driver.free(second).unwrap();
    driver.free(0).unwrap();
    assert_eq!(driver.free(second), Err(Code::INVALID_VALUE), "twice");
    assert_eq!(driver.counts().refused, 1);
    assert!(driver.leaks().is_empty());
}

#[test]
fn memory_that_is_to_be_freed_is_of_no_use() {
    let mut driver = small();
    let stream = driver.stream_create(0, NON_BLOCKING).unwrap();
    let memory = driver.allocate(0, 4).unwrap();
    driver.fill(0, memory, 1, 4, stream).unwrap();
    driver.free_on(0, memory, stream).unwrap();
    assert_eq!(driver.free_on(0, memory, stream), Err(Code::INVALID_VALUE));
    assert_eq!(driver.free(memory), Err(Code::INVALID_VALUE));
    assert_eq!(driver.fill(0, memory, 1, 4, stream), Err(Code::INVALID_VALUE));
    assert_eq!(driver.leaks(), [(memory, 4)]);
    driver.stream_synchronize(0, stream).unwrap();
    assert!(driver.leaks().is_empty());
}

#[test]
fn work_after_a_free_has_no_use_of_the_memory_though_the_free_is_late() {
    let mut driver = driver(Config::default());
    let [one, other] = [0, 1].map(|_| driver.stream_create(0, NON_BLOCKING).unwrap());
    let memory = driver.allocate(0, 4).unwrap();
    let peek = |driver: &mut Driver, stream| {
        let job = Box::new(move |all: &mut crate::memory::Memory| {
            all.read(&mut crate::memory::Hint::default(), memory, 4).map(drop)
        });
        driver.put_on(stream, "peek", Work::On(0, job), 0).unwrap();
    };
    peek(&mut driver, other);
    peek(&mut driver, one);
    driver.free_on(0, memory, one).unwrap();
    assert_eq!(driver.stream_synchronize(0, other), Ok(()), "it was called before");
    peek(&mut driver, other);
    assert_eq!(driver.stream_synchronize(0, other), Err(Code::ILLEGAL_ADDRESS));
    driver.release(0).unwrap();
    assert!(driver.leaks().is_empty());
}

#[test]
fn an_allocation_fails_where_it_is_told_to() {
    let mut driver = driver(Config { fail_allocation: Some(2), ..Config::default() });
    assert!(driver.allocate(0, 1).is_ok());
    assert_eq!(driver.allocate(0, 1), Err(Code::OUT_OF_MEMORY));
    assert!(driver.allocate(0, 1).is_ok());
    driver.fail_allocations(2, 2);
    assert!(driver.allocate(0, 1).is_ok());
    assert_eq!(driver.allocate(0, 1), Err(Code::OUT_OF_MEMORY));
    assert_eq!(driver.allocate(0, 1), Err(Code::OUT_OF_MEMORY));
    assert!(driver.allocate(0, 1).is_ok());
    driver.fail_allocations(1, 2);
    driver.fail_allocations(0, 2);
    assert!(driver.allocate(0, 1).is_ok());
}

#[test]
fn a_failure_stays() {
    let mut driver = driver(Config::default());
    let stream = driver.stream_create(0, NON_BLOCKING).unwrap();
    let memory = driver.allocate(0, 1).unwrap();
    driver.fill(0, memory, 1, 1, stream).unwrap();
    crash(&mut driver, stream);
    assert_eq!(driver.check(0), Ok(()), "it has not run");
    driver.fill(0, memory, 2, 1, stream).unwrap();
    assert_eq!(driver.stream_synchronize(0, stream), Err(Code::LAUNCH_FAILED));
    assert_eq!(driver.check(0), Err(Code::LAUNCH_FAILED));
    assert_eq!(driver.fill(0, memory, 2, 1, stream), Err(Code::LAUNCH_FAILED));
    // a new context has no state of the old context
    driver.release(0).unwrap();
    driver.retain(0).unwrap();
    assert_eq!(driver.check(0), Ok(()));
    assert_eq!(driver.fill(0, memory, 2, 1, 0), Err(Code::INVALID_VALUE));
    assert_eq!(driver.stream_synchronize(0, stream), Err(Code::INVALID_HANDLE));
}

#[test]
fn devices_are_apart() {
    let mut driver = driver(Config { devices: 2, ..Config::default() });
    driver.retain(1).unwrap();
    let (mine, other) = (driver.stream(0, 0).unwrap(), driver.stream_create(1, NON_BLOCKING).unwrap());
    let memory = driver.allocate(1, 1).unwrap();
    let job = Box::new(move |of_first: &mut crate::memory::Memory| {
        of_first.read(&mut crate::memory::Hint::default(), memory, 1).map(drop)
    });
    driver.put_on(mine, "peek", Work::On(0, job), 0).unwrap();
    driver.finish_device(0);
    assert_eq!(driver.check(0), Err(Code::ILLEGAL_ADDRESS), "memory of the other device");
    assert_eq!(driver.check(1), Ok(()));
    assert_eq!(driver.fill(1, memory, 1, 1, other), Ok(()));
    let event = driver.event_create(1, 0).unwrap();
    assert_eq!(driver.event_record(1, event, other), Ok(()));
}
