// learn-codes and overlays with learned codes, from the shell.
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cli/program.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

const std::string kCodedModel = source_folder() + "/sample_data/models/fashion-softmax.h5";
const std::string kOfShirt = " --input " + source_folder() + "/sample_data/inputs/00_t_shirt.png";

class LearnCodes : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const char* name) const {
    return (folder_.path() / name).string();
  }
  TemporaryFolder folder_;
};

TEST_F(LearnCodes, AreOverlaidOnTheModelByEveryCommand) {
  const std::string codes = path("codes.h5");
  const ProgramRun learning = run_program("learn-codes " + kCodedModel + kOfShirt +
                                          " --bits 7 --supports 12 --out " + codes);
  ASSERT_EQ(learning.status, 0) << learning.errors;
  EXPECT_THAT(learning.output, HasSubstr("7 bits, 12 supports"));
  EXPECT_THAT(learning.output, HasSubstr("layer 5"));
  // 1 + 197 / (2 · 10 · 7) for independent bits.
  EXPECT_THAT(learning.output, HasSubstr("1: codes of zeros; 2.407: independent random bits"));

  const ProgramRun spectrum =
      run_program("spectrum " + kCodedModel + kOfShirt + " --json --codes " + codes);
  ASSERT_EQ(spectrum.status, 0) << spectrum.errors;
  EXPECT_THAT(spectrum.output, testing::AllOf(HasSubstr("bits=7"), HasSubstr("codes=learned")));

  const ProgramRun figure =
      run_program("figure hash-codes " + kCodedModel + kOfShirt + " --codes " + codes +
                  " --set layer=2 --out " + path("codes.json"));
  ASSERT_EQ(figure.status, 0) << figure.errors;
  std::ifstream stream(path("codes.json"));
  const json object = json::parse(stream);
  EXPECT_THAT(object.at("caption").get<std::string>(),
              testing::AllOf(HasSubstr("b = 7 bits"), HasSubstr("laid over the model")));
  EXPECT_THAT(object.at("command").get<std::string>(), HasSubstr("--codes"));

  const ProgramRun other =
      run_program("spectrum " + kCodedModel + kOfShirt + " --mechanism adder --codes " + codes);
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.errors, HasSubstr("hash"));
  // The codes have 7 bits, and other numbers are refused.
  const ProgramRun bits =
      run_program("spectrum " + kCodedModel + kOfShirt + " --set bits=8 --codes " + codes);
  EXPECT_EQ(bits.status, 2);
  EXPECT_THAT(bits.errors, testing::AllOf(HasSubstr("ksh."), HasSubstr("bits and supports")));
}

TEST_F(LearnCodes, WarnsOfErrorsAboveThatOfZeros) {
  const std::string rest = kOfShirt + " --steps 2 --out " + path("codes.h5");
  const ProgramRun few = run_program("learn-codes " + kCodedModel + rest + " --pairs 1");
  ASSERT_EQ(few.status, 0) << few.errors;
  EXPECT_THAT(few.output, HasSubstr("miss Y by more than codes of zeros"));
  std::filesystem::remove(path("codes.h5"));
  const ProgramRun many = run_program("learn-codes " + kCodedModel + rest + " --pairs 60");
  ASSERT_EQ(many.status, 0) << many.errors;
  EXPECT_THAT(many.output, Not(HasSubstr("miss Y by more")));
}

TEST_F(LearnCodes, RefusesInvalidArguments) {
  const auto refused = [&](const std::string& arguments) {
    const ProgramRun run = run_program("learn-codes " + kCodedModel + kOfShirt + arguments +
                                       " --out " + path("no.h5"));
    EXPECT_EQ(run.status, 2) << arguments;
    EXPECT_FALSE(std::filesystem::exists(path("no.h5")));
    return run.errors;
  };
  EXPECT_THAT(refused(" --bits 65"), HasSubstr("1 to 64"));
  EXPECT_THAT(refused(" --bits 0"), HasSubstr("1 to 64"));
  EXPECT_THAT(refused(" --supports 198"), HasSubstr("at most 197"));
  EXPECT_THAT(refused(" --pairs 99"), HasSubstr("1 to 98"));
}

}  // namespace
}  // namespace attnscope
