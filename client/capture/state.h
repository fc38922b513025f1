// The parts of the arguments and results of a captured step in which calls differ: tensors, counters and words.
//
// capture_fields(state, x) lists the parts of x. It is defined here for tensors, pairs, tuples, optionals, vectors and
// arrays, and for modules and optimizers next to their types; for a type of your own, add an overload in its namespace:
//
//   void capture_fields(burn::client::CaptureState& state, MnistBatch& batch) {
//     state.fields(batch.images, batch.targets);
//   }
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "client/record/capture_log.h"
#include "client/tensor/tensor.h"

namespace burn::client {

class CaptureState {
 public:
  // `device`: that of the step; arguments whose tensors can be moved do so before it runs. Null: nothing is moved.
  explicit CaptureState(std::shared_ptr<DeviceState> device = nullptr);
  const std::shared_ptr<DeviceState>& device() const { return device_; }

  void value(Value& value);
  void host(CaptureHost& host);
  // Adds a number that must be equal for a recording to be replayed: a count, the id of a parameter.
  void word(std::uint64_t word);
  // Keeps an object alive whose address is used as a word.
  void keep(std::shared_ptr<const void> object);

  template <typename... Ts>
  void fields(Ts&... fields) {
    (field(fields), ...);
  }
  void clear();

  const std::vector<Value*>& values() const { return values_; }
  const std::vector<CaptureHost*>& hosts() const { return hosts_; }
  const std::vector<std::uint64_t>& words() const { return words_; }
  const std::vector<std::shared_ptr<const void>>& kept() const { return kept_; }

 private:
  template <typename T>
  void field(T& field);

  std::shared_ptr<DeviceState> device_;
  std::vector<Value*> values_;
  std::vector<CaptureHost*> hosts_;
  std::vector<std::uint64_t> words_;
  std::vector<std::shared_ptr<const void>> kept_;
};

inline void capture_fields(CaptureState& state, Value& value) { state.value(value); }
template <int D, Kind K>
void capture_fields(CaptureState& state, Tensor<D, K>& tensor) {
  state.value(tensor.mutable_value());
}
template <typename T>
void capture_fields(CaptureState& state, std::optional<T>& x) {
  state.word(x.has_value());
  if (x) state.fields(*x);
}
template <typename T>
void capture_fields(CaptureState& state, std::vector<T>& list) {
  state.word(list.size());
  for (auto& x : list) state.fields(x);
}
template <typename T, std::size_t N>
void capture_fields(CaptureState& state, std::array<T, N>& list) {
  for (auto& x : list) state.fields(x);
}
template <typename A, typename B>
void capture_fields(CaptureState& state, std::pair<A, B>& x) {
  state.fields(x.first, x.second);
}
template <typename... Ts>
void capture_fields(CaptureState& state, std::tuple<Ts...>& x) {
  std::apply([&](auto&... fields) { state.fields(fields...); }, x);
}

template <typename T>
void CaptureState::field(T& field) {
  static_assert(
      requires { capture_fields(*this, field); },
      "a captured step takes and returns tensors, modules, optimizers, and what capture_fields() is written for; "
      "numbers come as burn::Scalar arguments");
  capture_fields(*this, field);
}

}  // namespace burn::client
