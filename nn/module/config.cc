#include "nn/module/config.h"

#include <algorithm>
#include <cmath>

#include <boost/json.hpp>

#include "base/error.h"
#include "nn/module/json_value.h"
#include "store/file.h"

namespace burn::nn::detail {

namespace json = boost::json;

// Values are kept on a stack of open containers; a finished one moves into its parent.
struct JsonWriter::Impl {
  struct Open {
    json::value container;
    std::string key;  // of the next member, in an object
  };
  std::vector<Open> open;
  json::value root;

  void put(json::value value) {
    if (open.empty()) {
      root = std::move(value);
    } else if (auto& top = open.back(); top.container.is_object()) {
      top.container.as_object()[top.key] = std::move(value);
    } else {
      top.container.as_array().push_back(std::move(value));
    }
  }
  // The path of the next value, as in "layers.rate".
  std::string place() const {
    std::string names;
    for (const auto& at : open) names += at.container.is_object() ? (names.empty() ? "" : ".") + at.key : "[]";
    return names.empty() ? "value" : names;
  }
  void close() {
    auto done = std::move(open.back().container);
    open.pop_back();
    put(std::move(done));
  }
};

JsonWriter::JsonWriter() : impl_(std::make_unique<Impl>()) {}
JsonWriter::~JsonWriter() = default;
void JsonWriter::key(std::string_view name) { impl_->open.back().key = name; }
void JsonWriter::begin_object() { impl_->open.push_back({json::object{}, {}}); }
void JsonWriter::end_object() { impl_->close(); }
void JsonWriter::begin_array() { impl_->open.push_back({json::array{}, {}}); }
void JsonWriter::end_array() { impl_->close(); }
void JsonWriter::value(std::int64_t number) { impl_->put(number); }
void JsonWriter::value(double number) {
  if (!std::isfinite(number)) {
    throw Error(StatusCode::invalid_argument, "a configuration's " + impl_->place() + " is " + std::to_string(number) +
                                                  ", which JSON has no word for");
  }
  impl_->put(number);
}
void JsonWriter::value(bool flag) { impl_->put(flag); }
void JsonWriter::value(const std::string& text) { impl_->put(json::string{text}); }
void JsonWriter::null() { impl_->put(nullptr); }
std::string JsonWriter::text() const { return json::serialize(impl_->root) + "\n"; }

namespace {

const json::value& as_value(const void* value) { return *static_cast<const json::value*>(value); }

[[noreturn]] void wrong_type(const std::string& path, const char* wanted, const json::value& got) {
  throw Error(StatusCode::invalid_argument, path + " is " + json::serialize(got) + ", " + wanted + " was expected");
}

std::string list_of(std::span<const std::string_view> names) {
  std::string list;
  for (const auto name : names) list += (list.empty() ? "" : ", ") + std::string{name};
  return list;
}

}  // namespace

JsonReader JsonReader::parse(std::string_view text, const std::string& source) {
  auto parsed = parse_json(text);
  if (!parsed.ok()) throw Error(StatusCode::invalid_argument, source + " is not JSON: " + parsed.status().message());
  auto root = std::make_shared<json::value>(*std::move(parsed));
  const void* value = root.get();
  return {std::move(root), value, source};
}

bool JsonReader::is_null() const { return as_value(value_).is_null(); }
bool JsonReader::is_string() const { return as_value(value_).is_string(); }

std::int64_t JsonReader::integer() const {
  const auto& value = as_value(value_);
  boost::system::error_code error;
  const auto number = value.to_number<std::int64_t>(error);
  if (error) wrong_type(path_, "a whole number", value);
  return number;
}

double JsonReader::number() const {
  const auto& value = as_value(value_);
  if (!value.is_number()) wrong_type(path_, "a number", value);
  return value.to_number<double>();
}

bool JsonReader::flag() const {
  const auto& value = as_value(value_);
  if (!value.is_bool()) wrong_type(path_, "true or false", value);
  return value.as_bool();
}

std::string JsonReader::string() const {
  const auto& value = as_value(value_);
  if (!value.is_string()) wrong_type(path_, "a string", value);
  return std::string{value.as_string()};
}

std::size_t JsonReader::one_of(std::span<const std::string_view> names) const {
  const auto name = string();
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  throw Error(StatusCode::invalid_argument, path_ + " is \"" + name + "\"; there are: " + list_of(names));
}

std::size_t JsonReader::array_size() const {
  const auto& value = as_value(value_);
  if (!value.is_array()) wrong_type(path_, "a list", value);
  return value.as_array().size();
}

JsonReader JsonReader::at(std::size_t index) const {
  return {root_, &as_value(value_).as_array()[index], path_ + "[" + std::to_string(index) + "]"};
}

std::optional<JsonReader> JsonReader::find(std::string_view key) const {
  const auto& value = as_value(value_);
  if (!value.is_object()) wrong_type(path_, "an object", value);
  const auto* found = value.as_object().if_contains({key.data(), key.size()});
  if (found == nullptr) return std::nullopt;
  return JsonReader{root_, found, path_ + "." + std::string{key}};
}

void JsonReader::only(const std::vector<std::string_view>& keys) const {
  const auto& value = as_value(value_);
  if (!value.is_object()) wrong_type(path_, "an object", value);
  for (const auto& member : value.as_object()) {
    const std::string_view key{member.key().data(), member.key().size()};
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      throw Error(StatusCode::invalid_argument,
                  path_ + " has a field \"" + std::string{key} +
                      "\" that its configuration lacks; that has: " + (keys.empty() ? "none" : list_of(keys)));
    }
  }
}

void wrong_size(const JsonReader& json, std::size_t wanted) {
  throw Error(StatusCode::invalid_argument, json.path() + " has " + std::to_string(json.array_size()) + " items, " +
                                                std::to_string(wanted) + " were expected");
}

void out_of_range(const JsonReader& json) {
  throw Error(StatusCode::invalid_argument,
              json.path() + " is " + std::to_string(json.integer()) + ", which its field cannot hold");
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  const std::span<const std::byte> part = std::as_bytes(std::span{text});
  store::write_file(path, std::span{&part, 1});
}

std::string read_file(const std::filesystem::path& path) {
  const auto bytes = store::read_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace burn::nn::detail
