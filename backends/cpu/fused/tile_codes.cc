#include "backends/cpu/fused/tile_codes.h"

#include <cstddef>
#include <type_traits>
#include <utility>

#include "compile/plan/guards.h"
#include "ir/attrs.h"

namespace burn::backends::cpu {
namespace {

template <typename T>
void put(std::string& key, T number) {
  static_assert(std::is_integral_v<T>);
  key.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

void put(std::string& key, const ir::Shape& shape) {
  put(key, static_cast<std::uint8_t>(shape.rank()));
  for (const auto size : shape) put(key, size);
}

}  // namespace

void TileCodes::number(ir::Ref ref, std::int32_t position) {
  (ref.is_input() ? inputs_ : values_)[static_cast<std::size_t>(ref.index())] = position;
}

// All that compile_group() looks at, with values by their positions: the types of reads; ops, types, levels and
// operands of members; which of them are results.
void TileCodes::write_key(const compile::Group& group, const compile::PlanStep& step) {
  key_.clear();
  put(key_, group.domain);
  put(key_, group.row_size);
  put(key_, static_cast<std::uint32_t>(step.reads.size()));
  std::int32_t position = 0;
  for (const auto ref : step.reads) {
    const auto& type = program_.type_of(ref);
    number(ref, position++);
    put(key_, static_cast<std::uint8_t>(type.dtype));
    put(key_, type.shape);
    const bool is_commit = !ref.is_input() && compile::is_commit(program_.maker_of(ref));
    put(key_, static_cast<std::uint8_t>(is_commit));
  }
  for (const auto& [n, level] : group.members) {
    const auto& node = program_.nodes[static_cast<std::size_t>(n)];
    const auto begin = key_.size();
    key_.resize(begin + ir::kMaxOpImage);
    key_.resize(begin + ir::write_image(node.op, reinterpret_cast<std::byte*>(key_.data()) + begin));
    put(key_, static_cast<std::uint8_t>(level));
    put(key_, static_cast<std::uint8_t>(program_.type_of(node).dtype));
    for (const auto ref : program_.operands_of(node)) put(key_, position_of(ref));
    number(ir::Ref::value(static_cast<std::int32_t>(node.first_value)), position++);
  }
  for (const auto ref : step.results) put(key_, position_of(ref));
}

Result<std::shared_ptr<const TileCode>> TileCodes::of(const compile::Group& group, const compile::PlanStep& step) {
  write_key(group, step);
  if (const auto known = codes_.find(key_); known != codes_.end()) return known->second;
  BURN_TRY(auto code, compile_group(program_, group, step));
  return codes_.emplace(key_, std::make_shared<const TileCode>(std::move(code))).first->second;
}

}  // namespace burn::backends::cpu
