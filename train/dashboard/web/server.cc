#include "train/dashboard/web/server.h"

#include <chrono>
#include <random>
#include <thread>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>

#include "base/error.h"
#include "base/thread.h"
#include "train/dashboard/web/answer.h"
#include "train/dashboard/web/json.h"

namespace burn::train::dashboard {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;

constexpr std::chrono::seconds kRequestTime{30};  // also the limit of a write to a browser that does not read
constexpr std::chrono::milliseconds kTick{400};   // between events
constexpr int kTicksBetweenSigns = 40;            // keep-alives, for proxies between server and browser
constexpr std::size_t kMaxRequestBytes = std::size_t{8} * 1024;
constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);

std::string random_token() {
  std::random_device random;
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", random());
  return token;
}

http::response<http::string_body> response_of(const Answer& answer, const http::request<http::empty_body>& request) {
  http::response<http::string_body> response{static_cast<http::status>(answer.status), request.version()};
  response.set(http::field::content_type, answer.type);
  response.set(http::field::cache_control, "no-store");
  response.set("Content-Security-Policy", kContentPolicy);
  response.set("X-Content-Type-Options", "nosniff");
  response.set("Referrer-Policy", "no-referrer");
  response.set("Cross-Origin-Resource-Policy", "same-origin");
  if (answer.is_gzip) response.set(http::field::content_encoding, "gzip");
  if (!answer.cookie.empty()) response.set(http::field::set_cookie, answer.cookie);
  if (!answer.location.empty()) response.set(http::field::location, answer.location);
  response.keep_alive(request.keep_alive());
  response.body() = answer.body;
  response.prepare_payload();
  if (request.method() == http::verb::head) response.body().clear();
  return response;
}

std::string sse(std::string_view event, const std::string& data) {
  return fmt::format("event: {}\ndata: {}\n\n", event, data);
}

}  // namespace

struct WebServer::Listener {
  Listener(const WebOptions& options, RunBoard& runs) : acceptor(io), board(runs) {
    gate.address = options.address;
    gate.token = options.token.empty() && !options.address.is_loopback ? random_token() : options.token;
    boost::system::error_code error;
    const tcp::endpoint endpoint{asio::ip::make_address(options.address.host), options.address.port};
    acceptor.open(endpoint.protocol(), error);
    if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor.bind(endpoint, error);
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
      throw Error(StatusCode::unavailable,
                  fmt::format("dashboard: cannot listen on {}: {}", to_string(options.address), error.message()));
    }
    gate.address.port = acceptor.local_endpoint().port();
    url = fmt::format("http://{}/{}", to_string(gate.address), gate.token.empty() ? "" : "?token=" + gate.token);
    asio::co_spawn(io, accept(), asio::detached);
    thread = start_thread("burn-dashboard", [this] { io.run(); });
  }
  ~Listener() {
    io.stop();
    thread.join();
  }

  asio::awaitable<void> accept() {
    while (true) {
      auto [error, socket] = co_await acceptor.async_accept(kTuple);
      if (error) {  // for example, no file descriptor is left
        asio::steady_timer pause{io, std::chrono::milliseconds{100}};
        co_await pause.async_wait(kTuple);
        continue;
      }
      asio::co_spawn(io, converse(beast::tcp_stream{std::move(socket)}), asio::detached);
    }
  }

  asio::awaitable<void> converse(beast::tcp_stream stream) {
    struct Counted {
      int& count;
      explicit Counted(int& connections) : count(connections) { ++count; }
      ~Counted() { --count; }
    } const counted{connections};
    beast::flat_buffer buffer{kMaxRequestBytes};
    bool goes_on = true;
    while (goes_on) {
      http::request_parser<http::empty_body> parser;
      parser.header_limit(static_cast<std::uint32_t>(kMaxRequestBytes));
      stream.expires_after(kRequestTime);
      auto [failed, bytes] = co_await http::async_read(stream, buffer, parser, kTuple);
      if (failed) co_return;
      const auto request = parser.release();
      goes_on = co_await respond(stream, request);
    }
    boost::system::error_code ignored;
    stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
  }

  asio::awaitable<bool> respond(beast::tcp_stream& stream, const http::request<http::empty_body>& request) {
    const auto view = [&](http::field field) {
      const auto value = request[field];
      return std::string_view{value.data(), value.size()};
    };
    const auto method = request.method_string(), target = request.target();
    const RequestHead head{.method = {method.data(), method.size()},
                           .target = {target.data(), target.size()},
                           .host = view(http::field::host),
                           .origin = view(http::field::origin),
                           .cookie = view(http::field::cookie),
                           .authorization = view(http::field::authorization)};
    std::optional<Answer> reply;
    if (connections > kMaxConnections)
      reply = Answer{.status = 503, .body = "too many connections\n"};
    else
      reply = answer(gate, head, board);
    if (!reply) {
      co_await send_events(stream, runs_in(head.target));
      co_return false;
    }
    auto response = response_of(*reply, request);
    if (connections > kMaxConnections) response.keep_alive(false);
    http::response_serializer<http::string_body> serializer{response};
    stream.expires_after(kRequestTime);
    auto [failed, bytes] = co_await http::async_write(stream, serializer, kTuple);
    co_return !failed && response.keep_alive();
  }

  asio::awaitable<void> send_events(beast::tcp_stream& stream, std::vector<std::size_t> runs) {
    std::string text =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\nConnection: close\r\n"
        "X-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: same-origin\r\n\r\n";
    CurveCursor cursor{std::move(runs)};
    std::uint64_t seen = ~std::uint64_t{0};
    asio::steady_timer timer{io};
    for (int tick = 0;; ++tick) {
      add_news(tick, seen, cursor, text);
      if (!text.empty()) {
        stream.expires_after(kRequestTime);
        auto [failed, bytes] = co_await asio::async_write(stream, asio::buffer(text), kTuple);
        if (failed) co_return;
        text.clear();
      }
      timer.expires_after(kTick);
      auto [stopped] = co_await timer.async_wait(kTuple);
      if (stopped) co_return;
    }
  }

  void add_news(int tick, std::uint64_t& seen, CurveCursor& cursor, std::string& text) {
    if (tick % kTicksBetweenSigns == kTicksBetweenSigns - 1) text += ": still here\n\n";
    board.read([&](const auto& all) {
      std::uint64_t version = all.size();
      for (const auto& run : all) version += run->version;
      if (version == seen) return;
      seen = version;
      text += sse("runs", runs_json(all));
      if (const auto curves = cursor.changes(all); !curves.empty()) text += sse("curves", curves);
    });
  }

  asio::io_context io{1};
  tcp::acceptor acceptor;
  RunBoard& board;
  Gate gate;
  std::string url;
  int connections = 0;
  std::thread thread;
};

WebServer::WebServer(const WebOptions& options, RunBoard& board)
    : listener_(std::make_unique<Listener>(options, board)) {}
WebServer::~WebServer() = default;
const std::string& WebServer::url() const { return listener_->url; }

}  // namespace burn::train::dashboard
