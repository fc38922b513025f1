// Encodes programs, without protobuf's objects: a program that changes with every step is encoded with every step.
#include <array>
#include <unordered_map>

#include "ir/attrs.h"
#include "proto/burn.pb.h"
#include "proto/codec_internal.h"
#include "proto/wire.h"

namespace burn::proto {
namespace {

// Numbers the files of call sites by first use. Sites of one file mostly share the pointer; otherwise texts are
// compared.
class SiteFiles {
 public:
  std::uint32_t index_plus_one(const char* file) {
    if (!file) return 0;
    auto& recent = recent_[(reinterpret_cast<std::uintptr_t>(file) >> 3) % recent_.size()];
    if (recent.file != file) recent = {file, look_up(file)};
    return recent.index_plus_one;
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  struct Recent {
    const char* file = nullptr;
    std::uint32_t index_plus_one = 0;
  };

  std::uint32_t look_up(const char* file) {
    const auto [known, is_new] = by_text_.try_emplace(file, static_cast<std::uint32_t>(by_text_.size() + 1));
    if (known->second > kMaxSiteFiles) return 0;
    if (is_new) texts_.push_back(wire_text(file));
    return known->second;
  }

  std::array<Recent, 64> recent_;
  std::unordered_map<std::string_view, std::uint32_t> by_text_;
  std::vector<std::string> texts_;
};

class AttrWriter final : public ir::AttrSink {
 public:
  explicit AttrWriter(WireWriter& out) : out_(out) {}

  void attr(std::string_view name, std::int64_t value) override {
    put(name, [&] { out_.number(v1::Attr::kNumberFieldNumber, zigzag_encode(value)); });
  }
  void attr(std::string_view name, double value) override {
    put(name, [&] { out_.real(v1::Attr::kRealFieldNumber, value); });
  }
  void attr(std::string_view name, std::string_view value) override {
    put(name, [&] { out_.text(v1::Attr::kTextFieldNumber, value); });
  }
  void attr(std::string_view name, const ir::Dims& values) override {
    put(name, [&] {
      out_.block(v1::Attr::kNumbersFieldNumber, [&] {
        if (values.empty()) return;
        out_.block(v1::Attr::Ints::kValuesFieldNumber, [&] {
          for (const auto value : values) out_.varint(zigzag_encode(value));
        });
      });
    });
  }

 private:
  template <typename Write>
  void put(std::string_view name, Write&& write) {
    out_.block(v1::Node::kAttrsFieldNumber, [&] {
      out_.text(v1::Attr::kNameFieldNumber, name);
      write();
    });
  }

  WireWriter& out_;
};

void write_type(const ir::TensorType& type, WireWriter& out) {
  out.number_if_set(v1::TensorType::kDtypeFieldNumber, static_cast<std::uint64_t>(type.dtype));
  if (type.shape.empty()) return;
  out.block(v1::TensorType::kShapeFieldNumber, [&] {
    for (const auto size : type.shape) out.varint(static_cast<std::uint64_t>(size));
  });
}

void write_refs(int field, std::span<const ir::Ref> refs, WireWriter& out) {
  if (refs.empty()) return;
  out.block(field, [&] {
    for (const auto ref : refs) out.varint(zigzag_encode32(ref.code()));
  });
}

void write_node(const ir::Program& program, const ir::Node& node, SiteFiles& files, WireWriter& out) {
  out.text(v1::Node::kOpFieldNumber, ir::kind_name(node.op));
  write_refs(v1::Node::kOperandsFieldNumber, program.operands_of(node), out);
  AttrWriter attrs{out};
  ir::each_changed_attr(node.op, attrs);
  const auto file = files.index_plus_one(node.site.file);
  out.number_if_set(v1::Node::kSiteFileFieldNumber, file);
  if (file != 0) out.number_if_set(v1::Node::kSiteLineFieldNumber, node.site.line);
  out.number_if_set(v1::Node::kRecomputeFieldNumber, node.recompute ? 1 : 0);
  out.number_if_set(v1::Node::kSiteOpFieldNumber, files.index_plus_one(node.site.op));
}

void write_program(const ir::Program& program, WireWriter& out) {
  for (const auto& input : program.inputs) {
    out.block(v1::Program::kInputsFieldNumber, [&] {
      out.block(v1::Input::kTypeFieldNumber, [&] { write_type(input.type, out); });
      out.number_if_set(v1::Input::kDonatedFieldNumber, input.donated ? 1 : 0);
    });
  }
  SiteFiles files;
  for (const auto& node : program.nodes) {
    out.block(v1::Program::kNodesFieldNumber, [&] { write_node(program, node, files, out); });
  }
  write_refs(v1::Program::kOutputsFieldNumber, program.outputs, out);
  for (const auto& file : files.texts()) out.text(v1::Program::kSiteFilesFieldNumber, file);
}

}  // namespace

std::string write_define(const DefineProgram& define) {
  WireWriter out;
  out.number_if_set(v1::DefineProgram::kIdFieldNumber, define.id);
  if (define.program) {
    out.reserve(define.program->nodes.size() * 48 + define.program->inputs.size() * 16 + 256);
    out.block(v1::DefineProgram::kProgramFieldNumber, [&] { write_program(*define.program, out); });
  } else if (!define.encoded.empty()) {
    out.text(v1::DefineProgram::kProgramFieldNumber,
             {reinterpret_cast<const char*>(define.encoded.data()), define.encoded.size()});
  }
  if (!define.forget.empty()) {
    out.block(v1::DefineProgram::kForgetFieldNumber, [&] {
      for (const auto id : define.forget) out.varint(id);
    });
  }
  return out.take();
}

}  // namespace burn::proto
