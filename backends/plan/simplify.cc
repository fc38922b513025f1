#include "backends/plan/simplify.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_map>

#include "ir/attrs.h"

namespace burn::backends {
namespace {

// Operands come before their readers, so one walk backwards reaches everything an output or an effect needs.
std::vector<bool> live_nodes(const ir::Program& program) {
  std::vector<bool> live(program.nodes.size());
  const auto mark = [&](ir::Ref ref) {
    if (!ref.is_input()) live[static_cast<std::size_t>(program.node_of(ref))] = true;
  };
  std::ranges::for_each(program.outputs, mark);
  for (std::size_t i = program.nodes.size(); i-- > 0;) {
    if (program.nodes[i].effect) live[i] = true;
    if (live[i]) std::ranges::for_each(program.operands_of(program.nodes[i]), mark);
  }
  return live;
}

// The op and its operands as bytes: equal bytes, equal results.
std::string key_of(const ir::Op& op, std::span<const ir::Ref> operands) {
  std::byte image[ir::kMaxOpImage];
  const auto size = ir::write_image(op, image);
  std::string key(reinterpret_cast<const char*>(image), size);
  key.append(reinterpret_cast<const char*>(operands.data()), operands.size_bytes());
  return key;
}

}  // namespace

ir::Program simplify(const ir::Program& program, bool merge_equal) {
  const auto live = live_nodes(program);
  std::vector<bool> has_output(program.nodes.size());
  for (const auto ref : program.outputs) {
    if (!ref.is_input()) has_output[static_cast<std::size_t>(program.node_of(ref))] = true;
  }

  ir::Program result;
  result.inputs = program.inputs;
  result.scalar_count = program.scalar_count;
  result.random_blocks = program.random_blocks;
  result.effect_count = program.effect_count;
  result.hash = program.hash;
  result.site_files = program.site_files;
  result.nodes.reserve(program.nodes.size());
  result.values.reserve(program.values.size());
  result.operands.reserve(program.operands.size());

  std::vector<ir::Ref> now(program.values.size());  // where a value went
  const auto moved = [&](ir::Ref ref) { return ref.is_input() ? ref : now[static_cast<std::size_t>(ref.index())]; };
  std::unordered_map<std::string, ir::Ref> known;
  for (std::size_t i = 0; i < program.nodes.size(); ++i) {
    if (!live[i]) continue;
    ir::Node node = program.nodes[i];
    const auto begin = result.operands.size();
    for (const auto ref : program.operands_of(node)) result.operands.push_back(moved(ref));
    const auto first = static_cast<std::uint32_t>(result.values.size());
    const auto place = ir::Ref::value(static_cast<std::int32_t>(first));
    const auto moves_to = [&](ir::Ref to) {
      for (std::uint32_t k = 0; k < node.value_count; ++k) now[node.first_value + k] = to.result(static_cast<int>(k));
    };
    if (merge_equal && !node.effect && !node.recompute) {
      const auto [found, is_new] = known.try_emplace(key_of(node.op, std::span(result.operands).subspan(begin)), place);
      if (!is_new && !has_output[i]) {  // outputs are distinct, so one stays a node of its own
        moves_to(found->second);
        result.operands.resize(begin);
        continue;
      }
    }
    moves_to(place);
    for (const auto& made : program.results_of(node))
      result.values.push_back({made.type, static_cast<std::int32_t>(result.nodes.size())});
    node.operand_begin = static_cast<std::uint32_t>(begin);
    node.first_value = first;
    result.nodes.push_back(std::move(node));
  }
  for (const auto ref : program.outputs) result.outputs.push_back(moved(ref));
  return result;
}

}  // namespace burn::backends
