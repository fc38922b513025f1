// How a kernel is spelled in CUDA C++: types, positions in the grid, barriers, packed loads and stores, the text of
// functions, and the frames that kernels stand in. Everything that generated kernels have of the language is here; what
// they compute and in which order is the business of the files around this folder. Texts are keys of kernel caches
// (tests/golden/cuda_kernels.txt): a change of wording compiles every kernel again.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include "compile/codegen/dialects/kernel_source.h"
#include "ir/ops.h"
#include "ir/ops/pointwise.h"

namespace burn::compile {

// --- types -----------------------------------------------------------------------------------------------------------

// The name of a dtype's storage type in kernels (kernels/types.h): "float", "half_t", "bool", "std::int64_t", ...
const char* storage_type(ir::DType dtype);
const char* compute_type(ir::DType dtype);  // of what arithmetic on it happens in: "float" for the 16-bit floats

// The name of a way to combine elements (ir/semantics/combine.h).
constexpr const char* combine_type(ir::ReduceFn fn) {
  switch (fn) {
    case ir::ReduceFn::sum:
      return "burn::ir::Sum";
    case ir::ReduceFn::prod:
      return "burn::ir::Prod";
    case ir::ReduceFn::max:
      return "burn::ir::Max";
    case ir::ReduceFn::min:
      return "burn::ir::Min";
  }
  return "";
}

namespace cuda_cpp {

std::string pack_type(const char* type, int width);  // `width` elements side by side, loaded and stored as one
std::string walk_type(int operands);                 // kernels/index.h: how a kernel walks over its operands
const char* row_type(bool is_narrow);                // of a row's number

// --- positions -------------------------------------------------------------------------------------------------------

inline constexpr const char* kThread = "threadIdx.x";  // in its block
inline constexpr const char* kBlock = "blockIdx.x";
inline constexpr const char* kBlockRow = "blockIdx.y";
inline constexpr const char* kBlocks = "gridDim.x";

// --- statements ------------------------------------------------------------------------------------------------------

inline constexpr const char* kBarrier = "  __syncthreads();\n";  // of the threads of a block
inline constexpr const char* kUnroll = "  #pragma unroll\n";     // the loop that follows, wholly
std::string unroll(int times);

// --- expressions -----------------------------------------------------------------------------------------------------

std::string to_compute(const char* storage, std::string_view element);
std::string to_storage(const char* storage, std::string_view number);
std::string rounded(const char* storage, std::string_view number);  // to what the storage type can hold
std::string converted(const char* compute, std::string_view number);
std::string cast(const char* type, std::string_view expression);

// `at`: elements from `pointer` on, a multiple of the width.
std::string load_pack(const char* type, int width, std::string_view pointer, std::string_view at);
std::string store_pack(const char* type, int width, std::string_view pointer, std::string_view at,
                       std::string_view pack);
std::string prefetch(std::string_view pointer);  // a statement

// A pointwise function whose text group_opening() has.
std::string call(ir::PointwiseFn fn, const char* compute, std::string_view arguments);
std::string call_coarse(std::string_view function, std::string_view arguments);  // kernels/coarse.h
// A number that many are divided by (kernels/divisor.h): its declaration, and a quotient.
std::string declare_divisor(std::string_view number);
std::string divide(std::string_view divisor, std::string_view by);
// The random number at a position. `bindings`: where seed and offset lie; `block`: the first one of the op.
std::string random_at(ir::RandomFn fn, const char* compute, std::string_view bindings, std::string_view block,
                      std::string_view position);
std::string offsets_in(int rank, bool is_narrow, std::string_view walk, std::string_view position);

std::string identity(ir::ReduceFn fn, const char* compute);
std::string combine(ir::ReduceFn fn, const char* compute, std::string_view a, std::string_view b);
// What all lanes of a row have combined. `site`: the reduction's number in its kernel.
std::string reduce_row(ir::ReduceFn fn, int site, std::string_view value);
// Whether an index is inside 0 .. size - 1; reports it where it is not.
std::string check_index(std::string_view index, std::string_view size, std::string_view report);

// --- frames ----------------------------------------------------------------------------------------------------------

// Before the kernel of a group: headers, and the functions it calls. Leaves a namespace open, which group_kernel()
// closes.
std::string group_opening(bool is_coarse, bool divides, const std::set<ir::PointwiseFn>& functions);
std::string group_kernel(int threads, int blocks_per_multiprocessor, std::string_view parameters,
                         std::string_view body);
// Dynamic shared memory as `place`, a pointer to bytes aligned to 16.
std::string shared_memory();
// `name`: vectors of shared memory from `place` on, which is moved behind them.
std::string shared_pack_array(std::string_view name, const char* type, int width, std::string_view elements);

// Sums of lines (kernels/lines.h): `parameters` end in a comma.
KernelSource lines_kernel(std::string_view parameters, std::string_view body);
std::string sum_lines(std::size_t k, const char* from, const char* to);
// Writes a number, its second parameter, into memory.
KernelSource constant_kernel(ir::DType dtype);

}  // namespace cuda_cpp
}  // namespace burn::compile
