#include "tests/net/support.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

namespace burn::test {

proto::EncodedFrame frame(std::string header, std::size_t payload_bytes, std::uint8_t seed) {
  std::vector<std::uint8_t> payload(payload_bytes);
  for (std::size_t i = 0; i < payload_bytes; ++i) payload[i] = static_cast<std::uint8_t>(seed + i * 31 + (i >> 8));
  return {std::move(header), SharedBytes::own(std::move(payload))};
}

std::string text(const SharedBytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

bool matches(const SharedBytes& bytes, std::string_view header, std::size_t payload_bytes, std::uint8_t seed) {
  if (bytes.size() != header.size() + payload_bytes) return false;
  if (std::memcmp(bytes.data(), header.data(), header.size()) != 0) return false;
  const auto* payload = reinterpret_cast<const std::uint8_t*>(bytes.data()) + header.size();
  for (std::size_t i = 0; i < payload_bytes; ++i) {
    if (payload[i] != static_cast<std::uint8_t>(seed + i * 31 + (i >> 8))) return false;
  }
  return true;
}

void Recorder::on_frame(SharedBytes frame) {
  if (frame_hook) frame_hook(frame);
  std::lock_guard lock(mutex_);
  ++frame_count_;
  if (keep_frames_) frames_.push_back(std::move(frame));
  changed_.notify_all();
}

void Recorder::on_closed(Status why) {
  std::lock_guard lock(mutex_);
  ++closed_count_;
  why_ = std::move(why);
  changed_.notify_all();
}

bool Recorder::wait_for_frames(std::size_t count) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kPatience, [&] { return frame_count_ >= count; });
}

bool Recorder::wait_until_closed() {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kPatience, [&] { return closed_count_ > 0; });
}

std::vector<SharedBytes> Recorder::frames() const {
  std::lock_guard lock(mutex_);
  return frames_;
}

std::size_t Recorder::frame_count() const {
  std::lock_guard lock(mutex_);
  return frame_count_;
}

int Recorder::closed_count() const {
  std::lock_guard lock(mutex_);
  return closed_count_;
}

Status Recorder::why() const {
  std::lock_guard lock(mutex_);
  return why_;
}

std::shared_ptr<proto::ChannelHandler> TestAcceptor::accept_returning(std::shared_ptr<proto::Channel> channel,
                                                                      const Status& full) {
  if (!takes_returning) return nullptr;
  {
    const std::lock_guard lock(mutex_);
    full_.push_back(full);
  }
  return accept(std::move(channel));
}

std::vector<Status> TestAcceptor::full() const {
  const std::lock_guard lock(mutex_);
  return full_;
}

std::shared_ptr<proto::ChannelHandler> TestAcceptor::accept(std::shared_ptr<proto::Channel> channel) {
  if (refuse) return nullptr;
  auto client = std::make_shared<Served>(keep_frames);
  client->channel = std::move(channel);
  if (echo_) {
    client->frame_hook = [raw = client->channel.get()](const SharedBytes& bytes) {
      raw->send({{}, bytes}, proto::Lane::control);
    };
  }
  if (prepare) prepare(*client);
  std::lock_guard lock(mutex_);
  clients_.push_back(client);
  changed_.notify_all();
  return client;
}

std::shared_ptr<Served> TestAcceptor::client(std::size_t k) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, kPatience, [&] { return clients_.size() > k; })) return nullptr;
  return clients_[k];
}

std::size_t TestAcceptor::client_count() const {
  std::lock_guard lock(mutex_);
  return clients_.size();
}

std::string name(Transport transport) {
  switch (transport) {
    case Transport::websocket:
      return "websocket";
    case Transport::unix_socket:
      return "unix";
    case Transport::unix_without_memory:
      return "unix_without_memory";
    case Transport::grpc:
      return "grpc";
    case Transport::grpc_unix:
      return "grpc_unix";
  }
  return "?";
}

std::string temporary_path(std::string_view name) {
  static std::atomic<int> count = 0;
  const auto file = "burn-" + std::to_string(::getpid()) + "-" + std::to_string(++count) + "-" + std::string{name};
  return (std::filesystem::temp_directory_path() / file).string();
}

Result<std::unique_ptr<net::Listener>> listen(Transport transport, net::Acceptor& acceptor,
                                              const net::ListenOptions& options) {
  switch (transport) {
    case Transport::websocket:
      return net::listen_websocket("127.0.0.1:0", acceptor, options);
    case Transport::unix_socket:
      return net::listen_unix(temporary_path("socket"), acceptor, options);
    case Transport::unix_without_memory: {
      net::ListenOptions plain = options;
      plain.shared_memory = false;
      return net::listen_unix(temporary_path("socket"), acceptor, plain);
    }
    case Transport::grpc:
      return net::listen_grpc("127.0.0.1:0", acceptor, options);
    case Transport::grpc_unix:
      return net::listen_grpc_unix(temporary_path("socket"), acceptor, options);
  }
  return internal_error("unknown transport");
}

std::shared_ptr<proto::Channel> must_connect(const std::string& url, std::shared_ptr<proto::ChannelHandler> handler) {
  auto channel = net::connect_channel(url, std::move(handler), kPatience);
  if (!channel.ok()) {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    std::fprintf(stderr, "%s: %s\n", test ? test->name() : "", channel.status().to_string().c_str());
    std::abort();
  }
  return *std::move(channel);
}

std::size_t resident() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  unsigned long all = 0, resident = 0;
  EXPECT_EQ(std::fscanf(file, "%lu %lu", &all, &resident), 2);
  std::fclose(file);
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace burn::test
