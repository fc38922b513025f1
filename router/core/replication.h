// Programs that copy a value from one member of a session to all others.
#pragma once

#include <limits>
#include <memory>

#include "base/status.h"
#include "compile/partition/layout.h"
#include "ir/program.h"
#include "proto/session.h"

namespace burn::router {

// The id of such a program on the members; it is redefined for each value.
inline constexpr proto::ProgramId kReplicationProgram = std::numeric_limits<proto::ProgramId>::max();

// The program of `member`: an all_gather among the members of home's column (along "data"), to which only `home`, with
// its input of this type, contributes rows; then one in each row (along "model"), to which only the member in home's
// column contributes. Home's program has no output; that of the others returns the value.
Result<std::shared_ptr<const ir::Program>> replication_program(const ir::TensorType& type,
                                                               const compile::partition::Mesh& mesh, int home,
                                                               int member);

}  // namespace burn::router
