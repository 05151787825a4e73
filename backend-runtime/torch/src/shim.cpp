// A C interface that calls any libtorch op by name, through the dispatcher.
//
// The shim is compiled against the headers of the libtorch that it will run with, and linked to nothing: its undefined
// symbols bind to the libtorch_cpu and libc10 that are loaded before it. A tensor crosses the interface as a TensorImpl
// pointer. A returned pointer owns one reference, and a pointer that is an argument owns none.

#include <ATen/Context.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/dlpack.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/Allocator.h>
#if __has_include(<c10/core/CachingDeviceAllocator.h>)
#include <c10/core/CachingDeviceAllocator.h>
#endif
#include <c10/core/InferenceMode.h>
#include <c10/core/impl/COW.h>
#include <c10/util/Exception.h>
#include <torch/cuda.h>
#include <torch/mps.h>
#include <torch/version.h>

#include <cstring>
#include <functional>
#include <memory>
#include <sstream>

// Headers before libtorch 2.9 lack this type, so it is declared here.
namespace c10 {
struct DeviceAllocator;
}
// declarations from ATen/DLConvertor.h, which is not included because it includes all of libtorch's ops
namespace at {
TORCH_API DLManagedTensor* toDLPack(const Tensor& src);
TORCH_API Tensor fromDLPack(DLManagedTensor* src, std::function<void(void*)> deleter);
}  // namespace at

namespace {

using Impl = c10::TensorImpl;
using Pointer = c10::intrusive_ptr<Impl, c10::UndefinedTensorImpl>;

// The kinds of values of the interface. `torch/ffi.rs` has the same numbers.
enum Tag : int32_t {
  NONE = 0,     // None
  TENSOR = 1,   // pointer
  INT = 2,      // integer; also dtype codes
  DOUBLE = 3,   // real
  BOOL = 4,     // integer
  INTS = 5,     // pointer to int64_t, count
  TENSORS = 6,  // pointer to Impl*, count; null ones are None
  SCALAR = 7,   // one element of dtype `aux`; its bytes overlay pointer and count
  DEVICE = 8,   // the device of the call
  TEXT = 9,     // pointer to char, count
};

struct Value {
  int32_t tag;
  int32_t aux;
  union {
    int64_t integer;
    double real;
    void* pointer;
  };
  int64_t count;
};

// The status that a function returns. `torch/ffi.rs` has the same numbers.
enum Status : int { DONE = 0, FAILED = 1, WRONG_DEVICE = 2, NO_MEMORY = 3, UNSUPPORTED = 4 };

thread_local std::string message;

struct WrongDevice {
  std::string found;
};

// Thrown if this libtorch lacks a function for the request.
struct Unsupported {};

int failed() {
  try {
    throw;
  } catch (const WrongDevice& e) {
    message = e.found;
    return WRONG_DEVICE;
  } catch (const Unsupported&) {
    return UNSUPPORTED;
  } catch (const c10::OutOfMemoryError& e) {
    message = e.what_without_backtrace();
    return NO_MEMORY;
  } catch (const c10::Error& e) {
    message = e.what_without_backtrace();
    return message.find("can't allocate memory") == std::string::npos ? FAILED : NO_MEMORY;
  } catch (const std::bad_alloc& e) {
    message = e.what();
    return NO_MEMORY;
  } catch (const std::exception& e) {
    message = e.what();
  } catch (...) {
    message = "unknown C++ exception";
  }
  return FAILED;
}

// Discards libtorch's warnings. They address callers of libtorch, but here the caller is an op, whose documentation
// describes its behaviour.
struct Silent : c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

template <typename F>
int guarded(F&& body) {
  try {
    static Silent silent;
    c10::WarningUtils::WarningHandlerGuard quiet(&silent);
    // no autograd graph is recorded, and the dispatcher skips the layers that would record it
    c10::InferenceMode inference;
    body();
    return DONE;
  } catch (...) {
    return failed();
  }
}

at::Tensor borrowed(void* impl) {
  return at::Tensor(Pointer::reclaim_copy(static_cast<Impl*>(impl)));
}

// Refuses tensors without elements at strides (sparse tensors, nested tensors, zeros without memory), because their
// lengths or their memory cannot be read. Resolves lazy conjugation and negation, so that the memory holds the
// elements.
at::Tensor readable(at::Tensor t) {
  if (!t.defined()) return t;
  TORCH_CHECK(t.layout() == c10::kStrided && !t.is_nested() && (t.is_cpu() || t.is_cuda() || t.is_mps()) && !t._is_zerotensor(),
              "a tensor of layout ", t.layout(), " on ", t.device(), " is no array");
  if (t.is_conj()) t = t.resolve_conj();
  if (t.is_neg()) t = t.resolve_neg();
  return t;
}

void* released(at::Tensor t) { return readable(std::move(t)).unsafeReleaseTensorImpl(); }

at::Tensor on_device(void* impl, c10::Device device) {
  at::Tensor t = borrowed(impl);
  if (t.device() != device) throw WrongDevice{t.device().str()};
  return t;
}

// Makes a tensor of a number. A number on the host can be mixed with arrays of any device; a number alone must be on
// the device of the result.
at::Tensor scalar(const Value& v, c10::Device device, bool alone) {
  at::Tensor t = at::empty({}, at::TensorOptions().dtype(static_cast<at::ScalarType>(v.aux)));
  std::memcpy(t.data_ptr(), &v.pointer, t.element_size());
  return alone ? t.to(device) : t;
}

bool wants_number(const c10::Argument& a) {
  c10::TypePtr type = a.real_type();
  if (type->kind() == c10::TypeKind::OptionalType) type = type->castRaw<c10::OptionalType>()->getElementType();
  return type->kind() == c10::TypeKind::NumberType;
}

bool wants_optional_tensors(const c10::Argument& a) {
  const c10::TypePtr& type = a.real_type();
  return type->kind() == c10::TypeKind::ListType &&
      type->castRaw<c10::ListType>()->getElementType()->kind() == c10::TypeKind::OptionalType;
}

c10::IValue to_ivalue(const Value& v, const c10::Argument& a, c10::Device device, bool alone) {
  switch (v.tag) {
    case NONE:
      return c10::IValue();
    case TENSOR:
      return c10::IValue(on_device(v.pointer, device));
    case INT:
      return c10::IValue(v.integer);
    case DOUBLE:
      return c10::IValue(v.real);
    case BOOL:
      return c10::IValue(v.integer != 0);
    case INTS:
      return c10::IValue(c10::ArrayRef<int64_t>(static_cast<int64_t*>(v.pointer), v.count));
    case TENSORS: {
      auto** impls = static_cast<void**>(v.pointer);
      if (wants_optional_tensors(a)) {
        c10::List<std::optional<at::Tensor>> list;
        for (int64_t i = 0; i < v.count; i++)
          list.push_back(impls[i] ? std::optional<at::Tensor>(on_device(impls[i], device)) : std::nullopt);
        return c10::IValue(std::move(list));
      }
      c10::List<at::Tensor> list;
      for (int64_t i = 0; i < v.count; i++) list.push_back(on_device(impls[i], device));
      return c10::IValue(std::move(list));
    }
    case SCALAR: {
      if (wants_number(a)) return c10::IValue(scalar(v, device, false).item());
      return c10::IValue(scalar(v, device, alone));
    }
    case DEVICE:
      return c10::IValue(device);
    case TEXT:
      return c10::IValue(std::string(static_cast<const char*>(v.pointer), v.count));
  }
  TORCH_CHECK(false, "no argument has the tag ", v.tag);
}

Value from_ivalue(c10::IValue&& i) {
  Value v{NONE, 0, {0}, 0};
  if (i.isTensor()) {
    at::Tensor t = std::move(i).toTensor();
    if (!t.defined()) return v;
    v.tag = TENSOR;
    v.pointer = released(std::move(t));
  } else if (i.isTensorList()) {
    auto list = std::move(i).toTensorVector();
    auto impls = std::make_unique<void*[]>(list.size());
    for (auto& t : list) t = readable(std::move(t));
    for (size_t k = 0; k < list.size(); k++) impls[k] = list[k].unsafeReleaseTensorImpl();
    v.tag = TENSORS;
    v.count = static_cast<int64_t>(list.size());
    v.pointer = impls.release();
  } else if (i.isInt()) {
    v.tag = INT;
    v.integer = i.toInt();
  } else if (i.isDouble()) {
    v.tag = DOUBLE;
    v.real = i.toDouble();
  } else if (i.isBool()) {
    v.tag = BOOL;
    v.integer = i.toBool();
  } else {
    TORCH_CHECK(i.isNone(), "no value of the interface holds a ", i.tagKind());
  }
  return v;
}

bool has_tensor(const Value* args, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (args[i].tag == TENSOR || args[i].tag == TENSORS) return true;
  return false;
}

// The number that stands for the GPU of a Mac.
constexpr int MPS = 256;

c10::Device device_of(int index) {
  if (index == MPS) return c10::Device(c10::kMPS, 0);
  return index < 0 ? c10::Device(c10::kCPU) : c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(index));
}

// Waits for the work of a GPU.
void wait_for(int device) {
  if (device == MPS) torch::mps::synchronize();
  else torch::cuda::synchronize(device);
}

// Calls `f` with the allocator of a GPU, through the interface that all devices of libtorch share since 2.10 and that
// needs no CUDA header. This function is a template, because headers of other versions lack the interface or parts of
// it.
template <typename Allocator = c10::DeviceAllocator, typename F>
void with_allocator(int device, F&& f) {
  if constexpr (requires(Allocator& allocator) { allocator.getMemoryInfo(c10::DeviceIndex(0)); }) {
    const c10::Device where = device_of(device);
    // an array without elements initialises the GPUs, because before that the allocator knows no GPU
    at::empty({0}, at::TensorOptions().device(where));
    auto* allocator = dynamic_cast<Allocator*>(c10::GetAllocator(where.type()));
    if (allocator == nullptr) throw Unsupported{};
    f(*allocator, where.index());
  } else {
    throw Unsupported{};
  }
}

}  // namespace

#define API extern "C" __attribute__((visibility("default")))

// Major and minor version of the headers.
API uint32_t backends_built_for() { return TORCH_VERSION_MAJOR << 16 | TORCH_VERSION_MINOR; }

// The version of the headers: "2.11.0".
API const char* backends_version() { return TORCH_VERSION; }

// The reason why this thread's last function failed; for WRONG_DEVICE, the device found.
API const char* backends_message() { return message.c_str(); }

API int backends_find(const char* name, const char* overload, void** op) {
  return guarded([&] {
    auto found = c10::Dispatcher::singleton().findSchema(c10::OperatorName(name, overload));
    TORCH_CHECK(found.has_value(), "libtorch has no op ", name, ".", overload);
    *op = new c10::OperatorHandle(*found);
  });
}

// Stores the schema as the message.
API int backends_schema(void* op) {
  return guarded([&] {
    std::ostringstream text;
    text << static_cast<c10::OperatorHandle*>(op)->schema();
    message = text.str();
  });
}

// Calls an op. Omitted trailing arguments take the schema's defaults.
API int backends_call(void* op, int device, const Value* args, size_t count, Value* results, size_t room, size_t* given) {
  *given = 0;
  return guarded([&] {
    auto& handle = *static_cast<c10::OperatorHandle*>(op);
    const auto& schema = handle.schema();
    const auto& wanted = schema.arguments();
    TORCH_CHECK(count <= wanted.size(), schema.name(), " takes ", wanted.size(), " arguments, not ", count);
    const c10::Device where = device_of(device);
    bool alone = device >= 0 && !has_tensor(args, count);
    torch::jit::Stack stack;
    stack.reserve(std::max(wanted.size(), schema.returns().size()));
    for (size_t i = 0; i < count; i++) stack.push_back(to_ivalue(args[i], wanted[i], where, alone));
    for (size_t i = count; i < wanted.size(); i++) {
      TORCH_CHECK(wanted[i].default_value().has_value(), schema.name(), " needs the argument ", wanted[i].name());
      stack.push_back(*wanted[i].default_value());
    }
    handle.callBoxed(stack);
    TORCH_CHECK(stack.size() <= room, schema.name(), " returns ", stack.size(), " values, more than there is room for");
    for (; *given < stack.size(); ++*given) results[*given] = from_ivalue(std::move(stack[*given]));
  });
}

// Makes a tensor over host memory, or a copy of it on a GPU. `drop(owner)` runs once: when the last tensor on the
// memory is dropped, or immediately on failure. `given` says that nobody else has the memory, so that it counts as
// allocated by libtorch; it is never resized.
API int backends_from_host(void* data, const int64_t* lengths, const int64_t* strides, size_t ndim, int dtype,
                           int device, int given, void (*drop)(void*), void* owner, void** result) {
  std::shared_ptr<void> shared(owner, drop);
  return guarded([&] {
    auto options = at::TensorOptions().dtype(static_cast<at::ScalarType>(dtype));
    at::IntArrayRef sizes(lengths, ndim), steps(strides, ndim);
    auto* allocator = given ? c10::GetAllocator(c10::DeviceType::CPU) : nullptr;
    at::Tensor tensor = at::for_blob(data, sizes)
                            .strides(steps)
                            .deleter([shared](void*) {})
                            .allocator(allocator)
                            .options(options)
                            .make_tensor();
    *result = released(tensor.to(device_of(device)));
  });
}

// Copies the elements, in C order, to host memory that has room for all of them.
API int backends_to_host(void* impl, void* data) {
  return guarded([&] {
    at::Tensor t = borrowed(impl);
    at::from_blob(data, t.sizes(), at::TensorOptions().dtype(t.scalar_type())).copy_(t);
  });
}

// Makes a DLPack tensor over the memory of a tensor, or over a copy. It is a separate handle of the memory.
API int backends_to_dlpack(void* impl, int copy, DLManagedTensor** result) {
  return guarded([&] {
    at::Tensor t = borrowed(impl);
    *result = at::toDLPack(copy ? t.clone() : t);
  });
}

// Calls the deleter of a DLPack tensor; for a GPU, after waiting for all work that may use the memory.
struct Delete {
  int device;
  void operator()(DLManagedTensor* source) const {
    if (device >= 0) guarded([&] { wait_for(device); });
    if (source->deleter) source->deleter(source);
  }
};

// Reverses a tensor along some axes. libtorch supports no unsigned dtype except uint8 for this, so the bits are moved
// in a signed dtype.
at::Tensor reversed_along(const at::Tensor& t, at::IntArrayRef axes) {
  const at::ScalarType dtype = t.scalar_type();
  at::ScalarType moved = dtype;
  if (dtype == at::ScalarType::UInt16) moved = at::ScalarType::Short;
  if (dtype == at::ScalarType::UInt32) moved = at::ScalarType::Int;
  if (dtype == at::ScalarType::UInt64) moved = at::ScalarType::Long;
  return moved == dtype ? t.flip(axes) : t.view(moved).flip(axes).view(dtype);
}

// Makes a tensor over the memory of a DLPack tensor, whose deleter runs once: when the last tensor on the memory is
// dropped, or immediately on failure. The tensor is a copy if axes must be reversed, or if `copy` is set.
API int backends_from_dlpack(DLManagedTensor* source, int device, const int64_t* reversed, size_t count, int copy,
                             void** result) {
  std::shared_ptr<DLManagedTensor> shared(source, Delete{device});
  return guarded([&] {
    at::Tensor t = at::fromDLPack(source, [shared](void*) {});
    if (count > 0)
      t = reversed_along(t, at::IntArrayRef(reversed, count));
    else if (copy)
      t = t.clone();
    *result = released(std::move(t));
  });
}

API void backends_share(void* impl) { (void)borrowed(impl).unsafeReleaseTensorImpl(); }
API void backends_drop(void* impl) { Pointer::reclaim(static_cast<Impl*>(impl)); }
API void backends_drop_list(void* impls) { delete[] static_cast<void**>(impls); }

API const int64_t* backends_lengths(void* impl, size_t* ndim) {
  auto sizes = static_cast<Impl*>(impl)->sizes();
  *ndim = sizes.size();
  return sizes.data();
}
API const int64_t* backends_strides(void* impl) { return static_cast<Impl*>(impl)->strides().data(); }
API int backends_dtype(void* impl) { return static_cast<int>(c10::typeMetaToScalarType(static_cast<Impl*>(impl)->dtype())); }
API int64_t backends_offset(void* impl) { return static_cast<Impl*>(impl)->storage_offset(); }
// Whether only `handles` handles of one tensor use its memory, and libtorch allocated or was given that memory. Any
// other memory over which a tensor was made has another owner, and copy-on-write memory belongs to several tensors.
API int backends_alone(void* impl, size_t handles) {
  const auto& storage = static_cast<Impl*>(impl)->storage();
  return c10::raw::intrusive_ptr::use_count(static_cast<Impl*>(impl)) == handles && storage.use_count() == 1 &&
         storage.allocator() != nullptr && !c10::impl::cow::is_cow_data_ptr(storage.data_ptr());
}
// Whether libtorch allocated or was given the memory, so that freeing it runs no foreign code.
API int backends_owned(void* impl) { return static_cast<Impl*>(impl)->storage().allocator() != nullptr; }
API void* backends_data(void* impl) { return const_cast<void*>(static_cast<Impl*>(impl)->data()); }

// -1 for the host, else the number of the GPU.
API int backends_device(void* impl) {
  auto device = static_cast<Impl*>(impl)->device();
  if (device.is_mps()) return MPS;
  return device.is_cpu() ? -1 : device.index();
}

API int backends_device_count() { return static_cast<int>(torch::cuda::device_count()); }
API int backends_has_mps() { return torch::mps::is_available(); }
API int backends_synchronize(int device) {
  return guarded([&] { wait_for(device); });
}

// Numbers of bytes of a GPU's memory: in use by tensors, the peak of this number, kept for reuse, free, and in total.
API int backends_memory(int device, uint64_t* bytes) {
  return guarded([&] {
    with_allocator(device, [&](auto& allocator, c10::DeviceIndex index) {
      const auto stats = allocator.getDeviceStats(index);
      // the first figure is the sum over all block sizes
      const auto& allocated = stats.allocated_bytes[0];
      const auto [free, total] = allocator.getMemoryInfo(index);
      bytes[0] = allocated.current;
      bytes[1] = allocated.peak;
      bytes[2] = stats.reserved_bytes[0].current - allocated.current;
      bytes[3] = free;
      bytes[4] = total;
    });
  });
}

// Resets the peak number of bytes in use by tensors.
API int backends_reset_peak(int device) {
  return guarded([&] {
    with_allocator(device, [](auto& allocator, c10::DeviceIndex index) { allocator.resetPeakStats(index); });
  });
}

// Frees the FFT plans of a GPU, and the memory that is kept for reuse on all GPUs.
API int backends_free_cache(int device) {
  return guarded([&] {
    if (device != MPS) at::detail::getCUDAHooks().cuFFTClearPlanCache(static_cast<c10::DeviceIndex>(device));
    with_allocator(device, [](auto& allocator, c10::DeviceIndex) { allocator.emptyCache(); });
  });
}
