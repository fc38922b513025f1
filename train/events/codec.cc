#include "train/events/codec.h"

#include <bit>
#include <type_traits>
#include <utility>

#include <boost/crc.hpp>

#include "base/error.h"

namespace burn::train::events {
namespace {

template <typename T>
concept HasFields = requires(T& value) { value.fields(); };

[[noreturn]] void fail(const char* what) {
  throw Error(StatusCode::data_loss, std::string{"an event that cannot be read: "} + what);
}

class Writer {
 public:
  void put(bool value) { put(static_cast<std::int64_t>(value)); }
  void put(std::int32_t value) { put(static_cast<std::int64_t>(value)); }
  void put(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    put_varint(bytes, (bits << 1) ^ (value < 0 ? ~std::uint64_t{0} : 0));
  }
  void put(double value) { put_u64(bytes, std::bit_cast<std::uint64_t>(value)); }
  void put(const std::string& text) {
    put_varint(bytes, text.size());
    bytes += text;
  }
  template <typename T>
    requires std::is_enum_v<T>
  void put(T value) {
    put(static_cast<std::int64_t>(value));
  }
  template <typename T>
  void put(std::vector<T>& list) {
    put_varint(bytes, list.size());
    for (auto& value : list) put(value);
  }
  template <HasFields T>
  void put(T& value) {
    std::apply([this](auto&... fields) { (this->put(fields), ...); }, value.fields());
  }

  std::string bytes;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(take(1)[0]);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    fail("a number of more than ten bytes");
  }
  void get(std::int64_t& value) {
    const auto bits = varint();
    value = static_cast<std::int64_t>((bits >> 1) ^ ((bits & 1) != 0 ? ~std::uint64_t{0} : 0));
  }
  void get(std::int32_t& value) { value = small<std::int32_t>(); }
  void get(bool& value) { value = small<std::int32_t>() != 0; }
  void get(double& value) {
    const auto text = take(8);
    std::uint64_t bits = 0;
    for (int i = 7; i >= 0; --i) bits = bits << 8 | static_cast<std::uint8_t>(text[static_cast<std::size_t>(i)]);
    value = std::bit_cast<double>(bits);
  }
  void get(std::string& text) { text = take(varint()); }
  void get(Split& value) { value = choice<Split>(kSplits); }
  void get(Level& value) { value = choice<Level>(static_cast<int>(Level::error) + 1); }
  void get(Ended& value) { value = choice<Ended>(static_cast<int>(Ended::failed) + 1); }
  template <typename T>
  void get(std::vector<T>& list) {
    const auto size = varint();
    if (size > bytes_.size()) fail("a list longer than the bytes");  // each element has at least one byte
    list.resize(size);
    for (auto& value : list) get(value);
  }
  template <HasFields T>
  void get(T& value) {
    std::apply([this](auto&... fields) { (this->get(fields), ...); }, value.fields());
  }
  // The fields of an event: older versions wrote fewer.
  template <HasFields T>
  void get_until_end(T& value) {
    std::apply([this](auto&... fields) { (this->get_unless_end(fields), ...); }, value.fields());
  }

 private:
  template <typename T>
  void get_unless_end(T& value) {
    if (!bytes_.empty()) get(value);
  }
  template <typename T>
  T small() {
    std::int64_t value = 0;
    get(value);
    if (!std::in_range<T>(value)) fail("a number out of range");
    return static_cast<T>(value);
  }
  template <typename T>
  T choice(std::size_t values) {
    const auto value = small<std::int32_t>();
    if (value < 0 || static_cast<std::size_t>(value) >= values) fail("a choice that there is not");
    return static_cast<T>(value);
  }
  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size()) fail("it is cut off");
    const auto taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }

  std::string_view bytes_;
};

template <std::size_t Kind = 0>
Body body_of(std::uint64_t kind, Reader& reader) {
  if constexpr (Kind < std::variant_size_v<Body>) {
    if (kind != Kind) return body_of<Kind + 1>(kind, reader);
    std::variant_alternative_t<Kind, Body> body;
    reader.get_until_end(body);
    return body;
  } else {
    return {};
  }
}

}  // namespace

std::string encode(const Event& event) {
  auto copy = event.body;  // fields() returns non-const references
  Writer writer;
  writer.put(event.time_us);
  put_varint(writer.bytes, copy.index());
  std::visit([&](auto& body) { writer.put(body); }, copy);
  return std::move(writer.bytes);
}

std::optional<Event> decode(std::string_view bytes) {
  Reader reader{bytes};
  Event event;
  reader.get(event.time_us);
  const auto kind = reader.varint();
  if (kind >= std::variant_size_v<Body>) return std::nullopt;
  event.body = body_of(kind, reader);
  return event;
}

std::uint32_t crc32c(std::string_view bytes, std::string_view more) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(bytes.data(), bytes.size());
  crc.process_bytes(more.data(), more.size());
  return crc.checksum();
}

void put_u32(std::string& bytes, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(value >> 8 * i & 0xff);
}

void put_u64(std::string& bytes, std::uint64_t value) {
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(value >> 8 * i & 0xff);
}

std::uint32_t get_u32(std::string_view bytes) {
  std::uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<std::uint8_t>(bytes[static_cast<std::size_t>(i)]);
  return value;
}

void put_varint(std::string& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  bytes += static_cast<char>(value);
}

}  // namespace burn::train::events
