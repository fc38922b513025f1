// The reference vectors, where there are any: $BURN_VECTORS_DIR, or ../shared/vectors beside the repository.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "nn/config.h"

namespace burn::test {

struct Vector {
  struct Array {
    std::vector<std::int64_t> shape;
    std::vector<double> data;
  };

  std::string id, op;
  std::vector<Array> inputs, outputs;
  nn::detail::JsonReader params;
  double rtol = 0, atol = 0;

  double number(const std::string& param) const { return params.find(param)->number(); }
  std::int64_t integer(const std::string& param) const { return params.find(param)->integer(); }
  bool flag(const std::string& param) const { return params.find(param)->flag(); }
};

// The cases of a file whose op begins so, but for those on views; none where the file is not there.
std::vector<Vector> vectors_of(const std::string& file, const std::string& op_prefix);

}  // namespace burn::test
