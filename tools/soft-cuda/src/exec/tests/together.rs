//! Tests of threads that wait for each other, and of mistakes in such code.

use super::{kernel, kernel_after, outcome};

/// A kernel that sums the indices of all threads in shared memory. Each round adds pairs of partial sums; the
/// instruction `barrier` is between the rounds.
fn sum(barrier: &str) -> String {
    kernel_after(
        ".shared .align 8 .b8 room[2048];",
        &format!(
            "mov.u64 %rd1, room; mad.wide.u32 %rd2, %t, 8, %rd1; cvt.u64.u32 %rd3, %t; st.shared.u64 [%rd2], %rd3;
        mov.u32 %r1, %ntid.x;
        LOOP: shr.u32 %r1, %r1, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra END;
        {barrier}
        setp.ge.u32 %p2, %t, %r1; @%p2 bra LOOP;
        add.u32 %r2, %t, %r1; mad.wide.u32 %rd4, %r2, 8, %rd1; ld.shared.u64 %rd5, [%rd4];
        ld.shared.u64 %rd6, [%rd2]; add.u64 %rd6, %rd6, %rd5; st.shared.u64 [%rd2], %rd6;
        bra LOOP;
        END: setp.ne.u32 %p3, %t, 0; @%p3 ret; ld.shared.u64 %rd0, [room]; st.global.u64 [%mine], %rd0;"
        ),
    )
}

#[test]
fn a_block_sums_with_barriers() {
    assert_eq!(outcome(&sum("bar.sync 0;"), (1, 256, 0), 1, &[0]).unwrap(), [255 * 128]);
    assert_eq!(outcome(&sum("barrier.sync.aligned 0;"), (1, 64, 0), 1, &[0]).unwrap(), [63 * 32]);
}

#[test]
fn a_missing_barrier_is_a_race() {
    let fault = outcome(&sum(""), (1, 256, 0), 1, &[0]).unwrap_err().to_string();
    assert!(fault.contains("race in shared memory"), "{fault}");
    // within one warp, `__syncwarp` is sufficient and necessary
    assert_eq!(outcome(&sum("bar.warp.sync -1;"), (1, 32, 0), 1, &[0]).unwrap(), [31 * 16]);
    let fault = outcome(&sum("bar.warp.sync -1;"), (1, 64, 0), 1, &[0]).unwrap_err().to_string();
    assert!(fault.contains("race") && fault.contains("__syncthreads"), "{fault}");
    let fault = outcome(&sum(""), (1, 32, 0), 1, &[0]).unwrap_err().to_string();
    assert!(fault.contains("__syncwarp"), "{fault}");
}

#[test]
fn a_read_before_others_are_done_with_it_is_a_race() {
    // the barrier between the reads of one round and the writes of the next is missing
    let text = kernel_after(
        ".shared .align 8 .b8 room[8];",
        "mov.u32 %r1, 0;
        LOOP: setp.eq.u32 %p1, %t, 0; @%p1 st.shared.u32 [room], %r1; bar.sync 0;
        ld.shared.u32 %r2, [room]; add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 3; @%p2 bra LOOP;",
    );
    let fault = outcome(&text, (1, 64, 0), 1, &[0]).unwrap_err().to_string();
    assert!(fault.contains("race in shared memory") && fault.contains("byte 0"), "{fault}");
}

#[test]
fn threads_that_have_ended_are_not_waited_for() {
    let text = kernel(
        "setp.ge.u32 %p1, %t, 40; @%p1 ret; bar.sync 0; bar.warp.sync -1;
        mov.u32 %r1, 1; redux.sync.add.s32 %r2, %r1, -1; cvt.u64.u32 %rd0, %r2; st.global.u64 [%mine], %rd0;",
    );
    let all = outcome(&text, (2, 64, 0), 128, &[0]).unwrap();
    for (i, &found) in all.iter().enumerate() {
        let expected = match i % 64 {
            0..32 => 32,
            32..40 => 8,
            _ => 0,
        };
        assert_eq!(found, expected, "{i}");
    }
}

#[test]
fn a_warp_sums_with_shuffles() {
    let text = kernel(
        "mov.u32 %r0, %t; mov.u32 %r1, 16;
        LOOP: shfl.sync.down.b32 %r2|%p1, %r0, %r1, 31, -1; add.u32 %r0, %r0, %r2; shr.u32 %r1, %r1, 1;
        setp.ne.u32 %p2, %r1, 0; @%p2 bra LOOP;
        shfl.sync.idx.b32 %r3, %r0, 0, 31, -1; cvt.u64.u32 %rd0, %r3; st.global.u64 [%mine], %rd0;",
    );
    let all = outcome(&text, (1, 64, 0), 64, &[0]).unwrap();
    assert!(all[..32].iter().all(|&sum| sum == 31 * 16) && all[32..].iter().all(|&sum| sum == 31 * 16 + 32 * 32));
}

#[test]
fn masks_meet_on_their_own() {
    let text = kernel(
        "and.b32 %r1, %t, 1; setp.eq.u32 %p1, %r1, 1; @%p1 bra ODD;
        vote.sync.ballot.b32 %r2, !%p1, 0x55555555; bra END;
        ODD: match.any.sync.b32 %r2, %r1, 0xaaaaaaaa;
        END: cvt.u64.u32 %rd0, %r2; st.global.u64 [%mine], %rd0;",
    );
    let all = outcome(&text, (1, 32, 0), 32, &[0]).unwrap();
    assert_eq!((all[0], all[1]), (0x5555_5555, 0xaaaa_aaaa));
}

#[test]
fn barriers_vote() {
    let text = kernel(
        "setp.lt.u32 %p1, %t, 10; barrier.cta.red.popc.aligned.u32 %r1, 0, %p1;
        bar.red.or.pred %p2, 0, %p1; bar.red.and.pred %p3, 0, !%p1;
        selp.u32 %r2, 100, 0, %p2; selp.u32 %r3, 1000, 0, %p3; add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3;
        cvt.u64.u32 %rd0, %r1; st.global.u64 [%mine], %rd0;",
    );
    assert_eq!(outcome(&text, (1, 40, 0), 40, &[0]).unwrap(), [110; 40]);
}

#[test]
fn some_threads_meet_at_a_barrier_of_their_own() {
    let text = kernel_after(
        ".shared .align 8 .b8 room[8];",
        "setp.ge.u32 %p1, %t, 64; @%p1 bra END;
        setp.eq.u32 %p2, %t, 0; mov.u32 %r1, 7; @%p2 st.shared.u32 [room], %r1;
        bar.sync 1, 64; ld.shared.u32 %r2, [room]; cvt.u64.u32 %rd0, %r2; st.global.u64 [%mine], %rd0;
        END: bar.sync 0;",
    );
    let all = outcome(&text, (1, 96, 0), 96, &[0]).unwrap();
    assert!(all[..64].iter().all(|&x| x == 7) && all[64..].iter().all(|&x| x == 0));
}

/// Launches 64 threads with this kernel body, and returns the text of the fault.
fn fault(body: &str) -> String {
    let fault = outcome(&kernel(body), (1, 64, 0), 64, &[0]).unwrap_err();
    assert_eq!(fault.code(), 719, "{fault}");
    fault.to_string()
}

#[test]
fn what_nobody_can_end_is_divergent() {
    // 16 lanes wait at a shuffle for the other lanes of their warp, which wait at a barrier for the whole block
    let shuffle = fault(
        "setp.lt.u32 %p1, %t, 16; @%p1 bra HALF; bar.sync 0; ret;
        HALF: shfl.sync.idx.b32 %r1, %r2, 0, 31, -1; bar.sync 0;",
    );
    for part in ["divergent shuffle", "threads 0-15 wait at", "threads 16-63 wait at `", "kernel k, block (0, 0, 0)"] {
        assert!(shuffle.contains(part), "{shuffle}");
    }
    let two = fault("setp.lt.u32 %p1, %t, 32; @%p1 bra B; bar.sync 0; ret;\nB: bar.sync 1;");
    assert!(two.contains("divergent barrier"), "{two}");
    let warp = fault("setp.lt.u32 %p1, %t, 16;\n@%p1 bra B;\nbar.sync 0;\nret;\nB: bar.sync 0;");
    assert!(warp.contains("lanes of one warp"), "{warp}");
    let mask = fault("vote.sync.any.pred %p1, %p2, 1;");
    assert!(mask.contains("lane 1 is not in the mask 0x1"), "{mask}");
    assert!(fault("bar.sync 16;").contains("no barrier 16"));
}
