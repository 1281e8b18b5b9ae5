// The subcommand energy, run from a shell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/app/cli/ran.h"
#include "tests/support/hashed_weights.h"
#include "tests/support/model_shapes.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using testing::HasSubstr;

Ran energy(const std::string& arguments) { return run(program + "energy " + arguments); }

TEST(EnergyCommand, CountsANamedNetwork) {
  const Ran ran = energy("deit-base --convention adder --set classes=10 --json");
  ASSERT_EQ(ran.status, 0) << ran.output;
  const auto json = nlohmann::json::parse(ran.output);
  EXPECT_EQ(json["total"]["multiplications"], 17'563'067'904);
  EXPECT_NEAR(json["total"]["energy_pj"].get<double>(), 80.79e9, 0.001e9);
  double sum = 0;
  for (const auto& component : json["components"]) sum += component["energy_pj"].get<double>();
  EXPECT_NEAR(sum, json["total"]["energy_pj"].get<double>(), 1);
}

TEST(EnergyCommand, CountsAWeightFile) {
  const Ran ran =
      energy(source_folder() + "/sample_data/models/fashion-softmax.h5 --by-layer --csv");
  ASSERT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("layer 5,attention,scores,"));
  const Ran table = energy(source_folder() + "/sample_data/models/fashion-adder.h5");
  EXPECT_THAT(table.output, HasSubstr("parameters: 179 962"));
}

TEST(EnergyCommand, ListsAssumptionsAboutAWeightFile) {
  const TemporaryFolder folder;
  const std::string file = (folder / "vit.safetensors").string();
  write_hashed_safetensors(file, timm_shapes({}));
  const std::string line = "unconfirmed: assumed for vit.safetensors, which does not say: heads=1";
  EXPECT_THAT(energy(file).output, HasSubstr("\n" + line));
  EXPECT_THAT(energy(file + " --csv").output, HasSubstr(line));
  const auto json = nlohmann::json::parse(energy(file + " --json").output);
  EXPECT_EQ(json["status"]["state"], "unconfirmed");
  EXPECT_THAT(energy("deit-tiny").output, testing::Not(HasSubstr("assumed")));
}

TEST(EnergyCommand, PrintsPublishedNextToComputed) {
  const Ran ran = energy("--paper ecoformer:4");
  ASSERT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("rounds to print"));
  EXPECT_THAT(ran.output, HasSubstr("not reproduced; the printed row repeats the MSA row"));
}

TEST(EnergyCommand, ReportsErrorsInOneLine) {
  const std::pair<const char*, const char*> wrong[] = {
      {"deit-huge", "known: deit-tiny, deit-small"},
      {"deit-tiny --mechanism soften", "known: softmax, adder"},
      {"deit-tiny --set heads=5", "a divisor of 192"},
      {"deit-tiny --set heads", "key=value"},
      {"deit-tiny --constants fp64", "known: fp32, fp16, int32, int8"},
      {"deit-tiny --json --csv", "--json excludes --csv"},
      {"deit-tiny --tokens 9000000000", "2^63 - 1"},
      {"--paper adder:9", "known: adder:1"},
      {"", "no network was given"}};
  for (const auto& [arguments, expected] : wrong) {
    const Ran ran = energy(arguments);
    EXPECT_EQ(ran.status, 2) << arguments;
    EXPECT_THAT(ran.output, HasSubstr(expected));
  }
}

TEST(EnergyCommand, NamesAMissingFile) {
  const Ran ran = energy("no-such-model.h5");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.output, HasSubstr("no-such-model.h5: "));
}

TEST(EnergyCommand, ListsKnownNetworksAndTables) {
  const Ran ran = energy("--list");
  EXPECT_EQ(ran.status, 0);
  for (const char* expected : {"pvtv2-b5", "daft-conv", "supports=25", "int8", "ecoformer:9"}) {
    EXPECT_THAT(ran.output, HasSubstr(expected));
  }
}

}  // namespace
}  // namespace attnscope
