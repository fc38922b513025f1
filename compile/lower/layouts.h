// Where results lie, so that they need not be copied to where or how they are read: attention's in the shape that the
// next product reads, parts of a concatenation within it.
#pragma once

#include <map>
#include <vector>

#include "compile/plan/views.h"
#include "ir/program.h"

namespace burn::compile {

// Per value the strides that it has by itself, as find_views() takes them: results of attention [batch, heads, rows,
// columns] that are read with rows before heads are so in memory. Empty: there are none.
std::vector<ir::Dims> layouts_of(const ir::Program& program);

// Values that a concatenation puts side by side: where in its result each would lie. By value.
struct PlaceInside {
  ir::Ref whole;
  std::int64_t offset = 0;  // elements
  ir::Dims strides;
  // Row-major there, too, and aligned as memory of its own: it may be there from when it is made, whatever makes it and
  // reads it. Else its only reader is the concatenation, and what makes it may write it there if it can write strides.
  bool lies_there = false;
};
std::map<std::int32_t, PlaceInside> places_inside(const ir::Program& program, const std::vector<ValueView>& views);

}  // namespace burn::compile
