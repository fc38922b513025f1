#include "client/capture/engine.h"

#include <algorithm>
#include <atomic>

#include "base/error.h"
#include "base/settings.h"
#include "client/autocast.h"
#include "client/ops/integer_scalar.h"
#include "client/record/captured_step.h"

namespace burn::client {
namespace {

std::atomic<std::uint64_t> next_source{1};

std::uint64_t kind_of(const Value& value) {
  if (!value.has_value()) return 0;
  return 1 | std::uint64_t{value.is_autodiff()} << 1 | std::uint64_t{is_leaf_of_tape(value)} << 2;
}

}  // namespace

// --- a call ----------------------------------------------------------------------------------------------------------

CaptureEngine::CaptureEngine(std::shared_ptr<DeviceState> device)
    : device_(std::move(device)), always_records_(setting(Setting::capture) == "check") {}

void CaptureEngine::begin() {
  if (CaptureLog::active() != nullptr)
    throw Error(StatusCode::failed_precondition, "a captured step calls a captured step");
  persistent_.clear();
  temporary_.clear();
  numbers_.clear();
  changes_.clear();
}

void CaptureEngine::number(Scalar value) {
  numbers_.push_back(value.with_source(next_source.fetch_add(1, std::memory_order_relaxed)));
}

void CaptureEngine::compute_signature() {
  arguments_ = persistent_.values();
  arguments_.insert(arguments_.end(), temporary_.values().begin(), temporary_.values().end());
  aliases_.clear();
  prepare_arguments(*device_, arguments_, aliases_);
  auto& words = words_;
  words = persistent_.words();
  words.push_back(persistent_.values().size());
  words.insert(words.end(), temporary_.words().begin(), temporary_.words().end());
  words.push_back(numbers_.size());
  const auto cast = Autocast::dtype();
  words.push_back(cast ? 1 + static_cast<std::uint64_t>(*cast) : 0);
  words.insert(words.end(), aliases_.begin(), aliases_.end());
  for (const Value* value : arguments_) words.push_back(kind_of(*value));
}

bool CaptureEngine::has_types(const std::vector<ir::TensorType>& types) const {
  return std::ranges::equal(arguments_, types, [](const Value* value, const ir::TensorType& type) {
    return !value->has_value() || value->type() == type;  // the words say which are empty
  });
}

bool CaptureEngine::finds_recording() {
  compute_signature();
  for (const Value* value : arguments_) {
    if (value->has_value() && value->is_tracked() && !is_leaf_of_tape(*value)) {
      throw Error(StatusCode::invalid_argument, "a captured step is given " + ir::to_string(value->type()) +
                                                    ", to which a gradient leads from outside; detach() it");
    }
  }
  const auto found = std::find_if(recordings_.begin(), recordings_.end(),
                                  [&](const Recorded& r) { return r.words == words_ && has_types(r.types); });
  if (found == recordings_.end()) return false;
  recordings_.splice(recordings_.begin(), recordings_, found);
  return found->keeps_its_shape && found->times >= 2 && !always_records_;
}

std::vector<std::uint64_t> CaptureEngine::scalars_of(const RecordedForm& form) {
  auto scalars = form.scalars;
  for (const auto& given : form.given) {
    const Scalar& number = numbers_[given.number];
    if (ir::is_integer(given.dtype)) exact_integer(number, given.dtype, {});
    scalars[given.slot] = static_cast<std::uint64_t>(number.bits(given.dtype));
  }
  const auto& own = persistent_.hosts();
  const auto host = [&](std::size_t i) { return i < own.size() ? own[i] : temporary_.hosts()[i - own.size()]; };
  for (std::size_t i = 0; i < form.events.size(); ++i) {
    const auto& event = form.events[i];
    if (event.count == 0) {
      host(event.host)->captured_advance(event.keys);
      continue;
    }
    const auto number =
        form.event_numbers[i] < 0 ? event.number : numbers_[static_cast<std::size_t>(form.event_numbers[i])];
    const auto values = host(event.host)->captured_numbers(event.keys[0], number.as_double());
    for (std::size_t k = 0; k < event.count; ++k) {
      scalars[event.slot + k] = static_cast<std::uint64_t>(Scalar{values[k]}.bits(event.dtype));
    }
  }
  return scalars;
}

void CaptureEngine::replay(const CaptureState& result) {
  auto& recorded = recordings_.front();
  const RecordedForm& form = recorded.form;
  SmallArray<Storage*, 64> inputs{form.inputs.size()};
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] = arguments_[form.inputs[i]]->storage().get();
  const auto program = [&](const std::vector<bool>& donated) {
    auto& known = recorded.by_donation;
    auto found = std::ranges::find(known, donated, [](const auto& entry) { return entry.first; });
    if (found == known.end()) {
      if (known.size() >= 8) known.erase(known.begin());
      found = known.insert(known.end(), {donated, with_donated_inputs(*form.program, donated)});
    }
    return found->second;
  };
  const auto outputs = run_captured(*device_, {inputs.span(), recorded.dropped, scalars_of(form), program});

  const auto made = [&](const RecordedSource& source) {
    if (source.from == RecordedSource::From::nothing) return Value{};
    const auto& storage =
        source.from == RecordedSource::From::output ? outputs[source.index] : arguments_[source.index]->storage();
    const Value value{storage, source.is_autodiff};
    if (source.same_leaf_as >= 0) {
      const auto earlier = static_cast<std::size_t>(source.same_leaf_as), count = form.persistent.size();
      return changed(earlier < count ? arguments_[earlier] : result.values()[earlier - count]);
    }
    return source.is_leaf ? require_grad(value) : value;
  };
  // All Values are made before any is assigned, as the step may have swapped arguments.
  for (std::size_t i = 0; i < form.persistent.size(); ++i) {
    const auto& source = form.persistent[i];
    const bool is_as_before = source.from == RecordedSource::From::argument && source.index == first_alias(i);
    if (!is_as_before) changes_.emplace_back(arguments_[i], made(source));
  }
  for (Value* value : temporary_.values()) changes_.emplace_back(value, Value{});
  for (std::size_t i = 0; i < form.result.size(); ++i) changes_.emplace_back(result.values()[i], made(form.result[i]));
  for (auto& [to, value] : changes_) *to = std::move(value);
  changes_.clear();
  replayed_ += 1;
}

// --- a recording -----------------------------------------------------------------------------------------------------

namespace {

std::vector<CaptureHost*> joined(std::vector<CaptureHost*> a, const std::vector<CaptureHost*>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

CaptureEngine::CaptureScope::CaptureScope(CaptureEngine& engine)
    : engine_(engine),
      hosts_(joined(engine.persistent_.hosts(), engine.temporary_.hosts())),
      log_(engine.numbers_, hosts_) {
  engine_.ids_.clear();
  engine_.types_.clear();
  for (const Value* value : engine_.arguments_) {
    engine_.ids_.push_back(value->has_value() ? value->storage()->id : 0);
    engine_.types_.push_back(value->has_value() ? value->type() : ir::TensorType{});
  }
  begin_capture(*engine_.device_, log_);
}

CaptureEngine::CaptureScope::~CaptureScope() {
  if (is_open_) abandon_capture(*engine_.device_);
}

void CaptureEngine::CaptureScope::finish(const CaptureState& persistent, const CaptureState& result) {
  for (Value* value : result.values()) {
    if (value->has_value() && value->is_tracked() && !is_leaf_of_tape(*value)) *value = value->detach();
  }
  for (const Value* value : persistent.values()) {
    if (value->has_value() && value->is_tracked() && !is_leaf_of_tape(*value)) {
      throw Error(StatusCode::failed_precondition,
                  "a captured step leaves " + ir::to_string(value->type()) + " with a gradient to itself; detach() it");
    }
  }
  auto holders = persistent.values();
  holders.insert(holders.end(), result.values().begin(), result.values().end());
  is_open_ = false;
  const auto captured = value_or_throw(end_capture(*engine_.device_, holders, engine_.ids_));
  engine_.recorded_ += 1;
  if (!captured.program) throw Error(StatusCode::invalid_argument, "a captured step computes nothing");
  bool keeps_its_shape = persistent.words() == engine_.persistent_.words() &&
                         persistent.values().size() == engine_.persistent_.values().size();
  for (std::size_t i = 0; keeps_its_shape && i < persistent.values().size(); ++i) {
    keeps_its_shape = persistent.values()[i]->has_value() == (engine_.ids_[i] != 0);
  }
  engine_.keep(form_of(log_, captured, engine_.ids_, persistent, result), keeps_its_shape);
}

const Value& CaptureEngine::changed(const Value* holder) const {
  const auto found = std::ranges::find(changes_, holder, [](const auto& change) { return change.first; });
  return found == changes_.end() ? *holder : found->second;
}

void CaptureEngine::keep(RecordedForm form, bool keeps_its_shape) {
  if (!recordings_.empty() && recordings_.front().words == words_ && recordings_.front().types == types_) {
    auto& known = recordings_.front();
    if (const auto difference = known.form.difference(form); !difference.empty()) {
      recordings_.pop_front();
      throw Error(StatusCode::failed_precondition,
                  "a captured step does not do the same again for arguments of the same shapes: " + difference +
                      "; what differs from call to call must be an argument");
    }
    known.times += 1;
    return;
  }
  auto dropped = dropped_of(form, aliases_);
  auto kept = persistent_.kept();
  kept.insert(kept.end(), temporary_.kept().begin(), temporary_.kept().end());
  recordings_.push_front(
      {words_, types_, std::move(kept), std::move(form), keeps_its_shape, 1, std::move(dropped), {}, {}});
  if (recordings_.size() > kMaxRecordings) recordings_.pop_back();
}

}  // namespace burn::client
