// docs/json-output.md documents every key that --json prints, and no other key.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/program.h"
#include "tests/support/paths.h"
#include "tests/support/reference_maps.h"
#include "tests/support/scratch_models.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using nlohmann::json;

const std::string kSourceFolder = source_folder();
const std::string kSoftmaxModel = kSourceFolder + "/sample_data/models/fashion-softmax.h5";
const std::string kMixture = kSourceFolder + "/tests/data/models/gguf/mixtral.gguf";
const std::string kSet = kSourceFolder + "/sample_data/inputs/twelve.npz";
const std::string kOnBag = " --input " + kSourceFolder + "/sample_data/inputs/08_bag.png";

/// The documented paths by heading: text in backquotes before the colon of each list item.
std::map<std::string, std::set<std::string>> documented() {
  std::istringstream text(read_bytes(kSourceFolder + "/docs/json-output.md"));
  std::map<std::string, std::set<std::string>> sections;
  std::string heading, item;
  const auto take = [&] {
    const std::string names = item.substr(0, item.find(": "));
    const std::regex quoted("`([^`]+)`");
    for (std::sregex_iterator at(names.begin(), names.end(), quoted), end; at != end; ++at) {
      sections[heading].insert((*at)[1]);
    }
    item.clear();
  };
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("## `")) {
      take();
      heading = line.substr(4, line.size() - 5);
    } else if (line.starts_with("- ")) {
      take();
      item = line;
    } else if (line.starts_with("  ")) {
      item += line;
    }
  }
  take();
  sections.erase("");
  return sections;
}

void add_paths(const json& value, const std::string& path, std::set<std::string>& paths) {
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items()) {
      const std::string own = path.empty() ? key : path + "." + key;
      paths.insert(own);
      add_paths(inner, own, paths);
    }
  } else if (value.is_array()) {
    for (const json& inner : value) add_paths(inner, path + "[]", paths);
  }
}

/// True if `known` has a path `a.*` that covers `path`.
bool is_covered(const std::string& path, const std::set<std::string>& known) {
  for (std::size_t dot = path.size(); (dot = path.rfind('.', dot - 1)) != std::string::npos;) {
    if (known.contains(path.substr(0, dot) + ".*")) return true;
    if (dot == 0) break;
  }
  return false;
}

TEST(JsonOutput, TheKeysPrintedAreThoseDocumented) {
  const TemporaryFolder folder;
  const std::string trace = (folder / "t.h5").string(), sweep = (folder / "s.h5").string();
  ASSERT_EQ(run_program("trace " + kSoftmaxModel + kOnBag + " --layers 0 --out " + trace).status,
            0);
  const std::string unknown = folder.write("no.npz", read_bytes(kSet)).string();
  const std::string hash = kSourceFolder + "/sample_data/models/fashion-hash.h5";
  const std::string text = kSourceFolder + "/sample_data/models/shakespeare-softmax.h5";
  const std::string silent = kSourceFolder + "/tests/data/sweep/model.npz";
  const std::string damaged = test_data("checkpoint/wrong_checksum.h5").string();
  // The model has a reference next to it that belongs to another model.
  const std::string referred = (folder / "referred.h5").string();
  std::filesystem::copy_file(kSoftmaxModel, referred);
  std::filesystem::copy_file(kSourceFolder + "/tests/data/self_test/reference.npz",
                             folder / "referred.reference.npz");
  const std::string fitted = (folder / "gpt.safetensors").string();
  write_hashed_safetensors(fitted, scratch_gpt(true, true));
  std::filesystem::copy_file(kSourceFolder + "/tests/data/fit/fused_heads_first.npz",
                             folder / "gpt.reference.npz");
  const nlohmann::json& llama = read_test_data("models/families/hugging_face_llama.json");
  const TemporaryFolder rotary_folder;
  write_hashed_safetensors(rotary_folder / "model.safetensors",
                           family_shapes("hugging_face_llama"));
  (void)rotary_folder.write("config.json", llama["config"].dump());
  const std::string rotary = rotary_folder.path().string();
  // The commands together print every documented key.
  const std::map<std::string, std::vector<std::string>> runs = {
      {"attnscope inspect FILE",
       {"inspect " + kSoftmaxModel, "inspect " + unknown, "inspect " + referred,
        "inspect " + silent + " --model-heads 2", "inspect " + damaged}},
      {"attnscope inspect FILE --fit", {"inspect " + fitted + " --fit"}},
      {"attnscope inspect TRACE", {"inspect " + trace}},
      {"attnscope evaluate MODEL --dataset D",
       {"evaluate " + kSoftmaxModel + " --dataset " + kSet}},
      {"attnscope truncate MODEL --dataset D",
       {"truncate " + kSoftmaxModel + " --dataset " + kSet + " --ranks 1,8"}},
      {"attnscope ablate MODEL --dataset D",
       {"ablate " + kSoftmaxModel + " --dataset " + kSet + " --count 1 --layers 0"}},
      {"attnscope ablate MODEL --input X --answers N",
       {"ablate " + kSoftmaxModel + kOnBag + " --layers 0 --answers 2"}},
      {"attnscope groups MODEL --input X", {"groups " + kSoftmaxModel + kOnBag + " --layers 0"}},
      {"attnscope patch MODEL --input X --from Y",
       {"patch " + kSoftmaxModel + kOnBag + " --from " + source_folder() +
            "/sample_data/inputs/09_ankle_boot.png --layers 0",
        "patch " + text + " --input text:you --from text:wou --answer l --against ' ' --of mlp",
        "patch " + text + " --input text:you --from text:wou --together --answer l --against r"}},
      {"attnscope experts MODEL --input X", {"experts " + kMixture + " --input ids:1,5,9"}},
      {"attnscope mixing MODEL --input X", {"mixing " + kSoftmaxModel + kOnBag + " --layers 0"}},
      {"attnscope lens MODEL --input X", {"lens " + kSoftmaxModel + kOnBag + " --target 1"}},
      {"attnscope lens MODEL --input X --by-head",
       {"lens " + kSoftmaxModel + kOnBag + " --by-head"}},
      {"attnscope relevance MODEL --input X", {"relevance " + kSoftmaxModel + kOnBag}},
      {"attnscope weights MODEL",
       {"weights " + kSoftmaxModel, "weights " + kSoftmaxModel + " --of qk-layer",
        "weights " + kSoftmaxModel + " --of q-composition",
        "weights " + kSoftmaxModel + " --of matrices --minus " + hash}},
      {"attnscope evaluate MODEL --input TEXT", {"evaluate " + text + " --input text:To-be"}},
      {"attnscope generate MODEL --input TEXT",
       {"generate " + text + " --input text:To-be --tokens 2 --alternatives 2"}},
      {"attnscope spectrum MODEL",
       {"spectrum " + trace, "spectrum " + trace + " --heads 0 --proposition",
        "spectrum " + trace + " --baselines", "spectrum " + trace + " --at-entropy 0.5"}},
      {"attnscope frequencies MODEL --input X",
       {"frequencies " + kSoftmaxModel + kOnBag + " --layers 0",
        "frequencies " + kSoftmaxModel + kOnBag + " --of amplitude",
        "frequencies " + kSoftmaxModel + " --layers 0 --count 2 --dataset " + kSet,
        "frequencies " + rotary + " --of rotary-use --layers 0 --input ids:3,1,4"}},
      {"attnscope heads MODEL --input X",
       {"heads " + trace, "heads " + trace + " --at-entropy 0.5",
        "heads " + text + " --input text:To-be-or-not-to-be --sink 0.05"}},
      {"attnscope components MODEL --input X",
       {"components " + trace + " --heads 0",
        "components " + kSoftmaxModel + kOnBag + " --of tokens"}},
      {"attnscope compare A B --input X",
       {"compare " + kSoftmaxModel + " " + kSoftmaxModel + "@adder" + kOnBag + " --at-entropy 0.5",
        "compare " + kSoftmaxModel + " " + kSoftmaxModel + "@adder --count 2 --dataset " + kSet}},
      {"attnscope random", {"random --depth 2 --tokens 8 --width 8 --model-heads 2"}},
      {"attnscope sweep MODEL --dataset D --out FILE",
       {"sweep " + hash + " --count 1 --dataset " + kSet + " --out " + sweep +
            " --head-numbers --baselines",
        "sweep " + kSoftmaxModel + " --count 1 --dataset " + kSet + " --out " + sweep +
            " --restart --at-entropy 0.5"}},
      {"attnscope energy NETWORK",
       {"energy deit-tiny", "energy lra-text", "energy " + kSoftmaxModel}},
      {"attnscope energy --paper TABLE", {"energy --paper adder:1"}},
      {"attnscope energy --list", {"energy --list"}},
      {"attnscope list figures", {"list figures"}},
      {"attnscope list mechanisms", {"list mechanisms"}},
      {"attnscope list formats", {"list formats"}},
      {"attnscope --version --verbose", {"--version --verbose"}},
      {"attnscope list architectures", {"list architectures"}},
      {"attnscope gallery --list", {"gallery --list " + kSoftmaxModel + kOnBag}},
      {"attnscope paper", {"paper"}},
      {"attnscope paper NAME", {"paper adder", "paper daft"}}};
  const auto sections = documented();
  EXPECT_EQ(sections.size(), runs.size());
  for (const auto& [heading, commands] : runs) {
    const auto section = sections.find(heading);
    ASSERT_NE(section, sections.end()) << heading;
    const std::set<std::string>& known = section->second;
    std::set<std::string> printed;
    for (const std::string& command : commands) {
      const ProgramRun run = run_program(command + " --json");
      ASSERT_EQ(run.status, command.ends_with(damaged) ? 1 : 0) << command << "\n" << run.errors;
      add_paths(json::parse(run.output), "", printed);
    }
    for (const std::string& path : printed) {
      EXPECT_TRUE(known.contains(path) || is_covered(path, known))
          << heading << " prints " << path << ", which the document does not know";
    }
    for (const std::string& path : known) {
      if (!path.ends_with(".*")) {
        EXPECT_TRUE(printed.contains(path)) << heading << " does not print " << path;
      }
    }
  }
}

}  // namespace
}  // namespace attnscope
