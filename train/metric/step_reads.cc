#include "train/metric/step_reads.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "client/ops/formula.h"
#include "client/tensor/untyped.h"

namespace burn::metric {
namespace {

using client::Value;

// Stacks kSteps tensors [n] to [kSteps, n] by element-wise selection: this is one kernel, while a concatenation is one
// copy per tensor on some devices.
Value side_by_side(const std::vector<Value>& steps) {
  const auto& site = client::current_site();
  const auto count = static_cast<std::int64_t>(steps.size());
  const ir::Shape shape{count, steps.front().dim(0)};
  const auto row_of = [&](const Value& step) {
    return client::expand(client::reshape(step, {1, shape[1]}, site), shape, site);
  };
  const auto rows =
      client::expand(client::reshape(client::arange(client::place_of(steps.front()), 0, count, 1, ir::DType::i32, site),
                                     {count, 1}, site),
                     shape, site);
  auto all = row_of(steps.front());
  for (std::int64_t k = 1; k < count; ++k) {
    const auto row = client::constant(client::place_of(rows), k, ir::DType::i32, site);
    all = client::select(client::pointwise(ir::PointwiseFn::equal, rows, row, site),
                         row_of(steps[static_cast<std::size_t>(k)]), all, site);
  }
  return all;
}

}  // namespace

// Steps of one device with the same number of numbers, which are read together.
class StepReads::Group {
 public:
  explicit Group(const Value& like) : device_(like.device()), count_(like.dim(0)) {}

  bool is_on_device_of(const Value& numbers) const { return device_ == numbers.device(); }
  bool takes(const Value& numbers) const { return !is_asked_ && count_ == numbers.dim(0); }
  std::size_t add(const Value& numbers) {
    steps_.push_back(numbers);
    return steps_.size() - 1;
  }
  std::size_t size() const { return steps_.size(); }

  // Starts the reads. Errors are thrown by get().
  void ask() {
    if (is_asked_) return;
    is_asked_ = true;
    if (steps_.size() < kSteps) return ask_each();
    try {
      together_ = client::to_data_async(side_by_side(steps_)).share();
    } catch (const Error&) {
      ask_each();
    }
  }

  bool is_ready(std::size_t index) const {
    const auto has_come = [](const auto& data) {
      return data.wait_for(std::chrono::seconds{0}) == std::future_status::ready;
    };
    if (!is_asked_) return false;
    return together_ ? has_come(*together_) : has_come(each_[index]);
  }

  TensorData get(std::size_t index) {
    ask();
    if (together_) {
      try {
        return row(together_->get(), index);
      } catch (const Error&) {
        together_.reset();  // some step has failed; separate reads fail for that step only
        ask_each();
      }
    }
    return each_[index].get();
  }

 private:
  void ask_each() {
    for (const auto& step : steps_) {
      try {
        each_.push_back(client::to_data_async(step));
      } catch (const Error&) {  // the session is broken
        std::promise<TensorData> failed;
        failed.set_exception(std::current_exception());
        each_.push_back(failed.get_future());
      }
    }
    steps_.clear();
  }
  static TensorData row(const TensorData& rows, std::size_t index) {
    const auto count = static_cast<std::size_t>(rows.shape()[1]);
    const auto numbers = rows.as_slice<float>().subspan(index * count, count);
    return {std::vector<float>(numbers.begin(), numbers.end()), {rows.shape()[1]}};
  }

  const std::shared_ptr<client::DeviceState> device_;
  const std::int64_t count_;  // numbers of a step
  std::vector<Value> steps_;  // kept until they are read separately
  bool is_asked_ = false;
  std::optional<std::shared_future<TensorData>> together_;
  std::vector<std::future<TensorData>> each_;
};

bool StepReads::Read::is_ready() const { return group_->is_ready(index_); }

TensorData StepReads::Read::get() { return std::exchange(group_, nullptr)->get(index_); }

StepReads::Read StepReads::add(const Value& numbers) {
  auto found = std::ranges::find_if(open_, [&](const auto& group) { return group->is_on_device_of(numbers); });
  if (found == open_.end()) {
    found = open_.insert(found, std::make_shared<Group>(numbers));
  } else if (!(*found)->takes(numbers)) {
    (*found)->ask();
    *found = std::make_shared<Group>(numbers);
  }
  const auto group = *found;
  const auto index = group->add(numbers);
  if (now_() - asked_ >= kWait) {
    ask();
  } else if (group->size() == kSteps || numbers.dim(0) > kMaxNumbers) {
    group->ask();
    open_.erase(found);
    asked_ = now_();
  }
  return {group, index};
}

void StepReads::ask() {
  for (const auto& group : open_) group->ask();
  open_.clear();
  asked_ = now_();
}

}  // namespace burn::metric
