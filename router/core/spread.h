// The programs by which every member of a session gets a value that one of them has.
#pragma once

#include <limits>
#include <memory>

#include "base/status.h"
#include "compile/partition/layout.h"
#include "ir/program.h"
#include "proto/session.h"

namespace burn::router {

// The members' name for such a program, which is another one for each value.
inline constexpr proto::ProgramId kSpreadProgram = std::numeric_limits<proto::ProgramId>::max();

// What `member` runs: an all_gather of which `home` alone has a part, its input of this type, among the members of
// home's column, along "data"; then one in each row, along "model", of which the member of that column has a part.
// Home's program gives nothing, that of the others the value.
Result<std::shared_ptr<const ir::Program>> spread_program(const ir::TensorType& type,
                                                          const compile::partition::Mesh& mesh, int home, int member);

}  // namespace burn::router
