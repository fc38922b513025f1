// The handle inside every Tensor<D, K>: a tensor on a device, computed or not yet, and its node of the tape.
//
// A Value is immutable and cheap to copy (two counted pointers); Tensor adds the compile-time rank and kind. Safe to
// pass between threads; one Value object belongs to one thread at a time. Defined in record/value.cc, next to the
// functions that record ops.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/intrusive.h"
#include "base/pooled.h"
#include "ir/program.h"
#include "proto/session.h"

namespace burn::client {

class DeviceState;
class Recorder;

// One tensor on a device: pending (a value of a program being recorded) or materialised (an id the session knows).
// The mutable part is guarded by the device's lock.
struct Storage : Pooled<Storage> {
  std::atomic<std::int32_t> owners{1};  // Values that hold it; initially that of its creator
  std::int32_t readers = 0;             // recordings that have it as an input
  // The device, which lives as long as its tensors: it owns this pointer to itself while there are any.
  const std::shared_ptr<DeviceState>* device = nullptr;
  ir::TensorType type;

  Recorder* recorder = nullptr;  // not null: pending in that recording,
  std::int32_t value = -1;       // as this value
  std::int32_t input_index = -1;
  proto::TensorId id = 0;        // if materialised; 0: donated to a run
  Recorder* input_of = nullptr;  // the last recording that has it as an input, at input_index
  std::uint64_t input_epoch = 0;
  bool is_known_upload = false;  // it is in the device's UploadTable
};
inline void retain(Storage& storage) { storage.owners.fetch_add(1, std::memory_order_relaxed); }
// The last owner is removed under the device's lock: a thread that holds the lock never sees a tensor that has no owner
// but is not freed yet.
void drop_last(Storage& storage);
inline void drop(Storage& storage) {
  auto owners = storage.owners.load(std::memory_order_relaxed);
  while (owners > 1) {
    if (storage.owners.compare_exchange_weak(owners, owners - 1, std::memory_order_acq_rel, std::memory_order_relaxed))
      return;
  }
  drop_last(storage);
}

struct TapeNode;
void retain(TapeNode& node);
void drop(TapeNode& node);

// Throws the error for an empty Value. `what`: which one it is, "matmul: operand 2".
[[noreturn]] void throw_empty(const std::string& what = {}, const ir::CallSite& site = {});
class Value {
 public:
  Value() = default;  // empty: it can only be assigned to
  // `result`: the index among the tape node's results.
  explicit Value(Ptr<Storage> storage, bool autodiff = false, Ptr<TapeNode> tape = {}, int result = 0)
      : storage_(std::move(storage)),
        tape_(std::move(tape)),
        autodiff_(autodiff),
        result_(static_cast<std::uint8_t>(result)) {}

  bool has_value() const { return static_cast<bool>(storage_); }
  // The functions below throw if there is no value (burn::Error, FAILED_PRECONDITION); fail_if_empty() also names the
  // op.
  const ir::TensorType& type() const { return held().type; }
  const ir::Shape& shape() const { return type().shape; }
  ir::DType dtype() const { return type().dtype; }
  int rank() const { return shape().rank(); }
  // Size of a dim; negative counts from the end. Requires: in range.
  std::int64_t dim(int i) const { return shape()[i < 0 ? i + rank() : i]; }

  const Ptr<Storage>& storage() const { return storage_; }
  const std::shared_ptr<DeviceState>& device() const { return *held().device; }
  bool is_autodiff() const { return autodiff_; }                // it is on an autodiff device
  bool is_tracked() const { return static_cast<bool>(tape_); }  // a gradient can reach it
  const Ptr<TapeNode>& tape() const { return tape_; }
  std::size_t tape_result() const { return result_; }

  Value inner() const { return Value{storage_}; }              // on the inner device
  Value detach() const { return Value{storage_, autodiff_}; }  // on the same device, untracked
  Value from_inner() const { return Value{storage_, true}; }

 private:
  const Storage& held() const {
    if (!storage_) [[unlikely]]
      throw_empty();
    return *storage_;
  }

  Ptr<Storage> storage_;
  Ptr<TapeNode> tape_;
  bool autodiff_ = false;
  std::uint8_t result_ = 0;
};

// For functions that inspect an operand before they record an op on it.
inline void fail_if_empty(const Value& x, const char* op, const ir::CallSite& site) {
  if (!x.has_value()) [[unlikely]]
    throw_empty(op, site);
}

// The op that made a tracked value, and its operands: backward() walks these nodes (autodiff/backward.cc). A leaf has
// no operands.
struct TapeNode : Pooled<TapeNode> {
  TapeNode() : is_leaf(true) {}
  TapeNode(const ir::Op& kind, std::size_t operand_count, std::size_t result_count, const ir::CallSite& where);

  std::atomic<std::int32_t> owners{1};  // initially its creator
  bool is_leaf = false;
  bool is_consumed = false;        // a backward pass has freed the operands
  std::uint8_t checkpointing = 0;  // the argument of set_checkpointing() plus 1; 0: not set
  bool is_sparse = false;          // a lookup whose table gets a sparse gradient (client/ops/sparse_gradient.h)
  union {
    std::uint64_t serial = 0;  // increases with every new node, so that operands have lower ones than results
    TapeNode* next_doomed;     // once it has no owner: the next node to be freed
  };
  ir::CallSite site;
  SmallArray<Value, 1> results;  // without a tape, as the node would own itself otherwise
  SmallArray<Value, 3> operands;
  ir::Op op;
};
inline void retain(TapeNode& node) { node.owners.fetch_add(1, std::memory_order_relaxed); }
void dropped(TapeNode& node);
inline void drop(TapeNode& node) {
  // No other thread can have a sole owner's node, so it needs no locked instruction.
  if (node.owners.load(std::memory_order_acquire) == 1 || node.owners.fetch_sub(1, std::memory_order_acq_rel) == 1)
    dropped(node);
}

// A new leaf of the tape with the same numbers, tracked from here on.
Value require_grad(const Value& value);

// Records `op` on the operands' device. Errors (thrown), with shapes and call site: operands that do not fit the op; an
// empty operand; operands on different devices; a broken session. Requires: an op with one result.
Value apply(const ir::Op& op, std::span<const Value* const> operands, const ir::CallSite& site);
// The same for any op; returns all results. Results that the caller drops are kept only if gradients need them.
SmallArray<Value, 3> apply_all(const ir::Op& op, std::span<const Value* const> operands, const ir::CallSite& site);
SmallArray<Value, 3> apply_all(const ir::Op& op, std::span<const Value> operands, const ir::CallSite& site);
inline SmallArray<Value, 3> apply_all(const ir::Op& op, const Value& x, const ir::CallSite& site) {
  const Value* const operands[]{&x};
  return apply_all(op, std::span<const Value* const>{operands}, site);
}
Value apply(const ir::Op& op, std::span<const Value> operands, const ir::CallSite& site);
inline Value apply(const ir::Op& op, const Value& x, const ir::CallSite& site) {
  const Value* const operands[]{&x};
  return apply(op, std::span<const Value* const>{operands}, site);
}
inline Value apply(const ir::Op& op, const Value& a, const Value& b, const ir::CallSite& site) {
  const Value* const operands[]{&a, &b};
  return apply(op, std::span<const Value* const>{operands}, site);
}
inline Value apply(const ir::Op& op, const Value& a, const Value& b, const Value& c, const ir::CallSite& site) {
  const Value* const operands[]{&a, &b, &c};
  return apply(op, std::span<const Value* const>{operands}, site);
}

}  // namespace burn::client
