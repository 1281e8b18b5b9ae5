// Whole runs: their results, their files and their interruption.
#include "analysis/training/run_folder.h"

#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <set>
#include <sys/wait.h>
#include <tbb/global_control.h>
#include <unistd.h>

#include "core/error.h"
#include "core/file/atomic_file.h"
#include "core/file/npz_writer.h"
#include "core/model/model.h"
#include "tests/support/folder_bytes.h"
#include "tests/support/refusal.h"
#include "tests/support/small_data_set.h"
#include "tests/support/small_recipe.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

std::vector<double> with_half(std::vector<double> steps) {
  steps[2] = 2.5;
  return steps;
}

class RunFolderTest : public testing::Test {
 protected:
  /// A small recipe of 30 steps with additional settings.
  [[nodiscard]] Recipe recipe(ParameterValues more = {}) const {
    more.merge(ParameterValues{{"dataset", data_},
                               {"steps", std::int64_t{30}},
                               {"rate", 0.01},
                               {"save_every", std::int64_t{4}},
                               {"shift", std::int64_t{1}},
                               {"flip", true}});
    return Recipe(small_recipe(more));
  }

  /// A small recipe of a language model with Fastformer's layers, one of them with a window.
  [[nodiscard]] Recipe fastformer() const {
    return recipe({{"dataset", write_small_text(sources_).string()},
                   {"layer_form", std::string("fastformer")},
                   {"mechanism", std::string("additive,causal=true")},
                   {"windows", std::string("4,0")}});
  }

  /// A small recipe with every kind of regularisation, and coarse patches first.
  [[nodiscard]] Recipe regularised() const {
    return recipe({{"dropout", 0.1},
                   {"attention_dropout", 0.2},
                   {"drop_path", 0.2},
                   {"label_smoothing", 0.1},
                   {"mixup", 0.8},
                   {"cutmix", 1.0},
                   {"random_augment", std::int64_t{2}},
                   {"random_erasing", 0.5},
                   {"repeated_augmentation", std::int64_t{3}},
                   {"average_decay", 0.8},
                   {"patch", std::int64_t{1}},
                   {"coarse_patch", std::int64_t{2}},
                   {"coarse_steps", std::int64_t{9}}});
  }

  [[nodiscard]] RunFolder begun(const char* name, const Recipe& recipe) const {
    const RunFolder folder{folder_ / name};
    begin_run_folder(folder, recipe);
    return folder;
  }

  TemporaryFolder folder_, sources_;
  std::string data_ = write_small_data_set(sources_).string();
};

TEST_F(RunFolderTest, RunsInAFolderAreFoundInTheOrderOfTheirNames) {
  for (const char* const name : {"softmax", "adder"}) (void)begun(name, recipe());
  fs::create_directories(folder_ / "pictures");
  const std::vector<fs::path> both = {folder_ / "adder", folder_ / "softmax"};
  EXPECT_EQ(run_folders_in(folder_.path()), both);
  EXPECT_EQ(run_folders_in(folder_ / "adder"), std::vector<fs::path>{folder_ / "adder"});
  for (const char* const none : {"pictures", "nowhere"}) {
    EXPECT_FALSE(is_run(folder_ / none));
    EXPECT_TRUE(run_folders_in(folder_ / none).empty());
  }
}

TEST_F(RunFolderTest, ModelsAreNamedAfterTheirSteps) {
  EXPECT_EQ(step_name(128), "step-000128");
  EXPECT_EQ(step_name(1234567), "step-1234567");
  const RunFolder run{folder_ / "run/"};
  EXPECT_EQ(run.model(128).filename(), "step-000128.h5");
  EXPECT_EQ(run.model_name(128), "run, step 128");
}

TEST_F(RunFolderTest, TrainsAndWritesItsLog) {
  const RunFolder folder = begun("run", recipe({{"steps", std::int64_t{120}}}));
  const auto run = train(folder, {});
  const auto& tables = run->log().tables();
  EXPECT_GT(tables.at("tests/accuracy").numbers.back(), 0.9);
  EXPECT_LT(tables.at("tests/accuracy").numbers.front(), 0.7);
  EXPECT_EQ(tables.at("steps/loss").rows(), 120);
  EXPECT_EQ(tables.at("probes/mean_rank").width, 2);
  EXPECT_EQ(tables.at("probes/step").numbers, tables.at("tests/step").numbers);
  EXPECT_EQ(tables.at("probes/step").rows(), std::ssize(run->recipe().checkpoints()));
}

TEST_F(RunFolderTest, ModelsComputeWhatTheNetworkComputes) {
  const ParameterValues variants[] = {
      {{"mechanism", std::string("adder,identity=true")}, {"arithmetic", std::string("adder")}},
      {{"mechanism", std::string("linear")}, {"readout", std::string("mean")}},
      {{"mechanism", std::string("daft-full,factors=0")}},
      {{"mechanism", std::string("daft-full,factors=5")}, {"arithmetic", std::string("adder")}},
      {{"mechanism", std::string("hash,codes=sign")}},
      {{"mechanism", std::string("hash,codes=sign,mode=upstream")}},
      {{"mechanism", std::string("additive")}},
      {{"mechanism", std::string("additive")}, {"learnt_importances", true}},
      {{"stages", std::string("1x12x2,2x16x2")},
       {"readout", std::string("mean")},
       {"patch", std::int64_t{1}}},
      {{"stages", std::string("2x12x2,1x8x2")},
       {"readout", std::string("mean")},
       {"patch", std::int64_t{1}},
       {"mechanism", std::string("daft-conv,kernel=3,conv_heads=4")}},
      {{"dataset", write_small_text(sources_).string()},
       {"context", std::int64_t{16}},
       {"mechanism", std::string("additive,causal=true,window=4")},
       {"learnt_importances", true}},
      {{"dataset", write_small_text(sources_).string()},
       {"context", std::int64_t{16}},
       {"mechanism", std::string("additive")}},
      {{"dataset", write_small_text(sources_).string()},
       {"context", std::int64_t{16}},
       {"mechanism", std::string("additive,causal=true")},
       {"windows", std::string("3,0")}},
      fastformer().values(),
      {{"mechanism", std::string("adder")},
       {"arithmetic", std::string("adder")},
       {"multiplicative_layers", std::string("0")}},
      {{"dataset", write_small_text(sources_).string()}, {"context", std::int64_t{16}}},
      {{"dataset", write_small_text(sources_).string()},
       {"context", std::int64_t{16}},
       {"mechanism", std::string("adder")}},
      {{"dataset", write_small_texts(sources_).string()}, {"context", std::int64_t{16}}},
      {{"dataset", write_small_texts(sources_).string()},
       {"context", std::int64_t{16}},
       {"mechanism", std::string("daft-full,factors=3")}},
      {{"dataset", write_small_texts(sources_).string()},
       {"context", std::int64_t{16}},
       {"mechanism", std::string("synthesizer")}}};
  int number = 0;
  for (const ParameterValues& variant : variants) {
    const RunFolder folder = begun(("run" + std::to_string(number++)).c_str(), recipe(variant));
    const auto run = train(folder, {});
    const auto model = load_model(folder.model(30));
    EXPECT_EQ(model->spec().mechanism, run->network().spec().mechanism);
    EXPECT_EQ(model->spec().layer_mechanisms, run->network().spec().layer_mechanisms);
    EXPECT_TRUE(model->assumptions().empty());
    const Examples examples = run->data().test_examples(run->network().spec(), 3, 1);
    TrainedNetwork::Room room;
    (void)run->network().run(run->values().data(), nullptr, 0, examples, room);
    TraceRequest request;
    request.implied_maps = false;
    request.token_logits = (run->data().kind() == ExampleKind::chunks);
    const Trace trace = model->run(run->data().test_input(3), model->spec().mechanism, request, {});
    const Tensor& logits =
        (run->data().kind() == ExampleKind::chunks) ? trace.token_logits : trace.logits;
    const ConstMatrixMap found(logits.data(), room.readout.logits.rows(),
                               room.readout.logits.cols());
    ASSERT_EQ(logits.size(), room.readout.logits.size());
    EXPECT_LT((found - room.readout.logits).cwiseAbs().maxCoeff(), 2e-5) << "variant " << number;
  }
}

TEST_F(RunFolderTest, HasTheSameBytesAfterAnyInterruption) {
  int number = 0;
  for (const Recipe& one : {recipe(), fastformer(), regularised()}) {
    const fs::path to = folder_ / std::to_string(number++);
    const RunFolder whole{to / "a" / "run"}, parts{to / "b" / "run"};
    begin_run_folder(whole, one);
    begin_run_folder(parts, one);
    {
      const tbb::global_control alone(tbb::global_control::max_allowed_parallelism, 1);
      (void)train(whole, {});
    }
    for (const std::int64_t stop : {1, 2, 7, 8, 11, 20, 29}) {
      std::stop_source source;
      EXPECT_THROW((void)train(parts, Progress({}, source.get_token()),
                               [&](const TrainingRun& run) {
                                 if (run.step() == stop) source.request_stop();
                               }),
                   Cancelled);
    }
    (void)train(parts, {});
    const auto expected = folder_bytes(whole.folder), found = folder_bytes(parts.folder);
    ASSERT_EQ(expected.size(), found.size());
    for (const auto& [name, bytes] : expected) EXPECT_EQ(found.at(name), bytes) << name;
  }
}

TEST_F(RunFolderTest, WritesAndTestsTheAverageOfTheWeights) {
  const auto last = [&](const char* name, double decay) {
    const RunFolder folder = begun(name, recipe({{"average_decay", decay}}));
    const auto run = train(folder, {});
    const Tensor head = open_checkpoint(folder.model(30)).at("head.weight").view().to_float();
    const Parameter& parameter = *run->network().parameters().find("head.weight");
    const float* const written = parameter.slot.in(run->model_values().data());
    EXPECT_TRUE(std::equal(head.values().begin(), head.values().end(), written));
    EXPECT_EQ(run->values() == run->model_values(), decay == 0);
    EXPECT_EQ(run->log().last("tests/loss"), run->test().loss / 24);
    return std::pair(run->values(), run->model_values());
  };
  const auto [plain, written] = last("plain", 0);
  const auto [weights, average] = last("average", 0.9);
  EXPECT_EQ(weights, plain) << "the average does not change the training";
  EXPECT_NE(average, written);
}

TEST_F(RunFolderTest, RefinesCoarsePatchesOnceAfterInterruptions) {
  const Recipe coarse = recipe({{"patch", std::int64_t{1}},
                                {"coarse_patch", std::int64_t{2}},
                                {"coarse_steps", std::int64_t{18}},
                                {"coarse_rate", 0.02}});
  const RunFolder whole{folder_ / "a" / "run"}, parts{folder_ / "b" / "run"};
  begin_run_folder(whole, coarse);
  begin_run_folder(parts, coarse);
  (void)train(whole, {});
  for (const std::int64_t stop : {5, 17, 18, 19, 24}) {
    std::stop_source source;
    EXPECT_THROW((void)train(parts, Progress({}, source.get_token()),
                             [&](const TrainingRun& run) {
                               if (run.step() == stop) source.request_stop();
                             }),
                 Cancelled);
  }
  const auto run = train(parts, {});
  EXPECT_EQ(folder_bytes(whole.folder), folder_bytes(parts.folder));
  const Input input = run->data().test_input(3);
  for (const auto& [step, tokens] : {std::pair(0, 10), {18, 10}, {30, 37}}) {
    const auto model = load_model(parts.model(step));
    EXPECT_EQ(model->run(input, model->spec().mechanism, {}, {}).layers[1].implied_map.extent(1),
              tokens)
        << "step " << step;
  }
  EXPECT_EQ(run->log().tables().at("probes/mean_rank").rows(), 5) << "0, 3, 10, 18, 30";
  const Examples examples = run->data().test_examples(run->network().spec(), 3, 1);
  TrainedNetwork::Room room;
  (void)run->network().run(run->values().data(), nullptr, 0, examples, room);
  const auto model = load_model(parts.model(30));
  const Trace trace = model->run(input, model->spec().mechanism, {}, {});
  EXPECT_LT((trace.logits.matrix() - room.readout.logits).cwiseAbs().maxCoeff(), 1e-5);
}

TEST_F(RunFolderTest, ResumesFromTheLastStateWhenLaterFilesWereLost) {
  const RunFolder whole{folder_ / "a" / "run"}, killed{folder_ / "b" / "run"};
  begin_run_folder(whole, recipe());
  begin_run_folder(killed, recipe());
  (void)train(whole, {});
  struct Killed {};
  // Nothing is saved on the way out, as with kill -9. All steps since the last saved state are
  // lost.
  for (const std::int64_t stop : {3, 6, 14, 23}) {
    EXPECT_THROW((void)train(killed, {},
                             [&](const TrainingRun& run) {
                               if (run.step() == stop) throw Killed();
                             }),
                 Killed);
    if (stop == 14) fs::remove(killed.log());
  }
  (void)train(killed, {});
  EXPECT_EQ(folder_bytes(whole.folder), folder_bytes(killed.folder));
}

TEST_F(RunFolderTest, ReproducesARunForTheSameSeedOnly) {
  const auto last = [&](const char* name, std::int64_t seed) {
    const RunFolder folder{folder_ / name / "run"};
    begin_run_folder(folder, recipe({{"seed", seed}, {"steps", std::int64_t{5}}}));
    return train(folder, {})->values();
  };
  const auto first = last("a", 1);
  EXPECT_EQ(first, last("b", 1));
  EXPECT_NE(first, last("c", 2));
}

TEST_F(RunFolderTest, EveryNumberOfASavedStateIsChecked) {
  const RunFolder folder = begun("run", recipe());
  (void)train(folder, {});
  const Checkpoint saved = open_checkpoint(folder.state());
  struct Change {
    std::string array;                ///< name of the array that is replaced
    std::vector<std::int64_t> whole;  ///< integers of "steps"
    Shape shape;                      ///< shape of `numbers`, for other arrays
    std::vector<double> numbers;
    std::string said;
  };
  const double none = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> values = saved.at("values").view().to_double();
  const Shape all{std::ssize(values)};
  const auto with_first = [&](double first) {
    std::vector<double> changed = values;
    changed.front() = first;
    return changed;
  };
  std::vector<double> steps(30);
  std::iota(steps.begin(), steps.end(), 1.0);
  std::vector<double> out_of_order = steps;
  std::swap(out_of_order[3], out_of_order[4]);
  const std::vector<Change> changes = {
      {"steps", {-1, -1}, {}, {}, "from 0 to 30"},
      {"steps", {31, 31}, {}, {}, "from 0 to 30"},
      {"steps", {30}, {}, {}, "two numbers"},
      {"steps", {30, 29}, {}, {}, "30 steps of the optimiser"},
      {"steps", {30, -30}, {}, {}, "30 steps of the optimiser"},
      {"steps", {29, 29}, {}, {}, "from 0 to 29"},
      {"values", {}, all, with_first(none), "finite numbers"},
      {"values", {}, {1}, {1}, "another recipe"},
      {"first", {}, all, with_first(none), "finite numbers"},
      {"second", {}, all, with_first(-1), "from 0 on"},
      {"second", {}, {1}, {1}, "another network"},
      {"log/steps/loss", {}, {30, 0}, {}, "at least one number"},
      {"log/steps/loss", {}, {0, 30}, {}, "[30, 1]"},
      {"log/steps/loss", {}, {30}, steps, "at least one number"},
      {"log/steps/loss", {}, {15, 2}, steps, "[30, 1]"},
      {"log/steps/step", {}, {30, 1}, out_of_order, "in order"},
      {"log/steps/step", {}, {30, 1}, with_half(steps), "in order"},
      {"log/tests/loss", {}, {1, 1}, {1}, "rows"},
      {"log/tests/step", {}, {1, 1}, {31}, "steps from 0 to 30"},
      {"log/probes/mean_rank", {}, {0, 1}, {}, "rows"},
      {"log/other/loss", {}, {1, 1}, {1}, "other/step"},
      {"log/changes/rate_factor", {}, {1, 1}, {1}, "changes/step"},
  };
  for (const Change& change : changes) {
    NpzWriter state;
    for (const StoredTensor& tensor : saved.tensors()) {
      if (tensor.name == change.array) continue;
      if (tensor.name == "steps") {
        const std::vector<std::int64_t> whole = tensor.view().to_int64();
        state.add(tensor.name, tensor.shape, std::span<const std::int64_t>(whole));
      } else {
        const std::vector<double> numbers = tensor.view().to_double();
        state.add(tensor.name, tensor.shape, std::span<const double>(numbers));
      }
    }
    if (change.whole.empty()) {
      state.add(change.array, change.shape, std::span<const double>(change.numbers));
    } else {
      state.add(change.array, {std::ssize(change.whole)},
                std::span<const std::int64_t>(change.whole));
    }
    write_file(folder.state(), state.bytes());
    expect_refusal([&] { return train(folder, {}); }, ErrorKind::damaged, change.said,
                   folder.state());
  }
}

TEST_F(RunFolderTest, IgnoresAPartialFirstFileAfterAKill) {
  const RunFolder folder{folder_ / "run"};
  fs::create_directories(folder.folder);
  const auto written_by = [&](pid_t process) {
    return folder.folder / (".recipe." + std::to_string(process) + "-0.part.json");
  };
  const pid_t gone = ::fork();
  if (gone == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(gone, nullptr, 0), gone);
  write_file(written_by(::getpid()), "{");
  EXPECT_THROW(begin_run_folder(folder, recipe()), Error) << "another is writing it";
  fs::rename(written_by(::getpid()), written_by(gone));
  begin_run_folder(folder, recipe());
  EXPECT_FALSE(fs::exists(written_by(gone)));
  EXPECT_TRUE(train(folder, {})->done());
}

TEST_F(RunFolderTest, FoldersThatHoldSomethingAndStatesOfOthersAreRefused) {
  const RunFolder folder = begun("run", recipe());
  EXPECT_THROW(begin_run_folder(folder, recipe()), Error);
  EXPECT_THROW((void)recipe_of({folder_ / "nothing"}), Error);
  (void)train(folder, {});
  write_file(folder.recipe(), recipe({{"width", std::int64_t{16}}}).to_json());
  const Error error = refusal_of([&] { (void)train(folder, {}); });
  EXPECT_EQ(error.kind(), ErrorKind::damaged);
  EXPECT_EQ(error.file(), folder.state());
}

}  // namespace
}  // namespace attnscope
