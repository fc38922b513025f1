#include "client/tensor/read_request.h"

#include <exception>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/fork.h"
#include "client/record/device_state.h"

namespace burn::client {

struct ReadRequest::Open {
  Open() {
    lock_during_fork(mutex);
    after_fork([] {
      while (ReadRequest* request = open().first) {
        request->leave();
        request->promise_.set_exception(std::make_exception_ptr(
            Error(StatusCode::failed_precondition,
                  "a tensor's numbers were asked for before fork() made this process; they come to its parent")));
      }
    });
  }

  std::mutex mutex;
  ReadRequest* first = nullptr;
};

ReadRequest::Open& ReadRequest::open() {
  static auto& all = *new Open;  // never destroyed
  return all;
}

ReadRequest::ReadRequest(std::shared_ptr<DeviceState> device, const ir::TensorType& type)
    : device_(std::move(device)), type_(type) {
  Open& all = open();
  const std::lock_guard lock(all.mutex);
  next_ = std::exchange(all.first, this);
  if (next_ != nullptr) next_->previous_ = this;
}

ReadRequest::~ReadRequest() {
  if (!is_open_) return;
  const std::lock_guard lock(open().mutex);
  leave();
}

void ReadRequest::leave() {
  (previous_ != nullptr ? previous_->next_ : open().first) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
  is_open_ = false;
}

void ReadRequest::answer(Result<proto::HostTensor> tensor) {
  std::optional<TensorData> data;
  std::exception_ptr failure;
  if (!tensor.ok()) device_->forget_paced_failure(tensor.status());
  try {
    auto numbers = value_or_throw(std::move(tensor));
    if (numbers.type != type_ || numbers.bytes.size() != type_.num_bytes()) {
      throw Error(StatusCode::data_loss,
                  fmt::format("{} answers a read of {} with {} and {} bytes", device_->url(), ir::to_string(type_),
                              ir::to_string(numbers.type), numbers.bytes.size()));
    }
    data = TensorData::from_host(std::move(numbers));
  } catch (...) {
    failure = std::current_exception();
  }
  device_.reset();  // before the future is ready: a thread that waits for it may rely on having the last reference
  const std::lock_guard lock(open().mutex);  // no fork() between leave() and set_value(): the child would wait forever
  leave();
  if (data) {
    promise_.set_value(*std::move(data));
  } else {
    promise_.set_exception(failure);
  }
}

}  // namespace burn::client
