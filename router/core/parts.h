// A member's part of a value, and the value of all parts, in host memory.
#pragma once

#include <span>

#include "base/status.h"
#include "proto/session.h"
#include "router/core/layouts.h"

namespace burn::router {

// The part of `whole` that the layout gives the member. It shares the bytes where they lie behind each other.
// Requires: whole.type fits the layout, and whole.bytes its type.
proto::HostTensor part_of(const proto::HostTensor& whole, const Layout& layout, int member);
proto::HostTensor part_of(const proto::HostTensor& whole, const MeshLayout& layout, const Mesh& mesh, int member);

// The parts behind each other along layout.dim. Requires: a split layout. Errors: INTERNAL for a part that is not what
// the layout says.
Result<proto::HostTensor> joined(std::span<const proto::HostTensor> parts, const ir::TensorType& type,
                                 const Layout& layout);
// Of a layout that splits along an axis or both: one part for each place along the axes that it splits along, those
// along "model" next to each other. Requires: not whole.
Result<proto::HostTensor> joined(std::span<const proto::HostTensor> parts, const ir::TensorType& type,
                                 const MeshLayout& layout);

}  // namespace burn::router
