// What kernels of structured ops are told of their problem, beside pointers and walks. Filled in by the C++ compiler's
// side, read by NVRTC's.
#pragma once

#include "ir/semantics/device.h"

namespace burn::cuda {

// Threads of a block, in every kernel of structured ops.
inline constexpr int kThreads = 256;

// A reduction whose elements lie one after another: `group` threads (a power of two up to 32, or a whole block) fold
// one output's packs.
struct RowsShape {
  std::int64_t outputs = 0;
  std::int64_t packs = 0;      // of one output, along the walk
  std::int64_t tail = 0;       // elements behind the last pack, fewer than a pack has
  std::int64_t tail_at = 0;    // where they begin
  std::int64_t per_part = 0;   // packs of one part: blockIdx.y is the part
  std::int64_t part_step = 0;  // from one part's results to the next's
  int group = 1;
};

// A reduction whose outputs lie side by side: `width` threads (a power of two) take a pack of outputs each, and
// kThreads / width rows of threads share the elements of one.
struct ColumnsShape {
  std::int64_t packs = 0;  // of outputs
  std::int64_t rows = 0;   // elements of one output
  std::int64_t per_part = 0;
  std::int64_t part_step = 0;
  std::int64_t result_step = 1;  // from one output of a pack to the next, in the result
  int width = 1;
};

// The index of an extreme: `lanes` threads (a power of two) share one output.
struct ArgShape {
  std::int64_t outputs = 0;
  std::int64_t size = 0;   // elements of a line
  std::int64_t step = 0;   // from one to the next
  std::int64_t parts = 1;  // of a line: blockIdx.y is the part
  std::int64_t per_part = 0;
  int lanes = 1;
  int rows = 0;  // 1: the threads of an output are neighbours; 0: those of neighbouring outputs are
};

struct ScanShape {
  std::int64_t lines = 0;
  std::int64_t size = 0;  // elements of a line
  std::int64_t from_step = 0, to_step = 0;
  std::int64_t parts = 1;  // of a line, scanned side by side
  std::int64_t per_part = 0;
};

// Sorting in tiles of `tile` elements, several of them to a block of `block` elements; both are powers of two.
struct SortShape {
  std::int64_t lines = 0;
  std::int64_t size = 0;                    // of a line: elements, or entries made of them
  std::int64_t from_step = 0, to_step = 0;  // along the axis of x and of the results
  std::int64_t tiles = 1;                   // per line
  std::int64_t kept = 0;                    // of each tile, from its front
  std::int64_t kept_size = 0;               // of each line: what its tiles keep
  std::int64_t run = 0;                     // elements in order already, when two such are merged
  int tile = 0, block = 0;
};

// Boxes in tiles of kThreads; `begin` is the first one of a tile.
struct NmsShape {
  std::int64_t lists = 0;
  std::int64_t size = 0;  // boxes of a list
  std::int64_t begin = 0;
  double threshold = 0;
};

struct GatherShape {
  std::int64_t count = 0;      // packs of the result, or of the values
  std::int64_t axis_size = 0;  // of what is indexed
  std::int64_t axis_step = 0;
};

// Lines along the axis of a scatter.
struct ScatterShape {
  std::int64_t lines = 0;
  std::int64_t size = 0;       // of the index along the axis
  std::int64_t axis_size = 0;  // of the result along it
  std::int64_t axis_step = 0, index_step = 0, values_step = 0;
};

// Division by a number that is known before a kernel starts: a product and a shift. For up to 31 bits; others divide.
struct Divider {
  std::int64_t by = 1;
  std::uint32_t factor = 1;
  std::int32_t shift = 0;

  Divider() = default;
  Divider(std::int64_t number) : by(number) {  // NOLINT: a number as it is used
    if (number < 1 || number >> 31 != 0) return;
    while (shift < 31 && std::int64_t{1} << shift < number) ++shift;
    const auto power = std::uint64_t{1} << shift;
    factor = static_cast<std::uint32_t>((power - static_cast<std::uint64_t>(number)) * (std::uint64_t{1} << 32) /
                                            static_cast<std::uint64_t>(number) +
                                        1);
  }
};

// One spatial dim of a pool or a convolution. A dim that is not there has one window of one element.
struct WindowDim {
  std::int64_t input = 1, output = 1, kernel = 1, stride = 1, padding = 0, dilation = 1;
};

struct PoolShape {
  std::int64_t count = 0;  // of results
  Divider channels;        // c of [n, c, d, h, w]
  WindowDim dim[3];
  Divider input[3], output[3], stride[3];  // the same numbers of each dim
  std::int64_t strides[5] = {};            // of the operand
};

// Interpolation of the last two of four dims; sizes are the forward op's.
struct ResizeShape {
  std::int64_t count = 0;  // of results
  std::int64_t channels = 1;
  std::int64_t input[2] = {1, 1}, output[2] = {1, 1};
  std::int64_t strides[4] = {};  // of the operand
};

// Rows of a recurrence, one sequence's.
struct LatticeShape {
  std::int64_t rows = 0, band = 0, width = 0;
};

struct ConvShape {
  std::int64_t count = 0;  // of results
  std::int64_t batch = 1;
  std::int64_t in_per_group = 1, out_per_group = 1, groups = 1;
  WindowDim dim[3];
  std::int64_t first[5] = {}, second[5] = {};  // strides of the operands
};

}  // namespace burn::cuda
