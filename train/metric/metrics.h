// All metrics.
#pragma once

#include "train/metric/class_scores.h"
#include "train/metric/confusion_matrix.h"
#include "train/metric/curves.h"
#include "train/metric/episodes.h"
#include "train/metric/host.h"
#include "train/metric/metric.h"
#include "train/metric/text_scores.h"
#include "train/metric/vision.h"
