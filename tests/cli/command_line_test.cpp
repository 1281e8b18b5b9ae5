// Rules of every command: help, names, mistakes, selections and output.
#include <QtGlobal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <zlib.h>

#include "app/cli/command_table.h"
#include "app/cli/program.h"
#include "core/trace/trace_file.h"
#include "tests/cli/program.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kSamples = source_folder() + "/sample_data";
const std::string kModel = kSamples + "/models/fashion-softmax.h5";
const std::string kAdder = kSamples + "/models/fashion-adder.h5";
const std::string kBag = kSamples + "/inputs/08_bag.png";
const std::string kOfBag = " --input " + kBag;

CommandTable table() {
  const Program program = make_program();
  return command_table(*program.app);
}

std::size_t characters(const std::string& line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

// --- help -------------------------------------------------------------------------------------

TEST(CommandLine, EveryHelpIsAlignedHasExamplesAndFitsATerminal) {
  for (const CommandTable& command : table().subcommands) {
    const std::string name = command.name.substr(command.name.find(' ') + 1);
    const ProgramRun run = run_program(name + " --help");
    EXPECT_EQ(run.status, 0) << name;
    EXPECT_THAT(run.output, AllOf(HasSubstr("Usage: attnscope " + name), HasSubstr("Examples:\n"),
                                  HasSubstr("--help")));
    const std::string options = run.output.substr(0, run.output.find("Examples:"));
    std::istringstream lines(options);
    for (std::string line; std::getline(lines, line);) {
      // Only text without a break may be longer: a usage line or one long word.
      if (!line.starts_with("Usage:")) {
        EXPECT_LE(characters(line), 80U) << name << ": " << line;
      }
      EXPECT_THAT(line, Not(testing::MatchesRegex(".* "))) << name << ": a blank at the end";
    }
    for (const OptionGroup& group : command.groups) {
      for (const OptionRow& row : group.rows) {
        EXPECT_FALSE(row.text.empty()) << name << " " << row.names.front();
        EXPECT_THAT(row.value, Not(testing::AnyOf("TEXT", "INT", "FLOAT", "UINT", "FLOAT ...")))
            << name << " " << row.names.front();
      }
    }
    EXPECT_FALSE(command.examples.empty()) << name;
  }
}

TEST(CommandLine, HelpGroupsTheCommandsByTheUsersQuestion) {
  const std::string help = run_program("--help").output;
  std::size_t at = 0;
  for (const char* line :
       {"\nLook at a model:\n", "\n  inspect ", "\nMeasure attention:\n", "\n  spectrum ",
        "\n  heads ", "\nChange it and see:\n", "\n  ablate ", "\n  truncate ", "\nCompare:\n",
        "\n  compare ", "\nData sets and training:\n", "\n  sweep ", "\nFigures:\n", "\n  figure ",
        "\nProgram:\n", "\n  list ", "\nHelp:\n"}) {
    const std::size_t found = help.find(line);
    ASSERT_NE(found, std::string::npos) << line << help;
    EXPECT_GE(found, at) << line << help;
    at = found;
  }
  std::set<std::string> groups;
  std::string last;
  for (const CommandTable& command : table().subcommands) {
    // Commands of one group follow each other.
    if (command.group != last) {
      EXPECT_TRUE(groups.insert(command.group).second) << command.name;
    }
    last = command.group;
    EXPECT_LE(characters(command.summary), 54U) << command.name;
    EXPECT_THAT(help, HasSubstr(" " + command.summary + "\n"));
  }
  EXPECT_EQ(groups.size(), 7U);
}

TEST(CommandLine, TheExamplesOfEveryHelpAreUnderstood) {
  // The examples are parsed but not run, because their files do not exist.
  for (const CommandTable& command : table().subcommands) {
    for (std::string example : command.examples) {
      if (!example.starts_with("attnscope ")) continue;
      example = example.substr(std::string("attnscope ").size());
      example = example.substr(0, example.find_first_of("<>;"));
      const Program program = make_program();
      EXPECT_NO_THROW(program.app->parse(example)) << command.name << ": " << example;
    }
  }
}

TEST(CommandLine, OneWordHasOneMeaningInEveryCommand) {
  const std::map<std::string, std::set<std::string>> values = {
      {"--identity",
       {"as-is|without|with|both", "as-is|without|with"}},  // a page opens in one view
      {"--layers", {"N,…"}},
      {"--heads", {"N,…"}},
      {"--model-heads", {"N"}},
      {"--count", {"N"}},
      {"--seed", {"N"}},
      {"--input", {"X"}},
      {"--dataset", {"DATASET"}},
      {"--out", {"FILE", "DIR"}},
      {"--mechanism", {"MECHANISM"}},
      {"--architecture", {"FILE"}},
      {"--option", {"KEY=VALUE"}},
      {"--set", {"KEY=VALUE"}},
      {"--threshold", {"T"}},
      {"--share", {"values|energy"}},
      {"--json", {""}},
      {"--csv", {""}}};
  std::map<std::string, int> seen;
  for (const CommandTable& command : table().subcommands) {
    for (const OptionGroup& group : command.groups) {
      for (const OptionRow& row : group.rows) {
        const auto known = values.find(row.names.back());
        if (known == values.end()) continue;
        EXPECT_TRUE(known->second.contains(row.value))
            << command.name << " " << row.names.back() << " " << row.value;
        ++seen[row.names.back()];
      }
    }
    for (const OptionRow& row : command.arguments) {
      if (row.names.front() != "MODEL") continue;
      EXPECT_THAT(row.text, HasSubstr("MODEL@MECHANISM,KEY=VALUE")) << command.name;
    }
  }
  for (const auto& [name, kinds] : values) EXPECT_GT(seen[name], 0) << name;
}

// --- version ----------------------------------------------------------------------------------

TEST(CommandLine, TheVersionListsTheLibraries) {
  EXPECT_EQ(run_program("--version").output, "attnscope " ATTNSCOPE_VERSION "\n");
  const auto said = nlohmann::json::parse(run_program("--verbose --version --json").output);
  EXPECT_EQ(said["version"], ATTNSCOPE_VERSION);
  EXPECT_EQ(said["libraries"]["zlib"], zlibVersion());
  EXPECT_EQ(said["libraries"]["Qt"], qVersion());
  // Threads are counted like nproc counts them: only those that this process may use.
  const std::string pinned = "taskset -c 0 " + built_program() + " --version --verbose --json";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(pinned.c_str(), "r"), pclose);
  const auto on_one = nlohmann::json::parse(pipe.get());
  EXPECT_EQ(on_one["threads"], 1);
  EXPECT_EQ(said["threads"], static_cast<int>(std::thread::hardware_concurrency()));
  // The reported kernels are those that OpenBLAS runs. The SIMD targets are the processor's.
  ::setenv("OPENBLAS_CORETYPE", "Prescott", 1);
  const std::string stated = run_program("--version --verbose").output;
  ::unsetenv("OPENBLAS_CORETYPE");
  EXPECT_THAT(stated, HasSubstr("\nOpenBLAS kernels  Prescott\n"));
  EXPECT_NE(said["blas_kernels"], "Prescott");
  EXPECT_FALSE(said["simd_targets"].empty());
}

TEST(CommandLine, RefusesVerboseWithoutVersion) {
  for (const std::string flag : {"--verbose", "--json"}) {
    const ProgramRun run = run_program(flag);
    EXPECT_EQ(run.status, 2) << flag;
    EXPECT_THAT(run.errors, AllOf(HasSubstr(flag), HasSubstr("--version"))) << flag;
  }
}

// --- mistakes ---------------------------------------------------------------------------------

TEST(CommandLine, AMistypedCommandIsNamedWithTheNearest) {
  const ProgramRun run = run_program("specturm " + kModel + kOfBag);
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.errors, AllOf(StartsWith("attnscope: "), HasSubstr("'specturm'"),
                                HasSubstr("attnscope spectrum?")));
  EXPECT_THAT(run_program("xyzzy").errors, HasSubstr("attnscope --help"));
}

TEST(CommandLine, AMistypedOptionIsNamedBeforeMissingArguments) {
  // --out is required, but the unknown option --otu is the more helpful message.
  const ProgramRun run = run_program("trace " + kModel + kOfBag + " --otu t.h5");
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.errors, AllOf(StartsWith("attnscope: "), HasSubstr("--otu"), HasSubstr("--out?"),
                                HasSubstr("attnscope trace --help")));
  EXPECT_EQ(std::count(run.errors.begin(), run.errors.end(), '\n'), 1) << run.errors;
  EXPECT_THAT(run_program("spectrum " + kModel + kOfBag + " --data-set=x").errors,
              HasSubstr("--dataset?"));
  EXPECT_THAT(run_program("--verison").errors, HasSubstr("--version?"));
}

TEST(CommandLine, RefusesHelpForUnknownCommands) {
  for (const char* arguments : {"nonsense --help", "nonsense --version", "help nonsense"}) {
    const ProgramRun run = run_program(arguments);
    EXPECT_EQ(run.status, 2) << arguments;
    EXPECT_THAT(run.errors, HasSubstr("there is no command 'nonsense'")) << arguments;
  }
  EXPECT_EQ(run_program("help spectrum").output, run_program("spectrum --help").output);
  EXPECT_EQ(run_program("help").output, run_program("--help").output);
  EXPECT_EQ(run_program("version").output, run_program("-V").output);
}

TEST(CommandLine, SuggestionsAreRealOnes) {
  const std::vector<std::pair<std::string, std::string>> mistyped = {
      {"-v", "did you mean --verbose or --version?"},
      {"trace " + kModel + " -i x", "did you mean --input?"},
      {"figure rank-by-layr --out f.pdf", "did you mean rank-by-layer?"},
      {"spectrum " + kModel + kOfBag + " --mechanism hashed", "did you mean hash?"},
      {"mixing " + kModel + kOfBag + " --by norm", "did you mean norms?"},
      {"groups " + kModel + kOfBag + " --groups role", "did you mean roles?"},
      {"figures", "did you mean attnscope list figures?"},
      {"rank-by-layer --out f.pdf", "did you mean attnscope figure rank-by-layer?"},
      {"list figure", "did you mean figures?"},
      {"spectrum a.h5 b.h5", "attnscope compare"},
      {"heads " + kModel + " " + kBag + kOfBag, "--input " + kBag},
      {"inspect gpt2", "nothing is downloaded"},
      {"inspect https://huggingface.co/gpt2", "nothing is downloaded"}};
  for (const auto& [arguments, said] : mistyped) {
    const ProgramRun run = run_program(arguments);
    EXPECT_NE(run.status, 0) << arguments;
    EXPECT_THAT(run.errors, HasSubstr(said)) << arguments;
  }
}

TEST(CommandLine, ClassesCanBeGivenByName) {
  const std::string relevance = "relevance " + kModel + kOfBag + " --csv --targets ";
  EXPECT_EQ(run_program(relevance + "Bag").output, run_program(relevance + "8").output);
  const std::string lens = "lens " + kModel + kOfBag + " --csv --by-head --target ";
  EXPECT_EQ(run_program(lens + "Bag").output, run_program(lens + "8").output);
  EXPECT_THAT(run_program(lens + "Bagg").errors, HasSubstr("did you mean Bag?"));
}

TEST(CommandLine, NamesMissingValuesAndMalformedNumbers) {
  for (const auto& [arguments, said] : std::vector<std::pair<std::string, std::string>>{
           {"trace " + kModel + kOfBag, "--out"},
           {"spectrum", "MODEL"},
           {"list", "LIST"},
           {"list formats safetensors", "only an architecture"},
           {"spectrum " + kModel + kOfBag + " --threshold much", "--threshold"},
           {"trace a.h5 b.h5 --out c.h5", "b.h5"},
           {"gui --theme blue", "--theme"}}) {
    const ProgramRun run = run_program(arguments);
    EXPECT_EQ(run.status, 2) << arguments;
    EXPECT_THAT(run.errors, AllOf(StartsWith("attnscope: "), HasSubstr(said))) << arguments;
  }
}

TEST(CommandLine, NeverIgnoresParametersAfterTheAt) {
  // fashion-softmax has no parameter foo. The adder has the parameter identity, which can be set.
  const ProgramRun refused = run_program("spectrum " + kModel + "@,foo=1" + kOfBag);
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.errors, HasSubstr("foo"));
  const ProgramRun set =
      run_program("compare " + kAdder + " " + kAdder + "@,identity=true --json" + kOfBag);
  ASSERT_EQ(set.status, 0) << set.errors;
  EXPECT_EQ(nlohmann::json::parse(set.output)["compared"][0]["mechanism"], "adder (identity=true)");
  EXPECT_EQ(run_program("spectrum " + kModel + "@adder,identity" + kOfBag).status, 2);
}

TEST(CommandLine, AnArchitectureMayApplyToOneModelOnly) {
  const TemporaryFolder folder;
  const fs::path wrong = folder.write("wrong.json", "{}");
  const ProgramRun own =
      run_program("compare " + kModel + " " + kModel + "@,architecture=" + wrong.string() + kOfBag);
  EXPECT_NE(own.status, 0);
  EXPECT_THAT(own.errors, HasSubstr("wrong.json"));
  const ProgramRun heads =
      run_program("compare " + kModel + " " + kModel + "@,model-heads=5" + kOfBag);
  EXPECT_EQ(heads.status, 2);
  EXPECT_THAT(heads.errors, HasSubstr("expected 3, found 5"));
}

// --- heads ------------------------------------------------------------------------------------

TEST(CommandLine, HeadsSelectsAndNeverMakesAnotherModel) {
  const auto rows = [](const std::string& arguments) {
    const ProgramRun run = run_program(arguments);
    EXPECT_EQ(run.status, 0) << arguments << "\n" << run.errors;
    std::set<std::string> lines;
    std::istringstream text(run.output);
    for (std::string line; std::getline(text, line);) lines.insert(line);
    return lines;
  };
  // Rows of a single head equal its rows in the table of all heads.
  for (const std::string& command :
       {"heads " + kModel + kOfBag, "compare " + kModel + " " + kAdder + kOfBag,
        "weights " + kModel, "mixing " + kModel + kOfBag + " --layers 0 --by head-norms",
        "groups " + kModel + kOfBag, "lens " + kModel + kOfBag + " --by-head"}) {
    const std::set<std::string> all = rows(command + " --csv");
    const std::set<std::string> some = rows(command + " --csv --heads 1");
    EXPECT_GT(some.size(), 1U) << command;
    EXPECT_LT(some.size(), all.size()) << command;
    for (const std::string& row : some) {
      EXPECT_TRUE(all.contains(row)) << command << "\n" << row;
    }
    EXPECT_EQ(run_program(command + " --heads 3").status, 2) << command;
  }
  // Commands without numbers per head do not have the option.
  const TemporaryFolder folder;
  for (const std::string& command :
       {"trace " + kModel + kOfBag + " --out " + (folder / "t.h5").string(), "inspect " + kModel,
        "relevance " + kModel + kOfBag}) {
    const ProgramRun run = run_program(command + " --heads 1");
    EXPECT_EQ(run.status, 2) << command;
    EXPECT_THAT(run.errors, HasSubstr("there is no option --heads")) << command;
  }
  EXPECT_EQ(run_program("lens " + kModel + kOfBag + " --heads 1").status, 2);
  EXPECT_EQ(run_program("mixing " + kModel + kOfBag + " --heads 1").status, 2);
}

TEST(CommandLine, ModelHeadsSuppliesWhatTheFileLacks) {
  for (const std::string& arguments :
       {"spectrum " + kModel + kOfBag + " --model-heads 1",
        "inspect " + kModel + " --option heads=1", "energy " + kModel + " --model-heads 1",
        "compare " + kModel + " " + kModel + "@,model-heads=1" + kOfBag}) {
    const ProgramRun run = run_program(arguments);
    EXPECT_EQ(run.status, 2) << arguments;
    EXPECT_THAT(run.errors, AllOf(HasSubstr("--model-heads"), HasSubstr("expected 3, found 1")))
        << arguments;
  }
  EXPECT_EQ(run_program("inspect " + kModel + " --model-heads 3").status, 0);
  EXPECT_EQ(run_program("energy " + kModel + " --model-heads 3").output,
            run_program("energy " + kModel).output);
  const ProgramRun of_a_name = run_program("energy deit-tiny --model-heads 3");
  EXPECT_EQ(of_a_name.status, 2);
  EXPECT_THAT(of_a_name.errors, HasSubstr("expected a weight file, found deit-tiny"));
}

// --- streams ----------------------------------------------------------------------------------

TEST(CommandLine, LostOutputIsAnError) {
  const TemporaryFolder folder;
  const std::string lost = (folder / "errors").string();
  for (const std::string arguments :
       {"--help", "--version", "list formats", "list figures --json", "energy deit-tiny --json"}) {
    const int status =
        std::system((built_program() + " " + arguments + " >/dev/full 2>'" + lost + "'").c_str());
    EXPECT_EQ(WEXITSTATUS(status), 1) << arguments;
    EXPECT_THAT(read_bytes(lost),
                AllOf(StartsWith("attnscope: "), HasSubstr("No space left on device")));
  }
}

TEST(CommandLine, AHyphenIsStandardInputAndOutput) {
  const TemporaryFolder folder;
  const std::string trace = (folder / "t.h5").string();
  const ProgramRun piped = run_program("trace " + kModel + " --input - --out - <" + kBag);
  ASSERT_EQ(piped.status, 0) << piped.errors;
  EXPECT_THAT(piped.errors, HasSubstr("on standard input"));
  (void)folder.write("t.h5", piped.output);
  EXPECT_EQ(read_trace(trace).layers.size(), 6U);
  // The numbers are those of the same model with a file as input.
  const std::string from_file = (folder / "f.h5").string();
  ASSERT_EQ(run_program("trace " + kModel + kOfBag + " --out " + from_file).status, 0);
  const auto logits_of = [](const std::string& file) {
    const Trace read = read_trace(file);
    return std::vector<float>(read.logits.data(), read.logits.data() + read.logits.size());
  };
  EXPECT_EQ(logits_of(trace).size(), 10U);
  EXPECT_EQ(logits_of(trace), logits_of(from_file));
  const ProgramRun model = run_program("inspect - --json <" + kModel);
  ASSERT_EQ(model.status, 0) << model.errors;
  EXPECT_EQ(nlohmann::json::parse(model.output)["architecture"]["layers"], 6);
  const ProgramRun figure =
      run_program("figure rank-by-layer " + kModel + kOfBag + " --format json --out -");
  ASSERT_EQ(figure.status, 0) << figure.errors;
  EXPECT_EQ(nlohmann::json::parse(figure.output)["name"], "rank-by-layer");
  EXPECT_THAT(figure.errors, HasSubstr("standard output"));
  EXPECT_THAT(run_program("figure rank-by-layer " + kModel + kOfBag + " --out -").errors,
              HasSubstr("--format"));
  EXPECT_EQ(run_program("inspect - </dev/null").status, 1);
  const ProgramRun text =
      run_program("evaluate " + kSamples + "/models/shakespeare-softmax.h5 --input - <" + kSamples +
                  "/inputs/20_prospero.txt");
  EXPECT_EQ(text.status, 0) << text.errors;
}

TEST(CommandLine, NoOutputReplacesAnInput) {
  const TemporaryFolder folder;
  const fs::path model = folder / "m.h5", image = folder / "i.png", link = folder / "link.h5";
  const auto restore = [&] {
    fs::copy_file(kModel, model, fs::copy_options::overwrite_existing);
    fs::copy_file(kBag, image, fs::copy_options::overwrite_existing);
  };
  restore();
  fs::create_symlink(model, link);
  const std::string m = model.string(), i = image.string(), l = link.string();
  const fs::path data = folder / "twelve.npz";
  fs::copy_file(kSamples + "/inputs/twelve.npz", data);
  const fs::path page = folder.write(
      "page.json",
      R"({"models": ["m.h5"], "inputs": ["i.png"], "rows": [[{"figure": "rank-by-layer"}]]})");
  const std::string before = read_bytes(model), pixels = read_bytes(image),
                    items = read_bytes(data), described = read_bytes(page);
  for (const std::string& arguments : std::vector<std::string>{
           "trace " + m + " --input " + i + " --out " + m,
           "trace " + m + " --input " + i + " --out " + l,
           "trace " + m + " --input " + i + " --out " + i,
           "learn-codes " + m + " --input " + i + " --steps 1 --out " + m,
           "sweep " + m + " --dataset " + data.string() + " --out " + data.string(),
           "sweep " + m + " --dataset " + data.string() + " --out " + m,
           "figure rank-by-layer " + m + " --input " + i + " --out " + i,
           "figure rank-by-layer " + m + "@,input=" + i + " --format csv,h5 --out " +
               (folder / "m").string(),
           "figure " + page.string() + " --out " + page.string(),
           "figure " + page.string() + " --out " + m}) {
    const ProgramRun run = run_program(arguments);
    EXPECT_EQ(run.status, 2) << arguments << "\n" << run.errors;
    EXPECT_THAT(run.errors, HasSubstr("would replace an input")) << arguments;
    EXPECT_TRUE(read_bytes(model) == before && read_bytes(image) == pixels &&
                read_bytes(data) == items && read_bytes(page) == described)
        << arguments;
  }
}

TEST(CommandLine, NoOutputReplacesTheShardsOfAModelNorADataSetsLabels) {
  const TemporaryFolder folder;
  const std::string index =
      folder.write("m.index.json", R"({"weight_map": {"a": "m-1.bin", "b": "m-2.bin"}})").string();
  for (const char* name : {"m.index.json", "m-1.bin", "m-2.bin"}) {
    const fs::path file = folder / name;
    if (!fs::exists(file)) (void)folder.write(name, "weights");
    const std::string before = read_bytes(file);
    const ProgramRun run = run_program("trace " + index + kOfBag + " --out " + file.string());
    EXPECT_EQ(run.status, 2) << name;
    EXPECT_THAT(run.errors, HasSubstr("would replace an input")) << name;
    EXPECT_EQ(read_bytes(file), before) << name;
  }
  // The configuration is read with the weights but is not named in the command.
  const fs::path data = source_folder() + "/tests/data/language/gpt2";
  const fs::path model = folder / "model.safetensors", config = folder / "config.json";
  fs::copy_file(data / "model.safetensors", model);
  fs::copy_file(data / "config.json", config);
  const std::string before = read_bytes(config);
  const ProgramRun figure = run_program("figure rank-by-layer " + model.string() +
                                        " --input ids:3,1,4 --out " + config.string());
  EXPECT_EQ(figure.status, 2);
  EXPECT_THAT(figure.errors, HasSubstr("would replace an input"));
  EXPECT_EQ(read_bytes(config), before);
  // The data set has one image of 1 × 1 pixel and its label.
  const fs::path images = folder.write("i-images-idx3-ubyte",
                                       std::string("\0\0\x8\x3\0\0\0\x1\0\0\0\x1\0\0\0\x1\x7", 17));
  const fs::path labels =
      folder.write("i-labels-idx1-ubyte", std::string("\0\0\x8\x1\0\0\0\x1\x5", 9));
  const ProgramRun run = run_program("sweep " + kModel + " --dataset " + images.string() +
                                     " --out " + labels.string());
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.errors, HasSubstr("would replace an input"));
}

TEST(CommandLine, TheModelOfATrainingReplacesNothingThatIsRead) {
  const TemporaryFolder folder;
  const fs::path data = folder / "d.npz", run = folder / "run";
  fs::copy_file(kSamples + "/inputs/twelve.npz", data);
  const std::string before = read_bytes(data);
  const std::string train = "train --dataset " + data.string() +
                            " --steps 1 --warm-up 0 --width 12 --model-heads 3 --depth 1 --patch 4";
  const ProgramRun refused =
      run_program(train + " --out " + run.string() + " --model " + data.string());
  EXPECT_EQ(refused.status, 2) << refused.errors;
  EXPECT_THAT(refused.errors, HasSubstr("would replace an input"));
  EXPECT_FALSE(fs::exists(run)) << "refused before anything is made";
  // Files of the run are not allowed either.
  ASSERT_EQ(run_program(train + " --out " + run.string()).status, 0);
  for (const char* const kept : {"state.npz", "log.h5"}) {
    const fs::path file = run / kept;
    const std::string bytes = read_bytes(file);
    const ProgramRun own =
        run_program("train --resume --out " + run.string() + " --model " + file.string());
    EXPECT_EQ(own.status, 2) << own.errors;
    EXPECT_THAT(own.errors, HasSubstr("a file of the run has the same path")) << kept;
    EXPECT_TRUE(read_bytes(file) == bytes) << kept;
  }
  EXPECT_EQ(read_bytes(data), before);
}

TEST(CommandLine, AnHdf5FileIsNamedAsOne) {
  const TemporaryFolder folder;
  for (const char* name : {"t.npz", "t.csv", "t"}) {
    const fs::path out = folder / name;
    const ProgramRun run = run_program("trace " + kModel + kOfBag + " --out " + out.string());
    EXPECT_EQ(run.status, 2) << name;
    EXPECT_THAT(run.errors, AllOf(HasSubstr(".h5 or .hdf5"), HasSubstr(name)));
    EXPECT_FALSE(fs::exists(out)) << name;
  }
}

TEST(CommandLine, FilesOfTheWindowReplaceNoInput) {
  const TemporaryFolder folder;
  const fs::path model = folder / "m.h5", image = folder / "i.png";
  fs::copy_file(kModel, model);
  fs::copy_file(kBag, image);
  const std::string weights = read_bytes(model), pixels = read_bytes(image);
  ::setenv("QT_QPA_PLATFORM", "offscreen", 1);
  for (const fs::path& file : {model, image}) {
    for (const std::string option : {" --screenshot ", " --frame-times "}) {
      const ProgramRun run = run_program("gui " + model.string() + " --input " + image.string() +
                                         option + file.string());
      EXPECT_EQ(run.status, 2) << run.errors;
      EXPECT_THAT(run.errors, HasSubstr("would replace an input"));
    }
  }
  ::unsetenv("QT_QPA_PLATFORM");
  EXPECT_TRUE(read_bytes(model) == weights && read_bytes(image) == pixels);
}

TEST(CommandLine, PicturesJoinedByAPlusAreOneInputOfTheWindow) {
  const TemporaryFolder folder;
  const fs::path first = folder / "a.png", second = folder / "b.png";
  fs::copy_file(kBag, first);
  fs::copy_file(kBag, second);
  const std::string pictures = first.string() + "+" + second.string();
  const std::string gui = "gui " + kSamples + "/models/garment-questions ";
  ::setenv("QT_QPA_PLATFORM", "offscreen", 1);
  // Both files are read, whether the pictures follow the model or are given by --input.
  for (const std::string input : {"", "--input "}) {
    const ProgramRun run = run_program(gui + input + pictures + " --prompt 'where is it ?'" +
                                       " --screenshot " + second.string());
    EXPECT_EQ(run.status, 2) << run.errors;
    EXPECT_THAT(run.errors, HasSubstr("would replace an input"));
  }
  const ProgramRun two = run_program(gui + first.string() + " " + second.string());
  EXPECT_EQ(two.status, 2);
  EXPECT_THAT(two.errors, AllOf(HasSubstr("only one input"), HasSubstr("FIRST.png+SECOND.png")));
  const ProgramRun none = run_program(gui + "--prompt 'where is it ?'");
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.errors, AllOf(HasSubstr("--prompt"), HasSubstr("a picture after MODEL")));
  ::unsetenv("QT_QPA_PLATFORM");
}

TEST(CommandLine, ReportsTheWrittenFileOnSuccess) {
  const TemporaryFolder folder;
  const std::string base = (folder / "f").string();
  const ProgramRun figure =
      run_program("figure rank-by-layer " + kModel + kOfBag + " --format csv,svg --out " + base);
  ASSERT_EQ(figure.status, 0) << figure.errors;
  EXPECT_THAT(figure.output,
              AllOf(HasSubstr(base + ".csv: "), HasSubstr(base + ".svg: "), HasSubstr("84 × ")));
  const ProgramRun page = run_program("figure " + kSamples + "/page.json --out " + base + ".svg");
  ASSERT_EQ(page.status, 0) << page.errors;
  EXPECT_THAT(page.output, HasSubstr(base + ".svg: "));
}

TEST(CommandLine, ResultsListAssumptions) {
  const TemporaryFolder folder;
  // The file has the same weights but no description of the model.
  const std::string silent = source_folder() + "/tests/data/sweep/model.npz";
  const std::string images = source_folder() + "/tests/data/sweep/images.npz";
  const std::string common = " --option crop_fraction=1";
  for (const std::string& arguments : std::vector<std::string>{
           "compare " + silent + " " + silent + "@adder --dataset " + images + " --count 2",
           "spectrum " + silent + " --dataset " + images + " --count 1",
           "trace " + silent + " --input '" + images + "#0' --out " + (folder / "t.h5").string(),
           "figure rank-by-layer " + silent + " --input '" + images + "#0' --out " +
               (folder / "f.csv").string()}) {
    const ProgramRun run = run_program(arguments + common + " --model-heads 2");
    EXPECT_EQ(run.status, 0) << arguments << "\n" << run.errors;
    EXPECT_THAT(run.output, HasSubstr("unconfirmed: assumed for model.npz, which does not say: "))
        << arguments;
    EXPECT_THAT(run.output, HasSubstr("attnscope inspect ")) << arguments;
    EXPECT_THAT(run.output, Not(HasSubstr("heads="))) << "it was said: " << arguments;
  }
  // With CSV on stdout, the notice is on stderr.
  const ProgramRun csv =
      run_program("heads " + silent + " --input '" + images + "#0' --csv --model-heads 2" + common);
  EXPECT_EQ(csv.status, 0) << csv.errors;
  EXPECT_THAT(csv.errors, HasSubstr("unconfirmed: assumed for model.npz"));
  EXPECT_THAT(csv.output, Not(HasSubstr("unconfirmed")));
  // A recorded trace keeps the notice.
  const ProgramRun recorded = run_program("spectrum " + (folder / "t.h5").string());
  EXPECT_THAT(recorded.output, HasSubstr("unconfirmed: assumed when model was recorded: "))
      << recorded.errors;
  // A file that describes its model completely needs no assumptions.
  EXPECT_THAT(run_program("spectrum " + kModel + kOfBag).output, Not(HasSubstr("assumed")));
  const auto caption = [&](const std::string& model_and_input) {
    const std::string out = (folder / "f.json").string();
    (void)run_program("figure rank-by-layer " + model_and_input + " --out " + out);
    return nlohmann::json::parse(read_bytes(out))["caption"].get<std::string>();
  };
  EXPECT_THAT(caption(silent + " --input '" + images + "#0' --model-heads 2" + common),
              HasSubstr("model unconfirmed: "));
  EXPECT_THAT(caption(kModel + kOfBag), Not(HasSubstr("confirmed")));
}

// --- lists ------------------------------------------------------------------------------------

TEST(CommandLine, EveryListIsAvailableAsJson) {
  for (const std::string& command : std::vector<std::string>{
           "list architectures", "list figures", "list formats", "list mechanisms", "energy --list",
           "gallery --list " + kModel + kOfBag}) {
    const ProgramRun run = run_program(command + " --json");
    ASSERT_EQ(run.status, 0) << command << "\n" << run.errors;
    EXPECT_GT(nlohmann::json::parse(run.output).size(), 3U) << command;
  }
}

TEST(CommandLine, FiguresTakeTheWordsOfTheOtherCommands) {
  const TemporaryFolder folder;
  const std::string file = (folder / "f.json").string();
  const ProgramRun run = run_program("figure attention-maps " + kModel + kOfBag +
                                     " --layers 0,5 --heads 1 --identity with --out " + file);
  ASSERT_EQ(run.status, 0) << run.errors;
  const auto figure = nlohmann::json::parse(read_bytes(file));
  EXPECT_EQ(figure["panels"].size(), 2U);
  EXPECT_THAT(figure["command"].get<std::string>(),
              AllOf(HasSubstr("layers=0,5"), HasSubstr("heads=1"), HasSubstr("identity=with")));
  EXPECT_EQ(run_program("figure energy-growth --heads 2 --out " + file).status, 2);
  const ProgramRun features = run_program("figure feature-scatter " + kModel + " --dataset " +
                                          kSamples + "/inputs/twelve.npz --count 12 --out " + file);
  EXPECT_EQ(features.status, 0) << features.errors;
}

}  // namespace
}  // namespace attnscope
