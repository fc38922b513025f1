// Decodes programs, without protobuf's parser: a program that changes with every step is decoded with every step.
#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include "ir/attrs.h"
#include "proto/burn.pb.h"
#include "proto/codec_internal.h"
#include "proto/wire.h"

namespace burn::proto {
namespace {

using google::protobuf::MessageLite;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

constexpr std::size_t kMaxInputBytes = 256;                    // one Input on the wire
constexpr std::size_t kMaxNodeBytes = std::size_t{256} << 10;  // one Node: a concat of many
constexpr std::size_t kMaxAttrs = 32;
constexpr std::size_t kMaxInputs = kMaxIds;  // a run lists all inputs

// --- from the wire ---------------------------------------------------------------------------------------------------

// Calls body(field, bytes) for the length-delimited fields of a message, in order; skips other fields. Stops at the
// first failed Status. Sets `sound` to false if the bytes are not a message.
template <typename Body>
Status each_block(std::string_view bytes, bool& sound, Body&& body) {
  WireReader in{bytes};
  sound = false;
  while (!in.at_end()) {
    int field = 0;
    auto type = WireType::varint;
    if (!in.tag(field, type)) return {};
    if (type != WireType::block) {
      if (!in.skip(field, type)) return {};
      continue;
    }
    std::string_view block;
    if (!in.block(block)) return {};
    if (auto status = body(field, block); !status.ok()) {
      sound = true;
      return status;
    }
  }
  sound = true;
  return {};
}

bool parse(MessageLite& message, std::string_view bytes) {
  return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

// Decodes a Program part by part, so that it never needs much more memory than the bytes received: protobuf's own
// objects are many times the size of their bytes, and exist here for one node at a time.
class ProgramReader {
 public:
  // Reads counts, inputs, outputs and files first, as a message's fields may be in any order.
  Status read_frame(std::string_view bytes, bool& sound) {
    return each_block(bytes, sound, [&](int field, std::string_view block) -> Status {
      switch (field) {
        case v1::Program::kInputsFieldNumber:
          return read_input(block);
        case v1::Program::kNodesFieldNumber:
          if (++nodes_ > ir::ProgramBuilder::kMaxNodes) return too_many("nodes", ir::ProgramBuilder::kMaxNodes);
          return {};
        case v1::Program::kOutputsFieldNumber:
          return read_outputs(block);
        case v1::Program::kSiteFilesFieldNumber:
          if (files_->size() >= kMaxSiteFiles) return too_many("site files", kMaxSiteFiles);
          files_->emplace_back(block.substr(0, kMaxTextBytes));
          return {};
        default:
          return {};
      }
    });
  }

  Status read_nodes(std::string_view bytes, bool& sound) {
    return each_block(bytes, sound, [&](int field, std::string_view block) -> Status {
      return field == v1::Program::kNodesFieldNumber ? read_node(block) : Status{};
    });
  }

  Result<ir::Program> finish() {
    BURN_RETURN_IF_ERROR(builder_.check_outputs(outputs_));
    auto program = builder_.finish(std::move(outputs_));
    program.site_files = files_;
    return program;
  }

  std::size_t output_count() const { return outputs_.size(); }
  ProgramSize size() const { return {builder_.program().inputs.size(), nodes_, outputs_.size(), 0}; }

 private:
  static Status too_many(std::string_view what, std::size_t limit) {
    return invalid_argument(fmt::format("a program of more than {} {}", limit, what));
  }

  Status read_input(std::string_view bytes) {
    if (builder_.program().inputs.size() >= kMaxInputs) return too_many("inputs", kMaxInputs);
    v1::Input& input = input_;
    if (bytes.size() > kMaxInputBytes || !parse(input, bytes)) return invalid_argument("a malformed input");
    BURN_TRY(const auto type, proto::from_wire(input.type()));
    const auto ref = builder_.add_input(type);
    if (input.donated()) builder_.donate(ref.index());
    return {};
  }

  // A packed list of sint32, the only form that is written; each takes at least a byte.
  Status read_outputs(std::string_view bytes) {
    for (WireReader in{bytes}; !in.at_end();) {
      std::uint64_t code = 0;
      if (!in.varint(code)) return invalid_argument("malformed outputs");
      if (outputs_.size() >= ir::ProgramBuilder::kMaxNodes) return too_many("outputs", ir::ProgramBuilder::kMaxNodes);
      outputs_.push_back(ir::Ref::from_code(zigzag_decode32(code)));
    }
    return {};
  }

  // The scalar fields of a Node.
  struct NodeParts {
    std::string_view op;
    std::uint64_t site_file = 0, site_line = 0, site_op = 0, recompute = 0;
  };

  Status read_node(std::string_view bytes) {
    const auto k = builder_.size();
    NodeParts node;
    if (bytes.size() > kMaxNodeBytes) {
      return resource_exhausted(fmt::format("node {} has {} bytes with its operands and attributes; at most {} may be",
                                            k, bytes.size(), kMaxNodeBytes));
    }
    if (!split_node(bytes, node)) return invalid_argument(fmt::format("node {}: malformed", k));
    const auto site = site_of(node);
    auto status = add_node(node, site);
    if (status.ok()) [[likely]]
      return status;
    return status.with_context(site.file ? fmt::format("node {} at {}", k, ir::to_string(site))
                                         : fmt::format("node {}", k));
  }

  // Stores operands in operands_ and encoded attributes in attr_blocks_.
  bool split_node(std::string_view bytes, NodeParts& node) {
    operands_.clear();
    attr_blocks_.clear();
    WireReader in{bytes};
    while (!in.at_end()) {
      int field = 0;
      auto type = WireType::varint;
      std::string_view block;
      if (!in.tag(field, type)) return false;
      if (type == WireType::block) {
        if (!in.block(block)) return false;
        if (field == v1::Node::kOpFieldNumber)
          node.op = block;
        else if (field == v1::Node::kAttrsFieldNumber)
          attr_blocks_.push_back(block);
        else if (field == v1::Node::kOperandsFieldNumber && !read_operands(block))
          return false;
      } else if (auto* number = type == WireType::varint ? number_of(field, node) : nullptr) {
        if (!in.varint(*number)) return false;
      } else if (type == WireType::varint && field == v1::Node::kOperandsFieldNumber) {
        std::uint64_t code = 0;  // not packed, which parsers must accept too
        if (!in.varint(code)) return false;
        operands_.push_back(ir::Ref::from_code(zigzag_decode32(code)));
      } else if (!in.skip(field, type)) {
        return false;
      }
    }
    return true;
  }

  static std::uint64_t* number_of(int field, NodeParts& node) {
    switch (field) {
      case v1::Node::kSiteFileFieldNumber:
        return &node.site_file;
      case v1::Node::kSiteLineFieldNumber:
        return &node.site_line;
      case v1::Node::kSiteOpFieldNumber:
        return &node.site_op;
      case v1::Node::kRecomputeFieldNumber:
        return &node.recompute;
      default:
        return nullptr;
    }
  }

  bool read_operands(std::string_view packed) {
    std::uint64_t code = 0;
    for (WireReader in{packed}; !in.at_end();) {
      if (!in.varint(code)) return false;
      operands_.push_back(ir::Ref::from_code(zigzag_decode32(code)));
    }
    return true;
  }

  Status add_node(const NodeParts& node, const ir::CallSite& site) {
    if (attr_blocks_.size() > kMaxAttrs) return too_many("attributes to a node", kMaxAttrs);
    attrs_.clear();
    for (const auto block : attr_blocks_) {
      BURN_TRY(attrs_.emplace_back(), read_attr(block));
    }
    const auto op = ir::read_op(node.op, attrs_);
    if (!op.ok()) [[unlikely]]
      return op.status();
    return builder_.add(*op, operands_, site, node.recompute != 0).status();
  }

  ir::CallSite site_of(const NodeParts& node) const {
    const auto text = [&](std::uint64_t index_plus_one) {
      const auto index = static_cast<std::uint32_t>(index_plus_one);
      return index == 0 || index > files_->size() ? nullptr : (*files_)[index - 1].c_str();
    };
    return {text(node.site_file), static_cast<std::uint32_t>(node.site_line), text(node.site_op)};
  }

  ir::ProgramBuilder builder_;
  std::size_t nodes_ = 0;
  std::vector<ir::Ref> outputs_;
  std::shared_ptr<std::vector<std::string>> files_ = std::make_shared<std::vector<std::string>>();
  // Reused for each part.
  v1::Input input_;
  std::vector<std::string_view> attr_blocks_;
  std::vector<ir::AttrView> attrs_;
  std::vector<ir::Ref> operands_;
};

// Reads a block of packed numbers. Its size limits their number.
bool read_ids(CodedInputStream& in, std::vector<ProgramId>& ids) {
  std::uint32_t length = 0;
  if (!in.ReadVarint32(&length)) return false;
  const auto limit = in.PushLimit(static_cast<int>(length));
  while (in.BytesUntilLimit() > 0) {
    if (ids.size() >= kMaxIds || !in.ReadVarint64(&ids.emplace_back())) return false;
  }
  in.PopLimit(limit);
  return true;
}

}  // namespace

Result<DefineProgram> read_define(std::string_view bytes, std::string_view* program) {
  DefineProgram define;
  CodedInputStream in{reinterpret_cast<const std::uint8_t*>(bytes.data()), static_cast<int>(bytes.size())};
  const auto malformed = [] { return invalid_argument("it is malformed"); };
  std::optional<std::string_view> found;
  while (in.CurrentPosition() < static_cast<int>(bytes.size())) {
    const auto tag = in.ReadTag();
    const auto field = WireFormatLite::GetTagFieldNumber(tag);
    const auto type = WireFormatLite::GetTagWireType(tag);
    if (tag == 0) return malformed();
    if (field == v1::DefineProgram::kIdFieldNumber && type == WireFormatLite::WIRETYPE_VARINT) {
      if (!in.ReadVarint64(&define.id)) return malformed();
    } else if (field == v1::DefineProgram::kProgramFieldNumber && type == WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      found = read_block(in, bytes);
      if (!found) return malformed();
    } else if (field == v1::DefineProgram::kForgetFieldNumber && type == WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      if (!read_ids(in, define.forget)) return malformed();
    } else if (field == v1::DefineProgram::kForgetFieldNumber && type == WireFormatLite::WIRETYPE_VARINT) {
      // Not packed, which parsers must accept too.
      if (define.forget.size() >= kMaxIds || !in.ReadVarint64(&define.forget.emplace_back())) return malformed();
    } else if (!WireFormatLite::SkipField(&in, tag)) {
      return malformed();
    }
  }
  if (!found) return invalid_argument("it has no program");
  *program = *found;
  return define;
}

ReadProgram read_program(std::string_view bytes, const std::function<Status(const ProgramSize&)>& admit, bool& sound) {
  ReadProgram read;
  ProgramReader reader;
  read.invalid = reader.read_frame(bytes, sound);
  read.output_count = reader.output_count();
  if (sound && read.invalid.ok() && admit) {
    auto size = reader.size();
    size.bytes = bytes.size();
    read.invalid = admit(size);
  }
  if (sound && read.invalid.ok()) read.invalid = reader.read_nodes(bytes, sound);
  if (!sound || !read.invalid.ok()) return read;
  auto program = reader.finish();
  if (program.ok())
    read.program = std::make_shared<const ir::Program>(*std::move(program));
  else
    read.invalid = program.status();
  return read;
}

}  // namespace burn::proto
