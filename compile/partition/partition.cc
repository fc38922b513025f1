#include "compile/partition/partition.h"

#include <fmt/format.h>

#include "compile/partition/sweep.h"

namespace burn::compile::partition {
namespace {

Status check(const ir::Program& program, std::span<const Layout> inputs, int members,
             std::span<const std::optional<Layout>> wanted) {
  if (members < 1 || members > ir::kMaxMembers)
    return invalid_argument(fmt::format("a group has 1 to {} members, not {}", ir::kMaxMembers, members));
  if (inputs.size() != program.inputs.size())
    return invalid_argument(fmt::format("{} layouts for {} inputs", inputs.size(), program.inputs.size()));
  if (!wanted.empty() && wanted.size() != program.outputs.size())
    return invalid_argument(fmt::format("{} layouts for {} outputs", wanted.size(), program.outputs.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto status = check_layout(program.inputs[i].type, inputs[i], members);
    if (!status.ok()) return status.with_context(fmt::format("input {}", i));
  }
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    if (!wanted[k]) continue;
    const auto status = check_layout(program.type_of(program.outputs[k]), *wanted[k], members);
    if (!status.ok()) return status.with_context(fmt::format("output {}", k));
  }
  return {};
}

}  // namespace

Result<Partitioned> partition(const ir::Program& program, std::span<const Layout> inputs, int members,
                              std::span<const std::optional<Layout>> wanted) {
  BURN_RETURN_IF_ERROR(check(program, inputs, members, wanted));
  Partitioned done;
  if (members == 1) {
    done.members.push_back(std::make_shared<const ir::Program>(program));
    done.outputs.resize(program.outputs.size());
    return done;
  }
  BURN_TRY(const auto plan, make_plan(program, inputs, members, wanted));
  Writer writer(program, plan, members);
  BURN_RETURN_IF_ERROR(writer.write());
  done.members = writer.finish();
  done.conversions = writer.take_conversions();
  for (const auto& form : plan.outputs) done.outputs.push_back(form.layout);
  return done;
}

std::string to_string(const Partitioned& partitioned) {
  std::string text;
  for (const auto& conversion : partitioned.conversions) {
    text += fmt::format("{} {} bytes", conversion.kind, conversion.bytes);
    text += conversion.site.file ? fmt::format("  ; {}\n", to_string(conversion.site)) : "\n";
  }
  for (std::size_t k = 0; k < partitioned.outputs.size(); ++k)
    text += fmt::format("output {} {}\n", k, to_string(partitioned.outputs[k]));
  return text + to_string(*partitioned.members.front());
}

}  // namespace burn::compile::partition
