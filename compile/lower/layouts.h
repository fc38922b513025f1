// Where attention's results lie, so that nobody has to copy them into the shape that the next product reads.
#pragma once

#include <map>
#include <vector>

#include "compile/plan/views.h"
#include "ir/program.h"

namespace burn::compile {

// Per value the strides that it has by itself, as find_views() takes them: results of attention [batch, heads, rows,
// columns] that are read with rows before heads are so in memory. Empty: there are none.
std::vector<ir::Dims> layouts_of(const ir::Program& program);

// Gradients of attention that only a concatenation reads, which puts them side by side as they are or in other shapes:
// where in its result each would lie. By value.
struct PlaceInside {
  ir::Ref whole;
  std::int64_t offset = 0;  // elements
  ir::Dims strides;
};
std::map<std::int32_t, PlaceInside> places_inside(const ir::Program& program, const std::vector<ValueView>& views);

}  // namespace burn::compile
