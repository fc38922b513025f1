// The recording of a captured step, without the numbers and tensors of the call: its program, and the sources of the
// values that the arguments and the result hold afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "client/capture/state.h"

namespace burn::client {

// The source of a tensor that an argument or the result holds after a call, and how its Value is made.
struct RecordedSource {
  enum class From { nothing, argument, output } from = From::nothing;
  std::size_t index = 0;
  bool is_autodiff = false, is_leaf = false;
  std::int64_t same_leaf_as = -1;  // index of an earlier Value (persistent, then result) with the same leaf; -1: none
  friend bool operator==(const RecordedSource&, const RecordedSource&) = default;
};

struct RecordedForm {
  std::shared_ptr<const ir::Program> program;  // donates no input
  std::vector<std::size_t> inputs;             // for each of the program's, the number of the argument
  std::vector<RecordedSource> persistent, result;
  std::vector<CaptureLog::Given> given;
  std::vector<CaptureLog::Event> events;
  std::vector<std::int64_t> event_numbers;  // which of the call's numbers an event uses; -1: event.number
  std::vector<std::uint64_t> scalars;       // 0 in slots that each call fills
  std::string difference(const RecordedForm& later) const;  // in words; empty if they are equal
};

// Whether the value is tracked and not the result of an op, such as a parameter.
inline bool is_leaf_of_tape(const Value& value) { return value.is_tracked() && value.tape()->is_leaf; }

// A copy of the program that donates exactly these inputs; an empty list: none.
std::shared_ptr<const ir::Program> with_donated_inputs(const ir::Program& program, const std::vector<bool>& donated);

// `ids`: those of the arguments' tensors before the call, 0 for an empty Value. Errors (thrown): a result that is
// neither an argument nor computed by the step.
RecordedForm form_of(const CaptureLog& log, const CapturedRun& captured, std::span<const proto::TensorId> ids,
                     const CaptureState& persistent, const CaptureState& result);

// For each input CapturedCall::dropped. An input may be donated if every argument that holds it is replaced or
// destroyed by the call, and no argument or result holds it afterwards. `aliases`: for each argument the first that is
// the same tensor.
std::vector<std::int32_t> dropped_of(const RecordedForm& form, std::span<const std::uint64_t> aliases);

}  // namespace burn::client
