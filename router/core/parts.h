// Splits a value in host memory into the members' parts, and joins parts into the whole value.
#pragma once

#include <span>

#include "base/status.h"
#include "proto/session.h"
#include "router/core/layouts.h"

namespace burn::router {

// The part of `whole` that the layout assigns to the member. Shares the bytes if they are contiguous. Requires:
// whole.type fits the layout, and whole.bytes its type.
proto::HostTensor part_of(const proto::HostTensor& whole, const Layout& layout, int member);
proto::HostTensor part_of(const proto::HostTensor& whole, const MeshLayout& layout, const Mesh& mesh, int member);

// Concatenates the parts along layout.dim. Requires: a split layout. Errors: INTERNAL for a part whose type does not
// match the layout.
Result<proto::HostTensor> joined(std::span<const proto::HostTensor> parts, const ir::TensorType& type,
                                 const Layout& layout);
// The same for a layout that splits along one or both axes of the mesh. `parts`: one for each position along the axes
// that it splits along; those along "model" are adjacent. Requires: a layout that is not whole.
Result<proto::HostTensor> joined(std::span<const proto::HostTensor> parts, const ir::TensorType& type,
                                 const MeshLayout& layout);

}  // namespace burn::router
