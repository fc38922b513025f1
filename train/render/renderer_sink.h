// Converts the events of a training to the texts that a Renderer shows.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "train/events/event_sink.h"
#include "train/render/renderer.h"

namespace burn::train {

class RendererSink final : public events::EventSink {
 public:
  using Format = std::function<std::string(double)>;

  // `formats`: formats the values of each metric of Start::metrics; a metric without one is formatted by its
  // ValueFormat.
  explicit RendererSink(std::shared_ptr<Renderer> renderer, std::vector<Format> formats = {});

  void event(const events::Event& event) override;
  std::string name() const override { return "the renderer"; }

 private:
  std::string format(std::int32_t metric, double value) const;
  std::vector<ShownValue> shown(const std::vector<events::MetricValue>& values) const;
  void show(const events::Progress& progress);
  void show(const events::EpochEnd& end);
  void show(const events::TextPoint& point);
  void show(const events::Summary& summary);

  const std::shared_ptr<Renderer> renderer_;
  const std::vector<Format> formats_;
  std::vector<events::MetricInfo> metrics_;
  events::SplitEnd train_, valid_;  // the last ones of the current epoch
};

}  // namespace burn::train
