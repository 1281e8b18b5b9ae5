// Linear, additive and hashed attention compared with PyTorch.
#include <gtest/gtest.h>

#include "core/attention/mechanism.h"
#include "tests/support/naive_attention.h"
#include "tests/support/near.h"
#include "tests/support/reference_maps.h"

namespace attnscope {
namespace {

std::unique_ptr<const Mechanism> additive_as_torch(bool causal, std::int64_t window) {
  return make_mechanism({"additive", {{"causal", causal}, {"window", window}}});
}

std::unique_ptr<const Mechanism> hash_as_torch(const char* mode, std::int64_t bits) {
  return make_mechanism(
      {"hash", {{"mode", std::string(mode)}, {"bits", bits}, {"supports", std::int64_t{4}}}});
}

class BesidePyTorch : public testing::TestWithParam<std::size_t> {};

TEST_P(BesidePyTorch, OutputsAreTheSame) {
  const nlohmann::json reference =
      read_test_data("attention/efficient.json").at("cases").at(GetParam());
  const std::int64_t n = reference.at("n"), heads = reference.at("heads"),
                     width = reference.at("width");
  const unsigned seed = reference.at("seed");
  RandomAttention data = raw_attention(n, heads, width, seed);
  data.parameters.emplace("importance", raw_uniform({heads, width}, seed + 3));
  const auto expect = [&](const char* name, const Mechanism& mechanism) {
    expect_values(mechanism.forward(data.input()), reference.at(name), 1e-5, name);
  };
  expect("linear", *make_mechanism({"linear", {}}));
  expect("bidirectional", *additive_as_torch(false, 0));
  expect("causal", *additive_as_torch(true, 0));
  expect("windowed", *additive_as_torch(true, reference.at("window")));
  // Keys equal queries. There are as many bits as a head is wide, and four supports.
  data.queries = data.keys;
  data.parameters.emplace("ksh.A", raw_uniform({heads, width, 4}, seed + 4));
  data.parameters.emplace(
      "ksh.mvec",
      Tensor({1, heads, 1, 4}, std::vector<float>(4 * static_cast<std::size_t>(heads), 0.625F)));
  Tensor anchors = raw_uniform({1, heads, 4, width}, seed + 5);
  for (float& value : anchors.values()) value /= 2;
  data.parameters.emplace("ksh.anchor", std::move(anchors));
  expect("hash_paper", *hash_as_torch("paper", width));
  expect("hash_upstream", *hash_as_torch("upstream", width));
}

INSTANTIATE_TEST_SUITE_P(Cases, BesidePyTorch, testing::Values(0, 1, 2));

}  // namespace
}  // namespace attnscope
