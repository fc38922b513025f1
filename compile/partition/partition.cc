#include "compile/partition/partition.h"

#include <fmt/format.h>

#include "compile/partition/sweep.h"

namespace burn::compile::partition {
namespace {

Status check(const ir::Program& program, std::span<const MeshLayout> inputs, const Mesh& mesh,
             std::span<const std::optional<MeshLayout>> wanted) {
  for (const auto axis : kMeshAxes) {
    if (const auto size = mesh.size(axis); size < 1 || size > ir::kMaxMembers)
      return invalid_argument(fmt::format("a group has 1 to {} members, not {}", ir::kMaxMembers, size));
  }
  if (inputs.size() != program.inputs.size())
    return invalid_argument(fmt::format("{} layouts for {} inputs", inputs.size(), program.inputs.size()));
  if (!wanted.empty() && wanted.size() != program.outputs.size())
    return invalid_argument(fmt::format("{} layouts for {} outputs", wanted.size(), program.outputs.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto status = check_layout(program.inputs[i].type, inputs[i], mesh);
    if (!status.ok()) return status.with_context(fmt::format("input {}", i));
  }
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    if (!wanted[k]) continue;
    const auto status = check_layout(program.type_of(program.outputs[k]), *wanted[k], mesh);
    if (!status.ok()) return status.with_context(fmt::format("output {}", k));
  }
  return {};
}

}  // namespace

Result<Partitioned> partition(const ir::Program& program, std::span<const MeshLayout> inputs, const Mesh& mesh,
                              std::span<const std::optional<MeshLayout>> wanted) {
  BURN_RETURN_IF_ERROR(check(program, inputs, mesh, wanted));
  Partitioned done;
  if (mesh.members() == 1) {
    done.members.push_back(std::make_shared<const ir::Program>(program));
    done.outputs.resize(program.outputs.size());
    return done;
  }
  BURN_TRY(const auto plan, make_plan(program, inputs, mesh, wanted));
  Writer writer(program, plan);
  BURN_RETURN_IF_ERROR(writer.write());
  BURN_TRY(done.members, writer.finish());
  done.conversions = writer.take_conversions();
  for (std::size_t k = 0; k < program.outputs.size(); ++k) {
    const auto layout_along = [&](ir::MeshAxis axis) {
      const auto* along = plan.along(axis);
      return along ? along->outputs[k].layout : Layout{};
    };
    done.outputs.emplace_back(layout_along(ir::MeshAxis::data), layout_along(ir::MeshAxis::model));
  }
  return done;
}

Result<Partitioned> partition(const ir::Program& program, std::span<const Layout> inputs, int members,
                              std::span<const std::optional<Layout>> wanted) {
  const std::vector<MeshLayout> lie(inputs.begin(), inputs.end());
  const std::vector<std::optional<MeshLayout>> end(wanted.begin(), wanted.end());
  return partition(program, lie, Mesh{.data = members}, end);
}

std::string to_string(const Partitioned& partitioned) {
  std::string text;
  for (const auto& conversion : partitioned.conversions) {
    text += fmt::format("{} {} bytes", conversion.kind, conversion.bytes);
    if (conversion.axis == ir::MeshAxis::model) text += " along model";
    text += conversion.site.file ? fmt::format("  ; {}\n", to_string(conversion.site)) : "\n";
  }
  for (std::size_t k = 0; k < partitioned.outputs.size(); ++k)
    text += fmt::format("output {} {}\n", k, to_string(partitioned.outputs[k]));
  return text + to_string(*partitioned.members.front());
}

}  // namespace burn::compile::partition
