// The assertions of TensorData (client/tensor/data.h).
#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"
#include "client/tensor/data.h"

namespace burn {
namespace {

constexpr std::size_t kShown = 5;  // differing elements in a message

template <typename T>
std::string text_of(T value) {
  if constexpr (std::same_as<ir::compute_t<T>, float> || std::same_as<T, double>) {
    char text[40];
    const int digits = std::same_as<T, double> ? 17 : 9;  // enough to tell any two values apart
    std::snprintf(text, sizeof text, "%.*g", digits, static_cast<double>(static_cast<ir::compute_t<T>>(value)));
    return text;
  } else if constexpr (std::same_as<T, bool>) {
    return value ? "true" : "false";
  } else {
    return std::to_string(value);
  }
}

// "[1, 0]" for the third element of a [2, 2].
std::string position(std::size_t index, const ir::Shape& shape) {
  ir::Dims at = shape;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    at[i] = static_cast<std::int64_t>(index) % shape[i];
    index /= static_cast<std::size_t>(shape[i]);
  }
  return to_string(at);
}

// Collects the elements that differ, and throws them as one sentence.
class Differences {
 public:
  template <typename T>
  void add(std::size_t index, const ir::Shape& shape, T actual, T expected) {
    if (count_++ >= kShown) return;
    list_ += (list_.empty() ? "" : "; ") + position(index, shape) + " is " + text_of(actual) + ", expected " +
             text_of(expected);
  }

  void throw_if_any(const TensorData& data, const std::string& how) const {
    if (count_ == 0) return;
    throw Error(StatusCode::failed_precondition, "tensor data: " + std::to_string(count_) + " of " +
                                                     std::to_string(data.num_elements()) + " elements of " +
                                                     to_string(data.type()) + " differ" + how + ": " + list_ +
                                                     (count_ > kShown ? "; ..." : ""));
  }

 private:
  std::size_t count_ = 0;
  std::string list_;
};

void check_same_shape(const TensorData& actual, const TensorData& expected) {
  if (actual.shape() == expected.shape()) return;
  throw Error(StatusCode::failed_precondition,
              "tensor data: the shape is " + to_string(actual.type()) + ", expected " + to_string(expected.type()));
}

template <typename T>
bool close(T actual, T expected, Tolerance tolerance) {
  const auto a = static_cast<double>(static_cast<ir::compute_t<T>>(actual));
  const auto b = static_cast<double>(static_cast<ir::compute_t<T>>(expected));
  if (a == b || (std::isnan(a) && std::isnan(b))) return true;
  if (std::isinf(a) || std::isinf(b)) return false;
  return std::abs(a - b) <= tolerance.atol + tolerance.rtol * std::abs(b);
}

template <typename T>
bool same(T actual, T expected) {
  const auto a = static_cast<ir::compute_t<T>>(actual);
  const auto b = static_cast<ir::compute_t<T>>(expected);
  if constexpr (std::floating_point<ir::compute_t<T>>) return a == b || (std::isnan(a) && std::isnan(b));
  return a == b;
}

template <typename Equal>
Differences compare(const TensorData& actual, const TensorData& expected, Equal&& equal) {
  Differences differences;
  ir::dispatch(actual.dtype(), [&]<typename T>() {
    const auto a = actual.as_slice<T>();
    const auto b = expected.as_slice<T>();
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!equal(a[i], b[i])) differences.add(i, actual.shape(), a[i], b[i]);
    }
  });
  return differences;
}

}  // namespace

void TensorData::assert_eq(const TensorData& expected, bool strict) const {
  check_same_shape(*this, expected);
  if (strict && dtype() != expected.dtype()) {
    throw Error(StatusCode::failed_precondition,
                "tensor data: the type is " + to_string(type()) + ", expected " + to_string(expected.type()));
  }
  compare(*this, expected.convert_dtype(dtype()), [](auto a, auto b) { return same(a, b); }).throw_if_any(*this, "");
}

void TensorData::check_close(const TensorData& expected, Tolerance tolerance) const {
  check_same_shape(*this, expected);
  char how[80];
  std::snprintf(how, sizeof how, " by more than %g + %g * |expected|", tolerance.atol, tolerance.rtol);
  compare(*this, expected, [&](auto a, auto b) { return close(a, b, tolerance); }).throw_if_any(*this, how);
}

void TensorData::check_range(double low, double high, bool is_closed) const {
  const auto all = to_vec_as<double>();
  const auto bad = std::find_if_not(all.begin(), all.end(),
                                    [&](double x) { return x >= low && (is_closed ? x <= high : x < high); });
  if (bad == all.end()) return;
  const auto index = static_cast<std::size_t>(bad - all.begin());
  throw Error(StatusCode::data_loss, "tensor data: element " + position(index, shape()) + " of " + to_string(type()) +
                                         " is " + text_of(*bad) + ", not within " + text_of(low) + " and " +
                                         text_of(high) + (is_closed ? " (inclusive)" : ""));
}

}  // namespace burn
