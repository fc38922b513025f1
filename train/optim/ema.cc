#include "train/optim/ema.h"

#include <algorithm>
#include <bit>
#include <string>

#include "base/error.h"
#include "client/autocast.h"
#include "client/ops/formula.h"
#include "client/tensor/untyped.h"
#include "nn/module/tied.h"
#include "nn/module/visit.h"
#include "train/optim/ranges.h"

namespace burn::optim {
namespace {

using client::Value;

// The two weights of an update as scalars, created once for each device and dtype.
class UpdateNumbers {
 public:
  struct Pair {
    Value kept, added;
  };
  UpdateNumbers(const client::CaptureHost& host, const std::vector<double>& numbers) : host_(host), numbers_(numbers) {}

  const Pair& of(const Value& like) {
    const auto is_same = [&](const Entry& entry) {
      return entry.device == like.device().get() && entry.dtype == like.dtype();
    };
    const auto found = std::ranges::find_if(entries_, is_same);
    if (found != entries_.end()) return found->pair;
    if (auto* capture = client::CaptureLog::active())
      capture->follow(host_, 0, Scalar{0.0}, like.dtype(), numbers_.size());
    const client::Place place{like.device()};
    const auto scalar = [&](double number) { return client::scalar(place, number, like.dtype()); };
    Value kept = scalar(numbers_[0]);  // in the order announced by follow()
    Value added = scalar(numbers_[1]);
    return entries_.emplace_back(Entry{like.device().get(), like.dtype(), {std::move(kept), std::move(added)}}).pair;
  }

 private:
  struct Entry {
    client::DeviceState* device;
    ir::DType dtype;
    Pair pair;
  };
  const client::CaptureHost& host_;
  const std::vector<double>& numbers_;
  std::vector<Entry> entries_;
};

// Calls body(slot, k) for the k-th tensor of a module, whose slot may be empty, then copies the slot to further places
// of the parameter.
class SlotVisitor final : public nn::ModuleVisitor {
 public:
  explicit SlotVisitor(const std::function<void(Slot&, std::size_t)>& body) : body_(body) {}
  void enter(std::string_view, std::string_view) override {}
  void leave() override {}
  void slot(std::string_view, Slot& slot) override {
    if (const auto* first = firsts_.find_or_add(slot))
      slot = *first->slot;
    else
      body_(slot, count_++);
  }

 private:
  const std::function<void(Slot&, std::size_t)>& body_;
  nn::detail::FirstPlaces firsts_;
  std::size_t count_ = 0;
};

void for_each_slot_or_empty(const nn::ModuleWalk& module, const std::function<void(Slot&, std::size_t)>& body) {
  SlotVisitor visitor{body};
  module(visitor);
}

[[noreturn]] void reject(const std::string& what) {
  throw Error(StatusCode::invalid_argument, "the average of a module: " + what);
}

}  // namespace

ModuleAverage::ModuleAverage(const Ema& config) : ema_(config) {
  detail::check_rates("Ema", {{"decay", config.decay}});
  nn::detail::check_at_least("Ema", "warmup", config.warmup, 0);
  nn::detail::check_at_least("Ema", "every", config.every, 1);
}

ModuleAverage::ModuleAverage(const Swa& config) : swa_(config) {
  nn::detail::check_at_least("Swa", "start", config.start, 0);
  nn::detail::check_at_least("Swa", "every", config.every, 1);
}

// NOLINTBEGIN(bugprone-unchecked-optional-access): the constructors set ema_ or swa_
bool ModuleAverage::is_due() const {
  if (ema_) return (steps_ + 1) % ema_->every == 0;
  return steps_ >= swa_->start && (steps_ - swa_->start + 1) % swa_->every == 0;
}

double ModuleAverage::kept() const {
  const auto n = static_cast<double>(updates_);
  if (updates_ == 0) return 0;
  if (swa_) return n / (n + 1);
  return std::min(ema_->decay, (1 + n) / (static_cast<double>(ema_->warmup) + n));
}
// NOLINTEND(bugprone-unchecked-optional-access)

std::vector<double> ModuleAverage::captured_numbers(std::uint64_t, double) const {
  if (!is_due()) return {1, 0};
  return {kept(), 1 - kept()};
}

void ModuleAverage::captured_advance(std::span<const std::uint64_t>) {
  updates_ += is_due() ? 1 : 0;
  steps_ += 1;
}

void ModuleAverage::update(const nn::ModuleWalk& module, const client::Site& site) {
  check_fits(module);
  // A captured step is one program, so the update is recorded in every step, and keeps the old average if it is not
  // due.
  auto* const capture = client::CaptureLog::active();
  if (!is_due() && capture == nullptr) return captured_advance({});
  const client::SiteScope scope{site};
  const Autocast pause{ir::DType::f32};
  const auto of_update = captured_numbers(0, 0);
  UpdateNumbers numbers{*this, of_update};
  std::vector<detail::AveragedTensor> next;
  next.reserve(entries_.size());
  nn::for_each_place(module, [&](Slot& slot, bool is_first) {
    if (!is_first) return;
    auto entry = next.size() < entries_.size() ? entries_[next.size()] : detail::AveragedTensor{slot.id, {}, {}};
    entry.dtype = slot.value.dtype();
    if (detail::wants_average(slot) || entry.mean.has_value()) {
      const Value weights = client::to_compute_dtype(slot.value.inner(), site);
      const auto& [kept, added] = numbers.of(weights);
      const Value before = entry.mean.has_value() ? nn::on_device(entry.mean, Device{weights.device()})
                           : updates_ == 0        ? zeros_like(weights)
                                                  : weights;
      entry.mean = before * kept + weights * added;
      if (capture != nullptr) entry.mean = select(added > 0.0, entry.mean, before);
    }
    next.push_back(std::move(entry));
  });
  entries_ = std::move(next);
  captured_advance({});
  if (capture != nullptr) capture->advance(*this, {0});
}

void ModuleAverage::check_fits(const nn::ModuleWalk& module) const {
  if (entries_.empty()) return;
  std::size_t count = 0;
  bool fits = true;
  const auto is_same = [](const detail::AveragedTensor& entry, const Slot& slot) {
    return entry.id == slot.id && (!entry.mean.has_value() || entry.mean.shape() == slot.value.shape());
  };
  nn::for_each_place(module, [&](Slot& slot, bool is_first) {
    if (!is_first) return;
    fits = fits && count < entries_.size() && is_same(entries_[count], slot);
    count += 1;
  });
  if (fits && count == entries_.size()) return;
  std::size_t i = 0;
  nn::for_each_slot(module, [&](const std::string& path, Slot& slot) {
    if (i >= entries_.size() || !is_same(entries_[i], slot)) {
      reject("\"" + path + "\", " + ir::to_string(slot.value.type()) +
             ", is not the tensor that was averaged before; the average belongs to another module");
    }
    i += 1;
  });
  reject("the module has " + std::to_string(count) + " tensors, " + std::to_string(entries_.size()) +
         " were averaged before");
}

void ModuleAverage::put_into(const nn::ModuleWalk& module) const {
  if (updates_ == 0) return;
  std::size_t count = 0;
  const auto check = [&](bool fits) {
    if (!fits) reject("it is put into another module, whose tensor " + std::to_string(count) + " is not the averaged");
  };
  for_each_slot_or_empty(module, [&](Slot& slot, std::size_t k) {  // check before anything is changed
    check(k < entries_.size() && entries_[k].id == slot.id);
    count += 1;
  });
  check(count == entries_.size());
  for_each_slot_or_empty(module, [&](Slot& slot, std::size_t k) {
    const auto& entry = entries_[k];
    if (!entry.mean.has_value()) return;
    const Value mean = client::cast(entry.mean, entry.dtype, {});
    if (slot.value.has_value())
      slot.put(mean, slot.value.is_autodiff());
    else
      slot.value = mean;
  });
}

void ModuleAverage::release(const nn::ModuleWalk& module) const {
  if (updates_ == 0) return;
  for_each_slot_or_empty(module, [&](Slot& slot, std::size_t k) {
    if (k >= entries_.size() || !entries_[k].mean.has_value() || !slot.value.has_value()) return;
    if (slot.role == Slot::Role::parameter) slot.is_frozen = !slot.wants_grad();
    slot.value = {};
  });
}

void ModuleAverage::list_captured(client::CaptureState& state) {
  state.host(*this);
  if (ema_) {
    state.word(std::bit_cast<std::uint64_t>(ema_->decay));
    state.word(static_cast<std::uint64_t>(ema_->warmup));
    state.word(static_cast<std::uint64_t>(ema_->every));
  } else if (swa_) {
    state.word(static_cast<std::uint64_t>(swa_->start));
    state.word(static_cast<std::uint64_t>(swa_->every));
  }
  state.word(entries_.size());
  for (auto& entry : entries_) {
    if (state.device() && entry.mean.has_value()) entry.mean = nn::on_device(entry.mean, Device{state.device()});
    state.word(entry.id);
    state.value(entry.mean);
  }
}

Record ModuleAverage::to_record(const nn::ModuleWalk& module) const {
  check_fits(module);
  return detail::record_of_average(ema_ ? "ema" : "swa", {steps_, updates_}, entries_, module);
}

void ModuleAverage::load_record(const nn::ModuleWalk& module, const Record& record) {
  auto average = detail::average_of_record(record, ema_ ? "ema" : "swa", module);
  steps_ = average.first.steps;
  updates_ = average.first.updates;
  entries_ = std::move(average.second);
}

}  // namespace burn::optim
