//! Tests of memory spaces and of invalid accesses.

use super::{Device, kernel, kernel_after, outcome};
use crate::fault::Fault;

fn fault(body: &str) -> Fault {
    let text = kernel_after(".shared .align 16 .b8 room[64];", body);
    outcome(&text, (1, 1, 0), 4, &[0]).unwrap_err()
}

#[test]
fn vectors_are_loaded_and_stored() {
    let text = kernel(
        "ld.global.v4.u16 {%rs0, %rs1, %rs2, %rs3}, [%out];
        st.global.v4.u16 [%out+8], {%rs3, %rs2, %rs1, %rs0};
        ld.global.v2.u64 {%rd0, %rd1}, [%out];
        st.global.v2.u64 [%out+16], {%rd1, %rd0};
        ld.global.s8 %rs5, [%n]; cvt.s64.s16 %rd2, %rs5; st.global.u64 [%out+32], %rd2;",
    );
    let mut device = Device::with(&text);
    let out = device.buffer(&[1, 2, 3, 4, 5, 6, 7, 8].repeat(5));
    let small = device.buffer(&[0x80]);
    device.launch((1, 1, 0), &[out, small]).unwrap();
    let found = device.bytes(out, 40);
    assert_eq!(found[8..16], [7, 8, 5, 6, 3, 4, 1, 2]);
    assert_eq!(found[16..24], [7, 8, 5, 6, 3, 4, 1, 2]);
    assert_eq!(found[24..32], [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(found[32..40], (-128_i64).to_le_bytes());
}

#[test]
fn accesses_beyond_an_end_are_faults_of_their_place() {
    for (body, part) in [
        ("st.global.u64 [%out+32], %rd0;", "32 bytes into an allocation of 32 bytes"),
        ("ld.global.u64 %rd0, [%out+-8];", "illegal read of 8 bytes"),
        ("ld.global.u32 %r0, [%n];", "no address of the device"),
        ("ld.shared.u32 %r0, [room+64];", "the block's shared memory has 64 bytes"),
        ("mov.u64 %rd1, room; ld.shared.u32 %r0, [%rd1+-4];", "shared memory"),
        ("cvta.shared.u64 %rd1, 128; ld.u32 %r0, [%rd1];", "shared memory"),
        ("mov.u64 %rd1, room; ld.global.u32 %r0, [%rd1];", "no address of the device"),
        (".local .align 8 .b8 own[8]; ld.local.u64 %rd0, [own+8];", "the thread's local memory has 8 bytes"),
        ("atom.global.add.u32 %r0, [%out+32], 1;", "atomic operation"),
        ("ld.param.u64 %rd0, [k_param_1+8];", "parameters"),
        ("mov.b64 %rd1, k_param_1; cvta.param.u64 %rd2, %rd1; ld.u64 %rd0, [%rd2+8];", "the kernel's parameters has"),
        ("mov.b64 %rd1, k_param_1; cvta.param.u64 %rd2, %rd1; st.u64 [%rd2], %rd0;", "parameters to write to"),
    ] {
        let fault = fault(body);
        assert_eq!(fault.code(), 700, "{body}: {fault}");
        assert!(fault.to_string().contains(part), "{body}: {fault}");
        assert!(fault.to_string().contains("kernel k"), "{fault}");
    }
}

#[test]
fn an_access_must_be_aligned_to_all_of_its_bytes() {
    for body in [
        "ld.global.u16 %rs0, [%out+1];",
        "st.global.v2.f32 [%out+4], {%f0, %f1};",
        "ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%out+8];",
        "ld.shared.u64 %rd0, [room+4];",
        "atom.global.add.u64 %rd0, [%out+4], 1;",
    ] {
        assert_eq!(fault(body).code(), 716, "{body}");
    }
}

#[test]
fn generic_addresses_reach_every_kind() {
    let text = kernel_after(
        ".shared .align 8 .b8 room[16]; .global .align 8 .u64 counter = 5; .const .align 4 .b32 table[2] = {6, 0x7};",
        ".local .align 8 .b8 own[16]; .reg .b64 %SP, %SPL;
        mov.u64 %SPL, own; cvta.local.u64 %SP, %SPL;
        st.u64 [%SP+8], 1; ld.local.u64 %rd1, [%SPL+8];
        mov.u64 %rd2, room; cvta.shared.u64 %rd3, %rd2; st.u64 [%rd3+8], 2; ld.shared.u64 %rd4, [room+8];
        cvta.to.shared.u64 %rd5, %rd3; ld.shared.u64 %rd6, [%rd5+8];
        mov.u64 %rd7, counter; atom.add.u64 %rd8, [%rd7], 3; ld.global.u64 %rd9, [counter];
        ld.const.u32 %r1, [table+4]; cvt.u64.u32 %rd10, %r1;
        mov.b64 %rd11, k_param_1; cvta.param.u64 %rd12, %rd11; ld.u64 %rd13, [%rd12];
        ld.param.u64 %rd14, [k_param_1]; sub.u64 %rd15, %rd13, %rd14;
        st.global.u64 [%out], %rd1; st.global.u64 [%out+8], %rd4; st.global.u64 [%out+16], %rd6;
        st.global.u64 [%out+24], %rd8; st.global.u64 [%out+32], %rd9; st.global.u64 [%out+40], %rd10;
        st.global.u64 [%out+48], %rd15;",
    );
    assert_eq!(outcome(&text, (1, 1, 0), 7, &[0]).unwrap(), [1, 2, 2, 5, 8, 7, 0]);
}

#[test]
fn variables_may_hold_addresses_and_are_freed() {
    let text = kernel_after(
        ".global .align 4 .u32 numbers[3] = {1, 2, -1}; .global .align 8 .u64 last = generic(numbers)+8;
        .global .align 1 .b8 nothing[5];",
        "ld.global.u64 %rd1, [last]; ld.s32 %r1, [%rd1]; cvt.s64.s32 %rd0, %r1; st.global.u64 [%mine], %rd0;",
    );
    assert_eq!(outcome(&text, (1, 1, 0), 1, &[0]).unwrap(), [u64::MAX]);
    let mut device = Device::with(&text);
    assert!(device.memory.used() > 0);
    device.module.unload(&mut device.memory);
    assert_eq!(device.memory.used(), 0);
}

#[test]
fn shared_and_local_memory_begin_poisoned_in_each_block() {
    let text = kernel_after(
        ".shared .align 8 .b8 room[8];",
        ".local .align 8 .b8 own[8];
        ld.shared.u64 %rd1, [room]; ld.local.u64 %rd2, [own]; and.b64 %rd0, %rd1, %rd2;
        st.shared.u64 [room], 1; st.local.u64 [own], 2; st.global.u64 [%mine], %rd0;",
    );
    assert_eq!(outcome(&text, (4, 1, 0), 4, &[0]).unwrap(), [u64::MAX; 4]);
}

#[test]
fn the_local_memory_of_another_thread_is_out_of_reach() {
    let text = kernel_after(
        ".shared .align 8 .b8 room[8];",
        ".local .align 8 .b8 own[8];
        mov.u64 %rd1, own; cvta.local.u64 %rd2, %rd1; setp.eq.u32 %p1, %t, 0;
        @%p1 st.shared.u64 [room], %rd2; bar.sync 0;
        ld.shared.u64 %rd3, [room]; st.u64 [%rd3], 1;",
    );
    let fault = outcome(&text, (1, 2, 0), 2, &[0]).unwrap_err();
    assert_eq!(fault.code(), 700, "{fault}");
}

#[test]
fn atomic_operations_give_what_was_there() {
    let text = kernel(
        "atom.global.add.u64 %rd1, [%out], 1; atom.global.max.u64 %rd2, [%out+8], %rd1;
        red.global.add.u64 [%out+16], 2; atom.global.cas.b64 %rd3, [%out+24], 0, 9; atom.global.exch.b64 %rd3, [%out+32], 4;
        atom.global.add.f64 %fd1, [%out+40], 0d3ff0000000000000;",
    );
    let all = outcome(&text, (3, 50, 0), 6, &[0]).unwrap();
    assert_eq!(all, [150, 149, 300, 9, 4, 150_f64.to_bits()]);
}

#[test]
fn dynamic_shared_memory_begins_behind_the_static() {
    let text = kernel_after(
        ".extern .shared .align 16 .b8 more[];",
        ".shared .align 4 .b8 fixed[20];
        mov.u64 %rd1, more; mad.wide.u32 %rd2, %t, 8, %rd1; cvt.u64.u32 %rd3, %t; st.shared.u64 [%rd2], %rd3;
        bar.sync 0;
        xor.b32 %r1, %t, 1; mad.wide.u32 %rd2, %r1, 8, %rd1; ld.shared.u64 %rd4, [%rd2];
        add.u64 %rd4, %rd4, %rd1; st.global.u64 [%mine], %rd4;",
    );
    let expected: Vec<u64> = (0..40).map(|t| 32 + (t ^ 1)).collect();
    assert_eq!(outcome(&text, (1, 40, 320), 40, &[0]).unwrap(), expected);
    let fault = outcome(&text, (1, 40, 312), 40, &[0]).unwrap_err();
    assert!(fault.to_string().contains("has 344 bytes"), "{fault}");
    let device = Device::with(&text);
    assert_eq!(device.module.kernel_info(0).shared_bytes, 20);
}

#[test]
fn parameters_are_laid_out_as_their_alignment_says() {
    let text = ".version 9.0\n.target sm_90\n.address_size 64
        .entry k(.param .u8 a, .param .u64 .ptr .global .align 1 out, .param .align 16 .b8 pair[24], .param .f32 x)
        .maxntid 128, 2, 1
        { .reg .b64 %rd<9>; .reg .b32 %r<3>; .reg .b16 %rs; .reg .u64 %i;
          ld.param.u64 %rd1, [out]; ld.param.u8 %rs, [a]; st.global.u8 [%rd1], %rs;
          ld.param.v2.u64 {%rd2, %rd3}, [pair]; st.global.u64 [%rd1+8], %rd3;
          mov.b64 %i, pair; add.u64 %i, %i, 16; ld.param.u64 %rd4, [%i]; st.global.u64 [%rd1+16], %rd4;
          ld.param.b32 %r1, [x]; st.global.u32 [%rd1+24], %r1; }";
    let mut device = Device::with(text);
    let info = device.module.kernel_info(0);
    let layout: Vec<_> = info.params.iter().map(|param| (param.offset, param.size, param.align)).collect();
    assert_eq!(layout, [(0, 1, 1), (8, 8, 8), (16, 24, 16), (40, 4, 4)]);
    assert_eq!((info.param_bytes, info.max_threads), (44, Some(256)));
    let out = device.buffer(&[0; 32]);
    device.launch((1, 1, 0), &[0xab, out, 1, 2, 3, 4]).unwrap();
    let found = device.bytes(out, 32);
    assert_eq!((found[0], found[8], found[16], found[24]), (0xab, 2, 3, 4));
}
