#include "backends/collective/packed.h"

#include <algorithm>

namespace burn::backends {
namespace {

// How many calls, from the first on, are performed as one.
std::size_t packed_count(std::span<const CollectiveCall> calls, std::size_t piece) {
  std::size_t count = 0, bytes = 0;
  for (; count < calls.size(); ++count) {
    const auto here = calls[count].type.num_bytes();
    if (here > piece / 16 || bytes + here > piece) break;
    bytes += here;
  }
  return count;
}

// False: a member lacks an operand, or the group has ended; all members learn it.
bool perform_as_one(Collective& member, std::span<const CollectiveCall> calls, std::vector<std::byte>& memory) {
  std::size_t bytes = 0;
  Failure failed;
  for (const auto& call : calls) {
    bytes += call.type.num_bytes();
    if (!failed) failed = call.failed;
  }
  const auto dtype = calls[0].type.dtype;
  const ir::TensorType type{dtype, {static_cast<std::int64_t>(bytes / ir::size_of(dtype))}};
  if (failed) return member.perform({calls[0].op, type, {}, {}, failed}).ok();
  memory.resize(std::max(memory.size(), bytes));
  const auto all = std::span(memory).first(bytes);
  std::size_t at = 0;
  for (const auto& call : calls) {
    std::ranges::copy(call.operand, all.data() + at);
    at += call.operand.size();
  }
  if (!member.perform({calls[0].op, type, all, all}).ok()) return false;
  at = 0;
  for (const auto& call : calls) {
    std::ranges::copy(all.subspan(at, call.result.size()), call.result.data());
    at += call.result.size();
  }
  return true;
}

}  // namespace

std::vector<Status> perform_packed(Collective& member, std::span<const CollectiveCall> calls, std::size_t piece,
                                   std::vector<std::byte>& memory) {
  std::vector<Status> done;
  while (done.size() < calls.size()) {
    const auto rest = calls.subspan(done.size());
    const auto count = packed_count(rest, piece);
    if (count >= 2 && perform_as_one(member, rest.first(count), memory)) {
      done.resize(done.size() + count);
    } else {
      for (const auto& call : rest.first(std::max<std::size_t>(count, 1))) done.push_back(member.perform(call));
    }
  }
  return done;
}

}  // namespace burn::backends
