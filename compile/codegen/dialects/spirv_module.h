// The words of a SPIR-V module, section by section, with each type and constant once.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compile/codegen/dialects/spirv_numbers.h"
#include "ir/types/dtype.h"

namespace burn::compile::spirv {

using Id = std::uint32_t;

// A list of instructions.
class Section {
 public:
  void put(Op op, std::initializer_list<std::uint32_t> words) { put(op, std::span(words.begin(), words.size())); }
  void put(Op op, std::span<const std::uint32_t> words);
  // With a string behind the first words.
  void put(Op op, std::initializer_list<std::uint32_t> first, std::string_view text,
           std::span<const std::uint32_t> rest = {});
  const std::vector<std::uint32_t>& words() const { return words_; }

 private:
  std::vector<std::uint32_t> words_;
};

class Module {
 public:
  Id new_id() { return ++last_id_; }
  void need(Capability capability) { capabilities_.insert(capability); }
  void need_extension(std::string_view name) { extensions_.insert(std::string(name)); }

  Section& code() { return code_; }  // the function's body behind its variables

  Id type(ir::DType dtype);         // whole numbers have no sign in SPIR-V's types; operations have
  Id small_float(ir::DType dtype);  // f16 or bf16, as elements of matrices
  // Of kTileSize rows and columns, of a subgroup. `use`: kMatrixA, kMatrixB or kMatrixAccumulator.
  Id matrix(Id element, std::uint32_t use);
  Id filled(Id type, Id element);  // a constant matrix
  Id pointer(StorageClass storage, Id to);
  Id array(Id element, std::int64_t count);
  Id void_type();
  Id vector(Id of, std::uint32_t count);
  Id buffer_pointer(ir::DType element);   // to a struct with a runtime array, of elements in memory
  Id element_pointer(ir::DType element);  // to one element in memory
  Id block_pointer(Id member);            // to a struct of one member in memory
  Id push_block(Id member);               // the struct of push constants, of one member
  Id constant(ir::DType dtype, std::uint64_t bits);

  Id variable(StorageClass storage, Id pointer_type);  // of the module
  Id function_variable(Id pointer_type);
  void decorate(Id id, Decoration decoration, std::initializer_list<std::uint32_t> more = {});
  void decorate_member(Id id, std::uint32_t member, Decoration decoration, std::initializer_list<std::uint32_t> more);

  // An instruction with a result.
  Id make(Op op, Id type, std::initializer_list<std::uint32_t> operands);
  Id call(Function function, Id type, std::initializer_list<std::uint32_t> operands);

  // The whole module. `preserved`: widths of floats whose NaN and signs of 0 the driver is told to keep.
  std::vector<std::uint32_t> finish(int threads, std::span<const std::uint32_t> preserved);

 private:
  // The id of an instruction in the section of types, made once.
  Id once(Op op, const std::vector<std::uint32_t>& operands, bool has_type = false);

  Id last_id_ = 0;
  Id functions_ = 0;  // GLSL.std.450
  std::set<Capability> capabilities_;
  std::set<std::string> extensions_;
  std::vector<Id> interface_;
  Section decorations_, types_, variables_, code_;
  std::map<std::pair<Op, std::vector<std::uint32_t>>, Id> made_;
  std::map<ir::DType, Id> buffer_pointers_;
  std::map<Id, Id> block_pointers_;  // by member
};

}  // namespace burn::compile::spirv
