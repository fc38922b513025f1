#include "backends/cpu/ops/half_products.h"

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>

#include "backends/cpu/ops/onednn.h"
#include "backends/cpu/parallel.h"

namespace burn::backends::cpu {
namespace {

struct Primitive {
  dnnl::matmul::primitive_desc description;
  dnnl::matmul matmul;
};

// What a kernel is generated for.
struct Sizes {
  ir::DType dtype;
  std::int64_t m, n, k, a_stride, b_stride, c_stride;
  bool a_transposed, b_transposed;
  auto operator<=>(const Sizes&) const = default;

  explicit Sizes(ir::DType type, const HalfProduct& p)
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
  const auto type = dtype == ir::DType::bf16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f16;
  return {{rows, columns}, type, transposed ? dnnl::memory::dims{1, stride} : dnnl::memory::dims{stride, 1}};
}

// Null: no kernel.
std::shared_ptr<const Primitive> make(const Sizes& s) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;  // generated kernels count in 32 bits
  if (std::max({s.m * s.k, s.k * s.n, s.m * s.n}) > kMost) return nullptr;
  const LibraryThreads alone(1);  // a primitive is made for a number of threads
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

// Kernels are generated once. Those of ever new sizes do not pile up.
std::shared_ptr<const Primitive> primitive_for(const Sizes& sizes) {
  constexpr std::size_t kMost = 512;
  static std::mutex mutex;
  static auto& known = *new std::map<Sizes, std::shared_ptr<const Primitive>>;  // of threads that outlive us
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(sizes); found != known.end()) return found->second;
  }
  auto made = make(sizes);
  const std::lock_guard lock(mutex);
  if (known.size() >= kMost) known.clear();
  return known.emplace(sizes, std::move(made)).first->second;
}

Status execute(Run& run, const Primitive& primitive, const HalfProduct& p) {
  const auto& description = primitive.description;
  const auto scratch = description.scratchpad_desc();
  BURN_TRY(const auto room, run.pool.allocate(scratch.get_size()));
  const auto memory = [](const dnnl::memory::desc& desc, const void* data) {
    return dnnl::memory(desc, cpu_engine(), const_cast<void*>(data));
  };
  try {
    dnnl::stream stream(cpu_engine());
    primitive.matmul.execute(stream, {{DNNL_ARG_SRC, memory(description.src_desc(), p.a.data)},
                                      {DNNL_ARG_WEIGHTS, memory(description.weights_desc(), p.b.data)},
                                      {DNNL_ARG_DST, memory(description.dst_desc(), p.c)},
                                      {DNNL_ARG_SCRATCHPAD, memory(scratch, room->data())}});
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
  return execute(run, *primitive, product);
}

Status multiply_half(Run& run, ir::DType dtype, const HalfProduct& product, HalfCut cut) {
  constexpr std::int64_t kTile = 64, kSmall = 1 << 20;  // what kernels compute at once; not worth a second thread
  const auto size = cut == HalfCut::rows ? product.m : product.n;
  const auto most = std::min<std::int64_t>(thread_count(), (size + kTile - 1) / kTile);
  const auto work = static_cast<double>(product.m) * static_cast<double>(product.n) * static_cast<double>(product.k);
  const auto parts = std::max<std::int64_t>(1, std::min(most, static_cast<std::int64_t>(std::min(work / kSmall, 1e6))));
  const auto step = ((size + parts - 1) / parts + kTile - 1) / kTile * kTile;
  std::mutex mutex;
  Status status;
  parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) {
      const auto first = i * step, count = std::min(step, size - first);
      if (count <= 0) continue;
      const auto part = cut == HalfCut::rows ? part_of(product, first, count, 0, product.n)
                                             : part_of(product, 0, product.m, first, count);
      if (auto result = multiply_half_here(run, dtype, part); !result.ok()) {
        const std::lock_guard lock(mutex);
        status = std::move(result);
      }
    }
  });
  return status;
}

}  // namespace burn::backends::cpu
