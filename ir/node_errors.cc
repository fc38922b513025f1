#include "ir/node_errors.h"

#include <fmt/format.h>

namespace burn::ir {

Status at_node(const Status& status, std::string_view op, std::string_view site) {
  return {status.code(),
          fmt::format("{}: {}{}", op, status.message(), site.empty() ? "" : fmt::format(" (at {})", site))};
}

std::string_view called_name(const ir::Node& node) {
  return node.site.op != nullptr ? std::string_view{node.site.op} : name(node.op);
}

Status at_node(const Status& status, const ir::Node& node) {
  return at_node(status, called_name(node), to_string(node.site));
}

Status index_out_of_range(std::int64_t index, std::int64_t size) {
  return {StatusCode::out_of_range, size > 0 ? fmt::format("index {} is outside 0..{}", index, size - 1)
                                             : fmt::format("index {} into an axis of size 0", index)};
}

namespace {

std::string which_matrix(const MatrixFailure& at) {
  if (at.count == 1) return fmt::format("the matrix ({} x {})", at.rows, at.columns);
  return fmt::format("matrix {} of the batch of {} ({} x {})", at.matrix, at.count, at.rows, at.columns);
}

}  // namespace

Status singular_matrix(const MatrixFailure& at) {
  return invalid_argument(fmt::format("{} is singular: pivot {} is 0", which_matrix(at), at.number));
}

Status not_positive_definite(const MatrixFailure& at) {
  return invalid_argument(fmt::format("{} is not positive definite: its leading minor of order {} is not positive",
                                      which_matrix(at), at.number));
}

Status not_converged(const MatrixFailure& at) {
  return internal_error(fmt::format("{}: the iteration did not converge", which_matrix(at)));
}

}  // namespace burn::ir
