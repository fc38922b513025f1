// Prints kernels of the kernel language as CUDA C++ before they are passed to another emitter.
#pragma once

#include "backends/cuda/driver/compile_names.h"

namespace burn::backends::cuda {

// Launches that are not of the kernel language are passed on unchanged.
class PrintingEmitter final : public Emitter {
 public:
  // `written`: the memory that the kernels write. Kernels are merged with others if possible.
  PrintingEmitter(Emitter& emit, std::vector<Address> written) : emit_(emit), written_(std::move(written)) {}

  compile::Target& target() override { return emit_.target(); }
  const ir::TensorType& type_of(ir::Ref ref) const override { return emit_.type_of(ref); }
  View read(ir::Ref operand) override { return emit_.read(operand); }
  const ir::Constant* constant(ir::Ref operand) override { return emit_.constant(operand); }
  View result(ir::Ref value) override { return emit_.result(value); }
  Address scratch(std::size_t bytes) override { return emit_.scratch(bytes); }
  void launch(const KernelSource& source, const Grid& grid, std::vector<Argument> arguments) override;
  void launch(std::shared_ptr<const BlockKernel> kernel, std::int64_t blocks, std::vector<Argument> arguments,
              std::vector<Address> written) override {
    emit_.launch(std::move(kernel), blocks, std::move(arguments), std::move(written));
  }
  void call(LibraryCall call) override { emit_.call(std::move(call)); }
  void fill_zero(const Address& where, std::size_t bytes) override { emit_.fill_zero(where, bytes); }
  Address report_index(std::int64_t size, std::int32_t node) override { return emit_.report_index(size, node); }
  Address report(std::function<Status(std::int64_t)> explain) override { return emit_.report(std::move(explain)); }
  void allow_in_place(const View& operand, ir::Ref result) override { emit_.allow_in_place(operand, result); }
  bool allows_tf32() const override { return emit_.allows_tf32(); }

 private:
  Emitter& emit_;
  std::vector<Address> written_;
};

}  // namespace burn::backends::cuda
