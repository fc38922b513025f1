#include "compile/codegen/group_kernel.h"

#include <algorithm>

#include "compile/codegen/dialects/cuda_cpp.h"
#include "compile/codegen/group_memo.h"
#include "compile/codegen/target.h"
#include "compile/codegen/walks.h"

namespace burn::compile {
namespace {

bool same_memory(const Address& a, const Address& b) { return a.base == b.base && a.index == b.index; }

}  // namespace

Status emit_remembered(Emitter& emit, const ir::Program& program, const Group& group, std::span<const ir::Ref> results,
                       const PrintGroup& print) {
  const GroupPlan plan(emit, program, group, results);
  const auto key = GroupMemo::key(plan);
  if (!key) return print(emit, plan);
  auto& memo = emit.target().groups();
  if (const auto written = memo.find(*key)) {
    emit_again(emit, plan, *written);
    return {};
  }
  GroupRecorder recorder(emit, plan);
  BURN_RETURN_IF_ERROR(print(recorder, plan));
  if (auto written = recorder.take()) memo.keep(*key, std::move(written));
  return {};
}

void allow_in_place(Emitter& emit, const GroupPlan& plan, std::initializer_list<const View*> others) {
  const auto reads_of = [&](const Address& address) {
    const auto is_same = [&](const View& view) { return same_memory(view.address, address); };
    return std::ranges::count_if(plan.reads(), [&](const GroupOperand& read) { return is_same(read.view); }) +
           std::ranges::count_if(others, [&](const View* view) { return is_same(*view); });
  };
  for (const auto& read : plan.reads()) {
    if (read.kind != GroupOperand::Kind::full || read.counts || !read.view.is_contiguous() ||
        reads_of(read.view.address) != 1)
      continue;
    for (const auto& write : plan.writes()) {
      if (ir::size_of(write.view.dtype) == ir::size_of(read.view.dtype)) emit.allow_in_place(read.view, write.ref);
    }
  }
}

Argument walk_argument(const LoopDims& plan) {
  constexpr int kMaxRank = 8;
  std::vector<std::int64_t> words;  // as kernels/index.h lays a Walk out: the rank takes a word of its own
  words.push_back(plan.rank());
  const auto put = [&](const std::vector<std::int64_t>& dims) {
    words.insert(words.end(), dims.begin(), dims.end());
    words.insert(words.end(), static_cast<std::size_t>(kMaxRank) - dims.size(), 0);
  };
  put(plan.sizes);
  for (const auto& strides : plan.strides) put(strides);
  return Argument(std::as_bytes(std::span(words)));
}

std::string offsets_in(const LoopDims& plan, const std::string& walk, const std::string& position) {
  return cuda_cpp::offsets_in(plan.rank(), plan.is_narrow(), walk, position);
}

}  // namespace burn::compile
