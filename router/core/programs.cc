#include "router/core/programs.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace burn::router {
namespace {

// Estimated sizes. A program's size includes its first variant.
std::uint64_t bytes_of_variant(const ir::Program& program) {
  constexpr std::uint64_t kName = 64;  // an entry of ProgramNames
  return sizeof(Variant) + kName + sizeof(LayoutId) * (program.inputs.size() + program.outputs.size());
}

std::uint64_t bytes_of(const RoutedProgram& routed) {
  constexpr std::uint64_t kNode = 352, kInput = 64, kOutput = 16, kEntry = 64;
  const auto bytes = sizeof(RoutedProgram) + kEntry + routed.refused.message().size();
  if (!routed.program) return bytes;
  const auto& program = *routed.program;
  const auto variants = std::max<std::size_t>(routed.variants.size(), 1);
  return bytes + kNode * program.nodes.size() + kInput * program.inputs.size() + kOutput * program.outputs.size() +
         variants * bytes_of_variant(program);
}

}  // namespace

Status RoutedPrograms::resize(std::uint64_t bytes) {
  if (charge_) BURN_RETURN_IF_ERROR(charge_(bytes));
  bytes_ = bytes;
  return {};
}

void RoutedPrograms::shrink(std::uint64_t bytes) {
  [[maybe_unused]] const auto status = resize(bytes_ - bytes);
  assert(status.ok());
}

std::vector<proto::ProgramId> RoutedPrograms::define(proto::ProgramId id, RoutedProgram program,
                                                     std::span<const proto::ProgramId> forget) {
  std::vector<proto::ProgramId> names;
  for (const auto gone : forget) remove(gone, names);
  remove(id, names);
  if (program.program) {
    const auto entries = ir::num_entries(*program.program);
    if (programs_.size() >= max_programs_) {
      program.refused = resource_exhausted(fmt::format("a session may not have more than {} programs", max_programs_));
    } else if (entries > max_entries_ - std::min(max_entries_, entries_)) {
      program.refused = resource_exhausted(
          fmt::format("a session's programs may not have more than {} nodes, inputs and operands", max_entries_));
    }
    if (program.refused.ok()) program.refused = resize(bytes_ + bytes_of(program));
    if (program.refused.ok()) {
      entries_ += entries;
    } else {
      program.program = nullptr;
    }
  }
  const bool is_known =
      program.program || (programs_.size() / 2 < max_programs_ && resize(bytes_ + bytes_of(program)).ok());
  if (is_known) {
    programs_.insert_or_assign(id, std::move(program));
    std::erase(names, id);  // the new program uses it
  }
  return names;
}

void RoutedPrograms::remove(proto::ProgramId id, std::vector<proto::ProgramId>& names) {
  const auto found = programs_.find(id);
  if (found == programs_.end()) return;
  if (found->second.program) entries_ -= ir::num_entries(*found->second.program);
  shrink(bytes_of(found->second));
  for (const auto& variant : found->second.variants) {
    names.push_back(variant.id);
    names_.remove(variant.id);
  }
  programs_.erase(found);
}

Result<Variant*> RoutedPrograms::add_variant(proto::ProgramId id, RoutedProgram& program, Variant variant) {
  if (!program.variants.empty()) BURN_RETURN_IF_ERROR(resize(bytes_ + bytes_of_variant(*program.program)));
  const bool is_named = std::ranges::any_of(program.variants, [&](const Variant& other) { return other.id == id; });
  variant.id = is_named ? next_own_++ : id;
  if (is_named) names_.add(variant.id, id);
  return &*program.variants.insert(program.variants.begin(), std::move(variant));
}

Status ProgramNames::with_client_ids(const Status& status) const {
  if (status.ok()) return status;
  constexpr std::string_view kWord = "program ";
  const std::lock_guard lock{mutex_};
  std::string text{status.message()};
  for (auto at = text.find(kWord); at != std::string::npos; at = text.find(kWord, at + kWord.size())) {
    const auto* const begin = text.data() + at + kWord.size();
    proto::ProgramId own = 0;
    const auto [end, error] = std::from_chars(begin, text.data() + text.size(), own);
    if (error != std::errc{}) continue;
    if (const auto found = clients_.find(own); found != clients_.end())
      text.replace(at + kWord.size(), static_cast<std::size_t>(end - begin), std::to_string(found->second));
  }
  return {status.code(), std::move(text)};
}

std::vector<proto::ProgramId> RoutedPrograms::forget_variants() {
  std::vector<proto::ProgramId> names;
  for (auto& [id, program] : programs_) {
    if (program.variants.size() > 1) shrink((program.variants.size() - 1) * bytes_of_variant(*program.program));
    for (const auto& variant : std::exchange(program.variants, {})) {
      if (variant.id == id) continue;
      names.push_back(variant.id);
      names_.remove(variant.id);
    }
  }
  return names;
}

}  // namespace burn::router
