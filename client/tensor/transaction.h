// Reads of several tensors in one round trip.
//
//   auto data = Transaction{}.add(loss).add(accuracy).execute();   // one TensorData for each, in order
#pragma once

#include <utility>
#include <vector>

#include "client/tensor/tensor.h"

namespace burn {

namespace client {
// Requests all values before it waits for any.
std::vector<TensorData> read_all(const std::vector<Value>& values);
std::future<std::vector<TensorData>> read_all_async(const std::vector<Value>& values);
}  // namespace client

// One thread at a time. (Burn's `register` is called add(), as register is a C++ keyword.)
class Transaction {
 public:
  template <int D, Kind K>
  Transaction& add(const Tensor<D, K>& tensor, Loc where = Loc::current()) {
    client::fail_if_empty(tensor.value(), "Transaction::add", at(where));
    values_.push_back(tensor.value());
    return *this;
  }
  // The numbers in the order of add(); the transaction is empty afterwards. Errors (thrown): that of the first read
  // that fails.
  std::vector<TensorData> execute() { return client::read_all(std::exchange(values_, {})); }
  Result<std::vector<TensorData>> try_execute() {
    return detail::attempt([&] { return execute(); });
  }
  // Sends the requests at once; get() waits.
  std::future<std::vector<TensorData>> execute_async() { return client::read_all_async(std::exchange(values_, {})); }

 private:
  std::vector<client::Value> values_;
};

}  // namespace burn
