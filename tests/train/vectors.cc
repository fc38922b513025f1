#include "tests/train/vectors.h"

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

namespace burn::test {
namespace {

using nn::detail::JsonReader;

Vector::Array read_array(const JsonReader& json) {
  Vector::Array array;
  nn::detail::from_json(member(json, "shape"), array.shape);
  nn::detail::from_json(member(json, "data"), array.data);
  return array;
}

std::vector<Vector::Array> read_arrays(const JsonReader& json) {
  std::vector<Vector::Array> arrays;
  for (std::size_t i = 0; i < json.array_size(); ++i) arrays.push_back(read_array(json.at(i)));
  return arrays;
}

std::filesystem::path folder() {
  const char* given = std::getenv("BURN_VECTORS_DIR");  // NOLINT(concurrency-mt-unsafe): no thread sets it
  return given != nullptr ? given : "../shared/vectors";
}

}  // namespace

std::vector<Vector> vectors_of(const std::string& file, const std::string& op_prefix) {
  std::vector<Vector> vectors;
  std::ifstream lines(folder() / file);
  if (!lines) return vectors;
  for (std::string line; std::getline(lines, line);) {
    const auto json = JsonReader::parse(line, file);
    const auto op = member(json, "op").string();
    if (!op.starts_with(op_prefix) || json.find("views")) continue;  // an optimizer does not see strides
    vectors.push_back({.id = member(json, "id").string(),
                       .op = op,
                       .inputs = read_arrays(member(json, "inputs")),
                       .outputs = read_arrays(member(json, "outputs")),
                       .params = member(json, "params"),
                       .rtol = member(json, "rtol").number(),
                       .atol = member(json, "atol").number()});
  }
  EXPECT_FALSE(vectors.empty()) << file << " has no case of " << op_prefix;  // or a test of no case would pass
  return vectors;
}

}  // namespace burn::test
