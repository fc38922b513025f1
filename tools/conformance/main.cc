// burn-conformance: runs reference vectors through the API on a device and says which agree.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "client/batch_scope.h"
#include "client/ops/gradients.h"
#include "client/tensor/untyped.h"
#include "tools/conformance/case.h"
#include "tools/conformance/ops.h"

namespace burn::conformance {
namespace {

struct Options {
  std::string device = "cpu";
  std::vector<std::string> only, dirs;
  bool no_grad = false, allow_missing = false, batched = false, list = false, verbose = false;
  bool without_f64 = false;
};

struct Tally {
  int passed = 0, failed = 0, skipped = 0;
  int refused = 0;  // cases that a device without f64 cannot run
  std::string first_failure;
};

Value apply_view(const Value& x, const View& view) {
  switch (view.kind) {
    case View::Kind::none:
      return x;
    case View::Kind::permute:
      return client::permute(x, ir::Dims{view.numbers}, kSite);
    case View::Kind::expand:
      return client::expand(x, ir::Dims{view.numbers}, kSite);
    case View::Kind::slice: {
      std::vector<client::Range> ranges;
      ranges.reserve(view.ranges.size());
      for (const auto& r : view.ranges) ranges.push_back({r.at(0), r.at(1), r.size() > 2 ? r[2] : 1});
      return client::slice(x, ranges, kSite);
    }
  }
  return x;
}

void check_gradients(const Case& c, const Device& device, const std::vector<Value>& outputs,
                     const std::vector<std::optional<Value>>& leaves) {
  Value total;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (i >= c.cotangents.size() || !c.cotangents[i] || !outputs[i].is_tracked()) continue;
    const auto cotangent = client::from_data(*c.cotangents[i], {device, outputs[i].dtype()}, outputs[i].dtype());
    const auto part =
        client::reduce_all(ir::ReduceFn::sum, client::pointwise(Fn::mul, outputs[i], cotangent, kSite), kSite);
    total = total.has_value() ? client::pointwise(Fn::add, total, part, kSite) : part;
  }
  std::optional<Gradients> gradients;
  if (total.has_value()) gradients = client::backward(total, {}, kSite);
  for (const auto& want : c.gradients) {
    const auto& leaf = leaves.at(want.index).value();
    const auto got = gradients ? gradients->get(leaf) : std::nullopt;
    // No path from the input: the gradient is 0.
    const auto data = got ? client::to_data(*got) : TensorData::zeros(leaf.shape(), leaf.dtype());
    if (data.dtype() != leaf.dtype()) throw Error(StatusCode::data_loss, "gradient is " + ir::to_string(data.type()));
    compare(data, want.data, c.rtol, c.atol, "gradient of input " + std::to_string(want.index));
  }
}

void run_case(const Case& c, const OpFunction& op, const Device& device, bool with_gradients, bool batched) {
  const Device on = with_gradients ? device.autodiff() : device;
  std::vector<std::optional<Value>> leaves(c.inputs.size()), inputs(c.inputs.size());
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    if (!c.inputs[i]) continue;
    const BatchScope scope{batched ? std::optional{0} : std::nullopt};
    leaves[i] = client::from_data(*c.inputs[i], {on}, c.inputs[i]->dtype());
    const bool is_differentiated =
        std::any_of(c.gradients.begin(), c.gradients.end(), [&](const auto& g) { return g.index == i; });
    if (with_gradients && is_differentiated) leaves[i] = client::require_grad(*leaves[i]);
    inputs[i] = apply_view(*leaves[i], c.views[i]);
  }
  const auto outputs = op(Call{on, inputs, c.params});
  if (outputs.size() != c.outputs.size()) {
    throw Error(StatusCode::data_loss,
                std::to_string(outputs.size()) + " outputs, not " + std::to_string(c.outputs.size()));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    compare(client::to_data(outputs[i]), c.outputs[i], c.rtol, c.atol, "output " + std::to_string(i));
  }
  if (with_gradients) check_gradients(c, on, outputs, leaves);
}

bool is_refused_f64(const std::exception& error) {
  const auto* failure = dynamic_cast<const Error*>(&error);
  return failure && failure->code() == StatusCode::unimplemented &&
         std::string_view(error.what()).find("has no f64") != std::string_view::npos;
}

void run_file(const std::filesystem::path& path, const Options& options, const Device& device,
              std::map<std::string, Tally>& tallies) {
  std::ifstream file{path};
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty()) continue;
    Case c;
    try {
      c = parse_case(line);
    } catch (const std::exception& error) {
      throw Error(StatusCode::invalid_argument, path.string() + ":" + std::to_string(number) + ": " + error.what());
    }
    if (!options.only.empty() && std::find(options.only.begin(), options.only.end(), c.op) == options.only.end())
      continue;
    Tally& tally = tallies[c.op];
    const auto op = ops().find(c.op);
    if (op == ops().end()) {
      (options.allow_missing ? tally.skipped : tally.failed) += 1;
      if (tally.first_failure.empty()) tally.first_failure = "the API has no such op yet";
      continue;
    }
    try {
      run_case(c, op->second, device, !options.no_grad && !c.cotangents.empty(), options.batched);
      tally.passed += 1;
    } catch (const std::exception& error) {
      if (options.without_f64 && is_refused_f64(error)) {
        tally.refused += 1;
        continue;
      }
      tally.failed += 1;
      const auto text = c.id + ": " + error.what();
      if (tally.first_failure.empty()) tally.first_failure = text;
      if (options.verbose) std::cout << text << '\n';
    }
  }
}

std::vector<std::filesystem::path> files_of(const std::vector<std::string>& dirs) {
  std::vector<std::filesystem::path> files;
  for (const auto& dir : dirs) {
    if (!std::filesystem::exists(dir)) throw Error(StatusCode::not_found, dir + " does not exist");
    if (!std::filesystem::is_directory(dir)) {
      files.emplace_back(dir);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(dir)) {
      if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
    }
  }
  if (files.empty()) throw Error(StatusCode::not_found, "no .jsonl files in the folders named");
  std::sort(files.begin(), files.end());
  return files;
}

int run(const Options& options) {
  if (options.list) {
    for (const auto& [name, function] : ops()) std::cout << name << '\n';
    return 0;
  }
  const Device device{options.device};
  std::map<std::string, Tally> tallies;
  for (const auto& file : files_of(options.dirs)) run_file(file, options, device, tallies);
  Tally sum;
  for (const auto& [name, tally] : tallies) {
    std::printf("%-36s %5d passed %5d failed %5d skipped  %s\n", name.c_str(), tally.passed, tally.failed,
                tally.skipped, tally.first_failure.c_str());
    sum.passed += tally.passed;
    sum.failed += tally.failed;
    sum.skipped += tally.skipped;
    sum.refused += tally.refused;
  }
  std::printf("%d passed, %d failed, %d skipped", sum.passed, sum.failed, sum.skipped);
  if (options.without_f64) std::printf(", %d refused for want of f64", sum.refused);
  std::printf("\n");
  return sum.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace burn::conformance

int main(int argc, char** argv) {
  burn::conformance::Options options;
  CLI::App app{"Runs reference vectors (JSON lines) through the tensor API on a device", "burn-conformance"};
  app.add_option("--device", options.device, "Device URL")->capture_default_str();
  app.add_option("--only", options.only, "Only these ops, separated by commas")->delimiter(',');
  app.add_flag("--no-grad", options.no_grad, "Forward results only");
  app.add_flag("--allow-missing", options.allow_missing, "An op that the API does not have yet is skipped, not failed");
  app.add_flag("--without-f64", options.without_f64,
               "The device has no f64: cases that it refuses by name for that are counted apart, not as failed");
  app.add_flag("--batched", options.batched, "Say of each input that its first axis is that of a batch");
  app.add_flag("--list", options.list, "Print the ops that the API has");
  app.add_flag("--verbose", options.verbose, "Print every failing case, not only each op's first");
  app.add_option("dirs", options.dirs, "Folders of .jsonl files, or files");
  CLI11_PARSE(app, argc, argv);
  if (!options.list && options.dirs.empty()) {
    std::cerr << "burn-conformance: name at least one folder of vectors\n";
    return 2;
  }
  try {
    return burn::conformance::run(options);
  } catch (const std::exception& error) {
    std::cerr << "burn-conformance: " << error.what() << '\n';
    return 2;
  }
}
