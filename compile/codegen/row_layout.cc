#include "compile/codegen/row_layout.h"

#include <algorithm>

#include <fmt/format.h>

#include "compile/codegen/dialects/cuda_cpp.h"
#include "compile/codegen/row_passes.h"
#include "compile/codegen/walks.h"

namespace burn::compile {
namespace {

constexpr int kSideBySide = 2;                // blocks with a row in shared memory
constexpr std::int64_t kOwnShared = 2 << 10;  // bytes of shared memory of a block for other things

bool all_are_zero(std::span<const std::int64_t> strides) {
  return std::ranges::all_of(strides, [](std::int64_t stride) { return stride == 0; });
}

}  // namespace

RowLayout::RowLayout(const DeviceFacts& device, const GroupPlan& plan)
    : plan_(plan), rows_(plan.row_walk()), inner_(plan.inner_walk()), held_(read_in_several_passes(plan)) {
  for (std::size_t k = 0; k < plan.reads().size(); ++k) {
    const auto& read = plan.reads()[k];
    if (read.kind != GroupOperand::Kind::full) continue;
    if (all_are_zero(inner_.strides[static_cast<std::size_t>(read.full_index)])) of_row_.insert(k);
    if (read.counts) held_.erase(k);
  }
  for (const auto k : of_row_) held_.erase(k);
  const auto columns = std::ranges::count(plan.group().members, Level::column, &Member::level);
  const bool waits = std::ranges::any_of(plan.group().members, [&](const Member& member) {
    return member.level == Level::row && std::holds_alternative<ir::Reduce>(plan.node(member).op);
  });
  needs_ = {.held = static_cast<int>(held_.size()), .columns = static_cast<int>(columns), .waits = waits};
  for (std::size_t k = 0; k < plan.reads().size(); ++k) {
    const auto& read = plan.reads()[k];
    if (read.kind == GroupOperand::Kind::full && !read.counts && !held_.contains(k) && !of_row_.contains(k))
      ++needs_.others;
  }
  for (const auto k : held_) needs_.held_bytes += static_cast<std::int64_t>(ir::size_of(dtype(k)));
  needs_.most_shared = device.shared_bytes / kSideBySide - kOwnShared;
  shape_ = choose_row_shape(plan.group().row_size, vector_width(), needs_);
}

int RowLayout::vector_width() const {
  auto views = plan_.full_views();
  const int width = compile::vector_width(inner_, views, 8);
  if (plan_.group().row_size % width != 0) return 1;
  for (std::size_t k = 0; width > 1 && k < views.size(); ++k) {  // every row begins aligned
    for (const auto stride : rows_.strides[k]) {
      if (stride % width != 0 && inner_.strides[k].back() != 0) return 1;
    }
  }
  return width;
}

int RowLayout::resident_blocks(std::size_t more_bytes) const {
  if (shape_.in_shared) return kSideBySide;
  const auto of_operand = static_cast<std::size_t>(shape_.vectors) * static_cast<std::size_t>(shape_.width);
  for (const auto k : held_) {
    if (is_held(k)) more_bytes += of_operand * ir::size_of(dtype(k));
  }
  return std::max(1, threads_under_way(more_bytes, needs_) / shape_.threads());
}

int RowLayout::shared_bytes() const {
  if (!shape_.in_shared) return 0;
  std::int64_t bytes = 0;
  for (const auto k : held_) bytes += static_cast<std::int64_t>(ir::size_of(dtype(k)));
  const auto vectors = (plan_.group().row_size + shape_.width - 1) / shape_.width;
  return static_cast<int>(bytes * shape_.width * vectors);
}

bool RowLayout::is_plain() const {
  return inner_.rank() == 1 &&
         std::ranges::all_of(inner_.strides, [](const auto& of) { return of[0] == 0 || of[0] == 1; });
}

std::string RowLayout::element_offset(int full_index, const std::string& c) const {
  const auto base = fmt::format("base.at[{}]", full_index);
  if (!is_plain()) return fmt::format("{} + {}.at[{}]", base, offsets_in(inner_, "inner", c), full_index);
  return inner_.strides[static_cast<std::size_t>(full_index)][0] == 0 ? base : fmt::format("{} + {}", base, c);
}

std::string RowLayout::load(std::size_t k, const std::string& into) const {
  const auto& read = plan_.reads()[k];
  const auto at = element_offset(read.full_index, "c");
  const bool repeats = inner_.strides[static_cast<std::size_t>(read.full_index)].back() == 0;
  if (shape_.width == 1 || repeats) {
    std::string text;
    for (int j = 0; j < shape_.width; ++j) text += fmt::format("{}.lanes[{}] = p{}[{}];\n", into, j, k, at);
    return text;
  }
  return fmt::format("{} = {};\n", into,
                     cuda_cpp::load_pack(storage_type(dtype(k)), shape_.width, fmt::format("p{}", k), at));
}

std::string RowLayout::each_vector(const std::string& body) const {
  if (shape_.vectors > 0) {
    return cuda_cpp::kUnroll +
           fmt::format(
               "  for (int i = 0; i < {}; ++i) {{\n  const int c = (i * kLanes + lane) * {};\n  if (c < "
               "row_size) {{\n{}  }}\n  }}\n",
               shape_.vectors, shape_.width, body);
  }
  return cuda_cpp::unroll(4) +
         fmt::format("  for (int c = lane * {0}; c < row_size; c += kLanes * {0}) {{\n{1}  }}\n", shape_.width, body);
}

// A block waits for a row's operands and for its sums, one after the other: the next row is on its way meanwhile.
std::string RowLayout::prefetches() const {
  std::string text;
  for (std::size_t k = 0; is_plain() && k < plan_.reads().size(); ++k) {
    const auto& read = plan_.reads()[k];
    if (read.kind != GroupOperand::Kind::full || read.counts || is_of_row(k)) continue;
    if (all_are_zero(rows_.strides[static_cast<std::size_t>(read.full_index)])) continue;  // the same again
    text += cuda_cpp::prefetch(fmt::format("p{} + next.at[{}] + c", k, read.full_index));
  }
  if (text.empty()) return "";
  const auto next = fmt::format("row + Row{{{}}} * {}", cuda_cpp::kBlocks, shape_.rows_per_block());
  return fmt::format("  if ({} < rows) {{\n  const auto next = {};\n", next, offsets_in(rows_, "outer", next)) +
         each_vector(text) + "  }\n";
}

std::string RowLayout::held_reads() const {
  if (shape_.vectors == 0) return "";
  std::string text, loads;
  for (const auto k : held_) {
    text +=
        fmt::format("  {} l{}[{}];\n", cuda_cpp::pack_type(storage_type(dtype(k)), shape_.width), k, shape_.vectors);
    loads += load(k, fmt::format("l{}[i]", k));
  }
  return loads.empty() ? "" : text + each_vector(loads);
}

// Wide elements first, so that all are aligned.
std::string RowLayout::shared_places() const {
  if (!shape_.in_shared) return "";
  auto text = cuda_cpp::shared_memory();
  for (std::size_t size = sizeof(std::int64_t); size > 0; size /= 2) {
    for (const auto k : held_) {
      if (ir::size_of(dtype(k)) != size) continue;
      text += cuda_cpp::shared_pack_array(fmt::format("m{}", k), storage_type(dtype(k)), shape_.width, "row_size");
    }
  }
  return text;
}

}  // namespace burn::compile
