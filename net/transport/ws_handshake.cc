#include "net/transport/ws_handshake.h"

#include <array>
#include <optional>
#include <random>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <openssl/evp.h>
#include <openssl/sha.h>

#include "net/transport/shared_memory.h"
#include "net/transport/ws_origin.h"

namespace burn::net::ws {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;

constexpr const char* kSharedMemory = "Burn-Shared-Memory";

constexpr const char* kHello = "Burn-Hello";
constexpr std::string_view kTaken = "taken";

constexpr std::string_view kSpeaksTls = "This port speaks TLS";  // as in the answer of net/tls/stream_failure.cc

std::string line(std::string_view name, std::string_view value) {
  return std::string{name} + ": " + std::string{value} + "\r\n";
}
std::string shared_memory_line() { return line(kSharedMemory, SharedMemory::kVersion); }

std::string base64(const unsigned char* bytes, std::size_t size) {
  std::string text(4 * ((size + 2) / 3) + 1, '\0');
  const int length = ::EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes, static_cast<int>(size));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

// Returns std::nullopt if `text` is not base64 or too long.
std::optional<std::string> from_base64(std::string_view text) {
  if (text.empty() || text.size() % 4 != 0 || text.size() > 4 * (kMaxEarlyBytes / 3 + 1)) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && text[text.size() - 1 - padding] == '=') ++padding;
  if (text.find('=') < text.size() - padding) return std::nullopt;  // OpenSSL would decode it as a zero
  std::string bytes(3 * (text.size() / 4), '\0');
  const int size =
      ::EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                        reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (size != static_cast<int>(bytes.size())) return std::nullopt;  // it has decoded other characters, or skipped some
  bytes.erase(bytes.size() - padding);
  return bytes;
}

// The value that proves that a server has read the key.
std::string accept_of(std::string_view key) {
  const std::string salted = std::string{key} + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<unsigned char, SHA_DIGEST_LENGTH> digest{};
  ::SHA1(reinterpret_cast<const unsigned char*>(salted.data()), salted.size(), digest.data());
  return base64(digest.data(), digest.size());
}

template <typename Parser>
bool parse(Parser& parser, std::string_view header) {
  boost::system::error_code error;
  parser.put(asio::buffer(header.data(), header.size()), error);
  return !error && parser.is_header_done();
}

Answer refuse(std::string_view status_line, const std::string& why) {
  std::string text = "HTTP/1.1 " + std::string{status_line} + "\r\nConnection: close\r\nContent-Type: text/plain\r\n";
  text += "Sec-WebSocket-Version: 13\r\nContent-Length: " + std::to_string(why.size() + 1) + "\r\n\r\n" + why + "\n";
  return {std::move(text), invalid_argument(why)};
}

}  // namespace

bool begins_tls(std::string_view bytes) { return bytes.size() >= 2 && bytes[0] == 0x16 && bytes[1] == 0x03; }

std::string answer_tls() {
  return "HTTP/1.1 400 This port speaks no TLS\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
}

std::string refuse_for_now(const std::string& why) { return refuse("503 " + why, why).text; }

std::size_t http_header_size(std::string_view bytes) {
  const auto end = bytes.find("\r\n\r\n");
  return end == std::string_view::npos ? 0 : end + 4;
}

Answer answer_upgrade(std::string_view request, const std::function<bool()>& share_memory,
                      std::span<const std::string> origins) {
  http::request_parser<http::empty_body> parser;
  if (!parse(parser, request)) return refuse("400 Bad Request", "this is not HTTP");
  const auto& message = parser.get();
  if (!boost::beast::websocket::is_upgrade(message)) {
    return refuse("426 Upgrade Required\r\nUpgrade: websocket", "this is a burn-server; it speaks WebSocket");
  }
  const auto key = message[http::field::sec_websocket_key];
  if (message[http::field::sec_websocket_version] != "13" || key.empty()) {
    return refuse("400 Bad Request", "WebSocket version 13 is spoken here, with a key");
  }
  if (message.count(http::field::origin) > 1 || message.count(http::field::host) > 1) {
    return refuse("400 Bad Request", "Origin and Host are said once");
  }
  const auto text = [&](http::field field) {
    const auto value = message[field];
    return std::string_view{value.data(), value.size()};
  };
  if (message.count(http::field::origin) == 1 && text(http::field::origin).empty()) {
    return refuse("403 Forbidden", "an empty Origin");
  }
  if (!may_connect(text(http::field::origin), text(http::field::host), origins)) {
    return refuse("403 Forbidden", "pages of this origin may not connect (burn-server --allow-origin)");
  }
  std::string hello;
  if (const auto early = message[kHello]; !early.empty()) {
    auto bytes = from_base64({early.data(), early.size()});
    if (!bytes || message.count(kHello) > 1) return refuse("400 Bad Request", "Burn-Hello is not one short message");
    hello = *std::move(bytes);
  }
  const bool shares = share_memory && message[kSharedMemory] == SharedMemory::kVersion && share_memory();
  return {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " +
              accept_of({key.data(), key.size()}) + "\r\n" + (shares ? shared_memory_line() : "") +
              (hello.empty() ? "" : line(kHello, kTaken)) + "\r\n",
          ok_status(), std::move(hello)};
}

std::string make_key() {
  std::random_device random;
  std::array<unsigned char, 16> bytes{};
  for (unsigned char& b : bytes) b = static_cast<unsigned char>(random());
  return base64(bytes.data(), bytes.size());
}

std::string upgrade_request(const std::string& host, const std::string& key, bool asks_for_shared_memory,
                            std::string_view hello) {
  return "GET / HTTP/1.1\r\nHost: " + host +
         "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: " + key +
         "\r\nSec-WebSocket-Version: 13\r\n" + (asks_for_shared_memory ? shared_memory_line() : "") +
         (hello.empty() ? ""
                        : line(kHello, base64(reinterpret_cast<const unsigned char*>(hello.data()), hello.size()))) +
         "\r\n";
}

Result<Upgraded> check_upgrade(std::string_view response, const std::string& key) {
  http::response_parser<http::empty_body> parser;
  if (!parse(parser, response)) return unavailable("the server does not speak HTTP");
  const auto& message = parser.get();
  if (message.result() != http::status::switching_protocols) {
    const std::string reason{message.reason().data(), message.reason().size()};
    if (reason == kSpeaksTls) return unavailable("the server speaks TLS there (write wss://)");
    return unavailable("the server answers " + std::to_string(message.result_int()) + " " + reason);
  }
  if (message[http::field::sec_websocket_accept] != accept_of(key))
    return unavailable("the server is no WebSocket server");
  const auto taken = message[kHello];
  return Upgraded{.shares_memory = message[kSharedMemory] == SharedMemory::kVersion,
                  .took_hello = std::string_view{taken.data(), taken.size()} == kTaken};
}

}  // namespace burn::net::ws
