#include <algorithm>
#include <iostream>

#include <fmt/format.h>

#include "examples/guide/dataset.h"
#include "examples/guide/model.h"

namespace guide {

void infer(const Options& options) {
  const auto images = test_images(options);
  const auto item = images.get(options.index);

  const Device device{options.device};
  const auto net = NetConfig::load(options.artifacts / "net.json")
                       .init(device)
                       .load_record(Record::load(options.artifacts / "model.safetensors"));
  const auto batch = MnistBatcher{device}.batch({item});
  const auto probabilities = burn::activation::softmax(net.forward(batch.images), 1).to_data().to_vec<float>();
  const auto answer = std::max_element(probabilities.begin(), probabilities.end());

  std::cout << picture(item)
            << fmt::format("image {}: a {} with probability {:.1f} %, labelled {}\n", options.index,
                           answer - probabilities.begin(), 100 * *answer, item.label);
}

}  // namespace guide
