// Encoder–decoder models from the shell: tables name the kind of each layer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/program.h"
#include "tests/support/hashed_weights.h"
#include "tests/support/reference_maps.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using testing::HasSubstr;
using testing::Not;

class EncoderDecoderCommands : public testing::Test {
 protected:
  EncoderDecoderCommands() {
    (void)folder_.write("config.json",
                        read_test_data("models/families/hugging_face_t5.json")["config"].dump());
    write_hashed_safetensors(folder_ / "model.safetensors", family_shapes("hugging_face_t5"));
  }

  /// Output of `command` for a text of 7 tokens and one of 4.
  [[nodiscard]] std::string output_of(const std::string& command) const {
    const ProgramRun run = run_program(command + " " + folder_.path().string() +
                                       " --input 'ids:5,6,7,8,9,10,1 ||| 0,7,28,3'");
    EXPECT_EQ(run.status, 0) << run.errors;
    return run.output;
  }

  const TemporaryFolder folder_;
};

TEST_F(EncoderDecoderCommands, TablesNameTheLayersAsTheWindowDoes) {
  const std::string spectrum = output_of("spectrum");
  EXPECT_THAT(spectrum, HasSubstr("      layer  head  equivalent"));
  EXPECT_THAT(spectrum, HasSubstr("0 encoder 0     0  "));
  EXPECT_THAT(spectrum, HasSubstr("2 decoder 0     3  "));
  EXPECT_THAT(spectrum, HasSubstr("  3 cross 0     0  "));
  EXPECT_THAT(spectrum, HasSubstr("\n        all "));
  const std::string heads = output_of("heads");
  EXPECT_THAT(heads, HasSubstr("      layer  head"));
  EXPECT_THAT(heads, HasSubstr("\n  3 cross 0     0"));
  const std::string components = output_of("components --layers 3 --heads 1");
  EXPECT_THAT(components, HasSubstr("\n  3 cross 0     1"));
  const std::string compared = output_of("compare " + folder_.path().string() + "@adder");
  EXPECT_THAT(compared, HasSubstr("      layer  head  beside"));
  EXPECT_THAT(compared, HasSubstr("\n  3 cross 0  mean"));
}

TEST_F(EncoderDecoderCommands, NumbersForProgramsStayNumbers) {
  EXPECT_THAT(output_of("heads --csv"), Not(HasSubstr("cross")));
  EXPECT_THAT(output_of("heads --csv --layers 3"), HasSubstr(",3,0,ready,"));
}

TEST_F(EncoderDecoderCommands, EnergyCountsBothTexts) {
  const ProgramRun run = run_program("energy " + folder_.path().string() + " --tokens 16");
  EXPECT_EQ(run.status, 0) << run.errors;
  EXPECT_THAT(run.output, HasSubstr("position bias"));
  EXPECT_THAT(run.output, Not(HasSubstr("not counted")));
}

}  // namespace
}  // namespace attnscope
