#include "tests/support/attention_subjects.h"

#include <cmath>
#include <fstream>
#include <memory>
#include <random>
#include <utility>

#include "core/model/model.h"
#include "tests/support/hashed_weights.h"
#include "tests/support/reference_maps.h"

namespace attnscope {

namespace {

/// Tokens [N, width] of waves over the grid plus noise.
Matrix tokens_of(const SubjectShape& shape, double noise, std::mt19937& random) {
  const std::int64_t count = shape.prefix + shape.grid_rows * shape.grid_columns;
  const std::int64_t width = shape.heads * shape.head_width;
  std::normal_distribution<float> normal;
  Matrix tokens(count, width);
  for (std::int64_t token = 0; token < count; ++token) {
    const std::int64_t patch = token - shape.prefix;
    const double y = patch < 0 ? -3 : static_cast<double>(patch / shape.grid_columns);
    const double x = patch < 0 ? -3 : static_cast<double>(patch % shape.grid_columns);
    for (std::int64_t k = 0; k < width; ++k) {
      const double wave = std::sin(0.35 * static_cast<double>(1 + k % 3) * (k % 2 == 0 ? x : y) +
                                   0.7 * static_cast<double>(k));
      tokens(token, k) =
          static_cast<float>(1.4 * wave) + static_cast<float>(noise) * normal(random);
    }
  }
  return tokens;
}

Image gradient_image(std::int64_t width, std::int64_t height) {
  Image image{width, height, 1, {}};
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      const bool inside = (x - width / 2) * (x - width / 2) + (y - height / 2) * (y - height / 2) <
                          width * height / 9;
      image.pixels.push_back(static_cast<std::uint8_t>(inside ? 220 - 4 * y : 20));
    }
  }
  return image;
}

}  // namespace

Subject attention_subject(const std::string& label, const MechanismChoice& mechanism,
                          const SubjectShape& shape, unsigned seed) {
  std::mt19937 random(seed);
  const auto runs = make_mechanism(mechanism);
  auto trace = std::make_shared<Trace>();
  trace->model_name = label;
  trace->mechanism = runs->choice();
  trace->identity_in_maps = runs->has_identity_mapping();
  trace->input_label = "waves";
  trace->layout = {shape.prefix, shape.grid_rows, shape.grid_columns};
  trace->images = {gradient_image(4 * shape.grid_columns, 4 * shape.grid_rows)};
  for (std::int64_t layer = 0; layer < shape.layers; ++layer) {
    const double noise = 1.0 / static_cast<double>(1 + layer);
    const Matrix queries = tokens_of(shape, noise, random);
    const Matrix keys = tokens_of(shape, noise, random);
    const std::int64_t count = queries.rows();
    const ConstMatrixMap key_rows(keys.data(), count, keys.cols());
    const AttentionInput input{.queries = ConstMatrixMap(queries.data(), count, queries.cols()),
                               .keys = key_rows,
                               .values = key_rows,
                               .heads = shape.heads,
                               .layout = &trace->layout};
    LayerTrace recorded;
    recorded.layout = recorded.key_layout = trace->layout;
    recorded.implied_map = runs->implied_map(input);
    recorded.factors = runs->factors(input);
    recorded.rank_bound = runs->structure(input.shape()).rank_bound;
    recorded.tokens = Tensor({count, queries.cols()});
    recorded.tokens.matrix() = queries;
    if (layer == 0) trace->embedded = recorded.tokens;
    trace->layers.push_back(std::move(recorded));
  }
  Subject subject;
  subject.label = label;
  subject.mechanism = trace->mechanism;
  subject.trace = std::move(trace);
  return subject;
}

Subject family_subject(const std::filesystem::path& folder, const std::string& family,
                       std::vector<std::int64_t> ids) {
  write_hashed_safetensors(folder / "model.safetensors", family_shapes(family));
  std::ofstream(folder / "config.json")
      << read_test_data("models/families/" + family + ".json")["config"];
  Subject subject;
  subject.label = family;
  subject.model = load_model(folder);
  subject.mechanism = subject.model->spec().mechanism;
  Input input;
  input.content = Text{{}, std::move(ids)};
  TraceRequest request;
  request.queries_keys_values = request.quantities = true;
  subject.trace =
      std::make_shared<const Trace>(subject.model->run(input, subject.mechanism, request, {}));
  return subject;
}

}  // namespace attnscope
