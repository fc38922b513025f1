// Configurations: aggregates with defaults, named fields, and JSON.
//
//   struct NetConfig {
//     std::int64_t hidden = 512;
//     double dropout = 0.5;
//     BURN_CONFIG(NetConfig, hidden, dropout)
//   };
//   NetConfig{.hidden = 64}.save("net.json");  auto config = NetConfig::load("net.json");
//
// A field is a number, a bool, a string, another config, an enum with enum_names(), or a std::array, std::vector or
// std::optional of those. A field that the JSON lacks keeps its default; an unknown field, or one of the wrong type, is
// an error.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nn/module/for_each.h"

namespace burn {

template <typename T>
concept Config = requires { typename T::BurnConfig; };

namespace nn::detail {

// JSON without the library's headers, which only config.cc includes. A writer appends values in order; a reader is a
// view of one value.
class JsonWriter {
 public:
  JsonWriter();
  ~JsonWriter();
  JsonWriter(const JsonWriter&) = delete;
  void key(std::string_view name);
  void begin_object();
  void end_object();
  void begin_array();
  void end_array();
  void value(std::int64_t number);
  void value(double number);
  void value(bool flag);
  void value(const std::string& text);
  void null();
  std::string text() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class JsonReader {
 public:
  // Throws burn::Error naming `source` and the place of a syntax error.
  static JsonReader parse(std::string_view text, const std::string& source);
  bool is_null() const;
  bool is_string() const;
  // Each throws when the value is of another type, naming the path ("conv1.kernel_size[0]").
  std::int64_t integer() const;
  double number() const;
  bool flag() const;
  std::string string() const;
  std::size_t one_of(std::span<const std::string_view> names) const;  // index in `names`; throws for any other string
  std::size_t array_size() const;
  JsonReader at(std::size_t index) const;
  std::optional<JsonReader> find(std::string_view key) const;
  // Throws when the object has a key other than these.
  void only(const std::vector<std::string_view>& keys) const;
  const std::string& path() const { return path_; }

 private:
  JsonReader(std::shared_ptr<const void> root, const void* value, std::string path)
      : root_(std::move(root)), value_(value), path_(std::move(path)) {}
  std::shared_ptr<const void> root_;
  const void* value_;
  std::string path_;
};

[[noreturn]] void wrong_size(const JsonReader& json, std::size_t wanted);
[[noreturn]] void out_of_range(const JsonReader& json);
void write_file(const std::filesystem::path& path, const std::string& text);
std::string read_file(const std::filesystem::path& path);

template <typename T>
void to_json(JsonWriter& json, const T& value);
template <typename T>
void from_json(const JsonReader& json, T& value);

template <typename T>
inline constexpr bool kIsOptionalField = false;
template <typename T>
inline constexpr bool kIsOptionalField<std::optional<T>> = true;
template <typename T>
inline constexpr bool kIsArrayField = false;
template <typename T, std::size_t N>
inline constexpr bool kIsArrayField<std::array<T, N>> = true;

template <typename T>
void to_json(JsonWriter& json, const T& value) {
  if constexpr (Config<T>) {
    json.begin_object();
    value.for_each_field([&](std::string_view name, const auto& field) {
      json.key(name);
      to_json(json, field);
    });
    json.end_object();
  } else if constexpr (std::same_as<T, bool> || std::same_as<T, std::string>) {
    json.value(value);
  } else if constexpr (std::integral<T>) {
    json.value(static_cast<std::int64_t>(value));
  } else if constexpr (std::floating_point<T>) {
    json.value(static_cast<double>(value));
  } else if constexpr (std::is_enum_v<T>) {
    json.value(std::string{enum_names(value)[static_cast<std::size_t>(value)]});
  } else if constexpr (kIsOptionalField<T>) {
    if (value)
      to_json(json, *value);
    else
      json.null();
  } else {
    json.begin_array();
    for (const auto& item : value) to_json(json, item);
    json.end_array();
  }
}

template <typename T>
void from_json(const JsonReader& json, T& value) {
  if constexpr (Config<T>) {
    if constexpr (requires { value.set_from_name(std::string{}); }) {  // a string instead of an object
      if (json.is_string()) return value.set_from_name(json.string());
    }
    std::vector<std::string_view> names;
    value.for_each_field([&](std::string_view name, auto& field) {
      names.push_back(name);
      if (const auto found = json.find(name)) from_json(*found, field);
    });
    json.only(names);
  } else if constexpr (std::same_as<T, bool>) {
    value = json.flag();
  } else if constexpr (std::integral<T>) {
    const auto number = json.integer();
    if (!std::in_range<T>(number)) out_of_range(json);
    value = static_cast<T>(number);
  } else if constexpr (std::floating_point<T>) {
    value = static_cast<T>(json.number());
  } else if constexpr (std::same_as<T, std::string>) {
    value = json.string();
  } else if constexpr (std::is_enum_v<T>) {  // constexpr std::array<std::string_view, N> enum_names(T), in T's order
    static constexpr auto kNames = enum_names(T{});
    value = static_cast<T>(json.one_of(kNames));
  } else if constexpr (kIsOptionalField<T>) {
    if (json.is_null())
      value.reset();
    else
      from_json(json, value.emplace());
  } else {
    const auto size = json.array_size();
    if constexpr (kIsArrayField<T>) {
      if (size != value.size()) wrong_size(json, value.size());
    } else {
      value.resize(size);
    }
    for (std::size_t i = 0; i < size; ++i) {
      typename T::value_type item{};  // read into a copy: the elements of a vector<bool> are not references
      from_json(json.at(i), item);
      value[i] = std::move(item);
    }
  }
}

template <typename T>
std::string json_of(const T& config) {
  JsonWriter json;
  to_json(json, config);
  return json.text();
}

}  // namespace nn::detail
}  // namespace burn

// Some of these functions are templates only so that they are not compiled unless they are called.
#define BURN_CONFIG(Type, ...)                                                                  \
  using BurnConfig = Type;                                                                      \
  template <typename Fn>                                                                        \
  void for_each_field([[maybe_unused]] Fn&& fn) {                                               \
    BURN_FOR_EACH(BURN_NAME_AND_FIELD, __VA_ARGS__)                                             \
  }                                                                                             \
  template <typename Fn>                                                                        \
  void for_each_field([[maybe_unused]] Fn&& fn) const {                                         \
    BURN_FOR_EACH(BURN_NAME_AND_FIELD, __VA_ARGS__)                                             \
  }                                                                                             \
  template <int = 0>                                                                            \
  std::string to_json() const {                                                                 \
    return ::burn::nn::detail::json_of(*this);                                                  \
  }                                                                                             \
  template <int = 0>                                                                            \
  static Type from_json(std::string_view text, const std::string& source = "JSON") {            \
    Type config;                                                                                \
    ::burn::nn::detail::from_json(::burn::nn::detail::JsonReader::parse(text, source), config); \
    return config;                                                                              \
  }                                                                                             \
  template <int = 0>                                                                            \
  void save(const std::filesystem::path& path) const {                                          \
    ::burn::nn::detail::write_file(path, to_json());                                            \
  }                                                                                             \
  template <int = 0>                                                                            \
  static Type load(const std::filesystem::path& path) {                                         \
    return from_json(::burn::nn::detail::read_file(path), path.string());                       \
  }
