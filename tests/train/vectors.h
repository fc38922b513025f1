// Reads reference vectors from $BURN_VECTORS_DIR, or else from ../shared/vectors beside the repository.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "nn/module/config.h"

namespace burn::test {

// Errors (thrown): NOT_FOUND if the object has no member of that name.
inline nn::detail::JsonReader member(const nn::detail::JsonReader& json, const std::string& name) {
  if (const auto found = json.find(name)) return *found;
  throw Error(StatusCode::not_found, "a vector has no " + name);
}

struct Vector {
  struct Array {
    std::vector<std::int64_t> shape;
    std::vector<double> data;
  };

  std::string id, op;
  std::vector<Array> inputs, outputs;
  nn::detail::JsonReader params;
  double rtol = 0, atol = 0;

  double number(const std::string& param) const { return member(params, param).number(); }
  std::int64_t integer(const std::string& param) const { return member(params, param).integer(); }
  bool flag(const std::string& param) const { return member(params, param).flag(); }
};

// The cases of a file whose op starts with `op_prefix`, without those on views. Empty if the file does not exist.
std::vector<Vector> vectors_of(const std::string& file, const std::string& op_prefix);

}  // namespace burn::test
