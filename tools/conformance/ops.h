// The table from names of ops in the vectors to calls of the API.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "client/ops/ops.h"
#include "client/tensor/args.h"
#include "tools/conformance/case.h"

namespace burn::conformance {

using client::Value;
using Fn = ir::PointwiseFn;

inline const ir::CallSite kSite{"conformance", 0};

// The arguments of an op: its inputs, with their views applied, and its parameters.
class Call {
 public:
  Call(const Device& device, std::vector<std::optional<Value>> inputs, const boost::json::object& params)
      : device(device), inputs_(std::move(inputs)), params_(params) {}

  const Device& device;

  std::size_t count() const { return inputs_.size(); }
  const Value& x(std::size_t i = 0) const;     // errors (thrown): there is no such input
  const Value* optional(std::size_t i) const;  // null: there is no such input
  std::vector<Value> all() const;

  bool has(const char* name) const;
  std::int64_t integer(const char* name) const;
  int dim(const char* name) const { return static_cast<int>(integer(name)); }
  double number(const char* name) const;  // also "inf"
  Scalar scalar(const char* name) const;  // an integer stays an integer
  bool flag(const char* name) const;
  bool is_text(const char* name) const;
  std::string text(const char* name) const;
  ir::DType dtype() const;  // the parameter "dtype"; errors (thrown): an unknown name
  std::vector<std::int64_t> integers(const char* name) const;  // a single number becomes a list of one
  std::int64_t size(const char* name) const { return static_cast<std::int64_t>(integers(name).size()); }
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs(const char* name) const;
  // The rank of the first input after flatten(start_dim, end_dim), and without its dims of size 1.
  std::int64_t flattened_rank() const;
  std::int64_t squeezed_rank() const;
  ir::Dims dims(const char* name) const { return ir::Dims{integers(name)}; }
  std::vector<client::Range> ranges(const char* name) const;
  client::Range range(const char* name) const;

  client::Place place() const { return {device.state(), device.is_autodiff()}; }

 private:
  const boost::json::value& at(const char* name) const;

  std::vector<std::optional<Value>> inputs_;
  const boost::json::object& params_;
};

using OpFunction = std::function<std::vector<Value>(const Call&)>;
using OpTable = std::map<std::string, OpFunction>;

void add_creation(OpTable& table);
void add_elementwise(OpTable& table);
void add_shape(OpTable& table);
void add_index(OpTable& table);
void add_reduce(OpTable& table);
void add_activation(OpTable& table);
void add_module(OpTable& table);
void add_nn(OpTable& table);
void add_loss(OpTable& table);
void add_sequence(OpTable& table);
void add_optim(OpTable& table);
void add_linalg(OpTable& table);
void add_windows(OpTable& table);
void add_signal(OpTable& table);

const OpTable& ops();

}  // namespace burn::conformance
