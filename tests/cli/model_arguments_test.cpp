#include "app/cli/model_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/cli/subjects.h"
#include "core/error.h"
#include "tests/support/paths.h"

namespace attnscope {
namespace {

const std::string kSampleData = source_folder() + "/sample_data";

TEST(ModelArguments, AModelMayCarryItsMechanism) {
  const ModelArgument plain = split_model_argument("model.h5");
  EXPECT_EQ(plain.file, "model.h5");
  EXPECT_TRUE(plain.mechanism.empty());
  const ModelArgument on_its_own =
      split_model_argument("model.h5@adder,identity=true,input=at@home.png#3,4");
  EXPECT_EQ(on_its_own.file, "model.h5");
  EXPECT_EQ(on_its_own.mechanism, "adder");
  EXPECT_EQ(on_its_own.settings, std::vector<std::string>{"identity=true"});
  EXPECT_EQ(on_its_own.input, "at@home.png#3,4");
  const ModelArgument input_alone = split_model_argument("model.h5@,input=ids:1,2");
  EXPECT_EQ(input_alone.file, "model.h5");
  EXPECT_EQ(input_alone.mechanism, "");
  EXPECT_EQ(input_alone.input, "ids:1,2");
  const ModelArgument laid = split_model_argument("dir@home/model.h5@adder,identity=true,x=1");
  EXPECT_EQ(laid.file, "dir@home/model.h5");
  EXPECT_EQ(laid.mechanism, "adder");
  EXPECT_EQ(laid.settings, (std::vector<std::string>{"identity=true", "x=1"}));
}

TEST(ModelArguments, ParametersNotSetAreTheTrainedOnes) {
  const std::vector<std::string> unset;
  const MechanismChoice trained{"adder", {{"identity", true}}};
  EXPECT_EQ(choose_mechanism("", unset, trained).parameters.at("identity"), ParameterValue(true));
  EXPECT_EQ(choose_mechanism("adder", unset, trained).parameters.at("identity"),
            ParameterValue(true));
  EXPECT_EQ(choose_mechanism("", {"identity=false"}, trained).parameters.at("identity"),
            ParameterValue(false));
  EXPECT_EQ(choose_mechanism("softmax", unset, trained).name, "softmax");
  EXPECT_EQ(choose_mechanism("adder", unset, {"softmax", {}}).parameters.at("identity"),
            ParameterValue(false));
  EXPECT_THROW((void)choose_mechanism("adder", {"identity"}, trained), Error);
  EXPECT_THROW((void)choose_mechanism("adder", {"identitty=true"}, trained), Error);
  EXPECT_THROW((void)choose_mechanism("adder", {"identity=maybe"}, trained), Error);
}

TEST(ModelArguments, SubjectsAreModelsTimesInputs) {
  ModelArguments arguments;
  const std::string softmax = kSampleData + "/models/fashion-softmax.h5";
  arguments.models = {softmax, softmax + "@adder"};
  arguments.inputs = {kSampleData + "/inputs/00_t_shirt.png",
                      kSampleData + "/inputs/01_trouser.png"};
  TraceRequest request;
  request.implied_maps = false;
  const std::vector<Subject> subjects = make_subjects(arguments, request, {});
  ASSERT_EQ(subjects.size(), 4U);
  EXPECT_EQ(subjects[0].label, "fashion-softmax on 00_t_shirt.png");
  EXPECT_THAT(subjects[3].label, testing::HasSubstr("with adder"));
  EXPECT_EQ(subjects[0].model, subjects[3].model);  // loaded once
  arguments.inputs.clear();
  EXPECT_THROW((void)make_subjects(arguments, request, {}), Error);
}

TEST(ModelArguments, OptionsAreKeyEqualsValue) {
  ModelArguments arguments;
  arguments.model_heads = "3";
  arguments.options = {"activation=relu", "input_mean=0.1,0.2,0.3"};
  const ModelOptions options = options_of(arguments, ModelArgument{});
  EXPECT_EQ(options.overrides.at("heads"), "3");
  EXPECT_EQ(options.overrides.at("input_mean"), "0.1,0.2,0.3");
  const ModelOptions own =
      options_of(arguments, split_model_argument("model.h5@,option.activation=gelu,model-heads=5"));
  EXPECT_EQ(own.overrides.at("activation"), "gelu");
  EXPECT_EQ(own.overrides.at("heads"), "5");
  EXPECT_EQ(own.overrides.at("input_mean"), "0.1,0.2,0.3");
  arguments.options = {"relu"};
  EXPECT_THROW((void)options_of(arguments, ModelArgument{}), Error);
}

}  // namespace
}  // namespace attnscope
