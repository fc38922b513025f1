#include <unordered_map>

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include "ir/attrs.h"
#include "proto/burn.pb.h"
#include "proto/codec_internal.h"

namespace burn::proto {
namespace {

using google::protobuf::MessageLite;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

constexpr std::size_t kMaxInputBytes = 256;                    // one Input on the wire
constexpr std::size_t kMaxNodeBytes = std::size_t{256} << 10;  // one Node: a concat of many
constexpr int kMaxAttrs = 32;
constexpr std::size_t kMaxInputs = kMaxIds;  // a run names them all
constexpr std::size_t kMaxSiteFiles = 4096;

// --- to the wire -----------------------------------------------------------------------------------------------------

void to_wire(const ir::NamedAttr& attr, v1::Attr* out) {
  out->set_name(attr.name);
  if (const auto* number = std::get_if<std::int64_t>(&attr.value)) {
    out->set_number(*number);
  } else if (const auto* real = std::get_if<double>(&attr.value)) {
    out->set_real(*real);
  } else if (const auto* text = std::get_if<std::string>(&attr.value)) {
    out->set_text(*text);
  } else {
    const auto& dims = std::get<ir::Dims>(attr.value);
    out->mutable_numbers()->mutable_values()->Add(dims.begin(), dims.end());
  }
}

// Numbers the files of call sites by first use. Sites of one file mostly share the pointer; texts are compared when
// not.
class SiteFiles {
 public:
  explicit SiteFiles(v1::Program* program) : program_(program) {}

  std::uint32_t index_plus_one(const char* file) {
    if (!file) return 0;
    const auto [seen, is_new] = by_pointer_.try_emplace(file, 0);
    if (is_new) seen->second = add(file);
    return seen->second;
  }

 private:
  std::uint32_t add(const char* file) {
    const auto [known, is_new] = by_text_.try_emplace(file, static_cast<std::uint32_t>(by_text_.size() + 1));
    if (known->second > kMaxSiteFiles) return 0;
    if (is_new) program_->add_site_files(wire_text(file));
    return known->second;
  }

  v1::Program* program_;
  std::unordered_map<const char*, std::uint32_t> by_pointer_;
  std::unordered_map<std::string_view, std::uint32_t> by_text_;
};

// --- from the wire ---------------------------------------------------------------------------------------------------

Result<ir::NamedAttr> from_wire(const v1::Attr& attr) {
  switch (attr.value_case()) {
    case v1::Attr::kNumber:
      return ir::NamedAttr{attr.name(), attr.number()};
    case v1::Attr::kReal:
      return ir::NamedAttr{attr.name(), attr.real()};
    case v1::Attr::kText:
      return ir::NamedAttr{attr.name(), attr.text()};
    case v1::Attr::kNumbers: {
      const auto& values = attr.numbers().values();
      if (values.size() > ir::kMaxRank) {
        return invalid_argument(
            fmt::format("an attribute of {} numbers; at most {} may be", values.size(), ir::kMaxRank));
      }
      return ir::NamedAttr{
          attr.name(), ir::Dims{std::span<const std::int64_t>{values.data(), static_cast<std::size_t>(values.size())}}};
    }
    case v1::Attr::VALUE_NOT_SET:
      break;
  }
  return invalid_argument("an attribute without a value");
}

// The length-delimited fields of one message, in the order they come; other fields are skipped.
// body(field, bytes) returns a Status; the first failure ends it. False in `sound`: the bytes are not a message.
template <typename Body>
Status each_block(std::string_view bytes, bool& sound, Body&& body) {
  CodedInputStream in{reinterpret_cast<const std::uint8_t*>(bytes.data()), static_cast<int>(bytes.size())};
  sound = false;
  while (in.CurrentPosition() < static_cast<int>(bytes.size())) {
    const auto tag = in.ReadTag();
    if (tag == 0) return {};
    if (WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      const auto block = read_block(in, bytes);
      if (!block) return {};
      if (auto status = body(WireFormatLite::GetTagFieldNumber(tag), *block); !status.ok()) {
        sound = true;
        return status;
      }
    } else if (!WireFormatLite::SkipField(&in, tag)) {
      return {};
    }
  }
  sound = true;
  return {};
}

bool parse(MessageLite& message, std::string_view bytes) {
  return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

// Reads a Program part by part, so that what is in memory is never much more than what came: protobuf's own objects are
// many times the size of their bytes, and exist here for one node at a time.
class ProgramReader {
 public:
  // Counts, inputs, outputs and files first: a message's fields may come in any order.
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

  // A list of sint32 in packed form, the only one written; each takes a byte at least.
  Status read_outputs(std::string_view bytes) {
    CodedInputStream in{reinterpret_cast<const std::uint8_t*>(bytes.data()), static_cast<int>(bytes.size())};
    while (in.CurrentPosition() < static_cast<int>(bytes.size())) {
      std::uint32_t code = 0;
      if (!in.ReadVarint32(&code)) return invalid_argument("malformed outputs");
      if (outputs_.size() >= ir::ProgramBuilder::kMaxNodes) return too_many("outputs", ir::ProgramBuilder::kMaxNodes);
      outputs_.push_back(ir::Ref::from_code(WireFormatLite::ZigZagDecode32(code)));
    }
    return {};
  }

  Status read_node(std::string_view bytes) {
    const auto k = builder_.size();
    if (bytes.size() > kMaxNodeBytes || !parse(node_, bytes))
      return invalid_argument(fmt::format("node {}: malformed", k));
    const auto site = site_of(node_);
    auto status = add_node(site);
    if (status.ok()) return status;
    return status.with_context(site.file ? fmt::format("node {} at {}", k, ir::to_string(site))
                                         : fmt::format("node {}", k));
  }

  Status add_node(const ir::CallSite& site) {
    if (node_.attrs_size() > kMaxAttrs) return too_many("attributes to a node", kMaxAttrs);
    attrs_.clear();
    for (const auto& wire : node_.attrs()) {
      BURN_TRY(auto attr, from_wire(wire));
      attrs_.push_back(std::move(attr));
    }
    BURN_TRY(const auto op, ir::make_op(node_.op(), attrs_));
    operands_.clear();
    for (const auto code : node_.operands()) operands_.push_back(ir::Ref::from_code(code));
    return builder_.add(op, operands_, site, node_.recompute()).status();
  }

  ir::CallSite site_of(const v1::Node& node) const {
    const auto text = [&](std::uint32_t index_plus_one) {
      return index_plus_one == 0 || index_plus_one > files_->size() ? nullptr : (*files_)[index_plus_one - 1].c_str();
    };
    return {text(node.site_file()), node.site_line(), text(node.site_op())};
  }

  ir::ProgramBuilder builder_;
  std::size_t nodes_ = 0;
  std::vector<ir::Ref> outputs_;
  std::shared_ptr<std::vector<std::string>> files_ = std::make_shared<std::vector<std::string>>();
  // Reused from part to part.
  v1::Input input_;
  v1::Node node_;
  std::vector<ir::NamedAttr> attrs_;
  std::vector<ir::Ref> operands_;
};

// A block of packed numbers, whose bytes bound how many there are.
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

void to_wire(const ir::Program& program, v1::Program* out) {
  for (const auto& input : program.inputs) {
    auto* wire = out->add_inputs();
    to_wire(input.type, wire->mutable_type());
    wire->set_donated(input.donated);
  }
  SiteFiles files{out};
  for (const auto& node : program.nodes) {
    auto* wire = out->add_nodes();
    wire->set_op(std::string{ir::kind_name(node.op)});
    for (const auto ref : program.operands_of(node)) wire->add_operands(ref.code());
    for (const auto& attr : ir::changed_attrs_of(node.op)) to_wire(attr, wire->add_attrs());
    wire->set_site_file(files.index_plus_one(node.site.file));
    if (wire->site_file() != 0) wire->set_site_line(node.site.line);
    wire->set_site_op(files.index_plus_one(node.site.op));
    wire->set_recompute(node.recompute);
  }
  for (const auto ref : program.outputs) out->add_outputs(ref.code());
}

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
      // Not packed, as a parser must accept.
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
