#include "router/core/parts.h"

#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "base/plain_host_block.h"

namespace burn::router {
namespace {

// A value split along a dim consists of `outer` rows; each part has a contiguous range of every row.
struct Rows {
  std::size_t outer = 1, row_bytes = 1;  // of the whole value
  std::size_t element_bytes = 1;         // bytes per index of the dim
  Rows(const ir::TensorType& type, int dim) {
    for (int i = 0; i < dim; ++i) outer *= static_cast<std::size_t>(type.shape[i]);
    element_bytes = ir::size_of(type.dtype);
    for (int i = dim + 1; i < type.shape.rank(); ++i) element_bytes *= static_cast<std::size_t>(type.shape[i]);
    row_bytes = element_bytes * static_cast<std::size_t>(type.shape[dim]);
  }
};

}  // namespace

proto::HostTensor part_of(const proto::HostTensor& whole, const Layout& layout, int member) {
  if (layout.is_whole()) return whole;
  const auto type = compile::partition::part_of(whole.type, layout, member);
  const Rows rows(whole.type, layout.dim);
  const auto begin = static_cast<std::size_t>(layout.bounds[static_cast<std::size_t>(member)]) * rows.element_bytes;
  const auto bytes = type.num_bytes();
  if (rows.outer == 1) return {type, whole.bytes.slice(begin, bytes)};
  std::vector<std::byte> copy(bytes);
  const auto stretch = bytes / std::max<std::size_t>(rows.outer, 1);
  for (std::size_t i = 0; stretch > 0 && i < rows.outer; ++i) {
    std::memcpy(copy.data() + i * stretch, whole.bytes.data() + i * rows.row_bytes + begin, stretch);
  }
  return {type, SharedBytes::own(std::move(copy))};
}

proto::HostTensor part_of(const proto::HostTensor& whole, const MeshLayout& layout, const Mesh& mesh, int member) {
  return part_of(part_of(whole, layout.data, mesh.rank(ir::MeshAxis::data, member)), layout.model,
                 mesh.rank(ir::MeshAxis::model, member));
}

Result<proto::HostTensor> joined(std::span<const proto::HostTensor> parts, const ir::TensorType& type,
                                 const MeshLayout& layout) {
  if (layout.model.is_whole()) return joined(parts, type, layout.data);
  if (layout.data.is_whole()) return joined(parts, type, layout.model);
  const auto columns = layout.model.bounds.size() - 1;
  std::vector<proto::HostTensor> rows;
  for (std::size_t d = 0; d * columns < parts.size(); ++d) {
    const auto row = compile::partition::part_of(type, layout.data, static_cast<int>(d));
    BURN_TRY(auto made, joined(parts.subspan(d * columns, columns), row, layout.model));
    rows.push_back(std::move(made));
  }
  return joined(rows, type, layout.data);
}

Result<proto::HostTensor> joined(std::span<const proto::HostTensor> parts, const ir::TensorType& type,
                                 const Layout& layout) {
  BURN_TRY(auto block, plain_host_block(type.num_bytes()));
  auto* const whole = block->bytes().data();
  const Rows rows(type, layout.dim);
  for (std::size_t member = 0; member < parts.size(); ++member) {
    const auto& part = parts[member];
    const auto expected = compile::partition::part_of(type, layout, static_cast<int>(member));
    if (part.type != expected || part.bytes.size() != expected.num_bytes()) {
      return internal_error(fmt::format("member {} has {} where its part is {}", member, ir::to_string(part.type),
                                        ir::to_string(expected)));
    }
    const auto begin = static_cast<std::size_t>(layout.bounds[member]) * rows.element_bytes;
    const auto stretch = part.bytes.size() / std::max<std::size_t>(rows.outer, 1);
    for (std::size_t i = 0; stretch > 0 && i < rows.outer; ++i) {
      std::memcpy(whole + i * rows.row_bytes + begin, part.bytes.data() + i * stretch, stretch);
    }
  }
  return proto::HostTensor{type, content(std::move(block))};
}

}  // namespace burn::router
