// The programs by which every member of a session gets a value that one of them has.
#pragma once

#include <limits>
#include <memory>

#include "base/status.h"
#include "ir/program.h"
#include "proto/session.h"

namespace burn::router {

// The members' name for such a program, which is another one for each value.
inline constexpr proto::ProgramId kSpreadProgram = std::numeric_limits<proto::ProgramId>::max();

// What `member` runs: an all_gather of which `home` alone has a part, its input of this type. Home's program gives
// nothing, that of the others the value.
Result<std::shared_ptr<const ir::Program>> spread_program(const ir::TensorType& type, int members, int home,
                                                          int member);

}  // namespace burn::router
