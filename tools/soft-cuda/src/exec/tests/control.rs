//! Tests of branches, calls and returns.

use super::{Device, kernel, kernel_after, outcome};
use crate::ptx::Module;

#[test]
fn guards_and_loops() {
    // the kernel sums the odd numbers below the thread's index
    let text = kernel(
        "mov.u32 %r0, 0; mov.u32 %r1, 0;
        $L: setp.ge.u32 %p1, %r0, %t;
        @%p1 bra $END;
        and.b32 %r2, %r0, 1; setp.eq.u32 %p2, %r2, 1;
        @%p2 add.u32 %r1, %r1, %r0;
        add.u32 %r0, %r0, 1;
        bra.uni $L;
        $END: cvt.u64.u32 %rd0, %r1; st.global.u64 [%mine], %rd0;",
    );
    let expected: Vec<u64> = (0..70).map(|n| (0..n).filter(|i| i % 2 == 1).sum()).collect();
    assert_eq!(outcome(&text, (1, 70, 0), 70, &[0]).unwrap(), expected);
}

#[test]
fn labels_belong_to_their_scope() {
    let text = kernel(
        "mov.u64 %rd0, 0;
        { bra L; add.u64 %rd0, %rd0, 1; L: add.u64 %rd0, %rd0, 2; }
        { bra L; L: add.u64 %rd0, %rd0, 4; bra DONE; }
        add.u64 %rd0, %rd0, 8;
        DONE: st.global.u64 [%mine], %rd0;",
    );
    assert_eq!(outcome(&text, (1, 1, 0), 1, &[0]).unwrap(), [6]);
}

#[test]
fn a_table_of_labels() {
    let text = kernel(
        "T: .branchtargets A, B;
        brx.idx %t, T;
        A: mov.u64 %rd0, 10; bra END;
        B: mov.u64 %rd0, 11;
        END: st.global.u64 [%mine], %rd0;",
    );
    assert_eq!(outcome(&text, (1, 2, 0), 2, &[0]).unwrap(), [10, 11]);
    let fault = outcome(&text, (1, 3, 0), 3, &[0]).unwrap_err();
    assert!(fault.to_string().contains("outside of the table"), "{fault}");
}

/// A recursive function that computes factorials; each call has its own local memory.
const FACTORIAL: &str = ".func (.param .b64 result) factorial(.param .b64 n);
.func (.param .b64 result) factorial(.param .b64 n)
{
    .reg .b64 %rd<9>; .reg .pred %p; .local .align 8 .b8 kept[8];
    ld.param.b64 %rd1, [n];
    setp.le.u64 %p, %rd1, 1;
    mov.u64 %rd5, 1;
    @%p bra END;
    st.local.u64 [kept], %rd1;
    sub.u64 %rd2, %rd1, 1;
    { .param .b64 p0; .param .b64 r0;
      st.param.b64 [p0], %rd2;
      call.uni (r0), factorial, (p0);
      ld.param.b64 %rd3, [r0]; }
    ld.local.u64 %rd4, [kept];
    mul.lo.u64 %rd5, %rd3, %rd4;
    END: st.param.b64 [result], %rd5;
    ret;
}";

const CALL: &str = "cvt.u64.u32 %rd0, %t;
    { .param .b64 p0; .param .b64 r0; st.param.b64 [p0], %rd0; call.uni (r0), factorial, (p0); ld.param.b64 %rd0, [r0]; }
    st.global.u64 [%mine], %rd0;";

#[test]
fn functions_call_themselves() {
    let all = outcome(&kernel_after(FACTORIAL, CALL), (1, 10, 0), 10, &[0]).unwrap();
    assert_eq!(all, [1, 1, 2, 6, 24, 120, 720, 5040, 40320, 362880]);
}

#[test]
fn calls_without_end_or_body_are_faults() {
    let endless = FACTORIAL.replace("setp.le.u64 %p, %rd1, 1", "setp.lt.u64 %p, 1, 0");
    let fault = outcome(&kernel_after(&endless, CALL), (1, 1, 0), 1, &[0]).unwrap_err();
    assert!(fault.to_string().contains("too deep"), "{fault}");
    let declared = FACTORIAL.lines().next().unwrap();
    let fault = outcome(&kernel_after(declared, CALL), (1, 1, 0), 1, &[0]).unwrap_err();
    assert_eq!(fault.code(), 715, "{fault}");
}

#[test]
fn exit_ends_a_thread_within_a_call() {
    let leave = ".func leave() { exit; }";
    let text = kernel_after(leave, "call.uni leave; st.global.u64 [%mine], 1;");
    assert_eq!(outcome(&text, (1, 4, 0), 4, &[0]).unwrap(), [0; 4]);
}

#[test]
fn a_trap_says_where() {
    let mut device = Device::with(&kernel("setp.eq.u32 %p1, %g, 37;\n@%p1 trap;"));
    let fault = device.launch((2, 32, 0), &[0, 0]).unwrap_err();
    assert_eq!(fault.code(), 719);
    let text = fault.to_string();
    for part in ["trap", "kernel k", "block (1, 0, 0)", "thread (5, 0, 0)", "@%p1 trap;"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn what_has_no_end_is_stopped() {
    let mut device = Device::with(&kernel("L: bra L;"));
    let fault = device.launch((1, 1, 0), &[0, 0]).unwrap_err();
    assert!(fault.to_string().contains("does not end"), "{fault}");
}

#[test]
fn a_thread_may_wait_for_what_a_later_one_writes() {
    let text = kernel_after(
        ".shared .align 4 .b8 flag[4];",
        "setp.eq.u32 %p1, %t, 0;
        @!%p1 bra WAIT;
        mov.u32 %r1, 1; st.volatile.shared.u32 [flag], %r1;
        WAIT: ld.volatile.shared.u32 %r2, [flag]; setp.ne.u32 %p2, %r2, 1; @%p2 bra WAIT;
        cvt.u64.u32 %rd0, %r2; st.global.u64 [%mine], %rd0;",
    );
    assert_eq!(outcome(&text, (1, 2, 0), 2, &[0]).unwrap(), [1, 1]);
}

#[test]
fn what_is_not_known_is_an_error_that_names_it() {
    for (body, part) in [
        ("wgmma.fence.sync.aligned;", "wgmma"),
        ("add.f16 %rs1, %rs2, %rs3;", "add.f16"),
        ("add.rz.f64 %fd1, %fd2, %fd3;", "add.rz.f64"),
        ("mov.u32 %r1, %clock;", "%clock"),
        ("mov.u32 %r99, 1;", "%r99"),
        ("mov.u32 5, %r1;", "mov.u32 5"),
        ("bra NOWHERE;", "NOWHERE"),
        ("add.s32 %r1, %r2;", "add.s32"),
        ("add.s32 %r1, %r2, %r3, %r4;", "add.s32"),
        ("ld.global.v4.f64 %fd1, [%rd1];", "v4.f64"),
        ("call.uni nothing;", "nothing"),
        ("ld.global.u32 %r1, %rd1;", "ld.global"),
        ("cvt.sat.frobnicate.u32 %r1, %r2;", "frobnicate"),
        ("mul.ftz.f64 %fd1, %fd2, %fd3;", "mul.ftz.f64"),
        ("min.sat.f32 %f1, %f2, %f3;", "min.sat"),
        ("{", "ends"),
    ] {
        let error = Module::parse(&kernel(body)).unwrap_err();
        assert!(error.to_string().contains(part), "{body}: {error}");
        assert!(error.line >= 13, "{body}: {error}");
    }
    for text in ["nonsense", ".visible", ".entry k(", ".global .u32 x = {", ".global .align 3 .u32 x;", ".func ("] {
        assert!(Module::parse(text).is_err(), "{text}");
    }
}
