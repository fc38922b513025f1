#include "backends/cpu/kernels/half_products.h"

#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>

#include "backends/cpu/kernels/onednn.h"
#include "backends/cpu/runtime/parallel.h"

namespace burn::backends::cpu {
namespace {

struct Primitive {
  dnnl::matmul::primitive_desc description;
  dnnl::matmul matmul;
};

// The sizes that a kernel is generated for.
struct Sizes {
  ir::DType dtype;
  std::int64_t m, n, k, a_stride, b_stride, c_stride;
  bool a_transposed, b_transposed;
  auto operator<=>(const Sizes&) const = default;

  template <typename T>
  Sizes(ir::DType type, const Product<T>& p)
      : dtype(type),
        m(p.m),
        n(p.n),
        k(p.k),
        a_stride(p.a.stride),
        b_stride(p.b.stride),
        c_stride(p.c_stride),
        a_transposed(p.a.transposed),
        b_transposed(p.b.transposed) {}
};

dnnl::memory::desc matrix(ir::DType dtype, std::int64_t rows, std::int64_t columns, std::int64_t stride,
                          bool transposed) {
  using Type = dnnl::memory::data_type;
  const auto type = dtype == ir::DType::f32 ? Type::f32 : dtype == ir::DType::bf16 ? Type::bf16 : Type::f16;
  return {{rows, columns}, type, transposed ? dnnl::memory::dims{1, stride} : dnnl::memory::dims{stride, 1}};
}

// Null: no kernel.
std::shared_ptr<const Primitive> make(const Sizes& s) {
  constexpr std::int64_t kMax = std::int64_t{1} << 30;  // generated kernels count in 32 bits
  if (std::max({s.m * s.k, s.k * s.n, s.m * s.n}) > kMax) return nullptr;
  const LibraryThreads alone(1);  // a primitive is made for a given number of threads
  try {
    const auto description = describe_product(matrix(s.dtype, s.m, s.k, s.a_stride, s.a_transposed),
                                              matrix(s.dtype, s.k, s.n, s.b_stride, s.b_transposed),
                                              matrix(s.dtype, s.m, s.n, s.c_stride, false));
    if (!description) return nullptr;
    return std::make_shared<const Primitive>(Primitive{*description, dnnl::matmul(*description)});
  } catch (const dnnl::error&) {
    return nullptr;  // no kernel for it
  }
}

// Kernels are generated once. They are dropped when there are too many.
std::shared_ptr<const Primitive> primitive_for(const Sizes& sizes) {
  constexpr std::size_t kMax = 512;
  static std::mutex mutex;
  static auto& known = *new std::map<Sizes, std::shared_ptr<const Primitive>>;  // not destroyed: threads may outlive it
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(sizes); found != known.end()) return found->second;
  }
  auto made = make(sizes);
  const std::lock_guard lock(mutex);
  if (known.size() >= kMax) known.clear();
  return known.emplace(sizes, std::move(made)).first->second;
}

template <typename T>
Status execute(const Primitive& primitive, const Product<T>& p, void* room) {
  const auto& description = primitive.description;
  const auto memory = [](const dnnl::memory::desc& desc, const void* data) {
    return dnnl::memory(desc, cpu_engine(), const_cast<void*>(data));
  };
  try {
    dnnl::stream stream(cpu_engine());
    primitive.matmul.execute(stream, {{DNNL_ARG_SRC, memory(description.src_desc(), p.a.data)},
                                      {DNNL_ARG_WEIGHTS, memory(description.weights_desc(), p.b.data)},
                                      {DNNL_ARG_DST, memory(description.dst_desc(), p.c)},
                                      {DNNL_ARG_SCRATCHPAD, memory(description.scratchpad_desc(), room)}});
    stream.wait();
  } catch (const dnnl::error& error) {
    return internal_error(std::string("oneDNN: ") + error.what());
  } catch (const std::bad_alloc&) {
    return resource_exhausted("out of memory");
  }
  return {};
}

}  // namespace

bool has_half_products(ir::DType dtype) {
  const auto works = [](ir::DType type) {
    constexpr std::int64_t kSize = 64;
    const HalfProduct p{.m = kSize,
                        .n = kSize,
                        .k = kSize,
                        .a = {nullptr, kSize, false},
                        .b = {nullptr, kSize, false},
                        .c = nullptr,
                        .c_stride = kSize};
    return primitive_for(Sizes(type, p)) != nullptr;
  };
  static const bool has_bf16 = works(ir::DType::bf16), has_f16 = works(ir::DType::f16);
  return dtype == ir::DType::bf16 ? has_bf16 : dtype == ir::DType::f16 && has_f16;
}

Status multiply_half_here(Run& run, ir::DType dtype, const HalfProduct& product) {
  const auto primitive = primitive_for(Sizes(dtype, product));
  if (!primitive) return unimplemented("oneDNN has no kernel for this product of 16-bit floats");
  BURN_TRY(const auto room, run.pool.allocate(primitive->description.scratchpad_desc().get_size()));
  return execute(*primitive, product, room->data());
}

bool multiply_generated(const Product<float>& product) {
  if (product.alpha != 1 || product.beta != 0) return false;
  const auto primitive = primitive_for(Sizes(ir::DType::f32, product));
  if (!primitive) return false;
  // Workspace of the thread: copies of blocks of an operand, some hundred KiB.
  constexpr std::size_t kLine = 64, kMax = std::size_t{8} << 20;
  const auto size = (primitive->description.scratchpad_desc().get_size() + kLine - 1) / kLine * kLine;
  if (size > kMax) return false;
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  thread_local std::unique_ptr<std::byte, Free> room;
  thread_local std::size_t room_size = 0;
  if (room_size < size) {
    room_size = 0;
    room.reset(static_cast<std::byte*>(std::aligned_alloc(kLine, size)));
    if (!room) return false;
    room_size = size;
  }
  return execute(*primitive, product, room.get()).ok();
}

Status multiply_half(Run& run, ir::DType dtype, const HalfProduct& product, HalfSplit cut) {
  constexpr std::int64_t kTile = 64, kSmall = 1 << 20;  // what kernels compute at once; not worth a second thread
  const auto work = static_cast<double>(product.m) * static_cast<double>(product.n) * static_cast<double>(product.k);
  const auto parts = std::max<std::int64_t>(
      1, std::min<std::int64_t>(thread_count(), static_cast<std::int64_t>(std::min(work / kSmall, 1e6))));
  const auto bands = cut == HalfSplit::rows      ? parts
                     : cut == HalfSplit::columns ? 1
                                                 : row_bands(product.m, product.n, parts);
  const auto stripes = parts / bands;
  const auto step = [](std::int64_t size, std::int64_t pieces) {
    return ((size + pieces - 1) / pieces + kTile - 1) / kTile * kTile;
  };
  const auto rows = step(product.m, bands), columns = step(product.n, stripes);
  std::mutex mutex;
  Status status;
  parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) {
      const auto row = i / stripes * rows, column = i % stripes * columns;
      if (row >= product.m || column >= product.n) continue;
      const auto part =
          part_of(product, row, std::min(rows, product.m - row), column, std::min(columns, product.n - column));
      if (auto result = multiply_half_here(run, dtype, part); !result.ok()) {
        const std::lock_guard lock(mutex);
        status = std::move(result);
      }
    }
  });
  return status;
}

}  // namespace burn::backends::cpu
