#include "data/idx.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <memory>
#include <system_error>

#include <fmt/format.h>
#include <zlib.h>

namespace burn::data {
namespace {

constexpr std::uint64_t kMaxInflation = 1032;  // deflate cannot do better: 258 bytes for 2 bits
constexpr std::uint64_t kMaxValues = std::uint64_t{1} << 31;

// The contents of a file, decompressed while they are read.
class Contents {
 public:
  virtual ~Contents() = default;
  // Fills `out`, or a part of it if the contents end before. Returns the number of bytes.
  virtual Result<std::size_t> read(std::span<std::uint8_t> out) = 0;
  // An upper bound of the number of bytes that read() can still return.
  virtual std::uint64_t most_left() const = 0;
  // Whether the end was reached and the checksum, if there is one, is right.
  virtual bool complete() const = 0;
  virtual const char* kind() const = 0;  // "data", in messages
};

class PlainContents : public Contents {
 public:
  explicit PlainContents(std::span<const std::byte> bytes) : bytes_(bytes) {}

  Result<std::size_t> read(std::span<std::uint8_t> out) override {
    const auto count = std::min(out.size(), bytes_.size());
    if (count > 0) std::memcpy(out.data(), bytes_.data(), count);
    bytes_ = bytes_.subspan(count);
    return count;
  }
  std::uint64_t most_left() const override { return bytes_.size(); }
  bool complete() const override { return bytes_.empty(); }
  const char* kind() const override { return "data"; }

 private:
  std::span<const std::byte> bytes_;
};

class GzipContents : public Contents {
 public:
  explicit GzipContents(std::span<const std::byte> bytes) : input_(bytes) {
    constexpr int kGzip = 16 + MAX_WBITS;
    usable_ = inflateInit2(&stream_, kGzip) == Z_OK;
  }
  GzipContents(const GzipContents&) = delete;
  GzipContents& operator=(const GzipContents&) = delete;
  ~GzipContents() override {
    if (usable_) inflateEnd(&stream_);
  }

  Result<std::size_t> read(std::span<std::uint8_t> out) override {
    if (!usable_) return resource_exhausted("zlib has no memory");
    std::size_t done = 0;
    while (done < out.size() && !ended_) {
      const auto given = feed();
      const auto room = std::min<std::size_t>(out.size() - done, kChunk);
      stream_.next_out = out.data() + done;
      stream_.avail_out = static_cast<uInt>(room);
      const int code = inflate(&stream_, Z_NO_FLUSH);
      done += room - stream_.avail_out;
      input_ = input_.subspan(given - stream_.avail_in);
      if (code == Z_STREAM_END)
        ended_ = true;
      else if (code == Z_BUF_ERROR && input_.empty())
        break;  // truncated: the caller reports it
      else if (code != Z_OK)
        return corrupt();
    }
    return done;
  }
  std::uint64_t most_left() const override { return (input_.size() + 1) * kMaxInflation; }
  bool complete() const override { return ended_ && input_.empty(); }
  const char* kind() const override { return "gzip data"; }

 private:
  static constexpr std::size_t kChunk = std::size_t{1} << 30;  // zlib counts in 32 bits

  std::size_t feed() {
    const auto given = std::min(input_.size(), kChunk);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(input_.data()));
    stream_.avail_in = static_cast<uInt>(given);
    return given;
  }

  Status corrupt() const {
    return data_loss(fmt::format("the gzip data are corrupt after {} unpacked bytes: {}", stream_.total_out,
                                 stream_.msg != nullptr ? stream_.msg : "unknown reason"));
  }

  std::span<const std::byte> input_;
  z_stream stream_{};
  bool usable_ = false, ended_ = false;
};

std::unique_ptr<Contents> open(std::span<const std::byte> file) {
  const bool gzip = file.size() >= 2 && file[0] == std::byte{0x1f} && file[1] == std::byte{0x8b};
  if (gzip) return std::make_unique<GzipContents>(file);
  return std::make_unique<PlainContents>(file);
}

Status fill(Contents& contents, std::span<std::uint8_t> out, const char* what) {
  BURN_TRY(const auto count, contents.read(out));
  if (count == out.size()) return {};
  return data_loss(fmt::format("the {} end after {} of {} bytes of {}", contents.kind(), count, out.size(), what));
}

Result<ir::Shape> read_header(Contents& contents, int rank) {
  std::array<std::uint8_t, 4> magic{};
  BURN_RETURN_IF_ERROR(fill(contents, magic, "the magic number"));
  const std::array<std::uint8_t, 4> wanted = {0, 0, 8, static_cast<std::uint8_t>(rank)};
  if (magic != wanted) {
    return invalid_argument(fmt::format("the magic number is {:02x}{:02x}{:02x}{:02x}, not {:02x}{:02x}{:02x}{:02x}",
                                        magic[0], magic[1], magic[2], magic[3], wanted[0], wanted[1], wanted[2],
                                        wanted[3]));
  }
  ir::Shape shape;
  for (int i = 0; i < rank; ++i) {
    std::array<std::uint8_t, 4> size{};
    BURN_RETURN_IF_ERROR(fill(contents, size, "a size"));
    shape.push_back(std::int64_t{size[0]} << 24 | size[1] << 16 | size[2] << 8 | size[3]);
  }
  return shape;
}

}  // namespace

Result<IdxArray> parse_idx(std::span<const std::byte> file, int rank) {
  const auto contents = open(file);
  BURN_TRY(auto shape, read_header(*contents, rank));
  const auto count = ir::checked_num_elements(shape);
  if (!count || static_cast<std::uint64_t>(*count) > std::min(contents->most_left(), kMaxValues)) {
    return data_loss(
        fmt::format("the sizes {} ask for more than the {} bytes of the file can hold", to_string(shape), file.size()));
  }
  IdxArray array{shape, std::vector<std::uint8_t>(static_cast<std::size_t>(*count))};
  BURN_RETURN_IF_ERROR(fill(*contents, array.values, "values"));
  std::array<std::uint8_t, 1> more{};  // must stay unread; the attempt makes zlib compare the checksum
  BURN_TRY(const auto surplus, contents->read(more));
  if (surplus != 0 || !contents->complete()) {
    return data_loss(
        fmt::format("the {} do not end with the {} values of {}", contents->kind(), *count, to_string(shape)));
  }
  return array;
}

Result<IdxArray> read_idx(const std::filesystem::path& path, int rank) {
  std::error_code code;
  const auto size = std::filesystem::file_size(path, code);  // fails for folders, too
  if (code) return not_found(fmt::format("cannot read {}: {}", path.native(), code.message()));
  std::vector<std::byte> bytes(size);
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size))) {
    return unavailable(fmt::format("cannot read the {} bytes of {}", size, path.native()));
  }
  auto array = parse_idx(bytes, rank);
  if (!array.ok()) return array.status().with_context(path.native());
  return array;
}

}  // namespace burn::data
