#include "backends/cuda/graphs.h"

#include <algorithm>

namespace burn::backends::cuda {
namespace {

std::uint64_t hash(std::span<const CUdeviceptr> addresses) {
  std::uint64_t result = 0x9E3779B97F4A7C15;
  for (const auto address : addresses) result = (result ^ address) * 0xBF58476D1CE4E5B9 + (result >> 29);
  return result;
}

}  // namespace

CUgraphExec Graphs::find(std::uint64_t program, std::span<const CUdeviceptr> addresses) {
  const auto found = programs_.find(program);
  if (found == programs_.end()) return nullptr;
  auto& of = found->second;
  of.last_use = ++uses_;
  for (std::size_t i = 0; i < of.captured.size(); ++i) {
    if (!std::ranges::equal(of.captured[i].addresses, addresses)) continue;
    std::rotate(of.captured.begin(), of.captured.begin() + static_cast<std::ptrdiff_t>(i),
                of.captured.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    return of.captured[0].graph;
  }
  return nullptr;
}

bool Graphs::is_repeated(std::uint64_t program, std::span<const CUdeviceptr> addresses) {
  make_room();
  auto& of = programs_[program];
  of.last_use = ++uses_;
  const auto mark = hash(addresses);
  if (std::ranges::find(of.seen, mark) != of.seen.end()) return true;
  if (of.seen.size() == kMostSeen) of.seen.erase(of.seen.begin());
  of.seen.push_back(mark);
  return false;
}

void Graphs::keep(std::uint64_t program, std::span<const CUdeviceptr> addresses, CUgraphExec graph) {
  auto& of = programs_[program];
  if (of.captured.size() == kMostOfOne) {
    driver().cuGraphExecDestroy(of.captured.back().graph);
    of.captured.pop_back();
  }
  of.captured.insert(of.captured.begin(), {{addresses.begin(), addresses.end()}, graph});
}

// The program that was not run for the longest time goes.
void Graphs::make_room() {
  if (programs_.size() < kMostPrograms) return;
  const auto oldest = std::ranges::min_element(programs_, {}, [](const auto& entry) { return entry.second.last_use; });
  for (const auto& captured : oldest->second.captured) driver().cuGraphExecDestroy(captured.graph);
  programs_.erase(oldest);
}

void Graphs::clear() {
  for (const auto& [program, of] : programs_) {
    for (const auto& captured : of.captured) driver().cuGraphExecDestroy(captured.graph);
  }
  programs_.clear();
}

}  // namespace burn::backends::cuda
