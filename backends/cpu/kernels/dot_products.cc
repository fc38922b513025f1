#include "backends/cpu/kernels/dot_products.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "backends/cpu/kernels/cast.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/workers.h"
#include "backends/interrupt.h"

namespace burn::backends::cpu {
namespace {

// How much is packed at once, for the second-level cache: 1 MiB of the right operand, and of the left one 512 KiB of
// bf16 or 1 MiB of f32. The depth is 1,024 for both types.
template <typename T>
struct PackedSizes;
template <>
struct PackedSizes<std::uint16_t> {
  static constexpr std::int64_t kSteps = 32, kRight = 16, kLeft = 8;  // panels
  static constexpr std::int64_t kPieces = 4;                          // of a thread's cell
};
template <>
struct PackedSizes<float> {
  static constexpr std::int64_t kSteps = 64, kRight = 8, kLeft = 8;
  static constexpr std::int64_t kPieces = 8;
};
// Steps of all panels.
template <typename T>
constexpr std::int64_t kRightOf = PackedSizes<T>::kRight * PackedSizes<T>::kSteps;
template <typename T>
constexpr std::int64_t kLeftOf = PackedSizes<T>::kLeft * PackedSizes<T>::kSteps;
constexpr std::int64_t kMaxRight = std::max(kRightOf<std::uint16_t>, kRightOf<float>);
constexpr std::int64_t kMaxLeft = std::max(kLeftOf<std::uint16_t>, kLeftOf<float>);
constexpr std::int64_t kMaxCell = 16;  // panels each way in a part of the result
constexpr std::int64_t kBlock = kPanelLines * kPanelLines;

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Memory for packed operands, 2 MiB, and for the sums of a cell whose depth is processed in several pieces, 1 MiB.
class Workspace {
 public:
  // Null: there is no memory.
  static std::unique_ptr<Workspace> make() {
    std::unique_ptr<std::byte, Free> memory(static_cast<std::byte*>(std::aligned_alloc(4096, kBytes)));
    return memory ? std::unique_ptr<Workspace>(new Workspace(std::move(memory))) : nullptr;
  }

  std::uint32_t* right() const { return reinterpret_cast<std::uint32_t*>(memory_.get()); }
  std::uint32_t* left() const { return right() + kMaxRight * kStepUnits; }
  float* sums() const { return reinterpret_cast<float*>(left() + kMaxLeft * kStepUnits); }

  // Identifies the content of right() by the number of its product, its first column and its depth.
  struct Held {
    std::uint64_t product = 0;
    std::int64_t column = 0, depth = 0;
    bool operator==(const Held&) const = default;
  };
  Held held;

 private:
  static constexpr std::size_t kBytes =
      sizeof(std::uint32_t) * kStepUnits * (kMaxRight + kMaxLeft) + sizeof(float) * kMaxCell * kMaxCell * kBlock;
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };

  explicit Workspace(std::unique_ptr<std::byte, Free> memory) : memory_(std::move(memory)) {}

  std::unique_ptr<std::byte, Free> memory_;
};

// Gives a thread a workspace while it computes. A thread of the pool has its own, which stays in its cache from one
// product to the next. Callers, of which there may be many, share a few.
class WorkspaceLease {
 public:
  WorkspaceLease() : workspace_(Workers::is_own_thread() ? std::move(own()) : shared().take()) {
    if (!workspace_) workspace_ = Workspace::make();
  }
  ~WorkspaceLease() {
    if (Workers::is_own_thread())
      own() = std::move(workspace_);
    else
      shared().give_back(std::move(workspace_));
  }
  WorkspaceLease(const WorkspaceLease&) = delete;
  WorkspaceLease& operator=(const WorkspaceLease&) = delete;

  Workspace* workspace() const { return workspace_.get(); }  // null: there is no memory

 private:
  struct Shared {
    static constexpr std::size_t kMax = 4;
    std::mutex mutex;
    std::vector<std::unique_ptr<Workspace>> workspaces;

    std::unique_ptr<Workspace> take() {
      const std::lock_guard lock(mutex);
      if (workspaces.empty()) return nullptr;
      auto workspace = std::move(workspaces.back());
      workspaces.pop_back();
      return workspace;
    }
    void give_back(std::unique_ptr<Workspace> workspace) {
      const std::lock_guard lock(mutex);
      if (workspace && workspaces.size() < kMax) workspaces.push_back(std::move(workspace));
    }
  };

  static std::unique_ptr<Workspace>& own() {
    thread_local std::unique_ptr<Workspace> workspace;
    return workspace;
  }
  static Shared& shared() {
    static auto& all = *new Shared;  // never destroyed: threads may outlive it
    return all;
  }

  std::unique_ptr<Workspace> workspace_;
};

// While it lives, the thread's registers are in use for tiles.
class UseOfTiles {
 public:
  explicit UseOfTiles(const DotTiles& tiles) : tiles_(tiles) { tiles_.begin(); }
  ~UseOfTiles() { tiles_.end(); }
  UseOfTiles(const UseOfTiles&) = delete;
  UseOfTiles& operator=(const UseOfTiles&) = delete;

 private:
  const DotTiles& tiles_;
};

// Numbers products of either type, as workspaces outlive them.
constinit std::atomic<std::uint64_t> products = 0;

// A part of the result: ranges of panels of its rows and columns.
struct Cell {
  std::int64_t row, rows, column, columns;
};

// Computes cells, on one thread.
template <typename T>
class CellProduct {
 public:
  CellProduct(const DotTiles& tiles, const Product<T>& product, std::uint64_t number, Workspace& workspace)
      : tiles_(tiles), p_(product), number_(number), workspace_(workspace), use_(tiles) {}

  void compute(const Cell& cell) {
    constexpr auto kMaxDepth = Limits::kSteps * kStepDepth<T>;
    for (std::int64_t at = 0; at < p_.k; at += kMaxDepth) {
      const auto size = std::min(kMaxDepth, p_.k - at);
      const Depth depth{at, size, ceil_div(size, kStepDepth<T>), at == 0, at + size == p_.k};
      hold_right(cell.column, cell.columns, depth);
      for (std::int64_t i = 0; i < cell.rows; i += Limits::kLeft)
        multiply(cell, depth, i, std::min(Limits::kLeft, cell.rows - i));
    }
  }

 private:
  using Limits = PackedSizes<T>;
  struct Depth {
    std::int64_t at, size, steps;
    bool is_first, is_last;
  };

  // Packs the right operand, unless it still is there from the previous cell.
  void hold_right(std::int64_t column, std::int64_t columns, const Depth& depth) {
    const Workspace::Held wanted{number_, column, depth.at};
    if (workspace_.held == wanted) return;
    meter_.add(columns * depth.steps * kStepUnits / 16);
    pack_right<T>({p_.b.data, p_.b.stride, !p_.b.transposed, p_.n, p_.k},
                  {column * kPanelLines, columns, depth.at, depth.steps}, workspace_.right());
    workspace_.held = wanted;
  }

  // How many panels of the left operand, from a row on, are read in place.
  std::int64_t panels_in_place(std::int64_t row) const {
    if (p_.a.transposed || (sizeof(T) == 2 && p_.k % kStepDepth<T> != 0)) return 0;
    const auto rows = std::max<std::int64_t>(p_.m - row, 0);
    return rows % kLeftLines<T> == 0 ? ceil_div(rows, kPanelLines) : rows / kPanelLines;
  }

  // Rows [first_row, first_row + rows) of a cell's panels by its columns, which are packed.
  void multiply(const Cell& cell, const Depth& depth, std::int64_t first_row, std::int64_t rows) {
    const auto row = (cell.row + first_row) * kPanelLines;
    const auto in_place = std::min(rows, panels_in_place(row));
    if (in_place < rows) {
      meter_.add((rows - in_place) * depth.steps * kStepUnits / 16);
      pack_left<T>({p_.a.data, p_.a.stride, p_.a.transposed, p_.m, p_.k},
                   {row + in_place * kPanelLines, rows - in_place, depth.at, depth.steps}, workspace_.left());
    }
    const auto left = [&](std::int64_t i) {
      if (i >= in_place) return LeftPanel::packed(workspace_.left() + (i - in_place) * depth.steps * kStepUnits);
      return LeftPanel::in_place(p_.a.data + (row + i * kPanelLines) * p_.a.stride + depth.at, p_.a.stride);
    };
    const bool keeps_sums = !depth.is_first || !depth.is_last;  // otherwise they are needed only for a moment
    for (std::int64_t j = 0; j < cell.columns; ++j) {
      for (std::int64_t i = 0; i < rows; ++i) {
        meter_.add(depth.steps * 64);
        const auto place = j * cell.rows + first_row + i;
        float* sums = workspace_.sums() + (keeps_sums ? place * kBlock : 0);
        tiles_.multiply({.left = left(i),
                         .right = workspace_.right() + j * depth.steps * kStepUnits,
                         .rows = std::min(kPanelLines, p_.m - row - i * kPanelLines),
                         .depth = depth.size,
                         .sums = sums,
                         .adds = !depth.is_first});
        if (depth.is_last) store(row + i * kPanelLines, (cell.column + j) * kPanelLines, sums);
      }
    }
  }

  // Writes a block of sums into the result, as far as the result extends.
  void store(std::int64_t row, std::int64_t column, const float* sums) {
    const auto rows = std::min(kPanelLines, p_.m - row), columns = std::min(kPanelLines, p_.n - column);
    for (std::int64_t i = 0; i < rows; ++i) {
      T* to = p_.c + (row + i) * p_.c_stride + column;
      if constexpr (std::is_same_v<T, float>)
        std::copy_n(sums + i * kPanelLines, columns, to);
      else
        round_(columns, to, sums + i * kPanelLines, 1);
    }
  }

  const DotTiles& tiles_;
  const Product<T>& p_;
  const std::uint64_t number_;
  Workspace& workspace_;
  const UseOfTiles use_;
  const CastLoop round_ = cast_loop(ir::DType::f32, ir::DType::bf16);
  InterruptMeter meter_;
};

}  // namespace

// Operands that two threads need are packed twice. So the result is cut into as many cells as there are threads, or
// more if these would be too large. Each cell is cut into pieces by rows, some of which faster threads may take: two
// threads of one core are half as fast as a thread that has a core to itself, and it is not known which they are.
template <typename T>
Status multiply_by_tiles(const DotTiles& tiles, const Product<T>& p) {
  using Limits = PackedSizes<T>;
  const auto number = ++products;
  const auto rows = ceil_div(p.m, kPanelLines), columns = ceil_div(p.n, kPanelLines);
  const auto threads = Workers::is_working() ? 1 : std::min<std::int64_t>(thread_count(), rows * columns);
  const auto bands = row_bands(p.m, p.n, threads);
  const bool is_cut = threads > 1 && p.k <= Limits::kSteps * kStepDepth<T>;
  const auto cell_columns = std::min(ceil_div(columns, threads / bands), Limits::kRight);
  const auto cell_rows = ceil_div(std::min(ceil_div(rows, bands), kMaxCell), is_cut ? Limits::kPieces : 1);
  const auto down = ceil_div(rows, cell_rows), across = ceil_div(columns, cell_columns);
  std::mutex mutex;
  Status status;
  parallel_for_each(down * across, [&](std::int64_t begin, std::int64_t end) {
    const WorkspaceLease lease;
    if (!lease.workspace()) {
      const std::lock_guard lock(mutex);
      status = resource_exhausted("no memory to pack the operands of a product");
      return;
    }
    CellProduct<T> cells(tiles, p, number, *lease.workspace());
    for (auto i = begin; i < end; ++i) {
      const auto row = i % down * cell_rows, column = i / down * cell_columns;
      cells.compute({row, std::min(cell_rows, rows - row), column, std::min(cell_columns, columns - column)});
    }
  });
  return status;
}

template Status multiply_by_tiles<std::uint16_t>(const DotTiles&, const Product<std::uint16_t>&);
template Status multiply_by_tiles<float>(const DotTiles&, const Product<float>&);

}  // namespace burn::backends::cpu
