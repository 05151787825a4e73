//! Tests that launch kernels written in PTX: limits, order and errors.

use soft_cuda::{
    driver::{Driver, config::Config, error::Code},
    exec::Launch,
};

/// A module with four kernels: `fill(p, n, x)` writes x to n words, one word per thread; `few` allows at most 64
/// threads; `stray` writes out of bounds; `large` declares 1 KiB of shared memory.
const TEXT: &str = "
.version 9.0
.target sm_90
.address_size 64

.visible .entry fill(
    .param .u64 fill_param_0,
    .param .u32 fill_param_1,
    .param .u32 fill_param_2
)
{
    .reg .pred %p<2>;
    .reg .b32 %r<7>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [fill_param_0];
    ld.param.u32 %r1, [fill_param_1];
    ld.param.u32 %r2, [fill_param_2];
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %tid.x;
    mad.lo.s32 %r6, %r3, %r4, %r5;
    setp.ge.u32 %p1, %r6, %r1;
    @%p1 bra $L__BB0_2;
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r6, 4;
    add.s64 %rd4, %rd2, %rd3;
    st.global.u32 [%rd4], %r2;
$L__BB0_2:
    ret;
}

.visible .entry few()
.maxntid 64, 1, 1
{
    ret;
}

.visible .entry stray(
    .param .u64 stray_param_0
)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [stray_param_0];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, 1;
    st.global.u32 [%rd2], %r1;
    ret;
}

.visible .entry large()
{
    .shared .align 4 .b8 own[1024];
    ret;
}
";

struct Fixture {
    driver: Driver,
    module: u64,
}

impl Fixture {
    fn new(config: Config) -> Fixture {
        let mut driver = Driver::new(config);
        driver.initialise().unwrap();
        driver.retain(0).unwrap();
        let module = driver.module_load(0, TEXT).unwrap();
        Fixture { driver, module }
    }

    fn launch(&mut self, name: &str, launch: Launch, stream: u64) -> Result<(), Code> {
        let function = self.driver.module_function(self.module, name)?;
        self.driver.launch(0, function, launch, stream)
    }

    fn fill(&mut self, address: u64, n: u32, x: u32, stream: u64) -> Result<(), Code> {
        let params = [&address.to_le_bytes()[..], &n.to_le_bytes(), &x.to_le_bytes()].concat();
        self.launch("fill", Launch { params, ..of([2, 1, 1], [2, 1, 1], 0) }, stream)
    }

    fn read(&mut self, address: u64, count: usize, stream: u64) -> Result<Vec<u32>, Code> {
        let mut content = Vec::new();
        self.driver.copy_out(0, address, 4 * count, stream, |bytes| {
            content = bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
        })?;
        Ok(content)
    }
}

fn of(grid: [u32; 3], block: [u32; 3], shared: u32) -> Launch {
    Launch { grid, block, shared, params: Vec::new() }
}

fn one() -> Launch {
    of([1; 3], [1; 3], 0)
}

#[test]
fn a_kernel_runs_when_its_stream_is_waited_for() {
    let mut on = Fixture::new(Config::default());
    let [first, other] = [0, 1].map(|_| on.driver.stream_create(0, 1).unwrap());
    let memory = on.driver.allocate(0, 16).unwrap();
    on.fill(memory, 3, 7, first).unwrap();
    assert_eq!(on.read(memory, 4, other), Ok(vec![u32::MAX; 4]), "the other stream was not waited for");
    let event = on.driver.event_create(0, 0).unwrap();
    on.driver.event_record(0, event, first).unwrap();
    on.fill(memory, 4, 8, first).unwrap();
    on.driver.stream_wait_event(0, other, event).unwrap();
    assert_eq!(on.read(memory, 4, other), Ok(vec![7, 7, 7, u32::MAX]), "as it is at the event");
    assert_eq!(on.read(memory, 4, first), Ok(vec![8; 4]));
    assert_eq!(on.driver.counts().launches, 2);
}

#[test]
fn a_kernel_beyond_its_memory_fails_all_that_follows() {
    let mut on = Fixture::new(Config::default());
    let memory = on.driver.allocate(0, 12).unwrap();
    on.fill(memory, 4, 7, 0).unwrap();
    on.driver.stream_synchronize(0, 0).unwrap_err();
    assert_eq!(on.driver.stream_synchronize(0, 0), Err(Code::ILLEGAL_ADDRESS));
    assert_eq!(on.fill(memory, 3, 7, 0), Err(Code::ILLEGAL_ADDRESS));
}

#[test]
fn misaligned_freed_and_foreign_addresses_fail() {
    for (offset, free, code) in [
        (2, false, Code::MISALIGNED_ADDRESS),
        (0, true, Code::ILLEGAL_ADDRESS),
        (1 << 40, false, Code::ILLEGAL_ADDRESS),
    ] {
        let mut on = Fixture::new(Config::default());
        let memory = on.driver.allocate(0, 12).unwrap();
        if free {
            on.driver.free(memory).unwrap();
        }
        let params = (memory + offset).to_le_bytes().to_vec();
        on.launch("stray", Launch { params, ..one() }, 0).unwrap();
        assert_eq!(on.driver.stream_synchronize(0, 0), Err(code));
    }
    let mut on = Fixture::new(Config { devices: 2, ..Config::default() });
    on.driver.retain(1).unwrap();
    let memory = on.driver.allocate(1, 12).unwrap();
    on.launch("stray", Launch { params: memory.to_le_bytes().to_vec(), ..one() }, 0).unwrap();
    assert_eq!(on.driver.stream_synchronize(0, 0), Err(Code::ILLEGAL_ADDRESS), "the other device's");
}

#[test]
fn a_queued_free_is_before_what_follows_it() {
    let mut on = Fixture::new(Config::default());
    let memory = on.driver.allocate(0, 16).unwrap();
    on.fill(memory, 4, 1, 0).unwrap();
    on.driver.free_on(0, memory, 0).unwrap();
    on.driver.stream_synchronize(0, 0).unwrap();
    let memory = on.driver.allocate(0, 16).unwrap();
    on.driver.free_on(0, memory, 0).unwrap();
    on.fill(memory, 4, 1, 0).unwrap();
    assert_eq!(on.driver.stream_synchronize(0, 0), Err(Code::ILLEGAL_ADDRESS));
}

#[test]
fn limits_of_a_launch() {
    let mut on = Fixture::new(Config::default());
    for launch in [
        of([0, 1, 1], [1; 3], 0),
        of([1; 3], [1, 0, 1], 0),
        of([1, 65_536, 1], [1; 3], 0),
        of([1, 1, 65_536], [1; 3], 0),
        of([1 << 31, 1, 1], [1; 3], 0),
        of([1; 3], [1025, 1, 1], 0),
        of([1; 3], [1, 1, 65], 0),
        of([1; 3], [32, 33, 1], 0),
        of([1; 3], [1; 3], (47 << 10) + 1),
    ] {
        assert_eq!(on.launch("large", launch.clone(), 0), Err(Code::INVALID_VALUE), "{launch:?}");
    }
    assert_eq!(on.launch("large", of([1; 3], [1; 3], 47 << 10), 0), Ok(()));
    assert_eq!(on.launch("few", of([1; 3], [64, 1, 1], 0), 0), Ok(()));
    assert_eq!(on.launch("few", of([1; 3], [65, 1, 1], 0), 0), Err(Code::LAUNCH_OUT_OF_RESOURCES));
    assert_eq!(on.launch("none", one(), 0), Err(Code::NOT_FOUND));
    assert_eq!(on.launch("fill", one(), 0), Err(Code::INVALID_VALUE), "no parameters");
    let large = on.driver.module_function(on.module, "large").unwrap();
    assert_eq!(on.driver.function_allow_shared(large, (226 << 10) + 1), Err(Code::INVALID_VALUE));
    assert_eq!(on.driver.function_allow_shared(large, 226 << 10), Ok(()));
    assert_eq!(on.driver.launch(0, large, of([1; 3], [1; 3], 226 << 10), 0), Ok(()));
    on.driver.stream_synchronize(0, 0).unwrap();
}

#[test]
fn a_module_that_is_unloaded_is_gone_after_its_work() {
    let mut on = Fixture::new(Config::default());
    let memory = on.driver.allocate(0, 16).unwrap();
    on.fill(memory, 4, 5, 0).unwrap();
    let few = on.driver.module_function(on.module, "few").unwrap();
    on.driver.module_unload(on.module).unwrap();
    assert_eq!(on.read(memory, 4, 0), Ok(vec![5; 4]));
    assert_eq!(on.driver.launch(0, few, one(), 0), Err(Code::INVALID_HANDLE));
    assert_eq!(on.driver.module_unload(on.module), Err(Code::INVALID_HANDLE));
}
