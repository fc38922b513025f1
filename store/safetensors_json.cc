#include "store/safetensors_json.h"

#include <cctype>
#include <limits>
#include <optional>
#include <set>
#include <unordered_set>

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <fmt/format.h>

namespace burn::store {
namespace {

namespace json = boost::json;
using ErrorCode = boost::system::error_code;

std::optional<ir::DType> parse_safetensors_dtype(std::string_view text) {
  for (int i = 0; i < ir::kDTypeCount; ++i) {
    if (safetensors_name(static_cast<ir::DType>(i)) == text) return static_cast<ir::DType>(i);
  }
  return std::nullopt;
}

// Receives the JSON piece by piece and builds the header directly: a document tree would let a hostile file of 100 MB
// take gigabytes, and would forget duplicate keys.
class HeaderHandler {
 public:
  static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_array_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_key_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_string_size = std::numeric_limits<std::size_t>::max();

  SafetensorsHeader header;
  Status status;

  bool on_document_begin(ErrorCode&) { return true; }
  bool on_document_end(ErrorCode&) { return true; }

  bool on_object_begin(ErrorCode& code) {
    if (place_ == Place::document) return enter(Place::root);
    if (place_ != Place::root) return unexpected(code, "an object");
    if (key_ == "__metadata__") return enter(Place::metadata);
    header.tensors.push_back({.name = key_});
    fields_.clear();
    return enter(Place::tensor);
  }

  bool on_object_end(std::size_t, ErrorCode& code) {
    if (place_ == Place::tensor && fields_.size() < 3)
      return fail(code, "tensor {} lacks dtype, shape or data_offsets");
    return enter(place_ == Place::root ? Place::document : Place::root);
  }

  bool on_array_begin(ErrorCode& code) {
    if (place_ != Place::tensor) return unexpected(code, "an array");
    numbers_.clear();
    if (key_ == "shape") return enter(Place::shape);
    if (key_ == "data_offsets") return enter(Place::offsets);
    return unexpected(code, "an array");
  }

  bool on_array_end(std::size_t, ErrorCode& code) {
    auto& tensor = header.tensors.back();
    if (place_ == Place::shape) {
      tensor.type.shape = {};
      for (const auto number : numbers_) {
        if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
          return fail(code, "tensor {} has a size of " + std::to_string(number));
        }
        tensor.type.shape.push_back(static_cast<std::int64_t>(number));
      }
    } else {
      if (numbers_.size() != 2) {
        return fail(code, "tensor {} has " + std::to_string(numbers_.size()) + " data_offsets instead of 2");
      }
      tensor.begin = numbers_[0];
      tensor.end = numbers_[1];
    }
    return enter(Place::tensor);
  }

  bool on_key_part(json::string_view part, std::size_t, ErrorCode&) { return append(part); }
  bool on_key(json::string_view part, std::size_t, ErrorCode& code) {
    append(part);
    key_ = std::exchange(text_, {});
    if (place_ == Place::tensor) return on_field(code);
    auto& names = place_ == Place::root ? names_ : metadata_keys_;
    if (!names.insert(key_).second) return fail_with(code, fmt::format("the key {} stands twice", quoted(key_)));
    return true;
  }

  bool on_string_part(json::string_view part, std::size_t, ErrorCode&) { return append(part); }
  bool on_string(json::string_view part, std::size_t, ErrorCode& code) {
    append(part);
    const std::string value = std::exchange(text_, {});
    if (place_ == Place::metadata) {
      header.metadata[key_] = value;
      return true;
    }
    if (place_ != Place::tensor || key_ != "dtype") return unexpected(code, "a string");
    const auto dtype = parse_safetensors_dtype(value);
    if (!dtype) return fail(code, "tensor {} has the unsupported dtype " + quoted(value));
    header.tensors.back().type.dtype = *dtype;
    return true;
  }

  bool on_number_part(json::string_view, ErrorCode&) { return true; }
  bool on_int64(std::int64_t value, json::string_view text, ErrorCode& code) {
    return value < 0 ? unexpected(code, std::string(text)) : on_uint64(static_cast<std::uint64_t>(value), text, code);
  }
  bool on_uint64(std::uint64_t value, json::string_view text, ErrorCode& code) {
    if (place_ != Place::shape && place_ != Place::offsets) return unexpected(code, std::string(text));
    if (numbers_.size() == ir::kMaxRank) {
      return fail(code, fmt::format("tensor {{}} has more than {} numbers in {}", ir::kMaxRank, key_));
    }
    numbers_.push_back(value);
    return true;
  }
  bool on_double(double, json::string_view, ErrorCode& code) { return unexpected(code, "a fraction or a huge number"); }
  bool on_bool(bool, ErrorCode& code) { return unexpected(code, "a bool"); }
  bool on_null(ErrorCode& code) { return unexpected(code, "a null"); }
  bool on_comment_part(json::string_view, ErrorCode&) { return true; }
  bool on_comment(json::string_view, ErrorCode&) { return true; }

 private:
  enum class Place { document, root, metadata, tensor, shape, offsets };

  bool enter(Place place) {
    place_ = place;
    return true;
  }

  bool append(json::string_view part) {
    text_.append(part.data(), part.size());
    return true;
  }

  bool on_field(ErrorCode& code) {
    if (key_ != "dtype" && key_ != "shape" && key_ != "data_offsets") {
      return fail(code, "tensor {} has the unknown field " + quoted(key_));
    }
    if (!fields_.insert(key_).second) return fail(code, "tensor {} has the field " + key_ + " twice");
    return true;
  }

  bool fail_with(ErrorCode& code, std::string message) {
    status = invalid_argument(std::move(message));
    code = boost::system::errc::make_error_code(boost::system::errc::invalid_argument);
    return false;
  }

  // A message about the current tensor, whose name replaces the {}.
  bool fail(ErrorCode& code, std::string message) {
    return fail_with(code, message.replace(message.find("{}"), 2, quoted(header.tensors.back().name)));
  }

  bool unexpected(ErrorCode& code, const std::string& what) {
    switch (place_) {
      case Place::document:
        return fail_with(code, "the header is " + what + ", not an object");
      case Place::root:
        return fail_with(code, fmt::format("{} stands for {}, not an object", what, quoted(key_)));
      case Place::metadata:
        return fail_with(code, fmt::format("{} stands for metadata {}, not a string", what, quoted(key_)));
      default:
        return fail(code, fmt::format("tensor {{}} has {} in {}", what, key_));
    }
  }

  Place place_ = Place::document;
  std::string text_;  // the key or string being received
  std::string key_;   // the key of the next value
  std::vector<std::uint64_t> numbers_;
  std::set<std::string> fields_;  // of the current tensor
  std::unordered_set<std::string> names_, metadata_keys_;
};

std::string text_of(const std::string& text) { return json::serialize(json::string_view(text)); }

}  // namespace

Result<SafetensorsHeader> parse_header_json(std::string_view text) {
  json::basic_parser<HeaderHandler> parser{json::parse_options{}};
  ErrorCode code;
  const auto read = parser.write_some(false, text.data(), text.size(), code);
  auto& handler = parser.handler();
  if (!handler.status.ok()) return handler.status;
  if (code) return invalid_argument(fmt::format("the header is not JSON at byte {}: {}", read, code.message()));
  if (read != text.size())
    return invalid_argument(fmt::format("the header goes on after its object, at byte {}", read));
  return std::move(handler.header);
}

std::string format_header_json(const SafetensorsHeader& header) {
  std::string out = "{";
  const auto add = [&](const std::string& key, const std::string& value) {
    out += (out.size() > 1 ? "," : "") + text_of(key) + ":" + value;
  };
  if (!header.metadata.empty()) {
    std::string object;
    for (const auto& [key, value] : header.metadata) {
      object += (object.empty() ? "{" : ",") + text_of(key) + ":" + text_of(value);
    }
    add("__metadata__", object + "}");
  }
  for (const auto& tensor : header.tensors) {
    add(tensor.name,
        fmt::format(R"({{"dtype":"{}","shape":{},"data_offsets":[{},{}]}})", safetensors_name(tensor.type.dtype),
                    to_string(tensor.type.shape), tensor.begin, tensor.end));
  }
  return out + "}";
}

std::string safetensors_name(ir::DType dtype) {
  std::string text(ir::name(dtype));
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace burn::store
