// The baseline for matmul_f32_1024: the same product by calling the underlying libraries directly, once on their own
// threads and once on ours, each thread with a band of rows.
#include <cblas.h>
#include <dnnl.h>
#include <omp.h>

#include "backends/cpu/runtime/parallel.h"
#include "bench/bench.h"

namespace burn::bench {
namespace {

namespace cpu = backends::cpu;

constexpr std::int64_t kSize = 1024;

struct Operands {
  std::vector<float> a, b, c;
  Operands() : a(kSize * kSize), b(a.size()), c(a.size()) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = static_cast<float>(i % 97) / 97 - 0.5f;
      b[i] = static_cast<float>(i % 89) / 89 - 0.5f;
    }
  }
};

// Computes rows [begin, end) of the product.
using Product = void (*)(Operands& x, std::int64_t begin, std::int64_t end);

void by_openblas(Operands& x, std::int64_t begin, std::int64_t end) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<blasint>(end - begin), kSize, kSize, 1,
              x.a.data() + begin * kSize, kSize, x.b.data(), kSize, 0, x.c.data() + begin * kSize, kSize);
}

void by_onednn(Operands& x, std::int64_t begin, std::int64_t end) {
  dnnl_sgemm('N', 'N', end - begin, kSize, kSize, 1, x.a.data() + begin * kSize, kSize, x.b.data(), kSize, 0,
             x.c.data() + begin * kSize, kSize);
}

std::vector<double> rates(const Context& c, Product product, bool on_our_threads) {
  Operands x;
  const cpu::LibraryThreads threads(on_our_threads ? 1 : cpu::thread_count());
  const auto body = [&] {
    if (!on_our_threads) return product(x, 0, kSize);
    cpu::parallel_for(kSize, kSize / cpu::thread_count(),
                      [&](std::int64_t begin, std::int64_t end) { product(x, begin, end); });
  };
  return tera_per_second(repeat_batched(c, 4, body, [] {}), 2.0 * kSize * kSize * kSize);
}

}  // namespace

void add_raw_gemm(std::vector<Benchmark>& list) {
  const auto add = [&](const char* name, Product product, bool on_our_threads) {
    list.push_back({name, "TFLOP/s", "higher", [=](const Context& c) { return rates(c, product, on_our_threads); }});
  };
  add("raw_openblas_1024", by_openblas, false);
  add("raw_openblas_pool_1024", by_openblas, true);
  add("raw_onednn_1024", by_onednn, false);
  add("raw_onednn_pool_1024", by_onednn, true);
}

}  // namespace burn::bench
