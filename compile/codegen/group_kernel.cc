#include "compile/codegen/group_kernel.h"

#include "compile/codegen/dialects/cuda_cpp.h"
#include "compile/codegen/group_memo.h"
#include "compile/codegen/target.h"
#include "compile/codegen/walks.h"

namespace burn::compile {

Status emit_group(Emitter& emit, const ir::Program& program, const Group& group, std::span<const ir::Ref> results) {
  const GroupPlan plan(emit, program, group, results);
  const auto print = [&](Emitter& to) { return group.has_rows() ? emit_rows(to, plan) : emit_elements(to, plan); };
  const auto key = GroupMemo::key(plan);
  if (!key) return print(emit);
  auto& memo = emit.target().groups();
  if (const auto written = memo.find(*key)) {
    emit_again(emit, plan, *written);
    return {};
  }
  GroupRecorder recorder(emit, plan);
  BURN_RETURN_IF_ERROR(print(recorder));
  if (auto written = recorder.take()) memo.keep(*key, std::move(written));
  return {};
}

Argument walk_argument(const WalkPlan& plan) {
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

std::string offsets_in(const WalkPlan& plan, const std::string& walk, const std::string& position) {
  return cuda_cpp::offsets_in(plan.rank(), plan.is_narrow(), walk, position);
}

}  // namespace burn::compile
