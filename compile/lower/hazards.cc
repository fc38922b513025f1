#include "compile/lower/hazards.h"

#include <algorithm>
#include <functional>

namespace burn::compile {
namespace {

constexpr std::int32_t kNobody = -1;

// Bytes that every command uses all of or none of.
struct Piece {
  std::int32_t writer = kNobody;      // the last one
  std::vector<std::int32_t> readers;  // since then
};

// The bounds of all pieces, each once.
std::vector<std::uint64_t> bounds_of(std::span<const std::vector<MemoryUse>> uses) {
  std::vector<std::uint64_t> bounds;
  for (const auto& of_command : uses) {
    for (const auto& use : of_command) {
      if (use.begin >= use.end) continue;
      bounds.push_back(use.begin);
      bounds.push_back(use.end);
    }
  }
  std::ranges::sort(bounds);
  bounds.erase(std::ranges::unique(bounds).begin(), bounds.end());
  return bounds;
}

// Commands that others come after, as bits.
class Earlier {
 public:
  explicit Earlier(std::size_t commands) : words_((commands + 63) / 64), bits_(commands * words_) {}

  bool has(std::size_t command, std::size_t other) const {
    return (bits_[command * words_ + other / 64] >> (other % 64) & 1) != 0;
  }
  void add(std::size_t command, std::size_t other) {  // with all that the other comes after
    const auto mine = bits_.begin() + static_cast<std::ptrdiff_t>(command * words_);
    const auto theirs = bits_.begin() + static_cast<std::ptrdiff_t>(other * words_);
    std::transform(mine, mine + static_cast<std::ptrdiff_t>(words_), theirs, mine, std::bit_or());
    bits_[command * words_ + other / 64] |= std::uint64_t{1} << (other % 64);
  }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

}  // namespace

Predecessors order_commands(std::span<const std::vector<MemoryUse>> uses) {
  const auto bounds = bounds_of(uses);
  std::vector<Piece> pieces(bounds.size());
  const auto pieces_of = [&](const MemoryUse& use) {
    const auto first = std::ranges::lower_bound(bounds, use.begin) - bounds.begin();
    const auto last = std::ranges::lower_bound(bounds, use.end) - bounds.begin();
    return std::span(pieces).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
  };

  Predecessors result(uses.size());
  Earlier earlier(uses.size());
  std::vector<std::int32_t> waits;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const auto here = static_cast<std::int32_t>(i);
    waits.clear();
    for (const auto& use : uses[i]) {
      if (use.begin >= use.end) continue;
      for (const auto& piece : pieces_of(use)) {
        if (piece.writer != kNobody) waits.push_back(piece.writer);
        if (use.is_written) waits.insert(waits.end(), piece.readers.begin(), piece.readers.end());
      }
    }
    for (const bool is_written : {false, true}) {  // what it reads and writes, it has written
      for (const auto& use : uses[i]) {
        if (use.is_written != is_written || use.begin >= use.end) continue;
        for (auto& piece : pieces_of(use)) {
          if (is_written) {
            piece = {here, {}};
          } else if (piece.readers.empty() || piece.readers.back() != here) {
            piece.readers.push_back(here);
          }
        }
      }
    }
    std::ranges::sort(waits, std::greater{});
    waits.erase(std::ranges::unique(waits).begin(), waits.end());
    for (const auto other : waits) {  // the latest first: only these can come after others of them
      const auto before = static_cast<std::size_t>(other);
      if (earlier.has(i, before)) continue;
      earlier.add(i, before);
      result[i].push_back(other);
    }
  }
  return result;
}

double critical_path(const Predecessors& predecessors, std::span<const double> costs) {
  std::vector<double> done(predecessors.size());
  double all = 0;
  for (std::size_t i = 0; i < predecessors.size(); ++i) {
    for (const auto other : predecessors[i]) done[i] = std::max(done[i], done[static_cast<std::size_t>(other)]);
    done[i] += costs[i];
    all = std::max(all, done[i]);
  }
  return all;
}

}  // namespace burn::compile
