#include "compile/partition/member_programs.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "ir/attrs.h"

namespace burn::compile::partition {
namespace {

bool is_same(const ir::Op& a, const ir::Op& b) {
  if (a.index() != b.index()) return false;
  std::array<std::byte, ir::kMaxOpImage> of_a, of_b;  // NOLINT: what is compared is written first
  const auto size = ir::write_image(a, of_a.data());
  return ir::write_image(b, of_b.data()) == size && std::memcmp(of_a.data(), of_b.data(), size) == 0;
}

}  // namespace

ir::Ref MemberPrograms::add_input(int member, const ir::TensorType& type, bool donated) {
  auto& here = at(member);
  if (!is_first_or_own(member)) {
    const auto& inputs = at(0).builder.program().inputs;
    if (here.inputs < inputs.size() && inputs[here.inputs].type == type && inputs[here.inputs].donated == donated)
      return ir::Ref::input(static_cast<std::int32_t>(here.inputs++));
    fork(here);
  }
  const auto ref = here.builder.add_input(type);
  if (donated) here.builder.donate(ref.index());
  return ref;
}

Result<ir::Ref> MemberPrograms::add(int member, const ir::Op& op, std::span<const ir::Ref> operands, ir::CallSite site,
                                    bool recompute) {
  auto& here = at(member);
  if (!is_first_or_own(member)) {
    const auto& first = at(0).builder.program();
    if (here.nodes < first.nodes.size()) {
      const auto& node = first.nodes[here.nodes];
      if (node.recompute == recompute && std::ranges::equal(first.operands_of(node), operands) &&
          is_same(node.op, op)) {
        ++here.nodes;
        return ir::Ref::value(static_cast<std::int32_t>(node.first_value));
      }
    }
    fork(here);
  }
  return here.builder.add(op, operands, site, recompute);
}

void MemberPrograms::fork(Member& member) {
  const auto& first = at(0).builder.program();
  for (std::size_t i = 0; i < member.inputs; ++i) {
    const auto ref = member.builder.add_input(first.inputs[i].type);
    if (first.inputs[i].donated) member.builder.donate(ref.index());
  }
  for (std::size_t n = 0; n < member.nodes; ++n) {
    const auto& node = first.nodes[n];
    const auto added = member.builder.add(node.op, first.operands_of(node), node.site, node.recompute);
    BURN_CHECK(added.ok(), "a node of one member's program is none of another's");
  }
  member.is_own = true;
}

std::vector<std::shared_ptr<const ir::Program>> MemberPrograms::finish(std::vector<std::vector<ir::Ref>> outputs,
                                                                       const std::shared_ptr<const void>& site_files) {
  const auto& first = at(0).builder.program();
  for (std::size_t m = 1; m < members_.size(); ++m) {
    auto& member = members_[m];
    const bool is_whole = member.inputs == first.inputs.size() && member.nodes == first.nodes.size();
    if (!member.is_own && !(is_whole && outputs[m] == outputs[0])) fork(member);
  }
  std::vector<std::shared_ptr<const ir::Program>> programs;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    if (m > 0 && !members_[m].is_own) {
      programs.push_back(programs.front());
      continue;
    }
    auto program = members_[m].builder.finish(std::move(outputs[m]));
    program.site_files = site_files;
    programs.push_back(std::make_shared<const ir::Program>(std::move(program)));
  }
  return programs;
}

}  // namespace burn::compile::partition
