# cmake -DOUTPUT=<file.cc> -DROOT=<folder> -DFILES=<paths;below;it> -P EmbedText.cmake
# Writes the kernel headers of backends/cuda/driver/nvrtc.h: each file's text, under its path. Without the lines for
# clang-tidy, as the texts are a part of the keys of compiled kernels in users' caches.
set(rows "")
foreach(file IN LISTS FILES)
  file(READ "${ROOT}/${file}" text)
  string(REGEX REPLACE "\n *// NOLINTNEXTLINE[^\n]*" "" text "${text}")
  string(APPEND rows "    {\"${file}\", R\"burn_text(${text})burn_text\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "#include \"backends/cuda/driver/nvrtc.h\"

namespace burn::backends::cuda {
namespace {

const Header kHeaders[] = {
${rows}};

}  // namespace

std::span<const Header> kernel_headers() { return kHeaders; }

}  // namespace burn::backends::cuda
")
