#include "data/download.h"

#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <system_error>

#include <curl/curl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"

namespace burn::data {
namespace {

namespace fs = std::filesystem;

constexpr long kConnectSeconds = 15;
constexpr long kStallSeconds = 30;  // without a byte

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
using Curl = std::unique_ptr<CURL, void (*)(CURL*)>;

// Downloads one URL. Returns the failure, or an empty text.
std::string fetch(const std::string& url, const fs::path& path, std::uint64_t bytes) {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });

  const File file(std::fopen(path.c_str(), "wb"), std::fclose);
  if (!file) return fmt::format("cannot write {}", path.native());
  const Curl curl(curl_easy_init(), curl_easy_cleanup);
  if (!curl) return "libcurl has no memory";
  char details[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, file.get());
  curl_easy_setopt(curl.get(), CURLOPT_ERRORBUFFER, details);
  curl_easy_setopt(curl.get(), CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);  // other threads are running
  curl_easy_setopt(curl.get(), CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  curl_easy_setopt(curl.get(), CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_LOW_SPEED_TIME, kStallSeconds);
  const CURLcode code = curl_easy_perform(curl.get());
  if (code != CURLE_OK) return details[0] != '\0' ? details : curl_easy_strerror(code);
  if (std::fflush(file.get()) != 0) return fmt::format("cannot write {}", path.native());

  std::error_code ignored;
  const auto size = fs::file_size(path, ignored);
  return size == bytes ? "" : fmt::format("it sent {} bytes instead of {}", size, bytes);
}

}  // namespace

void download_file(std::span<const std::string> urls, const fs::path& path, std::uint64_t bytes) {
  std::error_code code;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), code);
  if (code) {
    throw Error(StatusCode::unavailable,
                fmt::format("cannot make the folder {}: {}", path.parent_path().native(), code.message()));
  }
  static std::atomic<int> counter{0};
  const fs::path part = path.native() + fmt::format(".{}-{}.part", ::getpid(), counter++);
  std::string failures;
  for (const auto& url : urls) {
    const auto failure = fetch(url, part, bytes);
    if (failure.empty()) {
      fs::rename(part, path, code);
      if (!code) return;
    }
    failures += fmt::format("{}{}: {}", failures.empty() ? "" : "; ", url, code ? code.message() : failure);
  }
  fs::remove(part, code);
  throw Error(StatusCode::unavailable, fmt::format("cannot download {}: {}", path.filename().native(), failures));
}

}  // namespace burn::data
