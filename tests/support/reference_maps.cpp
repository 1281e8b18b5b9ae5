#include "tests/support/reference_maps.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <random>
#include <stdexcept>

#include "core/attention/mechanism.h"
#include "tests/support/naive_attention.h"
#include "tests/support/near.h"
#include "tests/support/paths.h"

namespace attnscope {

Tensor raw_uniform(Shape shape, unsigned seed) {
  std::mt19937 generator(seed);
  Tensor tensor(std::move(shape));
  for (float& value : tensor.values()) {
    value = static_cast<float>(static_cast<double>(generator() >> 8U) * 0x1p-22 - 2.0);
  }
  return tensor;
}

RandomAttention raw_attention(std::int64_t n, std::int64_t heads, std::int64_t width,
                              unsigned seed) {
  RandomAttention data(1, 1, heads, 1, 1, 0);
  data.queries = raw_uniform({n, heads * width}, seed);
  data.keys = raw_uniform({n, heads * width}, seed + 1);
  data.values = raw_uniform({n, heads * width}, seed + 2);
  return data;
}

void expect_reference(const Mechanism& mechanism, const nlohmann::json& reference) {
  const std::int64_t n = reference.at("n"), window = reference.at("window");
  RandomAttention data =
      raw_attention(n, reference.at("heads"), reference.at("width"), reference.at("seed"));
  for (float& value : data.queries.values()) value *= reference.at("factor").get<float>();
  ScoreTerms terms;
  for (std::int64_t i = 0; window > 0 && i < n; ++i) {
    terms.seen.emplace_back(std::max<std::int64_t>(i - window + 1, 0), i + 1);
  }
  AttentionInput input = data.input();
  input.causal = reference.at("causal");
  input.layer = 2;
  if (window > 0) input.terms = &terms;
  expect_values(mechanism.implied_map(input), reference.at("map"), 1e-5, "map");
  expect_values(mechanism.forward(input), reference.at("output"), 1e-5, "output");
}

Tensor kernel_map(std::int64_t n, std::int64_t width, std::int64_t power, unsigned seed) {
  const Tensor q = raw_uniform({n, width}, seed);
  const Tensor k = raw_uniform({n, width}, seed + 1);
  Tensor map({n, n});
  std::vector<double> row(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    double total = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      double squares = 0;
      for (std::int64_t c = 0; c < width; ++c) {
        const double difference =
            static_cast<double>(q.matrix()(i, c)) - static_cast<double>(k.matrix()(j, c));
        squares = squares + difference * difference;
      }
      const double weight = 1.0 / (1.0 + squares / static_cast<double>(width));
      double product = 1;
      for (std::int64_t p = 0; p < power; ++p) product = product * weight;
      row[static_cast<std::size_t>(j)] = product;
      total += product;
    }
    for (std::int64_t j = 0; j < n; ++j) {
      map.matrix()(i, j) = static_cast<float>(row[static_cast<std::size_t>(j)] / total);
    }
  }
  return map;
}

const nlohmann::json& read_test_data(const std::string& path) {
  static std::map<std::string, nlohmann::json> kept;
  const auto found = kept.find(path);
  if (found != kept.end()) return found->second;
  const std::string file = std::string(source_folder() + "/tests/data/") + path;
  std::ifstream stream(file);
  if (!stream) throw std::runtime_error("cannot read " + file);
  return kept.emplace(path, nlohmann::json::parse(stream)).first->second;
}

NamedShapes family_shapes(const std::string& name) {
  NamedShapes shapes;
  const nlohmann::json& made = read_test_data("models/families/" + name + ".json");
  for (const auto& [tensor, shape] : made["tensors"].items()) {
    shapes.emplace_back(tensor, shape.get<Shape>());
  }
  return shapes;
}

}  // namespace attnscope
