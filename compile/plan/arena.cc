#include "compile/plan/arena.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace burn::compile {
namespace {

// A range of bytes of the arena that is in use from step `first` to step `last`.
struct Taken {
  std::uint64_t begin, end;
  std::int32_t first, last;
};

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + ArenaPlan::kAlignment - 1) / ArenaPlan::kAlignment * ArenaPlan::kAlignment;
}

// The first offset from `begin` on at which `bytes` bytes are within one page or start at the beginning of one.
std::uint64_t within_page(std::uint64_t begin, std::uint64_t bytes, std::uint64_t page) {
  if (page == 0 || bytes == 0 || begin % page + bytes <= page || begin % page == 0) return begin;
  return (begin / page + 1) * page;
}

}  // namespace

ArenaPlan plan_arena(std::span<const Lifetime> lifetimes, std::uint64_t page) {
  ArenaPlan plan;
  plan.offsets.assign(lifetimes.size(), 0);
  std::vector<std::size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return lifetimes[i].bytes; });

  std::vector<Taken> taken;  // sorted by `begin`
  for (const auto i : order) {
    const auto& life = lifetimes[i];
    const auto bytes = aligned(life.bytes);
    if (bytes == 0) continue;
    std::uint64_t begin = 0;
    for (const auto& other : taken) {
      if (other.last < life.first || life.last < other.first) continue;
      if (begin + bytes <= other.begin) break;
      begin = within_page(std::max(begin, other.end), bytes, page);
    }
    const Taken mine{begin, begin + bytes, life.first, life.last};
    taken.insert(std::ranges::upper_bound(taken, begin, {}, &Taken::begin), mine);
    plan.offsets[i] = static_cast<std::int64_t>(begin);
    plan.bytes = std::max(plan.bytes, mine.end);
  }
  return plan;
}

ArenaPlan plan_arena(std::span<const Lifetime> lifetimes, const ReuseLimits& apart, std::uint64_t page) {
  ArenaPlan plan;
  plan.offsets.reserve(lifetimes.size());
  bool is_small = true;
  for (const auto& life : lifetimes) {
    const auto begin = within_page(plan.bytes, aligned(life.bytes), page);
    is_small = life.bytes <= apart.most && begin + aligned(life.bytes) <= apart.most;
    if (!is_small) break;
    plan.offsets.push_back(static_cast<std::int64_t>(begin));
    plan.bytes = begin + aligned(life.bytes);
  }
  if (is_small) return plan;
  plan = plan_arena(lifetimes, page);
  if (apart.steps == 0) return plan;
  std::vector<Lifetime> longer(lifetimes.begin(), lifetimes.end());
  for (auto& life : longer) life.last += std::min(apart.steps, std::numeric_limits<std::int32_t>::max() - life.last);
  auto later = plan_arena(longer, page);
  return later.bytes <= plan.bytes + apart.extra ? later : plan;
}

}  // namespace burn::compile
