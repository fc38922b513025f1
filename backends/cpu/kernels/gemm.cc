#include "backends/cpu/kernels/gemm.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <limits>
#include <type_traits>

#include <cblas.h>
#include <dnnl.h>
#include <fmt/format.h>

#include "backends/cpu/kernels/dot_products.h"
#include "backends/cpu/kernels/half_products.h"
#include "backends/cpu/kernels/integer_products.h"
#include "backends/cpu/kernels/openblas.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/tuning.h"
#include "backends/interrupt.h"

namespace burn::backends::cpu {
namespace {

constexpr std::int64_t kBlasMax = std::numeric_limits<blasint>::max();
constexpr std::int64_t kSmall = 1 << 18;  // multiply-adds not worth a second thread; the same limit as OpenBLAS's

CBLAS_TRANSPOSE order(bool transposed) { return transposed ? CblasTrans : CblasNoTrans; }

template <typename T>
bool fits_blas(const Product<T>& p) {
  return std::max({p.m, p.n, p.k, p.a.stride, p.b.stride, p.c_stride}) <= kBlasMax;
}

template <typename T>
void call_blas(const Product<T>& p) {
  const auto i = [](std::int64_t size) { return static_cast<blasint>(size); };
  if constexpr (std::is_same_v<T, float>) {
    cblas_sgemm(CblasRowMajor, order(p.a.transposed), order(p.b.transposed), i(p.m), i(p.n), i(p.k), p.alpha, p.a.data,
                i(p.a.stride), p.b.data, i(p.b.stride), p.beta, p.c, i(p.c_stride));
  } else {
    cblas_dgemm(CblasRowMajor, order(p.a.transposed), order(p.b.transposed), i(p.m), i(p.n), i(p.k), p.alpha, p.a.data,
                i(p.a.stride), p.b.data, i(p.b.stride), p.beta, p.c, i(p.c_stride));
  }
}

// OpenBLAS selects its kernels by the processor's model when it is loaded. A model that is newer than the library gets
// the kernels of its oldest processors, at a fifth of the speed, although it could run better ones. Runs before main().
[[maybe_unused]] const bool kernels_are_chosen = choose_openblas_kernels();

// False: oneDNN does not support it.
bool call_onednn(const Product<float>& p) {
  const auto letter = [](bool transposed) { return transposed ? 'T' : 'N'; };
  return dnnl_sgemm(letter(p.a.transposed), letter(p.b.transposed), p.m, p.n, p.k, p.alpha, p.a.data, p.a.stride,
                    p.b.data, p.b.stride, p.beta, p.c, p.c_stride) == dnnl_success;
}

// Row by row of the result, so that the inner loop runs over contiguous memory.
template <typename T>
void multiply_plainly(const Product<T>& p) {
  const auto at = [](const Matrix<T>& x, std::int64_t i, std::int64_t j) {
    return x.transposed ? x.data[j * x.stride + i] : x.data[i * x.stride + j];
  };
  InterruptMeter meter;
  for (std::int64_t i = 0; i < p.m; ++i) {
    T* row = p.c + i * p.c_stride;
    meter.add(p.k * p.n);
    if (p.beta == 0)
      std::fill_n(row, p.n, T{0});
    else
      for (std::int64_t j = 0; j < p.n; ++j) row[j] = static_cast<T>(row[j] * p.beta);
    for (std::int64_t k = 0; k < p.k; ++k) {
      const T factor = static_cast<T>(p.alpha * at(p.a, i, k));
      if (p.b.transposed) {
        for (std::int64_t j = 0; j < p.n; ++j) row[j] = static_cast<T>(row[j] + factor * at(p.b, k, j));
      } else {
        const T* from = p.b.data + k * p.b.stride;
        for (std::int64_t j = 0; j < p.n; ++j) row[j] = static_cast<T>(row[j] + factor * from[j]);
      }
    }
  }
}

// With fewer columns most of what multiply_integers() computes at once would be wasted; with fewer rows copying the
// second operand does not pay.
template <typename T>
bool is_worth_panels(const Product<T>& p) {
  constexpr std::int64_t kFewestColumns = 4, kFewestRows = sizeof(T) == 1 ? 2 : 8;
  return p.k > 0 && p.n >= kFewestColumns && p.m >= kFewestRows && p.alpha == 1 && p.beta == 0;
}

// The bits of products and sums do not depend on signs.
template <typename T>
Product<std::make_unsigned_t<T>> as_unsigned(const Product<T>& p) {
  using Unsigned = std::make_unsigned_t<T>;
  const auto matrix = [](const Matrix<T>& x) {
    return Matrix<Unsigned>{reinterpret_cast<const Unsigned*>(x.data), x.stride, x.transposed};
  };
  return {.m = p.m,
          .n = p.n,
          .k = p.k,
          .a = matrix(p.a),
          .b = matrix(p.b),
          .c = reinterpret_cast<Unsigned*>(p.c),
          .c_stride = p.c_stride};
}

// A library cannot be interrupted: what would take it longer than some tenths of a second is passed to it in bands.
template <typename T>
void multiply_in_steps(const Product<T>& p, Library library) {
  constexpr double kAtOnce = 8e9;  // multiply-adds
  constexpr std::int64_t kMinRows = 256;
  const double work = static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  const auto steps = static_cast<std::int64_t>(std::min(work / kAtOnce, 1e9)) + 1;
  const auto rows = std::max(kMinRows, (p.m / steps + 15) / 16 * 16);
  for (std::int64_t row = 0; row < p.m; row += rows) {
    throw_if_interrupted();
    multiply_here(part_of(p, row, std::min(rows, p.m - row), 0, p.n), library);
  }
}

// Each thread computes one part of the result, in `bands` bands of rows.
template <typename T>
void multiply_parts(const Product<T>& p, std::int64_t parts, std::int64_t bands, Library library) {
  constexpr std::int64_t kTile = 16;  // bands are multiples of what the inner kernels compute at once
  const auto stripes = parts / bands;
  const auto step = [](std::int64_t size, std::int64_t pieces) {
    return ((size + pieces - 1) / pieces + kTile - 1) / kTile * kTile;
  };
  const auto rows = step(p.m, bands), columns = step(p.n, stripes);
  parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) {
      const auto row = i / stripes * rows, column = i % stripes * columns;
      if (row >= p.m || column >= p.n) continue;
      multiply_in_steps(part_of(p, row, std::min(rows, p.m - row), column, std::min(columns, p.n - column)), library);
    }
  });
}

// A size to within a quarter, in 8 bits: choices are made for classes of sizes, as otherwise every step of a growing
// sequence would be timed.
std::uint64_t size_class(std::int64_t size) {
  const auto width = std::bit_width(static_cast<std::uint64_t>(size));
  const auto top = width <= 3 ? size << (3 - width) : size >> (width - 3);
  return static_cast<std::uint64_t>(width) << 2 | (static_cast<std::uint64_t>(top) & 3);
}

}  // namespace

std::int64_t row_bands(std::int64_t m, std::int64_t n, std::int64_t parts) {
  std::int64_t best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t bands = 1; bands <= parts; ++bands) {
    if (parts % bands != 0) continue;
    const double cost = static_cast<double>(m) / static_cast<double>(bands) +
                        static_cast<double>(n) * static_cast<double>(bands) / static_cast<double>(parts);
    if (cost < least) {
      best = bands;
      least = cost;
    }
  }
  return best;
}

template <typename T>
ProductCode product_code(const Product<T>& p, std::int64_t batch, int kind, std::size_t ways) {
  return size_class(p.m) | size_class(p.n) << 8 | size_class(p.k) << 16 | size_class(batch) << 24 |
         static_cast<std::uint64_t>(p.a.transposed) << 32 | static_cast<std::uint64_t>(p.b.transposed) << 33 |
         static_cast<std::uint64_t>(ways) << 34 | static_cast<std::uint64_t>(kind) << 40;
}

namespace {
// The entry for a code, code << 8 | choice + 1; a later one replaces an earlier one in the same place.
std::atomic<std::uint64_t>& place_of(ProductCode code) {
  static std::array<std::atomic<std::uint64_t>, 1024> known{};
  return known[(code * 0x9e3779b97f4a7c15u) >> 54];
}
}  // namespace

int known_choice(ProductCode code) {
  const auto entry = place_of(code).load(std::memory_order_relaxed);
  return entry >> 8 == code ? static_cast<int>(entry & 255) - 1 : kNoChoiceYet;
}

int make_choice(ProductCode code, std::span<const std::string_view> names, const std::function<Status(int)>& run) {
  const int chosen = autotune().choose(
      fmt::format("matmul {} {:x} of {}", code >> 40 == 0 ? "f32" : "16-bit", code, names.size()), names, run);
  place_of(code).store(code << 8 | static_cast<std::uint64_t>(chosen + 1), std::memory_order_relaxed);
  return chosen;
}

bool is_there(Library library) { return library != Library::tiles || !dot_tiles<float>().empty(); }

template <typename T>
void multiply_here(const Product<T>& p, [[maybe_unused]] Library library) {
  if (p.m == 0 || p.n == 0) return;
  if constexpr (std::is_same_v<T, float>) {
    if (p.k > 0 && library == Library::tiles && is_there(library) && p.alpha == 1 && p.beta == 0 &&
        multiply_by_tiles(dot_tiles<float>().front(), p).ok())
      return;
    if (p.k > 0 && library == Library::generated && multiply_generated(p)) return;
    if (p.k > 0 && library != Library::openblas && call_onednn(p)) return;
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (p.k > 0 && fits_blas(p)) return call_blas(p);
  } else {
    if (is_worth_panels(p)) return multiply_integers(as_unsigned(p));
  }
  multiply_plainly(p);
}

template <typename T>
void multiply(const Product<T>& p) {
  const double work = work_of(p);
  const auto parts = std::max<std::int64_t>(
      1, std::min<std::int64_t>(thread_count(), static_cast<std::int64_t>(std::min(work / kSmall, 1e6))));
  const auto bands = row_bands(p.m, p.n, parts);
  if constexpr (std::is_same_v<T, float>) {
    if (work >= kWorthTiming) {
      // By the cut with the least to read, by rows alone, by columns alone: each with every library. Tiles have a cut
      // of their own.
      static constexpr std::string_view kNames[] = {kLibraryNames[0],
                                                    kLibraryNames[1],
                                                    kLibraryNames[2],
                                                    kLibraryNames[3],
                                                    "openblas by rows",
                                                    "onednn by rows",
                                                    "onednn for its sizes by rows",
                                                    "openblas by columns",
                                                    "onednn by columns",
                                                    "onednn for its sizes by columns"};
      constexpr int kLibraries = std::size(kLibraryNames), kCutLibraries = kLibraries - 1;
      const std::int64_t cuts[] = {bands, parts, 1};
      const auto cut_of = [](int i) { return i < kLibraries ? 0 : 1 + (i - kLibraries) / kCutLibraries; };
      const auto library_of = [](int i) {
        return static_cast<Library>(i < kLibraries ? i : (i - kLibraries) % kCutLibraries);
      };
      const auto run = [&](int i) {
        if (library_of(i) == Library::tiles) return multiply_here(p, Library::tiles);
        multiply_parts(p, parts, cuts[cut_of(i)], library_of(i));
      };
      const auto run_once = [&](int i) {
        if (!is_there(library_of(i))) return unimplemented("this processor has no AVX-512");
        if (cut_of(i) > 0 && cuts[cut_of(i)] == bands) return unimplemented("as the first");
        run(i);
        return Status{};
      };
      run(choose_product(p, 1, 0, std::span(kNames).first(parts == 1 ? kLibraries : std::size(kNames)), run_once));
      return;
    }
  }
  multiply_parts(p, parts, bands, Library::openblas);
}

template <typename T>
Library library_for_batch(const Product<T>& p, std::int64_t batch, const std::function<void(Library)>& run) {
  if constexpr (!std::is_same_v<T, float>) return Library::openblas;
  const double work = work_of(p);
  if (work * static_cast<double>(batch) < kWorthTiming) return Library::openblas;
  return static_cast<Library>(choose_product(p, batch, 0, kLibraryNames, [&](int i) {
    if (!is_there(static_cast<Library>(i))) return unimplemented("this processor has no AVX-512");
    run(static_cast<Library>(i));
    return Status{};
  }));
}

#define BURN_INSTANTIATE(T)                                   \
  template void multiply<T>(const Product<T>&);               \
  template void multiply_here<T>(const Product<T>&, Library); \
  template Library library_for_batch<T>(const Product<T>&, std::int64_t, const std::function<void(Library)>&);
template ProductCode product_code(const Product<std::uint16_t>&, std::int64_t, int, std::size_t);
BURN_INSTANTIATE(float)
BURN_INSTANTIATE(double)
BURN_INSTANTIATE(std::int64_t)
BURN_INSTANTIATE(std::int32_t)
BURN_INSTANTIATE(std::int16_t)
BURN_INSTANTIATE(std::int8_t)
BURN_INSTANTIATE(std::uint64_t)
BURN_INSTANTIATE(std::uint32_t)
BURN_INSTANTIATE(std::uint16_t)
BURN_INSTANTIATE(std::uint8_t)
#undef BURN_INSTANTIATE

}  // namespace burn::backends::cpu
