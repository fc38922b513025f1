// What was recorded of a captured step, free of the numbers and tensors of the call: its program, and where the values
// of arguments and result come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "client/capture/state.h"

namespace burn::client {

// Where a tensor comes from after a call, and how the Value that holds it is made.
struct RecordedSource {
  enum class From { nothing, argument, output } from = From::nothing;
  std::size_t index = 0;
  bool is_autodiff = false, is_leaf = false;
  std::int64_t same_leaf_as = -1;  // an earlier one of the lasting and the result's: a parameter at several places
  friend bool operator==(const RecordedSource&, const RecordedSource&) = default;
};

struct RecordedForm {
  std::shared_ptr<const ir::Program> program;  // gives nothing away
  std::vector<std::size_t> inputs;             // arguments' tensors
  std::vector<RecordedSource> lasting, result;
  std::vector<CaptureLog::Given> given;
  std::vector<CaptureLog::Event> events;
  std::vector<std::int64_t> event_numbers;                  // which of the call's numbers an event takes; -1: its own
  std::vector<std::uint64_t> scalars;                       // those given with a call are 0
  std::string difference(const RecordedForm& later) const;  // empty: none
};

// A tensor that gradients are asked for, and that no op has made.
inline bool is_leaf_of_tape(const Value& value) { return value.is_tracked() && value.tape()->is_leaf; }

// The same program giving away just these inputs.
std::shared_ptr<const ir::Program> giving_away(const ir::Program& program, const std::vector<bool>& donated);

// `ids`: of the arguments' tensors before the call, 0 for an empty Value. Errors (thrown): a result from outside the
// step.
RecordedForm form_of(const CaptureLog& log, const CapturedRun& captured, std::span<const proto::TensorId> ids,
                     const CaptureState& lasting, const CaptureState& result);

// For each input, as in CapturedCall. A tensor's memory may be given away when every Value that holds it is replaced or
// gone afterwards, and none takes it over. `aliases`: for each argument the first that is the same tensor.
std::vector<std::int32_t> dropped_of(const RecordedForm& form, std::span<const std::uint64_t> aliases);

}  // namespace burn::client
