// What lowering an op to the device is written in: views of values, scratch memory, kernels and calls of libraries.
// Nothing of it runs when it is emitted; every run of the program enqueues it again.
#pragma once

#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "compile/codegen/dialects/kernel_source.h"
#include "compile/plan/views.h"
#include "ir/program.h"

namespace burn::compile {

class Target;

// An address in a device's memory, as wide as any device has them.
using DeviceAddress = unsigned long long;

// A device's stream or queue by its native handle (CUstream, VkQueue): what a LibraryCall enqueues its work on.
class DeviceQueue {
 public:
  DeviceQueue(void* handle) : handle_(handle) {}  // NOLINT: implicit on purpose

  template <typename Native>
  operator Native*() const {  // NOLINT: implicit on purpose
    return static_cast<Native*>(handle_);
  }

 private:
  void* handle_;
};

// Device memory that has an address only when the program runs.
struct Address {
  enum class Base : std::uint8_t { none, input, output, block, bindings, failures };
  Base base = Base::none;
  std::int32_t index = 0;   // which input, output or block
  std::int64_t offset = 0;  // bytes
};

// A value as a kernel sees it.
struct View {
  Address address;  // of the first element
  ir::DType dtype = ir::DType::f32;
  ir::Shape shape;
  ir::Dims strides;  // in elements; 0 where elements repeat

  int rank() const { return shape.rank(); }
  std::int64_t num_elements() const { return ir::num_elements(shape); }
  bool is_contiguous() const { return compile::is_contiguous(shape, strides); }
};

// What a command's addresses are in one run.
class Bindings {
 public:
  std::span<const DeviceAddress> inputs, outputs;
  std::span<const std::int64_t> blocks;  // offsets in the arena
  DeviceAddress arena = 0, bindings = 0, failures = 0;

  DeviceAddress at(const Address& address) const;
};

struct Grid {
  std::int64_t blocks = 1;
  int threads = 256;
  int shared_bytes = 0;  // dynamic
  std::int64_t blocks_y = 1;
};

// An argument of a kernel: an address, or plain bytes as the kernel's parameter has them.
class Argument {
 public:
  Argument(const View& view) : Argument(view.address) {}              // NOLINT: implicit on purpose
  Argument(const Address& address) : address_(address), bytes_(8) {}  // NOLINT: implicit on purpose
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  Argument(T value) : bytes_(sizeof value) {  // NOLINT: implicit on purpose
#if __has_builtin(__builtin_clear_padding)
    __builtin_clear_padding(&value);  // equal arguments have equal bytes
#endif
    std::memcpy(bytes_.data(), &value, sizeof value);
  }

  explicit Argument(std::span<const std::byte> bytes) : bytes_(bytes.begin(), bytes.end()) {}

  const Address& address() const { return address_; }
  bool is_address() const { return address_.base != Address::Base::none; }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  Address address_;
  std::vector<std::byte> bytes_;
};

// A library's call: enqueues its work on the stream and does not wait.
using LibraryCall = std::function<Status(const Bindings& bindings, DeviceQueue queue)>;

class Emitter {
 public:
  virtual ~Emitter() = default;

  virtual Target& target() = 0;  // what the kernels are for
  virtual const ir::TensorType& type_of(ir::Ref ref) const = 0;
  // An operand with whatever strides it has.
  virtual View read(ir::Ref operand) = 0;
  // The constant that an operand is made of, every element of it; null: none. Reading it works as well, at a cost.
  virtual const ir::Constant* constant(ir::Ref operand) = 0;
  // Where an operand's elements are no more than their positions in an Iota, which may have no memory: the view of it,
  // of which strides and address.offset count; nothing: read() it.
  virtual std::optional<View> counted(ir::Ref) { return std::nullopt; }
  // Where a result of this step may be written instead, because its only reader copies it there; nothing: nowhere. What
  // was written there is said so, and need not be copied any more.
  virtual std::optional<View> place(ir::Ref) { return std::nullopt; }
  virtual void set_in_place(ir::Ref) {}
  virtual bool is_in_place(ir::Ref) { return false; }
  // A result to write, row-major but for attention's, which may have its heads inside (compile/lower/layouts.h). Every
  // element must be written.
  virtual View result(ir::Ref value) = 0;
  // Makes a result of this step lie where an operand lies, if no later step reads that, both are row-major and of one
  // size, and the operand is no input or output. Before read() and result(). Whether they lie so.
  virtual bool lie_where(ir::Ref /*operand*/, ir::Ref /*result*/) { return false; }
  // Memory for this step alone, undefined at first, aligned to 256 bytes.
  virtual Address scratch(std::size_t bytes) = 0;
  virtual void launch(const KernelSource& source, const Grid& grid, std::vector<Argument> arguments) = 0;
  // The same, of a kernel that may be merged with others; `written`: where it writes.
  virtual void launch(std::shared_ptr<const BlockKernel> kernel, std::int64_t blocks, std::vector<Argument> arguments,
                      std::vector<Address> written) = 0;
  virtual void call(LibraryCall call) = 0;
  virtual void fill_zero(const Address& where, std::size_t bytes) = 0;
  // For kernels that find out that an index is outside its dim: the address of two int64, the index (that of any thread
  // that found one) and a mark that is 1 where there is one. The failure that the host makes of it: "index 12 is
  // outside 0..9", `size` being that of the dim, for the results of the node: the node that is lowered, or a member of
  // the group that is.
  virtual Address report_index(std::int64_t size, std::int32_t node = -1) = 0;
  // The same for what else a kernel of the lowered node may find out: the failure that the host makes of its number.
  virtual Address report(std::function<Status(std::int64_t found)> explain) = 0;
  // Says that the kernel of this step may write the result over the operand: each thread reads an element of it before
  // it writes the same bytes, and no other thread reads these.
  virtual void allow_in_place(const View& operand, ir::Ref result) = 0;
  // Whether f32 may be multiplied with ten bits of mantissa (Plan::tf32).
  virtual bool allows_tf32() const = 0;

  // Made of the above.
  View scratch_value(const ir::TensorType& type);  // row-major
  View contiguous(const View& view);               // itself, or a row-major copy in scratch memory
  void copy(const View& from, const View& to);     // of one shape and dtype
};

}  // namespace burn::compile
