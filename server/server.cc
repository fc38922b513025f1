#include "server/server.h"

#include "daemon/service.h"
#include "server/worker_options.h"

namespace burn::server {
namespace {

backends::MemoryStats memory_of(const WorkerHost& host) {
  backends::MemoryStats all;
  for (const auto& worker : host.workers()) {
    const auto memory = worker->backend().memory();
    all.in_use += memory.in_use;
    all.reserved += memory.reserved;
  }
  return all;
}

}  // namespace

Server::Server(const ServerOptions& options)
    : host_(open_worker(options)), service_(std::make_unique<daemon::Service>(service_options(options), host_)) {}

Server::~Server() = default;

std::string Server::url() const { return urls().front(); }
const std::vector<std::string>& Server::urls() const { return service_->urls(); }
std::size_t Server::connections() const { return service_->connections(); }
std::size_t Server::sessions() const { return service_->sessions(); }
Status Server::reload_tokens() { return service_->reload_credentials(); }
Status Server::reload_certificate() { return service_->tls() ? service_->tls()->reload() : Status{}; }
void Server::stop() { service_->stop(); }

Server::SessionCounts Server::session_counts() const {
  const auto leases = host_->leases().counts();
  SessionCounts counts{.resumes = leases.resumes, .duplicates = leases.duplicates, .lost = leases.lost};
  for (const auto& worker : host_->workers()) counts.runs += worker->stats().runs;
  counts.runs_left_behind = host_->runs_left_behind();
  return counts;
}

std::uint64_t Server::memory_in_use() const { return memory_of(*host_).in_use; }

}  // namespace burn::server
