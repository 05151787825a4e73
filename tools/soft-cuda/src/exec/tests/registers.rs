//! Tests of instructions that are decoded into several steps, and of instructions that use special registers.

use super::{kernel, outcome};

/// Runs a kernel with one thread, and returns the value of `%rd0` at its end.
fn one(body: &str) -> u64 {
    let text = kernel(&format!("{body}\n st.global.u64 [%mine], %rd0;"));
    outcome(&text, (1, 1, 0), 1, &[7]).unwrap_or_else(|fault| panic!("{fault}"))[0]
}

#[test]
fn carries_go_from_sum_to_sum() {
    let add = "mov.u32 %r0, -1; mov.u32 %r1, -1; mov.u32 %r2, 1; mov.u32 %r3, 0;
        add.cc.u32 %r0, %r0, %r2; addc.cc.u32 %r1, %r1, %r3; addc.u32 %r4, 0, 5;
        mov.b64 %rd0, {%r1, %r4};";
    assert_eq!(one(add), 6 << 32);
    let sub = "mov.u32 %r0, 0; mov.u32 %r1, 7; sub.cc.u32 %r0, %r0, 1; subc.u32 %r1, %r1, 0; mov.b64 %rd0, {%r0, %r1};";
    assert_eq!(one(sub), (7 << 32) - 1);
    // the code computes (2^32 - 1) * 3 + (2^32 - 1) in two halves
    let mad = "mov.u32 %r0, -1; mov.u32 %r1, 3; mad.lo.cc.u32 %r2, %r0, %r1, %r0; madc.hi.u32 %r3, %r0, %r1, 0;
        mov.b64 %rd0, {%r2, %r3};";
    assert_eq!(one(mad), 0xffff_ffff * 4);
}

#[test]
fn registers_have_parts() {
    assert_eq!(
        one("mov.b32 %r1, 0x12345678; mov.b32 {%rs0, %rs1}, %r1; mov.b32 %r2, {%rs1, %rs0}; cvt.u64.u32 %rd0, %r2;"),
        0x5678_1234
    );
    assert_eq!(one("mov.b64 %rd1, 0x123456789abcdef0; mov.b64 {_, %r1}, %rd1; cvt.u64.u32 %rd0, %r1;"), 0x1234_5678);
    assert_eq!(one("mov.b16 %rs0, 1; mov.b16 %rs1, 2; mov.b64 %rd0, {%rs0, %rs1, %rs0, %rs1};"), 0x2_0001_0002_0001);
}

#[test]
fn comparisons_combine() {
    let text = "setp.lt.s32 %p1|%p2, -1, 0; setp.eq.and.u32 %p3, 1, 1, !%p1; setp.ne.or.u32 %p4, 1, 1, %p1;
        selp.u64 %rd1, 1, 0, %p1; selp.u64 %rd2, 2, 0, %p2; selp.u64 %rd3, 4, 0, %p3; selp.u64 %rd4, 8, 0, %p4;
        or.b64 %rd1, %rd1, %rd2; or.b64 %rd3, %rd3, %rd4; or.b64 %rd0, %rd1, %rd3;";
    assert_eq!(one(text), 9);
    assert_eq!(one("set.gt.u32.f32 %r0, 0f40000000, 0f3f800000; cvt.u64.u32 %rd0, %r0;"), 0xffff_ffff);
    let nan = "mov.b32 %f0, 0f7fc00000; setp.leu.f32 %p1, %f0, %f0; selp.u64 %rd0, 1, 0, %p1;";
    assert_eq!(one(nan), 1);
}

#[test]
fn flushing_and_saturation_are_steps_of_their_own() {
    // the code multiplies a subnormal number by 2^20
    let mul = |ftz: &str| format!("mul{ftz}.f32 %f0, 0f00000100, 0f49800000; mov.b32 %r0, %f0; cvt.u64.u32 %rd0, %r0;");
    assert_ne!(one(&mul("")), 0);
    assert_eq!(one(&mul(".ftz")), 0);
    let sat = |x: &str| format!("cvt.sat.f32.f32 %f0, {x}; mov.b32 %r0, %f0; cvt.u64.u32 %rd0, %r0;");
    assert_eq!(one(&sat("0f40000000")), 0x3f80_0000);
    assert_eq!(one(&sat("0f7fffffff")), 0);
    assert_eq!(one("add.sat.f32 %f0, 0f3f800000, 0f3f800000; mov.b32 %r0, %f0; cvt.u64.u32 %rd0, %r0;"), 0x3f80_0000);
}

#[test]
fn special_registers_say_where_a_thread_is() {
    let text = kernel(
        "mov.u32 %r0, %laneid; mov.u32 %r1, %lanemask_lt; mov.u32 %r2, %nctaid.x; mov.u32 %r3, %warpid;
        shl.b32 %r3, %r3, 8; or.b32 %r3, %r3, %r0; shl.b32 %r2, %r2, 16; or.b32 %r3, %r3, %r2;
        mov.b64 %rd0, {%r1, %r3}; st.global.u64 [%mine], %rd0;",
    );
    let all = outcome(&text, (3, 40, 0), 120, &[0]).unwrap();
    for (i, &found) in all.iter().enumerate() {
        let thread = i as u64 % 40;
        let (lane, warp) = (thread % 32, thread / 32);
        assert_eq!(found, (3 << 16 | warp << 8 | lane) << 32 | ((1 << lane) - 1), "{i}");
    }
}

#[test]
fn an_inner_scope_has_registers_of_its_own() {
    let text = "mov.u64 %rd0, 5;
        { .reg .u64 %rd0, a; mov.u64 %rd0, 9; mov.u64 a, %rd0; { .reg .u64 a; mov.u64 a, 1; } mov.u64 %rd1, a; }
        add.u64 %rd0, %rd0, %rd1;";
    assert_eq!(one(text), 14);
}
