#include "router/core/replication.h"

#include <utility>

namespace burn::router {
namespace {

// A value with zero rows of this shape.
Result<ir::Ref> no_rows(ir::ProgramBuilder& builder, ir::DType dtype, const ir::Shape& rows) {
  auto none = rows;
  none[0] = 0;
  ir::Shape ones;
  for (int i = 0; i < none.rank(); ++i) ones.push_back(1);
  BURN_TRY(auto ref, builder.add(ir::Constant{.dtype = dtype}, {}));
  BURN_TRY(ref, builder.add(ir::Reshape{ones}, std::span{&ref, 1}));
  return builder.add(ir::Expand{none}, std::span{&ref, 1});
}

}  // namespace

Result<std::shared_ptr<const ir::Program>> replication_program(const ir::TensorType& type,
                                                               const compile::partition::Mesh& mesh, int home,
                                                               int member) {
  ir::ProgramBuilder builder;
  const bool is_home = member == home;
  const bool is_scalar = type.shape.rank() == 0;
  auto rows = type.shape;  // has a first dim; members without the value contribute zero rows
  if (is_scalar) rows.push_back(1);
  ir::Ref value;
  if (is_home) {
    value = builder.add_input(type);
    if (is_scalar) {
      BURN_TRY(value, builder.add(ir::Reshape{rows}, std::span{&value, 1}));
    }
  }
  bool has_value = is_home;
  for (const auto axis : compile::partition::kMeshAxes) {
    const bool is_in_column = mesh.rank(ir::MeshAxis::model, member) == mesh.rank(ir::MeshAxis::model, home);
    if (mesh.size(axis) == 1 || (axis == ir::MeshAxis::data && !is_in_column)) continue;
    ir::AllGather gather{.dim = 0, .member = mesh.rank(axis, member), .group = compile::partition::group_of(axis)};
    for (int i = 0; i < mesh.size(axis); ++i) gather.sizes.push_back(i == mesh.rank(axis, home) ? rows[0] : 0);
    auto part = value;
    if (!has_value) {
      BURN_TRY(part, no_rows(builder, type.dtype, rows));
    }
    BURN_TRY(const auto gathered, builder.add(gather, std::span{&part, 1}));
    if (!has_value) value = gathered;
    has_value = true;
  }
  if (is_home) return std::make_shared<const ir::Program>(builder.finish({}));
  if (is_scalar) {
    BURN_TRY(value, builder.add(ir::Reshape{type.shape}, std::span{&value, 1}));
  }
  return std::make_shared<const ir::Program>(builder.finish({value}));
}

}  // namespace burn::router
