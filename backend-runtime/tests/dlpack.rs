//! Exchange of arrays with other libraries by DLPack, on every backend. The tests check that memory is shared, that it
//! is freed once, and that bad tensors are refused.

use backend_runtime::{
    Arrays, Complex, DType, DynArray, Element, Error, HostArray, IntoHost, Result, available, bf16,
    cuda::Cuda,
    dispatch,
    dlpack::{
        CopyMode, DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor, IS_COPIED,
        ManagedTensor, READ_ONLY, release_unused,
    },
    f16,
    numpyish::Numpyish,
    torch::Torch,
};
use ndarray::s;
use std::{
    ffi::c_void,
    ptr,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Locks the tests that count freed tensors, so that they run one at a time: each of them also frees the tensors that
/// other tests have dropped.
fn alone() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Imitates another library: it owns memory, and counts the calls of its deleter.
struct Peer {
    /// Memory with additional room before and after the elements, for any alignment and for negative strides.
    memory: Vec<u64>,
    shape: Vec<i64>,
    strides: Vec<i64>,
    deleted: &'static AtomicUsize,
}

impl Peer {
    /// Makes memory with the elements of an array in C order, beginning at byte 64.
    fn new<T: Element>(x: &HostArray<T>) -> Peer {
        let mut memory = vec![0_u64; 16 + (x.len() * size_of::<T>()).div_ceil(8)];
        let to = memory[8..].as_mut_ptr().cast::<T>();
        // SAFETY: `memory` has room for all elements, beginning at `to`.
        x.iter().enumerate().for_each(|(i, v)| unsafe { to.add(i).write_unaligned(*v) });
        let shape: Vec<i64> = x.shape().iter().map(|&len| len as i64).collect();
        let strides = x.as_standard_layout().strides().iter().map(|&stride| stride as i64).collect();
        Peer { memory, shape, strides, deleted: Box::leak(Box::default()) }
    }

    fn first(&mut self) -> *mut c_void {
        self.memory[8..].as_mut_ptr().cast()
    }

    fn tensor<T: Element>(&mut self, device: DLDevice) -> DLTensor {
        DLTensor {
            data: self.first(),
            device,
            ndim: self.shape.len() as i32,
            dtype: DLDataType::from(T::DTYPE),
            shape: self.shape.as_mut_ptr(),
            strides: self.strides.as_mut_ptr(),
            byte_offset: 0,
        }
    }

    /// Applies `change` to the tensor, and exports it. Also returns the counter of calls of the deleter.
    fn give<T: Element>(
        mut self,
        change: impl FnOnce(&mut DLManagedTensorVersioned),
    ) -> (*mut DLManagedTensorVersioned, &'static AtomicUsize) {
        unsafe extern "C" fn delete(tensor: *mut DLManagedTensorVersioned) {
            // SAFETY: `give` made both boxes. They are never freed, so that a second call of the deleter can be
            // counted.
            let peer = unsafe { &*(*tensor).manager_ctx.cast::<Peer>() };
            peer.deleted.fetch_add(1, Ordering::SeqCst);
        }
        let (dl_tensor, deleted) = (self.tensor::<T>(DLDevice::CPU), self.deleted);
        let mut made = Box::new(DLManagedTensorVersioned {
            version: DLPackVersion { major: 1, minor: 1 },
            manager_ctx: Box::into_raw(Box::new(self)).cast(),
            deleter: Some(delete),
            flags: 0,
            dl_tensor,
        });
        change(&mut made);
        (Box::into_raw(made), deleted)
    }

    /// Like `give`, but exports a tensor of DLPack before 1.0, which has no version.
    fn give_legacy<T: Element>(mut self) -> (*mut DLManagedTensor, &'static AtomicUsize) {
        unsafe extern "C" fn delete(tensor: *mut DLManagedTensor) {
            // SAFETY: `give_legacy` made both boxes, and they are never freed.
            let peer = unsafe { &*(*tensor).manager_ctx.cast::<Peer>() };
            peer.deleted.fetch_add(1, Ordering::SeqCst);
        }
        let (dl_tensor, deleted) = (self.tensor::<T>(DLDevice::CPU), self.deleted);
        let manager_ctx = Box::into_raw(Box::new(self)).cast();
        (Box::into_raw(Box::new(DLManagedTensor { dl_tensor, manager_ctx, deleter: Some(delete) })), deleted)
    }
}

/// Takes a tensor as a consumer does.
fn take(tensor: *mut DLManagedTensorVersioned) -> Result<ManagedTensor> {
    // SAFETY: the tests take each tensor once, and its memory is never freed.
    unsafe { ManagedTensor::from_raw(tensor) }
}

fn count(deleted: &AtomicUsize) -> usize {
    release_unused();
    deleted.load(Ordering::SeqCst)
}

/// Returns an array with many different numbers, or with both values for bool.
fn numbers<T: Element>(shape: &[usize]) -> HostArray<T> {
    let n: usize = shape.iter().product();
    let of = |i: usize| match T::DTYPE {
        DType::Bool => T::from_i64(((i * 7 / 3) % 2) as i64),
        DType::Complex64 | DType::Complex128 => T::from_complex(Complex::new((i % 251) as f64, -(i as f64 % 127.0))),
        _ => T::from_i64((i % 113) as i64),
    };
    HostArray::from_shape_vec(shape.to_vec(), (0..n).map(of).collect()).unwrap()
}

macro_rules! on_every_backend {
    ($check:expr) => {
        $check(&Numpyish::new());
        if let Some(torch) = available("torch", Torch::cpu()) {
            $check(&torch);
        }
        if let Some(cuda) = available("cuda", Cuda::new(0)) {
            $check(&cuda);
        }
    };
}

/// Layouts over the memory of an array of shape [8, 100] in C order. Each has a shape, strides, and the position of the
/// first element.
const LAYOUTS: [(&[i64], &[i64], i64); 10] = [
    (&[8, 100], &[100, 1], 0),
    (&[100, 8], &[1, 100], 0),
    (&[4, 50], &[200, 2], 1),
    (&[8, 100], &[-100, -1], 799),
    (&[100, 4], &[-1, 200], 199),
    (&[2, 2, 2, 100], &[400, 200, 100, 1], 0),
    (&[3, 1, 5], &[100, i64::MIN, 1], 7),
    (&[6, 7], &[0, 1], 3),
    (&[], &[], 5),
    (&[3, 0], &[9, 9], 0),
];

/// Returns the elements that a layout selects.
fn shown<T: Element>(x: &HostArray<T>, (shape, strides, first): (&[i64], &[i64], i64)) -> HostArray<T> {
    let shape: Vec<usize> = shape.iter().map(|&len| len as usize).collect();
    let elements = x.as_slice().unwrap();
    let at = |index: &ndarray::IxDyn| {
        let steps = (0..index.ndim()).zip(strides);
        steps.map(|(axis, stride)| index[axis] as i64 * if shape[axis] > 1 { *stride } else { 0 }).sum::<i64>()
    };
    use ndarray::Dimension;
    HostArray::from_shape_fn(shape.clone(), |index| elements[(first + at(&index)) as usize])
}

/// Imports and exports this backend's memory in every layout.
fn layouts<B: Arrays, T: Element>(b: &B) -> Result<()> {
    let host = numbers::<T>(&[8, 100]);
    for layout in LAYOUTS {
        for copy in [CopyMode::IfNeeded, CopyMode::Always] {
            let x = b.from_ndarray(host.clone())?;
            let tensor = b.to_dlpack(&x)?.into_raw();
            let (mut shape, mut strides) = (layout.0.to_vec(), layout.1.to_vec());
            // SAFETY: no other code has a pointer to the tensor, and the lists live until the tensor is taken.
            unsafe {
                let dl = &mut (*tensor).dl_tensor;
                (dl.ndim, dl.shape, dl.strides) = (shape.len() as i32, shape.as_mut_ptr(), strides.as_mut_ptr());
                if layout.2 >= 50 {
                    dl.byte_offset = layout.2 as u64 * size_of::<T>() as u64;
                } else {
                    dl.data = dl.data.wrapping_byte_add(layout.2 as usize * size_of::<T>());
                }
            }
            let taken = take(tensor)?;
            assert_eq!((taken.dtype(), taken.device()), (T::DTYPE, b.dlpack_device()));
            let y = DynArray::from_dlpack(b, taken, copy)?;
            let y = y.get::<T>().expect("its dtype");
            drop(x);
            assert_eq!(b.to_ndarray(y)?, shown(&host, layout), "{} {} {layout:?} {copy:?}", B::NAME, T::DTYPE);
            // exports the array again, in its own layout
            let again = take(b.to_dlpack(y)?.into_raw())?;
            assert_eq!(b.to_ndarray(&b.from_dlpack::<T>(again)?)?, shown(&host, layout));
        }
    }
    Ok(())
}

fn every_layout_of<B: Arrays>(b: &B) {
    for dtype in DType::ALL {
        let checked: Result<()> = dispatch!(dtype, T => layouts::<B, T>(b));
        checked.unwrap_or_else(|why| panic!("{} {dtype}: {why}", B::NAME));
    }
    release_unused();
}

#[test]
fn every_dtype_in_every_layout_goes_both_ways() {
    let _alone = alone();
    on_every_backend!(every_layout_of);
}

/// Returns the address of the first element of a backend's array.
fn address<B: Arrays, T: Element>(b: &B, x: &B::Array<T>) -> *const c_void {
    b.to_dlpack_with(x, CopyMode::Never).unwrap().data()
}

/// Tests that memory is shared: two handles see the same memory, neither handle may write to it, and it lives until
/// both handles are dropped.
fn memory_is_shared<B: Arrays>(b: &B) {
    let host = numbers::<f64>(&[300, 100]);
    let mut x = b.from_ndarray(host.clone().into_owned().into_shared()).unwrap();
    assert!(b.is_alone(&mut x), "{}", B::NAME);
    let tensor = b.to_dlpack(&x).unwrap();
    assert!(tensor.is_read_only() && !tensor.is_copied() && !b.is_alone(&mut x));
    let (start, tensor) = (tensor.data(), tensor.into_raw());
    // SAFETY: the tensor is alive.
    assert_eq!(unsafe { ((*tensor).flags, (*tensor).dl_tensor.data.cast_const()) }, (READ_ONLY, start));
    let mut y = b.from_dlpack_with::<f64>(take(tensor).unwrap(), CopyMode::Never).unwrap();
    assert_eq!(address(b, &y), start);
    assert!(!b.is_alone(&mut x) && !b.is_alone(&mut y));
    // the first handle is dropped, and the memory remains
    drop(x);
    assert!(!b.is_alone(&mut y), "it is somebody else's");
    assert_eq!(b.to_ndarray(&y).unwrap(), host);
    let z = y.clone();
    drop(y);
    assert_eq!(b.to_ndarray(&z).unwrap(), host);
    drop(z);
    release_unused();
    // the tensor is dropped first, so the array is the only handle again
    let mut x = b.from_ndarray(host.clone().into_owned().into_shared()).unwrap();
    drop(b.to_dlpack(&x).unwrap());
    assert!(b.is_alone(&mut x));
    let y = b.from_dlpack::<f64>(take(b.to_dlpack(&x).unwrap().into_raw()).unwrap()).unwrap();
    drop(y);
    release_unused();
    assert!(b.is_alone(&mut x));
    // the array is passed by value and has no other handle, so the receiver of the tensor may write to it
    let given = b.to_dlpack(x).unwrap();
    assert!(!given.is_read_only() && !given.is_copied());
    // if the array has another handle, a tensor that shares its memory is read-only, but a copy is not
    let x = b.from_dlpack::<f64>(given).unwrap();
    assert!(b.to_dlpack(x.clone()).unwrap().is_read_only());
    let copied = b.to_dlpack_with(&x, CopyMode::Always).unwrap();
    assert!(copied.is_copied() && !copied.is_read_only() && copied.data() != address(b, &x));
    // SAFETY: the pointer is taken only once.
    let legacy = unsafe { ManagedTensor::from_raw_legacy(copied.into_raw_legacy().unwrap()) }.unwrap();
    assert!(legacy.is_read_only());
    assert_eq!(b.to_ndarray(&b.from_dlpack::<f64>(take(legacy.into_raw()).unwrap()).unwrap()).unwrap(), host);
    let refused = b.to_dlpack(&x).unwrap().into_raw_legacy().unwrap_err().to_string();
    assert!(
        refused.starts_with("to_dlpack: the memory is shared") && refused.contains("CopyMode::Always"),
        "{refused}"
    );
    release_unused();
}

#[test]
fn memory_is_shared_and_no_handle_writes_to_it() {
    let _alone = alone();
    on_every_backend!(memory_is_shared);
}

/// Tests arrays of Numpyish over libtorch's memory, and arrays of libtorch over Numpyish's memory, on the host.
#[test]
fn backends_of_the_host_share_memory_both_ways() {
    let _alone = alone();
    let Some(torch) = available("torch", Torch::cpu()) else { return };
    let numpyish = Numpyish::new();
    let host = numbers::<f32>(&[200, 300]);
    for x in [host.clone(), host.clone().reversed_axes(), host.clone().slice_move(s![1..;3, ..]).into_dyn()] {
        let start = x.as_ptr();
        let t = numpyish.to_backend(&x, &torch).unwrap();
        assert_eq!((t.view().unwrap().as_ptr(), t.shape()), (start, x.shape()));
        let back = torch.to_backend(&t, &numpyish).unwrap();
        assert_eq!((back.as_ptr(), back.strides()), (start, x.strides()));
        let expected = x.to_owned();
        drop((x, t));
        assert_eq!(back, expected, "the tensor is gone");
    }
    // shares memory through raw pointers, as two independent libraries do
    let t = torch.from_dlpack::<f32>(take(numpyish.to_dlpack(&host).unwrap().into_raw()).unwrap()).unwrap();
    assert_eq!(t.view().unwrap().as_ptr(), host.as_ptr());
    let back = numpyish.from_dlpack::<f32>(take(torch.to_dlpack(t).unwrap().into_raw()).unwrap()).unwrap();
    assert_eq!((back.as_ptr(), &back), (host.as_ptr(), &host));
    drop(back);
    // an array over memory that libtorch allocated shares the ownership of this memory, and so do its views
    let mut t = torch.from_dlpack_with::<f32>(numpyish.to_dlpack(&host).unwrap(), CopyMode::Always).unwrap();
    let start = t.view().unwrap().as_ptr();
    assert!(start != host.as_ptr() && torch.is_alone(&mut t));
    let x = torch.to_backend(&t, &numpyish).unwrap();
    assert!(x.as_ptr() == start && !x.is_unique() && !torch.is_alone(&mut t), "two handles");
    assert!(!numpyish.is_alone(&mut x.clone()));
    let mut written = x.clone();
    written.fill(7.0);
    assert_eq!(torch.to_ndarray(&t).unwrap(), host, "who writes to an ndarray that is shared gets a copy");
    drop(written);
    let kept = t.clone();
    drop(t);
    let part = x.clone().slice_move(s![..;-2, 5..]).into_dyn();
    drop(x);
    release_unused();
    assert_eq!(part, host.slice(s![..;-2, 5..]).into_dyn());
    let mut t = kept;
    assert!(!torch.is_alone(&mut t), "the part is there");
    drop(part);
    release_unused();
    assert!(torch.is_alone(&mut t));
    // small arrays, and arrays whose elements share addresses, are copied
    let small = torch.from_ndarray(numbers::<f32>(&[3])).unwrap();
    assert!(torch.to_ndarray(&small).unwrap().is_unique());
}

/// Tests that memory is shared on one GPU, and copied between a GPU and the host.
#[test]
fn a_device_shares_its_memory_with_itself() {
    let _alone = alone();
    let Some(b) = available("cuda", Cuda::new(0)) else { return };
    let host = numbers::<i32>(&[50, 60]);
    let x = Numpyish::new().to_backend(&host, &b).unwrap();
    let y = b.to_backend(&x, &Cuda::new(0).unwrap()).unwrap();
    assert_eq!(address(&b, &y), address(&b, &x));
    drop(x);
    assert_eq!(b.to_backend(&y, &Numpyish::new()).unwrap(), host);
    // another library's memory is freed once, after the last array over it
    let of_y = |change: &dyn Fn(&mut DLManagedTensorVersioned)| {
        let (tensor, deleted) = Peer::new(&host).give::<i32>(|t| {
            t.dl_tensor.data = ptr::without_provenance_mut(address(&b, &y).addr());
            t.dl_tensor.device = DLDevice::cuda(0);
            change(t);
        });
        (take(tensor).unwrap(), deleted)
    };
    let (tensor, deleted) = of_y(&|_| {});
    let mut z = b.from_dlpack_with::<i32>(tensor, CopyMode::Never).unwrap();
    assert_eq!((address(&b, &z), b.is_alone(&mut z)), (address(&b, &y), false));
    let w = z.clone();
    drop(z);
    assert_eq!((b.to_ndarray(&w).unwrap(), deleted.load(Ordering::SeqCst)), (host.clone(), 0));
    drop(w);
    assert_eq!(deleted.load(Ordering::SeqCst), 1);
    let (tensor, deleted) = of_y(&|_| {});
    let z = b.from_dlpack_with::<i32>(tensor, CopyMode::Always).unwrap();
    assert_eq!((b.to_ndarray(&z).unwrap(), deleted.load(Ordering::SeqCst)), (host.clone(), 1));
    let odd = |t: &mut DLManagedTensorVersioned| (t.dl_tensor.byte_offset, t.dl_tensor.ndim) = (2, 0);
    let (tensor, deleted) = of_y(&odd);
    let refused = b.from_dlpack::<i32>(tensor).unwrap_err().to_string();
    assert!(refused.contains("must be aligned to their type") && deleted.load(Ordering::SeqCst) == 1, "{refused}");
    // bools of another library may be bytes other than 0 and 1
    let bytes = b.from_ndarray(vec![0_u8, 1, 2, 255].into_host().unwrap()).unwrap();
    let as_bools = || {
        let tensor = b.to_dlpack(&bytes).unwrap().into_raw();
        // SAFETY: no other code has a pointer to the tensor.
        unsafe { (*tensor).dl_tensor.dtype = DLDataType::from(DType::Bool) };
        take(tensor).unwrap()
    };
    let bools = b.from_dlpack::<bool>(as_bools()).unwrap();
    assert_eq!(b.to_vec(&bools).unwrap(), [false, true, true, true]);
    let refused = b.from_dlpack_with::<bool>(as_bools(), CopyMode::Never).unwrap_err();
    assert!(refused.to_string().contains("neither 0 nor 1"), "{refused}");
    let own = b.from_dlpack_with::<bool>(b.to_dlpack(&bools).unwrap(), CopyMode::Never).unwrap();
    assert_eq!(address(&b, &own), address(&b, &bools));
}

/// Tests that after an error the tensor is freed at once, and only once.
fn mistakes_free_the_tensor<B: Arrays>(b: &B) {
    let host = numbers::<f64>(&[40, 50]);
    let give = |change: &dyn Fn(&mut DLManagedTensorVersioned)| {
        let (tensor, deleted) = Peer::new(&host).give::<f64>(change);
        (take(tensor), deleted)
    };
    let on_host = b.dlpack_device().is_host();
    let device = b.dlpack_device();
    // gives a tensor of another dtype, and then a tensor on another device
    let (tensor, deleted) = give(&|t| t.dl_tensor.device = device);
    let refused = b.from_dlpack::<f32>(tensor.unwrap()).unwrap_err();
    let why = "from_dlpack: the tensor has the dtype float64, but an array of float32 is requested";
    assert_eq!((refused.to_string().as_str(), count(deleted)), (why, 1));
    let elsewhere = if on_host { DLDevice::cuda(0) } else { DLDevice::CPU };
    for elsewhere in [elsewhere, DLDevice::cuda(77), DLDevice { device_type: 4, device_id: 1 }] {
        let (tensor, deleted) = give(&|t| t.dl_tensor.device = elsewhere);
        let refused = b.from_dlpack::<f64>(tensor.unwrap()).unwrap_err();
        let expected = Error::device("from_dlpack", b.device(), elsewhere.to_string());
        assert_eq!((refused, count(deleted)), (expected, 1));
    }
    // drops a tensor without importing it
    let (tensor, deleted) = give(&|_| {});
    drop(tensor.unwrap());
    assert_eq!(deleted.load(Ordering::SeqCst), 1);
}

#[test]
fn what_a_backend_refuses_is_freed_once() {
    let _alone = alone();
    on_every_backend!(mistakes_free_the_tensor);
}

#[test]
fn bad_tensors_are_refused_and_freed_once() {
    let _alone = alone();
    type Change = fn(&mut DLManagedTensorVersioned);
    let cases: [(Change, &str); 11] = [
        (|t| t.version.major = 2, "the tensor has DLPack version 2.1, but only 1.x is supported"),
        (|t| t.version.major = 0, "the tensor has DLPack version 0.1"),
        (|t| t.dl_tensor.data = ptr::null_mut(), "a tensor of shape [2, 3] without memory"),
        (|t| t.dl_tensor.dtype.lanes = 2, "no dtype matches DLPack's float of 64 bits and 2 lanes"),
        (|t| t.dl_tensor.dtype.bits = 80, "float of 80 bits"),
        (|t| t.dl_tensor.dtype = DLDataType { code: 17, bits: 4, lanes: 1 }, "float4_e2m1fn of 4 bits"),
        (|t| t.dl_tensor.dtype.code = 200, "code 200 of 64 bits"),
        (|t| t.dl_tensor.ndim = -2, "a tensor of -2 axes"),
        (|t| t.dl_tensor.shape = ptr::null_mut(), "a tensor of 2 axes without a shape"),
        // SAFETY: the shape has two numbers.
        (|t| unsafe { *t.dl_tensor.shape = -1 }, "[-1, 3] is no shape"),
        // SAFETY: the strides have two numbers.
        (|t| unsafe { *t.dl_tensor.strides = i64::MAX }, "exceed the address space"),
    ];
    for (change, why) in cases {
        let (tensor, deleted) = Peer::new(&numbers::<f64>(&[2, 3])).give::<f64>(change);
        let refused = take(tensor).unwrap_err().to_string();
        assert!(refused.starts_with("from_dlpack: ") && refused.contains(why), "{refused}");
        assert_eq!(deleted.load(Ordering::SeqCst), 1, "{why}");
    }
    assert!(take(ptr::null_mut()).is_err());
    // SAFETY: `from_raw_legacy` accepts a null pointer, and returns an error.
    assert!(unsafe { ManagedTensor::from_raw_legacy(ptr::null_mut()) }.is_err());
    // if the tensor has another major version, only its deleter is used
    let (tensor, deleted) = Peer::new(&numbers::<f64>(&[2, 3])).give::<f64>(|t| {
        t.version.major = 9;
        t.dl_tensor.shape = ptr::without_provenance_mut(1);
    });
    assert!(take(tensor).is_err() && deleted.load(Ordering::SeqCst) == 1);
    // a tensor may have no deleter
    let (tensor, deleted) = Peer::new(&numbers::<f64>(&[2, 3])).give::<f64>(|t| t.deleter = None);
    drop(take(tensor).unwrap());
    assert_eq!(deleted.load(Ordering::SeqCst), 0);
}

/// Tests that another library's memory is shared if possible, and freed once, after the last array over it.
fn foreign_memory<B: Arrays>(b: &B) {
    let host = numbers::<f64>(&[40, 50]);
    for legacy in [false, true] {
        let mut start = ptr::null();
        let (tensor, deleted) = if legacy {
            let (tensor, deleted) = Peer::new(&host).give_legacy::<f64>();
            // SAFETY: the tests take each tensor once, and its memory is never freed.
            (unsafe { ManagedTensor::from_raw_legacy(tensor) }, deleted)
        } else {
            let (tensor, deleted) = Peer::new(&host).give::<f64>(|t| start = t.dl_tensor.data.cast_const());
            (take(tensor), deleted)
        };
        let tensor = tensor.unwrap();
        assert_eq!((tensor.is_read_only(), tensor.shape(), tensor.strides()), (legacy, &[40, 50][..], &[50, 1][..]));
        let x = b.from_dlpack::<f64>(tensor).unwrap();
        assert!(legacy || address(b, &x) == start, "no element is copied");
        let y = x.clone();
        drop(x);
        assert_eq!((b.to_ndarray(&y).unwrap(), count(deleted)), (host.clone(), 0));
        std::thread::scope(|scope| scope.spawn(move || drop(y)).join().unwrap());
        assert_eq!((count(deleted), count(deleted)), (1, 1));
        // exports the array again, and imports it with the same backend
        let (tensor, deleted) = Peer::new(&host).give::<f64>(|_| {});
        let x = b.from_dlpack::<f64>(take(tensor).unwrap()).unwrap();
        let again = take(b.to_dlpack(x).unwrap().into_raw()).unwrap();
        assert!(again.is_read_only());
        let z = b.from_dlpack::<f64>(again).unwrap();
        assert_eq!((b.to_ndarray(&z).unwrap(), count(deleted)), (host.clone(), 0));
        drop(z);
        assert_eq!(count(deleted), 1);
    }
    // if the elements are copied, the tensor is freed at once
    let (tensor, deleted) = Peer::new(&host).give::<f64>(|t| t.flags = IS_COPIED);
    let tensor = take(tensor).unwrap();
    assert!(tensor.is_copied());
    let x = b.from_dlpack_with::<f64>(tensor, CopyMode::Always).unwrap();
    assert_eq!((deleted.load(Ordering::SeqCst), b.to_ndarray(&x).unwrap()), (1, host.clone()));
    // tests a tensor that has no strides (which means C order), is in pinned host memory of a GPU, and has an offset
    let change = |t: &mut DLManagedTensorVersioned| {
        t.dl_tensor.strides = ptr::null_mut();
        t.dl_tensor.device = DLDevice::CUDA_HOST;
        t.dl_tensor.data = t.dl_tensor.data.wrapping_byte_sub(40);
        t.dl_tensor.byte_offset = 40;
    };
    let (tensor, deleted) = Peer::new(&host).give::<f64>(change);
    let x = b.from_dlpack_with::<f64>(take(tensor).unwrap(), CopyMode::Never).unwrap();
    assert_eq!(b.to_ndarray(&x).unwrap(), host);
    drop(x);
    assert_eq!(count(deleted), 1);
    // unaligned elements are copied, or refused if copies are not allowed
    let odd = || {
        let mut peer = Peer::new(&host);
        let bytes = peer.first().cast::<u8>();
        // SAFETY: the memory has room after the elements.
        unsafe { ptr::copy(bytes, bytes.add(3), host.len() * 8) };
        let (tensor, deleted) = peer.give::<f64>(|t| t.dl_tensor.byte_offset = 3);
        (take(tensor).unwrap(), deleted)
    };
    let (tensor, deleted) = odd();
    let x = b.from_dlpack::<f64>(tensor).unwrap();
    assert_eq!((b.to_ndarray(&x).unwrap(), deleted.load(Ordering::SeqCst)), (host.clone(), 1));
    let (tensor, deleted) = odd();
    let refused = b.from_dlpack_with::<f64>(tensor, CopyMode::Never).unwrap_err().to_string();
    assert!(refused.contains("cannot be shared: its elements must be aligned to their type"), "{refused}");
    assert_eq!(deleted.load(Ordering::SeqCst), 1);
    // tests a byte that is not a valid bool
    for (copy, len) in [(CopyMode::IfNeeded, 5000), (CopyMode::Always, 50), (CopyMode::Never, 50)] {
        let mut bytes = vec![1_u8; len];
        bytes[len - 2] = 3;
        let change = |t: &mut DLManagedTensorVersioned| t.dl_tensor.dtype = DLDataType::from(DType::Bool);
        let (tensor, deleted) = Peer::new(&bytes.into_host().unwrap()).give::<u8>(change);
        let refused = b.from_dlpack_with::<bool>(take(tensor).unwrap(), copy).unwrap_err();
        assert_eq!(
            (refused.to_string().as_str(), count(deleted)),
            ("from_dlpack: a byte of a bool is 3, but must be 0 or 1", 1)
        );
    }
}

#[test]
fn foreign_memory_is_freed_once_after_the_last_array() {
    let _alone = alone();
    foreign_memory(&Numpyish::new());
    if let Some(torch) = available("torch", Torch::cpu()) {
        foreign_memory(&torch);
    }
}

/// Tests that `CopyMode::Never` gives an error if one of the libraries cannot represent the memory.
#[test]
fn memory_that_has_to_be_shared_and_cannot_be_is_an_error() {
    let _alone = alone();
    let host = numbers::<f32>(&[40, 50]);
    let backward = || {
        let (tensor, deleted) = Peer::new(&host).give::<f32>(|t| {
            // SAFETY: the strides have two numbers. The offset makes the last row the first one, so all elements are in
            // memory.
            unsafe { *t.dl_tensor.strides = -50 };
            t.dl_tensor.byte_offset = 39 * 50 * 4;
        });
        (take(tensor).unwrap(), deleted)
    };
    let expected = host.slice(s![..;-1, ..]).into_dyn();
    let (tensor, deleted) = backward();
    let x = Numpyish::new().from_dlpack_with::<f32>(tensor, CopyMode::Never).unwrap();
    assert_eq!((x.strides(), &x.view()), (&[-50, 1][..], &expected));
    // `CopyMode::Never` exports the array with its negative stride, but the default mode copies the array
    let tensor = Numpyish::new().to_dlpack_with(&x, CopyMode::Never).unwrap();
    assert_eq!((tensor.strides(), tensor.data()), (&[-50, 1][..], x.as_ptr().cast()));
    drop(tensor);
    let tensor = Numpyish::new().to_dlpack(&x).unwrap();
    assert!(tensor.is_copied() && tensor.strides() == [50, 1] && tensor.data() != x.as_ptr().cast());
    assert_eq!(Numpyish::new().from_dlpack::<f32>(take(tensor.into_raw()).unwrap()).unwrap(), expected);
    drop(x);
    assert_eq!(count(deleted), 1);
    if let Some(torch) = available("torch", Torch::cpu()) {
        let (tensor, deleted) = backward();
        let refused = torch.from_dlpack_with::<f32>(tensor, CopyMode::Never).unwrap_err().to_string();
        assert_eq!(refused, "from_dlpack: the tensor cannot be shared: libtorch has no negative strides");
        assert_eq!(count(deleted), 1);
        let (tensor, deleted) = backward();
        let x = torch.from_dlpack::<f32>(tensor).unwrap();
        assert_eq!((x.view().unwrap(), count(deleted)), (expected, 1));
    }
    // a stride of 0 repeats one row
    let (tensor, deleted) = Peer::new(&host).give::<f32>(|t| {
        // SAFETY: the strides have two numbers.
        unsafe { *t.dl_tensor.strides = 0 }
    });
    let refused = Numpyish::new().from_dlpack_with::<f32>(take(tensor).unwrap(), CopyMode::Never).unwrap_err();
    assert_eq!(refused.to_string(), "from_dlpack: the tensor cannot be shared: indices share elements");
    assert_eq!(count(deleted), 1);
}

/// Tests elements of float16, for which Rust has no literals.
#[test]
fn halves_keep_their_bits() {
    let _alone = alone();
    let b = Numpyish::new();
    let x = b.from_iter([f16::from_f64(1.5), f16::MAX, f16::NEG_INFINITY]).unwrap();
    let tensor = b.to_dlpack(&x).unwrap();
    assert_eq!(
        (tensor.dtype(), format!("{tensor:?}").as_str()),
        (DType::Float16, "ManagedTensor([3], float16, cpu, read-only)")
    );
    assert_eq!(b.from_dlpack::<f16>(take(tensor.into_raw()).unwrap()).unwrap(), x);
    let x = b.from_iter([bf16::from_f64(1.5), bf16::MIN_POSITIVE]).unwrap();
    assert_eq!(b.from_dlpack::<bf16>(take(b.to_dlpack(&x).unwrap().into_raw()).unwrap()).unwrap(), x);
}
