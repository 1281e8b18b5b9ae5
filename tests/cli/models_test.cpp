// inspect, trace and evaluate, from the shell.
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/architecture/architecture.h"
#include "core/trace/trace_file.h"
#include "tests/cli/program.h"
#include "tests/support/model_shapes.h"
#include "tests/support/paths.h"
#include "tests/support/pyramid_shapes.h"
#include "tests/support/reference_maps.h"
#include "tests/support/scratch_models.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kSampleFolder = source_folder() + "/sample_data";
const std::string kAdderModel = kSampleFolder + "/models/fashion-adder-identity.h5";
const std::string kShirt = kSampleFolder + "/inputs/00_t_shirt.png";

class ModelCommands : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const char* name) const { return (folder_ / name).string(); }

  TemporaryFolder folder_;
};

TEST_F(ModelCommands, InspectDescribesTheFileInWordsAndJson) {
  const ProgramRun words = run_program("inspect " + kAdderModel);
  EXPECT_EQ(words.status, 0) << words.errors;
  EXPECT_THAT(words.output, testing::AllOf(HasSubstr("Attnscope model"), HasSubstr("identity=true"),
                                           HasSubstr("197"), HasSubstr("no NaN, no Inf")));
  const json object = json::parse(run_program("inspect --json " + kAdderModel).output);
  EXPECT_EQ(object["architecture"]["layers"], 6);
  EXPECT_EQ(object["architecture"]["heads"], 3);
  EXPECT_EQ(object["architecture"]["width"], 48);
  EXPECT_EQ(object["architecture"]["tokens"], 197);
  EXPECT_TRUE(object["architecture"]["assumptions"].empty());
  EXPECT_EQ(object["tensors"].size(), 80U);
  EXPECT_EQ(object["tensors"][0]["dtype"], "float32");
}

TEST_F(ModelCommands, InspectFailsForUnreadableTensors) {
  const std::string file = test_data("checkpoint/wrong_checksum.h5").string();
  const ProgramRun words = run_program("inspect " + file);
  EXPECT_EQ(words.status, 1);
  EXPECT_THAT(words.output, HasSubstr("1 UNREADABLE; no NaN, no Inf in the others"));
  EXPECT_THAT(words.errors, HasSubstr("flipped: the elements of some tensors cannot be read"));
  EXPECT_THAT(words.errors, HasSubstr("1 of 2 tensors"));
  const ProgramRun object = run_program("inspect --json " + file);
  EXPECT_EQ(object.status, 1);
  const json found = json::parse(object.output);
  EXPECT_EQ(found["unreadable_tensors"], 1);
  EXPECT_TRUE(found["tensors"][0].contains("error"));
  EXPECT_EQ(run_program("inspect --headers-only " + file).status, 0);
  EXPECT_EQ(json::parse(run_program("inspect --json " + kAdderModel).output)["unreadable_tensors"],
            0);
}

TEST_F(ModelCommands, InspectListsAdderLayers) {
  const ProgramRun network =
      run_program("inspect --headers-only " + kSampleFolder + "/models/fashion-adder-network.h5");
  EXPECT_THAT(network.output, HasSubstr("linear layers  adder\n"));
  EXPECT_THAT(run_program("inspect --headers-only " + kAdderModel).output,
              Not(HasSubstr("linear layers")));
}

TEST_F(ModelCommands, InspectListsAssumptionsAndFlagsNonFiniteValues) {
  write_hashed_safetensors(path("vit.safetensors"), timm_shapes({}));
  {
    // The last four bytes are the last element of the last tensor, head.bias.
    std::fstream stream(path("vit.safetensors"), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(-4, std::ios::end);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    stream.write(reinterpret_cast<const char*>(&nan), 4);
  }
  const json object = json::parse(run_program("inspect --json " + path("vit.safetensors")).output);
  EXPECT_EQ(object["architecture"]["name"], "timm ViT");
  EXPECT_EQ(object["architecture"]["assumptions"][0]["option"], "heads");
  std::int64_t flagged = 0;
  for (const json& tensor : object["tensors"]) {
    flagged += tensor["nan"].get<std::int64_t>();
    EXPECT_TRUE(tensor["nan"] == 0 || tensor["name"] == "head.bias");
  }
  EXPECT_EQ(flagged, 1);
  EXPECT_THAT(run_program("inspect " + path("vit.safetensors")).output,
              testing::AllOf(HasSubstr("1 NaN, 0 Inf"), HasSubstr("assumed")));
}

TEST_F(ModelCommands, InspectPrintsALineForEachStageOfAPyramid) {
  write_hashed_safetensors(path("pvt.safetensors"), pvt_v2_shapes(pvt_v2_b0_stages(), 10));
  const ProgramRun ran = run_program("inspect --headers-only " + path("pvt.safetensors"));
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("\nstage 1        layers 0–1: 1 head of 32, 56 × 56 tokens, "
                                    "keys from 7 × 7, softmax\n"));
  EXPECT_THAT(ran.output, HasSubstr("\n    [{\"heads\":1,"));
  EXPECT_THAT(ran.output, HasSubstr("},\n     {\"heads\":2,"));
  const std::string assumed = ran.output.substr(0, ran.output.find("\ntensor "));
  std::istringstream lines(assumed);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 130U) << line;
  // The printed stages can be used as the value of an option.
  const std::size_t first = assumed.find("[{"), end = assumed.find("}]") + 2;
  const ProgramRun again =
      run_program("inspect --headers-only " + path("pvt.safetensors") +
                  " --option 'stages=" + assumed.substr(first, end - first) + "'");
  EXPECT_EQ(again.status, 0) << again.errors;
  EXPECT_THAT(again.output, testing::Not(HasSubstr("as below")));
}

TEST_F(ModelCommands, InspectFitFindsAndDescribesUnknownSettings) {
  const std::string model = path("gpt.safetensors"), description = path("gpt.json");
  const std::string references = source_folder() + "/tests/data/fit/";
  write_hashed_safetensors(model, scratch_gpt(false, true));
  const ProgramRun alone = run_program("inspect " + model + " --fit");
  EXPECT_EQ(alone.status, 2);
  EXPECT_THAT(alone.errors, testing::AllOf(HasSubstr("gpt.reference.npz"), HasSubstr("savez")));

  std::filesystem::copy_file(references + "head_split.npz", path("gpt.reference.npz"));
  const ProgramRun fit = run_program("inspect " + model + " --fit --out " + description);
  EXPECT_EQ(fit.status, 0) << fit.errors;
  EXPECT_THAT(fit.output, testing::AllOf(HasSubstr("layer.attention.head_split"),
                                         HasSubstr("with heads_first differs by")));
  const ProgramRun trace = run_program("trace " + model + " --architecture " + description +
                                       " --input ids:5,3,11 --out " + path("t.h5"));
  EXPECT_EQ(trace.status, 0) << trace.errors;

  std::filesystem::copy_file(references + "scale_of_heads.npz", path("gpt.reference.npz"),
                             std::filesystem::copy_options::overwrite_existing);
  const ProgramRun none = run_program("inspect " + model + " --fit --out " + path("none.json"));
  EXPECT_EQ(none.status, 1) << none.errors;
  EXPECT_THAT(none.output, HasSubstr("none fits; the nearest differs first in layer 0"));
  EXPECT_FALSE(std::filesystem::exists(path("none.json")));
}

TEST_F(ModelCommands, AnUnknownArchitectureIsAFindingOfInspectAndAnErrorOfTrace) {
  write_hashed_safetensors(path("net.safetensors"), {{"conv1.weight", {8, 3, 3, 3}}});
  const ProgramRun inspected = run_program("inspect " + path("net.safetensors"));
  EXPECT_EQ(inspected.status, 0);
  EXPECT_THAT(inspected.output, testing::AllOf(HasSubstr("none recognised"), HasSubstr("conv1")));
  const ProgramRun traced = run_program("trace " + path("net.safetensors") + " --input " + kShirt +
                                        " --out " + path("t.h5"));
  EXPECT_EQ(traced.status, 1);
  EXPECT_THAT(traced.errors, StartsWith("attnscope: " + path("net.safetensors")));
  EXPECT_FALSE(std::filesystem::exists(path("t.h5")));
}

TEST_F(ModelCommands, TraceKeepsTheModelsStatus) {
  const ProgramRun run = run_program("trace " + kAdderModel + " --input " + kShirt + " --out " +
                                     path("t.h5") + " --record qkv");
  ASSERT_EQ(run.status, 0) << run.errors;
  EXPECT_THAT(run.output, HasSubstr("T-shirt/top"));
  const Trace trace = read_trace(path("t.h5"));
  EXPECT_EQ(trace.layers.size(), 6U);
  EXPECT_EQ(trace.layers[5].queries.shape(), (Shape{3, 197, 16}));
  EXPECT_EQ(trace.layers[5].implied_map.shape(), (Shape{3, 197, 197}));
  EXPECT_TRUE(trace.identity_in_maps);
  EXPECT_TRUE(trace.mechanism_trained);
  EXPECT_EQ(trace.logits.size(), 10);
  const ProgramRun inspected = run_program("inspect " + path("t.h5"));
  EXPECT_THAT(inspected.output, HasSubstr("00_t_shirt.png"));
}

TEST_F(ModelCommands, AnyMechanismCanBeOverlaid) {
  const std::string common = " --input " + kShirt + " --out " + path("t.h5");
  ASSERT_EQ(run_program("trace " + kAdderModel + common + " --mechanism softmax").status, 0);
  EXPECT_EQ(read_trace(path("t.h5")).mechanism.name, "softmax");
  EXPECT_FALSE(read_trace(path("t.h5")).mechanism_trained);
  ASSERT_EQ(run_program("trace " + kAdderModel + common + " --set identity=false").status, 0);
  EXPECT_FALSE(read_trace(path("t.h5")).identity_in_maps);
  ASSERT_EQ(run_program("trace " + kAdderModel + "@adder,identity=false" + common).status, 0);
  EXPECT_FALSE(read_trace(path("t.h5")).identity_in_maps);
}

TEST_F(ModelCommands, WrongUsageExitsWithTwoAndListsKnownNames) {
  const std::string common = "trace " + kAdderModel + " --out " + path("t.h5");
  const ProgramRun mechanism = run_program(common + " --input " + kShirt + " --mechanism sofmax");
  EXPECT_EQ(mechanism.status, 2);
  EXPECT_THAT(mechanism.errors, HasSubstr("softmax"));
  const ProgramRun option = run_program(common + " --input " + kShirt + " --option head=3");
  EXPECT_EQ(option.status, 2);
  EXPECT_THAT(option.errors, HasSubstr("heads"));
  const ProgramRun heads = run_program(common + " --input " + kShirt + " --model-heads 5");
  EXPECT_EQ(heads.status, 2);
  EXPECT_THAT(heads.errors, HasSubstr("expected 3, found 5"));
  const ProgramRun input = run_program(common);
  EXPECT_EQ(input.status, 2);
  EXPECT_THAT(input.errors, HasSubstr("--input"));
  EXPECT_FALSE(std::filesystem::exists(path("t.h5")));
}

TEST_F(ModelCommands, EveryListedArchitectureIsPrintedAsAValidDescription) {
  std::istringstream list(run_program("list architectures").output);
  int printed = 0;
  for (std::string name; std::getline(list, name); ++printed) {
    const ProgramRun run = run_program("list architectures '" + name + "'");
    EXPECT_EQ(parse_architecture_description(run.output).name, name);
  }
  EXPECT_GE(printed, 9);
  EXPECT_EQ(run_program("list architectures 'timm'").status, 2);
}

TEST_F(ModelCommands, EvaluateCountsLabelledImages) {
  // Each of two class folders has one image of the model's size, so that the labels are 0 and 1.
  for (const auto& [image, folder] :
       {std::pair("00_t_shirt.png", "a_t_shirt"), std::pair("01_trouser.png", "b_trouser")}) {
    std::filesystem::create_directories(folder_ / folder);
    std::filesystem::copy(kSampleFolder + "/inputs/" + image, folder_ / folder / image);
  }
  const ProgramRun run =
      run_program("evaluate " + kAdderModel + " --json --dataset " + folder_.path().string());
  ASSERT_EQ(run.status, 0) << run.errors;
  const json object = json::parse(run.output);
  EXPECT_EQ(object["images"], 2);
  EXPECT_EQ(object["correct"], 2);
  EXPECT_EQ(object["classes"][1]["label"], "Trouser");
  EXPECT_THAT(
      run_program("evaluate " + kAdderModel + " --count 1 --dataset " + folder_.path().string())
          .output,
      HasSubstr("100.00 %"));
}

TEST_F(ModelCommands, EvaluateSaysThatATextWasReadWithAnUntrainedMechanism) {
  const std::string model = kSampleFolder + "/models/shakespeare-softmax.h5";
  const auto evaluated = [&](const std::string& overlay, const std::string& options) {
    return run_program("evaluate '" + model + overlay + "' --input text:To-be" + options).output;
  };
  EXPECT_THAT(evaluated("@sparsemax", ""), HasSubstr("sparsemax (not trained: laid over"));
  EXPECT_THAT(evaluated("", ""), Not(HasSubstr("not trained")));
  EXPECT_EQ(json::parse(evaluated("@sparsemax", " --json"))["mechanism_trained"], false);
  EXPECT_EQ(json::parse(evaluated("", " --json"))["mechanism_trained"], true);
}

TEST_F(ModelCommands, GenerateContinuesATextAndRefusesImages) {
  const std::string model = kSampleFolder + "/models/shakespeare-softmax.h5";
  const auto generated = [&](const std::string& options) {
    return run_program("generate " + model + " --input text:To-be --tokens 3 " + options);
  };
  const ProgramRun plain = generated("");
  EXPECT_EQ(plain.status, 0) << plain.errors;
  const json object = json::parse(generated("--alternatives 2 --json").output);
  EXPECT_EQ(plain.output, object["text"].get<std::string>() + "\n");
  EXPECT_EQ(object["ids"].size(), 8U);
  EXPECT_EQ(object["end"], "count");
  EXPECT_EQ(object["tokens"][0]["alternatives"][0]["alternative_text"],
            object["tokens"][0]["text"]);
  EXPECT_THAT(generated("--alternatives 2").output, HasSubstr("likeliest"));
  EXPECT_THAT(generated("--alternatives 2 --csv").output,
              HasSubstr("position,token,text,probability,entropy_bits,alternative,"));
  EXPECT_THAT(run_program("generate " + model + " --tokens 999 --input text:a").errors,
              HasSubstr("context of 256 tokens is full"));
  const ProgramRun refused = run_program("generate " + kAdderModel + " --input text:a");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.errors, HasSubstr("does not predict the next token"));
}

TEST_F(ModelCommands, EvaluatesACountSpreadOverTheClassFolders) {
  for (const auto& [folder, images] :
       {std::pair("a_t_shirt", std::array{"00_t_shirt.png", "07_sneaker.png"}),
        std::pair("b_trouser", std::array{"01_trouser.png", "08_bag.png"})}) {
    std::filesystem::create_directories(folder_ / folder);
    for (const char* image : images) {
      std::filesystem::copy(kSampleFolder + "/inputs/" + image, folder_ / folder / image);
    }
  }
  const std::string command =
      "evaluate " + kAdderModel + " --count 2 --dataset " + folder_.path().string();
  const ProgramRun run = run_program(command + " --json");
  ASSERT_EQ(run.status, 0) << run.errors;
  const json object = json::parse(run.output);
  EXPECT_EQ(object["images"], 2);
  EXPECT_EQ(object["of_images"], 4);
  EXPECT_EQ(object["seed"], 0);
  EXPECT_EQ(object["classes"][0]["images"], 1);
  EXPECT_EQ(object["classes"][1]["images"], 1);
  EXPECT_EQ(run_program(command + " --json").output, run.output);
  EXPECT_THAT(run_program(command + " --seed 3").output,
              HasSubstr("2 of 4 images, spread evenly (seed 3)"));
}

TEST_F(ModelCommands, ClassifiesImagesByPromptsWithATextTower) {
  const json& made = read_test_data("models/families/hugging_face_clip.json");
  std::filesystem::create_directories(folder_ / "clip");
  write_hashed_safetensors(path("clip/model.safetensors"), family_shapes("hugging_face_clip"));
  (void)folder_.write("clip/config.json", made["config"].dump());
  std::string words;
  for (const json& word :
       read_test_data("models/families/hugging_face_bert_pair.json")["vocabulary"]) {
    words += word.get<std::string>() + "\n";
  }
  (void)folder_.write("clip/vocab.txt", words);
  for (const auto& [label, image] :
       {std::pair("who", "01_trouser.png"), std::pair("king", "08_bag.png")}) {
    std::filesystem::create_directories(folder_ / "images" / label);
    std::filesystem::copy(kSampleFolder + "/inputs/" + image, folder_ / "images" / label / image);
  }
  const auto evaluated = [&](const std::string& prompts) {
    return run_program("evaluate " + path("clip") + " --json --dataset " + path("images") +
                       " --prompts '" + prompts + "'");
  };
  const ProgramRun by_name = evaluated("long live the {} !");
  ASSERT_EQ(by_name.status, 0) << by_name.errors;
  const json object = json::parse(by_name.output);
  EXPECT_EQ(object["images"], 2);
  EXPECT_EQ(object["not_finite"], 0);
  EXPECT_EQ(object["prompts"], "long live the {} !");
  EXPECT_EQ(object["status"]["state"], "unconfirmed");
  EXPECT_EQ(object["prompts_status"]["state"], "known");
  EXPECT_EQ(object["classes"][1]["label"], "who");
  // The file holds the same texts in the order of the classes.
  const std::string file =
      folder_.write("prompts.txt", "long live the king !\nlong live the who !\n");
  const json of_file = json::parse(evaluated(file).output);
  EXPECT_EQ(of_file["correct"], object["correct"]);
  EXPECT_EQ(of_file["classes"], object["classes"]);
  // All texts of SigLIP have the same length.
  std::filesystem::create_directories(folder_ / "siglip");
  write_hashed_safetensors(path("siglip/model.safetensors"), family_shapes("hugging_face_siglip"));
  (void)folder_.write("siglip/config.json",
                      read_test_data("models/families/hugging_face_siglip.json")["config"].dump());
  (void)folder_.write("siglip/vocab.txt", words);
  const ProgramRun filled = run_program("evaluate " + path("siglip") + " --dataset " +
                                        path("images") + " --prompts '{} !' --option padding=2");
  EXPECT_EQ(filled.status, 0) << filled.errors;
  EXPECT_THAT(filled.output, HasSubstr("filled up to 24 tokens with token 2: set by the user"));
  EXPECT_THAT(filled.output, testing::AllOf(HasSubstr("\nunconfirmed: assumed for siglip"),
                                            HasSubstr("\nprompts: assumed for siglip, ")));
  (void)folder_.write("prompts.txt", "who\n");
  const ProgramRun short_of_one = evaluated(file);
  EXPECT_EQ(short_of_one.status, 2);
  EXPECT_THAT(short_of_one.errors, testing::AllOf(HasSubstr("prompts.txt"), HasSubstr("2 lines")));
}

}  // namespace
}  // namespace attnscope
