// Configurations with values of other types or out of bounds are refused with an Error or run, and
// always return.
#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/model/model.h"
#include "tests/support/hashed_weights.h"
#include "tests/support/paths.h"
#include "tests/support/reference_maps.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using nlohmann::json;

std::vector<json> hostile_values() {
  return {json(nullptr),
          json(-1),
          json(0),
          json(3),
          json(std::uint64_t{1} << 63),
          json(1e300),
          json(0.5),
          json(true),
          json(""),
          json(std::string(1000, '9')),
          json::array(),
          json::array({1, -1, "x"}),
          json::array({json::array({json::object()})}),
          json::object(),
          json{{"type", "x"}, {"rope_type", 7}, {"factor", -1}}};
}

std::vector<std::string> configured_families() {
  std::vector<std::string> names;
  const std::filesystem::path folder = source_folder() + "/tests/data/models/families";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    const std::string name = entry.path().stem().string();
    if (!read_test_data("models/families/" + name + ".json")["config"].is_null()) {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

class MutilatedConfig : public testing::TestWithParam<std::string> {};

TEST_P(MutilatedConfig, IsRefusedOrRuns) {
  const TemporaryFolder folder;
  const json whole = read_test_data("models/families/" + GetParam() + ".json");
  write_hashed_safetensors(folder / "model.safetensors", family_shapes(GetParam()));
  ModelOptions options;
  for (const auto& [option, value] : whole["options"].items()) {
    options.overrides[option] = value.get<std::string>();
  }
  const std::vector<json> values = hostile_values();
  std::size_t next = 0;
  int refused = 0;
  const auto expect_answer = [&](const json& config, const std::string& what) {
    (void)folder.write("config.json", config.dump());
    try {
      (void)load_model(folder.path(), options);
    } catch (const Error& error) {
      EXPECT_NE(error.kind(), ErrorKind::io) << what;
      ++refused;
    } catch (const std::exception& other) {
      ADD_FAILURE() << what << ": " << other.what();
    }
  };
  // Each key, including those of inner objects, takes a few of the values in turn.
  std::vector<json::json_pointer> places;
  const json flat = whole["config"].flatten();
  for (const auto& [place, value] : flat.items()) {
    for (json::json_pointer at(place); !at.empty(); at.pop_back()) places.push_back(at);
  }
  constexpr std::size_t most = 30;
  const std::size_t step = std::max<std::size_t>(1, places.size() / most);
  for (std::size_t i = 0; i < places.size(); i += step) {
    for (int k = 0; k < 3; ++k, ++next) {
      json config = whole["config"];
      const json& value = values[next % values.size()];
      config[places[i]] = value;
      expect_answer(config, places[i].to_string() + " = " + value.dump().substr(0, 60));
    }
  }
  for (const json& value : values) expect_answer(value, value.dump().substr(0, 60));
  EXPECT_GT(refused, 0);
}

std::string family_name(const testing::TestParamInfo<std::string>& info) { return info.param; }

INSTANTIATE_TEST_SUITE_P(All, MutilatedConfig, testing::ValuesIn(configured_families()),
                         family_name);

}  // namespace
}  // namespace attnscope
