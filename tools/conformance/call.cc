#include <algorithm>
#include <limits>

#include "base/error.h"
#include "tools/conformance/ops.h"

namespace burn::conformance {

const Value& Call::x(std::size_t i) const {
  const auto* value = optional(i);
  if (!value) throw Error(StatusCode::invalid_argument, "no input " + std::to_string(i));
  return *value;
}

const Value* Call::optional(std::size_t i) const {
  if (i >= inputs_.size()) return nullptr;
  const auto& input = inputs_[i];
  return input.has_value() ? &*input : nullptr;
}

std::vector<Value> Call::all() const {
  std::vector<Value> values;
  values.reserve(inputs_.size());
  for (std::size_t i = 0; i < inputs_.size(); ++i) values.push_back(x(i));
  return values;
}

const boost::json::value& Call::at(const char* name) const {
  const auto* value = params_.if_contains(name);
  if (value == nullptr || value->is_null())
    throw Error(StatusCode::invalid_argument, std::string{"no parameter \""} + name + "\"");
  return *value;
}

bool Call::has(const char* name) const {
  const auto* value = params_.if_contains(name);
  return value != nullptr && !value->is_null();
}

std::int64_t Call::integer(const char* name) const { return at(name).to_number<std::int64_t>(); }
bool Call::flag(const char* name) const {
  const auto& value = at(name);
  return value.is_bool() ? value.as_bool() : value.to_number<int>() != 0;
}
bool Call::is_text(const char* name) const { return has(name) && at(name).is_string(); }
std::string Call::text(const char* name) const { return std::string{at(name).as_string()}; }
ir::DType Call::dtype() const {
  const std::string name = text("dtype");
  const auto known = ir::parse_dtype(name);
  if (!known) throw Error(StatusCode::invalid_argument, "no dtype is called \"" + name + '"');
  return *known;
}

double Call::number(const char* name) const {
  const auto& value = at(name);
  if (!value.is_string()) return value.to_number<double>();
  if (value.as_string() == "nan") return std::numeric_limits<double>::quiet_NaN();
  return (value.as_string() == "-inf" ? -1 : 1) * std::numeric_limits<double>::infinity();
}

Scalar Call::scalar(const char* name) const {
  const auto& value = at(name);
  if (value.is_bool()) return Scalar{value.as_bool()};
  if (value.is_int64()) return Scalar{value.as_int64()};
  return Scalar{number(name)};
}

std::vector<std::int64_t> Call::integers(const char* name) const {
  const auto& value = at(name);
  if (!value.is_array()) return {value.to_number<std::int64_t>()};
  std::vector<std::int64_t> numbers;
  for (const auto& item : value.as_array()) numbers.push_back(item.to_number<std::int64_t>());
  return numbers;
}

std::vector<std::pair<std::int64_t, std::int64_t>> Call::pairs(const char* name) const {
  std::vector<std::pair<std::int64_t, std::int64_t>> result;
  for (const auto& item : at(name).as_array()) {
    const auto& pair = item.as_array();
    result.emplace_back(pair.at(0).to_number<std::int64_t>(), pair.at(1).to_number<std::int64_t>());
  }
  return result;
}

std::int64_t Call::flattened_rank() const {
  const auto positive = [&](std::int64_t dim) { return dim < 0 ? dim + x().rank() : dim; };
  return x().rank() - (positive(integer("end_dim")) - positive(integer("start_dim")));
}

std::int64_t Call::squeezed_rank() const {
  const auto& shape = x().shape();
  return std::max<std::int64_t>(1, shape.rank() - std::count(shape.begin(), shape.end(), 1));
}

namespace {

client::Range range_of(const boost::json::value& value) {
  client::Range range;
  const auto& list = value.as_array();
  if (!list.at(0).is_null()) range.start = list[0].to_number<std::int64_t>();
  if (list.size() > 1 && !list[1].is_null()) range.end = list[1].to_number<std::int64_t>();
  if (list.size() > 2 && !list[2].is_null()) range.step = list[2].to_number<std::int64_t>();
  return range;
}

}  // namespace

client::Range Call::range(const char* name) const { return range_of(at(name)); }

std::vector<client::Range> Call::ranges(const char* name) const {
  std::vector<client::Range> result;
  for (const auto& item : at(name).as_array()) result.push_back(range_of(item));
  return result;
}

const OpTable& ops() {
  static const OpTable table = [] {
    OpTable t;
    add_creation(t);
    add_elementwise(t);
    add_shape(t);
    add_index(t);
    add_reduce(t);
    add_activation(t);
    add_module(t);
    add_nn(t);
    add_loss(t);
    add_sequence(t);
    add_optim(t);
    add_linalg(t);
    add_windows(t);
    add_signal(t);
    return t;
  }();
  return table;
}

}  // namespace burn::conformance
