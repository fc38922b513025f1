// Describes how a second recording of a captured step differs from the first.
#include <algorithm>
#include <bit>

#include "client/capture/recorded_form.h"

namespace burn::client {
namespace {

// Formats the bits of a scalar slot as a number.
std::string text_of(std::uint64_t bits, ir::DType dtype) {
  return ir::is_floating(dtype) ? std::to_string(std::bit_cast<double>(bits))
                                : std::to_string(static_cast<std::int64_t>(bits));
}

std::string instead(const std::string& now, const std::string& before) {
  return "the number " + now + " instead of " + before;
}

// "the number 1.0 instead of 0.5 (at model.cc:41)"
std::string scalar_difference(const ir::Program& program, std::size_t slot, std::uint64_t before, std::uint64_t now) {
  const auto at = std::ranges::find_if(program.nodes, [&](const ir::Node& node) {
    const auto* scalar = std::get_if<ir::Scalar>(&node.op);
    return scalar != nullptr && scalar->slot == static_cast<std::int64_t>(slot);
  });
  const auto ref = ir::Ref::value(static_cast<std::int32_t>(at->first_value));
  const auto dtype = program.type_of(ref).dtype;
  const auto user = std::ranges::find_if(program.nodes, [&](const ir::Node& node) {
    return std::ranges::find(program.operands_of(node), ref) != program.operands_of(node).end();
  });
  const auto site = user == program.nodes.end() || !user->site.file ? "" : " (at " + ir::to_string(user->site) + ")";
  return instead(text_of(now, dtype), text_of(before, dtype)) + site;
}

}  // namespace

std::string RecordedForm::difference(const RecordedForm& later) const {
  if (!(program->hash == later.program->hash) || inputs != later.inputs) return "other operations";
  if (persistent != later.persistent || result != later.result) return "results in other places";
  const auto same_event = [](const CaptureLog::Event& a, const CaptureLog::Event& b) {
    return a.host == b.host && a.keys == b.keys && a.slot == b.slot && a.count == b.count && a.dtype == b.dtype;
  };
  if (given != later.given || event_numbers != later.event_numbers ||
      !std::ranges::equal(events, later.events, same_event)) {
    return "its numbers in other places";
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    const double before = events[i].number.as_double(), now = later.events[i].number.as_double();
    if (event_numbers[i] < 0 && before != now) return instead(std::to_string(now), std::to_string(before));
  }
  for (std::size_t slot = 0; slot < scalars.size(); ++slot) {
    if (scalars[slot] != later.scalars[slot])
      return scalar_difference(*program, slot, scalars[slot], later.scalars[slot]);
  }
  return {};
}

}  // namespace burn::client
