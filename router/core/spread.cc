#include "router/core/spread.h"

#include <utility>

namespace burn::router {

Result<std::shared_ptr<const ir::Program>> spread_program(const ir::TensorType& type, int members, int home,
                                                          int member) {
  ir::ProgramBuilder builder;
  const bool is_home = member == home;
  auto rows = type.shape;  // with a first dim, of which the others have nothing
  if (rows.rank() == 0) rows.push_back(1);
  ir::AllGather gather{.dim = 0, .member = member};
  for (int i = 0; i < members; ++i) gather.sizes.push_back(i == home ? rows[0] : 0);
  ir::Ref part;
  if (is_home) {
    part = builder.add_input(type);
    if (type.shape.rank() == 0) {
      BURN_TRY(part, builder.add(ir::Reshape{rows}, std::span{&part, 1}));
    }
  } else {
    auto none = rows;
    none[0] = 0;
    BURN_TRY(part, builder.add(ir::Constant{.dtype = type.dtype}, {}));
    ir::Shape ones;
    for (int i = 0; i < none.rank(); ++i) ones.push_back(1);
    BURN_TRY(part, builder.add(ir::Reshape{ones}, std::span{&part, 1}));
    BURN_TRY(part, builder.add(ir::Expand{none}, std::span{&part, 1}));
  }
  BURN_TRY(auto whole, builder.add(gather, std::span{&part, 1}));
  if (is_home) return std::make_shared<const ir::Program>(builder.finish({}));
  if (type.shape.rank() == 0) {
    BURN_TRY(whole, builder.add(ir::Reshape{type.shape}, std::span{&whole, 1}));
  }
  return std::make_shared<const ir::Program>(builder.finish({whole}));
}

}  // namespace burn::router
