#include "compile/lower/value_storage.h"

#include <algorithm>

#include <fmt/format.h>

#include "compile/lower/output_buffers.h"
#include "ir/node_errors.h"

namespace burn::compile {

ValueStorage::ValueStorage(const ir::Program& program, const Plan& plan, CurrentStep& step)
    : program_(program),
      plan_(plan),
      step_(step),
      views_(find_views(program, layouts_of(program))),
      places_(places_inside(program, views_)),
      block_of_(program.values.size(), kNone),
      output_of_(program.values.size(), kNone),
      last_use_of_base_(find_last_uses_of_bases()) {}

// Per value: the last step that reads it or a view of it, if it is no view itself.
std::vector<std::int32_t> ValueStorage::find_last_uses_of_bases() const {
  std::vector<std::int32_t> last(program_.values.size(), Plan::kUnused);
  for (std::size_t v = 0; v < last.size(); ++v) {
    if (views_[v].base.is_input()) continue;
    auto& of_base = last[static_cast<std::size_t>(views_[v].base.index())];
    of_base = std::max(of_base, plan_.value_last_use[v]);
  }
  for (const auto& [part, place] : places_) {  // parts before what they are in
    auto& of_whole = last[static_cast<std::size_t>(place.whole.index())];
    if (place.lies_there) of_whole = std::max(of_whole, last[static_cast<std::size_t>(part)]);
  }
  return last;
}

std::vector<OutputSource> ValueStorage::assign_outputs() {
  return compile::assign_outputs(program_, views_, output_of_);
}

ValueStorage::Found ValueStorage::find(ir::Ref value) {
  if (const auto* scalar = std::get_if<ir::Scalar>(&program_.maker_of(value).op))
    return {{Address::Base::bindings, 0, 16 + 8 * scalar->slot}};
  if (const auto word = bound_commits_.find(value.index()); word != bound_commits_.end()) return {word->second};
  if (const auto output = output_of(value); output != kNone)
    return {step_.uses.to_read({Address::Base::output, output, 0})};
  if (const auto place = places_.find(value.index()); place != places_.end() && place->second.lies_there) {
    const auto whole = find(place->second.whole).address;
    const auto size = static_cast<std::int64_t>(ir::size_of(program_.type_of(value).dtype));
    return {{whole.base, whole.index, whole.offset + size * place->second.offset}};
  }
  auto& block = block_of_[static_cast<std::size_t>(value.index())];
  const bool is_new = block == kNone;
  if (is_new) block = add_block(program_.type_of(value).num_bytes());
  lifetimes_[static_cast<std::size_t>(block)].last = step_.number;
  return {step_.uses.to_read({Address::Base::block, block, 0}), is_new};
}

std::int32_t ValueStorage::add_block(std::size_t bytes) {
  lifetimes_.push_back({bytes, step_.number, step_.number});
  node_of_block_.push_back(step_.node);
  return static_cast<std::int32_t>(lifetimes_.size()) - 1;
}

const PlaceInside* ValueStorage::place_of(ir::Ref value) const {
  const auto found = places_.find(value.index());
  return found == places_.end() || found->second.lies_there ? nullptr : &found->second;
}

bool ValueStorage::is_in_place(ir::Ref operand) const {
  if (operand.is_input() || view_of(operand).base.is_input()) return false;
  const auto found = places_.find(view_of(operand).base.index());
  return found != places_.end() &&
         &program_.maker_of(found->second.whole) == &program_.nodes[static_cast<std::size_t>(step_.node)] &&
         (found->second.lies_there || in_place_values_.contains(found->first));
}

bool ValueStorage::lie_where(ir::Ref operand, ir::Ref result) {
  if (operand.is_input()) return false;
  const auto &from = view_of(operand), &to = view_of(result);
  if (from.base.is_input() || to.base != result || from.offset != 0) return false;
  const auto &type = program_.type_of(operand), &made = program_.type_of(result);
  const auto base = static_cast<std::size_t>(from.base.index());
  const auto reads = [&](ir::Ref ref) { return !ref.is_input() && view_of(ref).base == from.base; };
  const bool is_last = last_use_of_base_[base] <= step_.number &&
                       std::ranges::count_if(plan_.steps[static_cast<std::size_t>(step_.number)].reads, reads) == 1;
  const bool is_whole = is_contiguous(type.shape, from.strides) && is_contiguous(made.shape, to.strides) &&
                        type.num_bytes() == made.num_bytes() &&
                        program_.type_of(from.base).num_bytes() == type.num_bytes();
  const bool is_own = block_of_[base] != kNone && output_of_[base] == kNone && output_of(result) == kNone &&
                      !in_place_values_.contains(from.base.index()) && !places_.contains(result.index());
  if (!is_last || !is_whole || !is_own) return false;
  block_of_[static_cast<std::size_t>(result.index())] = block_of_[base];
  return true;
}

void ValueStorage::hold_blocks_until(std::int32_t end) {
  for (const auto& use : step_.uses.of_all()) {
    if (use.where.base == Address::Base::block) held_until_.emplace_back(use.where.index, end);
  }
}

std::vector<Lifetime> ValueStorage::take_lifetimes() {
  for (const auto& [block, end] : held_until_) {
    auto& life = lifetimes_[static_cast<std::size_t>(block)];
    life.last = std::max(life.last, end);
  }
  return std::move(lifetimes_);
}

Status ValueStorage::check_sizes(const std::vector<Lifetime>& blocks, std::uint64_t most) const {
  for (std::size_t b = 0; most > 0 && b < blocks.size(); ++b) {
    if (blocks[b].bytes <= most) continue;
    const auto value = std::ranges::find(block_of_, static_cast<std::int32_t>(b));
    const auto& maker = value == block_of_.end()
                            ? program_.nodes[static_cast<std::size_t>(node_of_block_[b])]
                            : program_.maker_of(ir::Ref::value(static_cast<std::int32_t>(value - block_of_.begin())));
    return ir::at_node(resource_exhausted(fmt::format("out of memory: {} bytes are wanted at once, {} are the most "
                                                      "that the device allocates",
                                                      blocks[b].bytes, most)),
                       maker);
  }
  return {};
}

}  // namespace burn::compile
