// Event files: what a file of any bytes holds is read or refused, and both dashboards can show what was read. The first
// byte says whether the bytes are a file, or payloads of records (a length of one byte before each), whose checksums
// are then right.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <boost/json/parse.hpp>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "train/dashboard/terminal/view.h"
#include "train/dashboard/web/json.h"
#include "train/events/codec.h"
#include "train/events/event_file.h"

using namespace burn::train;

namespace {

constexpr std::string_view kMagic = "BURNEVT1";

std::string file_of(std::string_view payloads) {
  std::string file{kMagic};
  while (!payloads.empty()) {
    const auto payload = payloads.substr(1, static_cast<unsigned char>(payloads.front()));
    payloads.remove_prefix(1 + payload.size());
    std::string length;
    events::put_u32(length, static_cast<std::uint32_t>(payload.size()));
    file += length;
    events::put_u32(file, events::crc32c(length + std::string{payload}));
    file += payload;
  }
  return file;
}

void show(dashboard::BoardRun run) {
  using dashboard::Pane;
  for (const auto pane : {Pane::full, Pane::recent, Pane::summary}) {
    for (const bool is_log : {false, true}) {
      dashboard::ViewState view{.pane = pane, .logarithmic = is_log, .smoothed = is_log};
      dashboard::Frame frame{80, 24};
      dashboard::draw(frame, run.state, view, {run.state.last_us(), nullptr});
    }
  }
  dashboard::RunBoard board;
  board.add(std::move(run));
  dashboard::CurveCursor cursor{{0}};
  board.read([&](const auto& runs) {
    (void)boost::json::parse(dashboard::runs_json(runs));  // throws, and so ends the program, on what is no JSON
    if (const auto curves = cursor.changes(runs); !curves.empty()) (void)boost::json::parse(curves);
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes{reinterpret_cast<const char*>(data + 1), size - 1};
  const auto text = (data[0] & 1) != 0 ? file_of(bytes) : std::string{bytes};
  const burn::UniqueFd file(::memfd_create("events", 0));
  if (!file || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::abort();
  dashboard::BoardRun run;
  try {
    events::EventFileReader reader{"/proc/self/fd/" + std::to_string(file.get())};
    while (const auto event = reader.next()) run.state.add(*event);
    if (reader.end() > text.size()) std::abort();
  } catch (const burn::Error& error) {
    run.problem = error.what();
  }
  show(std::move(run));
  return 0;
}
