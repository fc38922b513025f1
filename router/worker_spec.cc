#include "router/worker_spec.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "base/parse_number.h"
#include "ir/enums.h"
#include "ir/ops/collectives.h"
#include "net/dial/connect.h"

namespace burn::router {
namespace {

using compile::partition::kMeshAxes;

// std::nullopt if the text is not a number.
std::optional<double> parse_real(std::string_view text) {
  double number = 0;
  const auto* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || rest != end || text.empty()) return std::nullopt;
  return number;
}

Status bad_mesh(std::string_view text, const std::string& why) {
  return invalid_argument(fmt::format("--mesh {}: {}", text, why));
}

}  // namespace

Result<WorkerSpec> parse_worker(std::string_view text) {
  WorkerSpec worker{std::string{text}};
  const auto equals = text.rfind('=');
  // The path of a unix socket may contain "=": then only a number after the last "=" is a weight.
  if (equals != std::string_view::npos) {
    const auto weight = parse_real(text.substr(equals + 1));
    const bool is_path = text.starts_with("unix") || text.starts_with("grpc+unix");
    if (weight || !is_path) worker.url = text.substr(0, equals);
    if (!weight && !is_path)
      return invalid_argument(
          fmt::format("--worker {}: the weight \"{}\" is not a number", text, text.substr(equals + 1)));
    worker.weight = weight.value_or(1);
  }
  if (!std::isfinite(worker.weight) || worker.weight <= 0)
    return invalid_argument(fmt::format("--worker {}: a weight is a positive number", text));
  const auto endpoint = net::parse_url(worker.url);
  if (!endpoint.ok()) return endpoint.status().with_context("--worker");
  return worker;
}

std::string member_name(const std::string& url) {
  const auto endpoint = *net::parse_url(url);
  auto name = "member:" + endpoint.address;
  if (!endpoint.device_name.empty()) return name + "/" + endpoint.device_name;
  return endpoint.device == 0 ? name : fmt::format("{}/{}", name, endpoint.device);
}

Result<compile::partition::Mesh> parse_mesh(std::string_view text, std::size_t workers) {
  compile::partition::Mesh mesh;
  if (text.empty()) {
    mesh.data = static_cast<int>(workers);
    return mesh;
  }
  int sizes[] = {0, 0};
  for (auto rest = text;;) {
    const auto comma = rest.find(',');
    const auto part = rest.substr(0, comma);
    const auto equals = part.find('=');
    const auto size =
        equals == std::string_view::npos ? std::nullopt : parse_number<std::uint32_t>(part.substr(equals + 1));
    if (!size || *size == 0 || equals == 0)
      return bad_mesh(text, fmt::format("\"{}\" is no axis; one is data=4", part));
    const auto name = part.substr(0, equals);
    const auto axis = std::ranges::find_if(kMeshAxes, [&](ir::MeshAxis axis) { return ir::name(axis) == name; });
    if (axis == std::end(kMeshAxes))
      return bad_mesh(text, fmt::format("there is no axis \"{}\"; the axes are data and model", name));
    auto& of_axis = sizes[static_cast<std::size_t>(*axis)];
    if (of_axis > 0) return bad_mesh(text, fmt::format("the axis {} is there twice", name));
    if (*size > static_cast<std::uint32_t>(ir::kMaxMembers)) {
      return bad_mesh(text, fmt::format("an axis has at most {} workers; with data and model there is room for {}",
                                        ir::kMaxMembers, ir::kMaxMembers * ir::kMaxMembers));
    }
    of_axis = static_cast<int>(*size);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  mesh = {.data = std::max(sizes[0], 1), .model = std::max(sizes[1], 1)};
  if (static_cast<std::size_t>(mesh.members()) != workers)
    return bad_mesh(text, fmt::format("it has room for {} workers; there are {}", mesh.members(), workers));
  return mesh;
}

}  // namespace burn::router
