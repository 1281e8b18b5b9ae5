#include "tests/app/support/session_fixture.h"

#include <QElapsedTimer>
#include <QTest>
#include <cmath>
#include <random>
#include <utility>

namespace attnscope {

Trace sample_trace(std::int64_t layers, std::int64_t heads, std::int64_t side, double sharpness,
                   unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const std::int64_t tokens = 1 + side * side;
  Trace trace;
  trace.model_name = "sample";
  trace.input_label = "sample input";
  trace.layout = {1, side, side};
  Image image{side * 4, side * 4, 1, {}};
  for (std::int64_t i = 0; i < image.width * image.height; ++i) {
    image.pixels.push_back(static_cast<std::uint8_t>(i % 251));
  }
  trace.images = {image};
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    Tensor maps({heads, tokens, tokens});
    for (std::int64_t row = 0; row < heads * tokens; ++row) {
      float* values = maps.data() + row * tokens;
      double sum = 0;
      for (std::int64_t key = 0; key < tokens; ++key) {
        const double value = std::exp(sharpness * normal(random));
        values[key] = static_cast<float>(value);
        sum += value;
      }
      for (std::int64_t key = 0; key < tokens; ++key) {
        values[key] = static_cast<float>(values[key] / sum);
      }
    }
    LayerTrace recorded;
    recorded.implied_map = std::move(maps);
    trace.layers.push_back(std::move(recorded));
  }
  return trace;
}

SubjectId subject_at(const Session& session, std::size_t place) {
  return place < session.subjects().size() ? session.subjects()[place].id : SubjectId::none;
}

bool wait_until(const std::function<bool()>& condition, double seconds) {
  QElapsedTimer clock;
  clock.start();
  while (!condition()) {
    if (static_cast<double>(clock.elapsed()) > seconds * 1000) return false;
    QTest::qWait(10);
  }
  return true;
}

}  // namespace attnscope
