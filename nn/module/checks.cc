#include "nn/module/checks.h"

#include <sstream>

#include "base/error.h"
#include "client/fail.h"

namespace burn::nn::detail {

void reject(const char* config, const std::string& what) {
  throw Error(StatusCode::invalid_argument, std::string{config} + ": " + what);
}

namespace {

[[noreturn]] void fail_rank(const char* op, const client::Value& x, const std::string& wanted,
                            const client::Site& site) {
  client::fail(std::string{op} + ": " + ir::to_string(x.type()) + " has rank " + std::to_string(x.rank()) +
                   ", must be " + wanted,
               site);
}

}  // namespace

void check_rank(const char* op, const client::Value& x, int rank, const client::Site& site) {
  client::fail_if_empty(x, op, site);
  if (x.rank() != rank) fail_rank(op, x, std::to_string(rank), site);
}

void check_rank_at_least(const char* op, const client::Value& x, int least, const client::Site& site) {
  client::fail_if_empty(x, op, site);
  if (x.rank() < least) fail_rank(op, x, "at least " + std::to_string(least), site);
}

void check_at_least(const char* config, const char* field, std::int64_t value, std::int64_t least) {
  if (value >= least) return;
  reject(config, std::string{field} + " is " + std::to_string(value) + ", must be at least " + std::to_string(least));
}

void check_at_least(const char* config, const char* field, std::span<const std::int64_t> values, std::int64_t least) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    check_at_least(config, (std::string{field} + "[" + std::to_string(i) + "]").c_str(), values[i], least);
  }
}

void check_between(const char* config, const char* field, double value, double low, double high) {
  if (value >= low && value <= high) return;  // false for NaN
  std::ostringstream text;
  text << field << " is " << value << ", must be between " << low << " and " << high;
  reject(config, text.str());
}

}  // namespace burn::nn::detail
