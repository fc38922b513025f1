#include "tools/conformance/case.h"

#include <cmath>
#include <limits>

#include "base/error.h"

namespace burn::conformance {
namespace {

namespace json = boost::json;

double number(const json::value& value) {
  if (!value.is_string()) return value.to_number<double>();
  const auto& text = value.as_string();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  if (text == "inf") return infinity;
  if (text == "-inf") return -infinity;
  throw Error(StatusCode::invalid_argument, "\"" + std::string{text} + "\" is not a number");
}

std::vector<std::int64_t> integers(const json::value& value) {
  std::vector<std::int64_t> numbers;
  for (const auto& item : value.as_array()) numbers.push_back(item.to_number<std::int64_t>());
  return numbers;
}

TensorData tensor(const json::object& object, ir::DType default_dtype) {
  const auto sizes = integers(object.at("shape"));
  if (sizes.size() > ir::kMaxRank) throw Error(StatusCode::invalid_argument, "rank " + std::to_string(sizes.size()));
  const ir::Shape shape{sizes};
  ir::DType dtype = default_dtype;
  if (const auto* text = object.if_contains("dtype")) {
    const std::string name{text->as_string()};
    const auto known = ir::parse_dtype(name);
    if (!known) throw Error(StatusCode::invalid_argument, "dtype " + name);
    dtype = *known;
  }
  const auto& data = object.at("data").as_array();
  if (ir::is_integer(dtype)) {
    std::vector<std::int64_t> numbers;
    for (const auto& item : data) numbers.push_back(item.to_number<std::int64_t>());
    return TensorData(std::move(numbers), shape).convert_dtype(dtype);
  }
  std::vector<double> numbers;
  for (const auto& item : data) numbers.push_back(number(item));
  return TensorData(std::move(numbers), shape).convert_dtype(dtype);
}

View view(const json::value& value) {
  View result;
  if (value.is_null()) return result;
  const auto& object = value.as_object();
  if (const auto* axes = object.if_contains("permute")) return {View::Kind::permute, integers(*axes), {}};
  if (const auto* shape = object.if_contains("expand")) return {View::Kind::expand, integers(*shape), {}};
  result.kind = View::Kind::slice;
  for (const auto& range : object.at("slice").as_array()) result.ranges.push_back(integers(range));
  return result;
}

Case parse(const json::object& object) {
  Case c;
  c.id = object.at("id").as_string();
  c.op = object.at("op").as_string();
  for (const auto& input : object.at("inputs").as_array()) {
    if (input.is_null())
      c.inputs.emplace_back();
    else
      c.inputs.emplace_back(tensor(input.as_object(), ir::DType::f32));
  }
  c.views.resize(c.inputs.size());
  if (const auto* views = object.if_contains("views"); views != nullptr && views->is_array()) {
    for (std::size_t i = 0; i < views->as_array().size(); ++i) c.views.at(i) = view(views->as_array()[i]);
  }
  if (const auto* params = object.if_contains("params"); params != nullptr && params->is_object())
    c.params = params->as_object();
  for (const auto& output : object.at("outputs").as_array())
    c.outputs.push_back(tensor(output.as_object(), ir::DType::f32));
  if (const auto* grad = object.if_contains("grad"); grad != nullptr && grad->is_object()) {
    for (const auto& cotangent : grad->as_object().at("cotangents").as_array()) {
      if (cotangent.is_null())
        c.cotangents.emplace_back();
      else
        c.cotangents.emplace_back(tensor(cotangent.as_object(), ir::DType::f64));
    }
    for (const auto& input : grad->as_object().at("inputs").as_array()) {
      const auto index = input.as_object().at("index").to_number<std::size_t>();
      c.gradients.push_back({index, tensor(input.as_object(), ir::DType::f64)});
    }
  }
  if (const auto* rtol = object.if_contains("rtol")) c.rtol = rtol->to_number<double>();
  if (const auto* atol = object.if_contains("atol")) c.atol = atol->to_number<double>();
  return c;
}

}  // namespace

Case parse_case(const std::string& line) {
  try {
    return parse(json::parse(line).as_object());
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(StatusCode::invalid_argument, std::string{"not a case: "} + error.what());
  }
}

void compare(const TensorData& got, const TensorData& want, double rtol, double atol, const std::string& what) {
  if (got.shape() != want.shape()) {
    throw Error(StatusCode::data_loss,
                what + " has shape " + ir::to_string(got.shape()) + ", not " + ir::to_string(want.shape()));
  }
  const auto differ = [&](std::size_t i, const std::string& a, const std::string& b) {
    throw Error(StatusCode::data_loss, what + " element " + std::to_string(i) + " is " + a + ", not " + b);
  };
  if (!ir::is_floating(want.dtype())) {
    if (ir::is_floating(got.dtype())) throw Error(StatusCode::data_loss, what + " is " + ir::to_string(got.type()));
    // A reference with fewer bits has sums and products only modulo 2^bits.
    const bool is_wider = ir::is_integer(want.dtype()) && ir::size_of(got.dtype()) > ir::size_of(want.dtype());
    const auto a = (is_wider ? got.convert_dtype(want.dtype()) : got).to_vec_as<std::int64_t>(),
               b = want.to_vec_as<std::int64_t>();
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i] != b[i]) differ(i, std::to_string(a[i]), std::to_string(b[i]));
    }
    return;
  }
  if (!ir::is_floating(got.dtype())) throw Error(StatusCode::data_loss, what + " is " + ir::to_string(got.type()));
  const auto a = got.to_vec_as<double>(), b = want.to_vec_as<double>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (a[i] == b[i]) continue;
    if (std::isinf(a[i]) || std::isinf(b[i]) || !(std::abs(a[i] - b[i]) <= atol + rtol * std::abs(b[i]))) {
      differ(i, std::to_string(a[i]), std::to_string(b[i]));
    }
  }
}

}  // namespace burn::conformance
