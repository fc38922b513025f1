// Error messages of ops that fail while they run: what went wrong, in which op, called from where.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/status.h"
#include "ir/program.h"

namespace burn::ir {

// "gather: index 12 is outside 0..9 (at model.cc:41)"
Status at_node(const Status& status, const Node& node);
std::string_view called_name(const Node& node);  // the function called, such as "gather_nd" of a gather
// The same from the names of the op and the call site; an empty site is left out.
Status at_node(const Status& status, std::string_view op, std::string_view site);

// OUT_OF_RANGE: "index 12 is outside 0..9". `size`: the axis's.
Status index_out_of_range(std::int64_t index, std::int64_t size);

// A matrix of a batch for which the op has no result.
struct MatrixFailure {
  std::int64_t matrix = 0, count = 1, rows = 0, columns = 0;
  std::int64_t number = 0;  // the pivot or the order of the leading minor that failed
};
// "matrix 3 of the batch of 8 (4 x 4) is singular: pivot 2 is 0": INVALID_ARGUMENT.
Status singular_matrix(const MatrixFailure& at);
// `number`: the order of the leading minor that is not positive. INVALID_ARGUMENT.
Status not_positive_definite(const MatrixFailure& at);
// For iterations that compute singular values or eigenvalues: INTERNAL.
Status not_converged(const MatrixFailure& at);

}  // namespace burn::ir
