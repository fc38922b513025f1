// The tensors of a session, by the ids that its client chose.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <variant>

#include "backends/stream.h"
#include "base/failure.h"
#include "ir/op.h"
#include "proto/session.h"
#include "serving/budget.h"
#include "serving/upload.h"

namespace burn::session {

struct SessionTensor {
  // ir::Constant: the tensor is filled with it; its buffer is made at first use.
  using Content = std::variant<backends::BufferPtr, std::shared_ptr<serving::StagedUpload>, Failure, ir::Constant>;

  ir::TensorType type;
  serving::Budget::Share share;
  Content content;
  std::uint64_t used_by = 0;  // the last run that had it as an input
  bool donated_to = false;    // whether it was donated to that run
};

// Not thread-safe. Each run checks all its inputs and outputs, so there are checks of many ids at once.
class TensorTable {
 public:
  using Tensors = std::unordered_map<proto::TensorId, SessionTensor>;
  using Found = Tensors::iterator;  // valid until a tensor is added

  Found find(proto::TensorId id) { return tensors_.find(id); }
  bool is_found(Found found) const { return found != tensors_.end(); }
  // Null if there is none.
  const SessionTensor* look_up(proto::TensorId id) const {
    const auto found = tensors_.find(id);
    return found == tensors_.end() ? nullptr : &found->second;
  }
  bool contains(proto::TensorId id) const { return tensors_.contains(id); }
  // Whether any tensor may have this id or a larger one. Usually false for new ids, as clients number tensors upwards.
  bool may_contain_from(proto::TensorId id) const { return id <= largest_ && !tensors_.empty(); }
  // Whether any tensor is still being uploaded.
  bool awaits_uploads() const { return uploads_ > 0; }

  std::size_t size() const { return tensors_.size(); }
  bool empty() const { return tensors_.empty(); }
  auto begin() { return tensors_.begin(); }
  auto end() { return tensors_.end(); }

  // Requires: the id is free.
  void add(proto::TensorId id, SessionTensor tensor) {
    note(id);
    uploads_ += is_uploading(tensor) ? 1 : 0;
    tensors_.emplace(id, std::move(tensor));
  }
  void erase(Found found) {
    uploads_ -= is_uploading(found->second) ? 1 : 0;
    tensors_.erase(found);
  }
  // Requires: the id is free.
  void rename(Found found, proto::TensorId id) {
    note(id);
    auto tensor = tensors_.extract(found);
    tensor.key() = id;
    tensors_.insert(std::move(tensor));
  }
  void set_content(SessionTensor& tensor, SessionTensor::Content content) {
    uploads_ -= is_uploading(tensor) ? 1 : 0;
    tensor.content = std::move(content);
  }
  void clear() {
    tensors_.clear();
    uploads_ = 0;
  }

  static bool is_uploading(const SessionTensor& tensor) {
    return std::holds_alternative<std::shared_ptr<serving::StagedUpload>>(tensor.content);
  }

 private:
  void note(proto::TensorId id) { largest_ = std::max(largest_, id); }

  Tensors tensors_;
  proto::TensorId largest_ = 0;  // the largest id so far
  std::size_t uploads_ = 0;      // tensors that are being uploaded
};

}  // namespace burn::session
