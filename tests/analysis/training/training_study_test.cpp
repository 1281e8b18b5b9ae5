// Studies: their trainings, their comparisons, and series of checkpoints of other programs.
#include "analysis/training/training_study.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <map>

#include "analysis/figure/recipe.h"
#include "analysis/training/checkpoint_series.h"
#include "analysis/training/study_summary.h"
#include "analysis/training/training_history.h"
#include "core/attention/mechanism.h"
#include "core/error.h"
#include "tests/support/refusal.h"
#include "tests/support/small_data_set.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

/// A training of two layers with these test accuracies and probed ranks at steps 0, 10 and 20.
TrainingHistory history_of(const char* label, const std::vector<double>& accuracies,
                           const std::vector<double>& ranks) {
  TrainingHistory history;
  history.label = label;
  for (std::size_t i = 0; i < accuracies.size(); ++i) {
    const double step = 10.0 * static_cast<double>(i);
    history.log.add("tests/step", step);
    history.log.add("tests/accuracy", accuracies[i]);
    history.log.add("probes/step", step);
    for (const char* const table : {"probes/mean_rank", "probes/rank_of_mean"}) {
      history.log.add(table, std::vector<double>{ranks[i], ranks[i] + 1});
    }
  }
  return history;
}

TEST(StudySummaryTest, ComparesAtEqualStepsAndAtEqualAccuracy) {
  const std::vector<TrainingHistory> histories = {
      history_of("fast", {0.1, 0.5, 0.9}, {2, 6, 10}),
      history_of("fast", {0.1, 0.7, 0.8}, {4, 8, 12}),
      history_of("slow", {0.1, 0.2, 0.6}, {20, 30, 40})};
  const StudySummary summary = summarise(histories);
  EXPECT_EQ(summary.equal_step, 20);
  EXPECT_NEAR(summary.equal_accuracy, 0.6, 1e-12);
  ASSERT_EQ(summary.at_equal_steps.size(), 2U);
  const VariantMoment& late = summary.at_equal_steps.front();
  EXPECT_EQ(late.label, "fast");
  EXPECT_NEAR(late.accuracy.mean, 0.85, 1e-12);
  EXPECT_NEAR(late.accuracy.deviation, 0.05 * std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(late.mean_rank.at(0).mean, 11, 1e-12);
  EXPECT_NEAR(late.mean_rank.at(1).mean, 12, 1e-12);
  // 0.6 lies a quarter of the way from 0.5 to 0.9, and five sixths of the way from 0.1 to 0.7.
  const VariantMoment& alike = summary.at_equal_accuracy.front();
  EXPECT_NEAR(alike.step.mean, (12.5 + 10 * 5.0 / 6) / 2, 1e-9);
  EXPECT_NEAR(alike.mean_rank.at(0).mean, (7 + 4 + 4 * 5.0 / 6) / 2, 1e-9);
  EXPECT_NEAR(alike.accuracy.mean, 0.6, 1e-9);
  EXPECT_NEAR(summary.at_equal_accuracy.back().mean_rank.at(0).mean, 40, 1e-9);
  EXPECT_TRUE(std::isnan(summary.at_equal_accuracy.back().mean_rank.at(0).deviation));
}

TEST(StudySummaryTest, LeavesAccuraciesThatWereNotReachedUnknown) {
  const TrainingHistory history = history_of("one", {0.1, 0.5}, {2, 6});
  EXPECT_TRUE(std::isnan(step_of_accuracy(history.log, 0.6)));
  EXPECT_EQ(step_of_accuracy(history.log, 0.05), 0);
  EXPECT_TRUE(row_at(history.log, "probes/mean_rank", 11).empty());
  EXPECT_TRUE(row_at(history.log, "probes/entropy", 5).empty());
  EXPECT_EQ(row_at(history.log, "probes/mean_rank", 5), (std::vector<double>{4, 5}));
  EXPECT_THROW((void)summarise(std::vector<TrainingHistory>(1)), Error);
}

TEST(CheckpointSeriesTest, ReadsStepsFromTheNamesOfOtherPrograms) {
  EXPECT_EQ(step_in_name("step-000128.h5"), 128);
  EXPECT_EQ(step_in_name("epoch=3-step=1200.ckpt"), 1200);
  EXPECT_EQ(step_in_name("checkpoint-500"), 500);
  EXPECT_EQ(step_in_name("step143000"), 143000);
  EXPECT_EQ(step_in_name("checkpoint_epoch12.pth"), 12);
  EXPECT_EQ(step_in_name("model-Epoch_7.pt"), 7);
  EXPECT_EQ(step_in_name("iter_600.pt"), 600);
  EXPECT_FALSE(step_in_name("vit-b16.pth"));
  EXPECT_FALSE(step_in_name("last.ckpt"));
}

TEST(CheckpointSeriesTest, FindsThemWhereOthersKeepThem) {
  const TemporaryFolder folder;
  const auto touch = [&](const fs::path& file) {
    fs::create_directories((folder / file).parent_path());
    std::ofstream(folder / file) << "x";
  };
  touch("lightning/lightning_logs/version_0/checkpoints/epoch=0-step=10.ckpt");
  touch("lightning/lightning_logs/version_1/checkpoints/epoch=0-step=20.ckpt");
  touch("lightning/lightning_logs/version_1/checkpoints/epoch=1-step=9.ckpt");
  const auto lightning = checkpoint_series(folder / "lightning");
  ASSERT_EQ(lightning.size(), 2U);
  EXPECT_EQ(lightning.front().step, 9);
  EXPECT_EQ(lightning.back().file.filename(), "epoch=0-step=20.ckpt");
  touch("trainer/checkpoint-500/model.safetensors");
  touch("trainer/checkpoint-1000/model.safetensors");
  touch("trainer/step-notes-3.txt");
  const auto trainer = checkpoint_series(folder / "trainer");
  ASSERT_EQ(trainer.size(), 2U);
  EXPECT_EQ(trainer.back().file.filename(), "checkpoint-1000");
  touch("models--a--b/snapshots/0123abc/model.safetensors");
  std::filesystem::create_directories(folder / "models--a--b/refs");
  std::ofstream(folder / "models--a--b/refs/step64") << "0123abc\n";
  std::ofstream(folder / "models--a--b/refs/main") << "0123abc";
  const auto hub = checkpoint_series(folder / "models--a--b");
  ASSERT_EQ(hub.size(), 1U);
  EXPECT_EQ(hub.front().step, 64);
  EXPECT_EQ(hub.front().file.filename(), "0123abc");
  touch("two/checkpoint-7.pt");
  touch("two/step-7.pt");
  EXPECT_THROW((void)checkpoint_series(folder / "two"), Error);
  EXPECT_THROW((void)checkpoint_series(folder / "nothing"), Error);
}

class TrainingStudyTest : public testing::Test {
 protected:
  [[nodiscard]] Recipe recipe() const {
    return Recipe({{"dataset", data_},
                   {"patch", std::int64_t{3}},
                   {"width", std::int64_t{8}},
                   {"model_heads", std::int64_t{2}},
                   {"depth", std::int64_t{1}},
                   {"steps", std::int64_t{4}},
                   {"batch", std::int64_t{4}},
                   {"warm_up", std::int64_t{1}},
                   {"checkpoints", std::int64_t{2}},
                   {"test_items", std::int64_t{8}},
                   {"probes", std::int64_t{1}},
                   {"seed", std::int64_t{5}}});
  }

  TemporaryFolder folder_, sources_;
  std::string data_ = write_small_data_set(sources_).string();
};

TEST_F(TrainingStudyTest, RestartsAKilledBeginning) {
  const StudyFolder study{folder_ / "study"};
  const TrainingStudy& ranks = find_training_study("adder-rank");
  begin_study(study, ranks, recipe(), 1);
  fs::remove(study.description());
  begin_study(study, ranks, recipe(), 1);
  const fs::path run = runs_of(study).front().folder.folder;
  fs::remove(study.description());
  std::ofstream(run / "step-000000.h5") << "a model";
  EXPECT_THROW(begin_study(study, ranks, recipe(), 1), Error);
}

TEST_F(TrainingStudyTest, TrainsEveryVariantWithEverySeedAndResumes) {
  const StudyFolder study{folder_ / "study"};
  begin_study(study, find_training_study("adder-rank"), recipe(), 2);
  EXPECT_THROW(begin_study(study, find_training_study("adder-rank"), recipe(), 2), Error);
  const auto runs = runs_of(study);
  ASSERT_EQ(runs.size(), 12U);
  EXPECT_EQ(runs[5].folder.folder.filename(), "adder-adder-identity-seed5");
  EXPECT_EQ(runs[6].seed, 6);
  const Recipe last = recipe_of(runs.back().folder);
  EXPECT_EQ(last.model(ExampleKind::images).arithmetic, Arithmetic::adder);
  EXPECT_EQ(to_string(last.model(ExampleKind::images).mechanism), "adder (identity=true)");
  EXPECT_EQ(last.data().seed, 6U);
  std::int64_t steps = 0;
  struct Stopped {};
  EXPECT_THROW(train_study(study, {},
                           [&](const StudyRun&, const TrainingRun&) {
                             if (++steps == 6) throw Stopped();
                           }),
               Stopped);
  train_study(study, {}, [&](const StudyRun&, const TrainingRun&) { ++steps; });
  // The two steps of the second run were lost because none of its states was saved.
  EXPECT_EQ(steps, 6 + 4 * 11);
  train_study(study, {}, [&](const StudyRun&, const TrainingRun&) { FAIL(); });

  const auto histories = read_histories(study.folder, {});
  ASSERT_EQ(histories.size(), 12U);
  EXPECT_EQ(histories.front().label, "multiplicative, softmax");
  const StudySummary summary = summarise(histories);
  ASSERT_EQ(summary.at_equal_steps.size(), 6U);
  EXPECT_EQ(summary.equal_step, 4);
  EXPECT_EQ(summary.at_equal_steps.front().accuracy.runs, 2);
}

TEST_F(TrainingStudyTest, ComparesWidthsOfHeadsAtEqualEntropyToo) {
  const TrainingStudy& widths = find_training_study("adder-width");
  // Four widths at D = 64 and three more with one head, × 2 arithmetics × 3 attentions.
  ASSERT_EQ(widths.variants.size(), 42U);
  std::map<std::pair<std::int64_t, std::int64_t>, int> shapes;  // width and heads → variants
  for (const TrainingVariant& one : widths.variants) {
    ParameterValues values = one.changes;
    values["dataset"] = std::string("d");
    const auto width = std::get<std::int64_t>(values.at("width"));
    const auto heads = std::get<std::int64_t>(values.at("model_heads"));
    EXPECT_TRUE(width == 64 || heads == 1) << one.name;
    EXPECT_NO_THROW((void)Recipe(values)) << one.name;
    ++shapes[{width / heads, heads}];
  }
  EXPECT_EQ(shapes.size(), 7U);
  for (const std::int64_t width : {8, 16, 32, 64}) {
    EXPECT_EQ((shapes[{width, 64 / width}]), 6) << width;
    EXPECT_EQ((shapes[{width, 1}]), 6) << width;
  }
  const StudyFolder study{folder_ / "widths"};
  begin_study(study, widths, recipe(), 3);
  const auto runs = runs_of(study);
  ASSERT_EQ(runs.size(), 126U);
  EXPECT_EQ(runs[10].folder.folder.filename(), "8x8-multiplicative-adder-seed5");
  const auto model = recipe_of(runs[10].folder).model(ExampleKind::images);
  EXPECT_EQ(model.width, 64);
  EXPECT_EQ(model.layer.attention.heads, 8);
}

std::vector<std::string> names_of_variants(const TrainingStudy& study) {
  std::vector<std::string> names;
  for (const TrainingVariant& one : study.variants) names.push_back(one.name);
  return names;
}

TEST(TrainingVariantsTest, AreSelectedByNameOrByAPartOfNameOrLabel) {
  const TrainingStudy& ranks = find_training_study("adder-rank");
  using Names = std::vector<std::string>;
  EXPECT_EQ(names_of_variants(with_variants(ranks, "adder-adder")), Names{"adder-adder"})
      << "a whole name selects no longer ones";
  EXPECT_EQ(
      names_of_variants(with_variants(ranks, "adder layers,multiplicative-softmax")),
      (Names{"multiplicative-softmax", "adder-softmax", "adder-adder", "adder-adder-identity"}));
  EXPECT_EQ(with_variants(find_training_study("adder-width"), "d = 64").variants.size(), 6U);
  EXPECT_EQ(with_variants(find_training_study("adder-width"), "64x1,8x8-mult").variants.size(), 9U);
  for (const char* const bad : {"softmaxx", "softmax,adder-width", ",softmax"}) {
    const Error error =
        refusal_of([&] { (void)with_variants(ranks, bad); }, testing::Message() << bad);
    const std::string line = error.what();
    for (const TrainingVariant& one : ranks.variants) {
      EXPECT_NE(line.find(one.name), std::string::npos) << line;
    }
  }
}

TEST_F(TrainingStudyTest, TrainsSomeVariantsAndResumesThem) {
  const StudyFolder study{folder_ / "some"};
  begin_study(study, with_variants(find_training_study("adder-rank"), "softmax"), recipe(), 2);
  const auto runs = runs_of(study);
  ASSERT_EQ(runs.size(), 4U);
  EXPECT_EQ(runs[1].folder.folder.filename(), "adder-softmax-seed5");
  EXPECT_FALSE(fs::exists(study.folder / "adder-adder-seed5"));
  EXPECT_EQ(names_of_variants(study_of(study)),
            (std::vector<std::string>{"multiplicative-softmax", "adder-softmax"}));
  struct Stopped {};
  std::int64_t steps = 0;
  EXPECT_THROW(train_study(study, {},
                           [&](const StudyRun&, const TrainingRun&) {
                             if (++steps == 5) throw Stopped();
                           }),
               Stopped);
  train_study(study, {});
  const auto histories = read_histories(study.folder, {});
  ASSERT_EQ(histories.size(), 4U);
  EXPECT_EQ(histories[1].label, "adder layers, softmax");
}

TEST(TrainingStudiesTest, HashCodesComparesLearnedCodesWithSoftmaxSignsAndKlsh) {
  const std::vector<TrainingVariant>& variants = find_training_study("hash-codes").variants;
  ASSERT_EQ(variants.size(), 9U);
  EXPECT_EQ(variants[2].name, "klsh");
  EXPECT_EQ(variants[3].name, "learned-16x25");
  for (std::size_t i = 0; i < variants.size(); ++i) {
    ParameterValues values = variants[i].changes;
    values["dataset"] = std::string("d");
    EXPECT_EQ(Recipe(values).has_learned_codes(), i >= 2) << variants[i].name;
    EXPECT_EQ(Recipe(values).has_random_codes(), i == 2) << variants[i].name;
  }
}

TEST_F(TrainingStudyTest, LogsRanksAtEqualEntropyFromTheStart) {
  const StudyFolder study{folder_ / "study"};
  begin_study(study, find_training_study("adder-parts"), recipe(), 2);
  train_study(study, {});
  const auto histories = read_histories(study.folder, {});
  const TrainingLog& log = histories.front().log;
  const LogTable* const ranks = log.find("probes/rank_at_entropy");
  ASSERT_NE(ranks, nullptr);
  EXPECT_EQ(ranks->rows(), log.find("probes/step")->rows());
  for (const double rank : ranks->numbers) EXPECT_GE(rank, 1);
  const StudySummary summary = summarise(histories);
  ASSERT_EQ(summary.untrained.size(), 4U);
  EXPECT_EQ(summary.untrained[0].step.mean, 0);
  EXPECT_EQ(summary.untrained[0].rank_at_entropy.at(0).runs, 2);
  EXPECT_EQ(summary.at_equal_steps[0].entropy.size(), 1U);
  FigureRequest request;
  request.settings["folder"] = study.folder.string();
  request.settings["show"] = std::vector<std::string>{"mean_rank", "rank_at_entropy"};
  const Figure figure = make_figure("trained-ranks", request);
  EXPECT_EQ(figure.panels.size(), 4U);
  EXPECT_EQ(figure.numbers.at("equal_steps/rank_at_entropy/multiplicative, adder").at(0),
            summary.at_equal_steps.at(2).rank_at_entropy.at(0).mean);
  request.settings["only"] = std::string("adder layers");
  const Figure some = make_figure("trained-ranks", request);
  EXPECT_TRUE(some.numbers.contains("equal_steps/mean_rank/adder layers, adder"));
  EXPECT_FALSE(some.numbers.contains("equal_steps/mean_rank/multiplicative, adder"));
  request.settings["only"] = std::string("of another study");
  EXPECT_THROW((void)make_figure("trained-ranks", request), Error);
}

TEST_F(TrainingStudyTest, DrawsRunsStudiesAndForeignCheckpoints) {
  const StudyFolder study{folder_ / "study"};
  begin_study(study, find_training_study("adder-parts"), recipe(), 2);
  train_study(study, {});
  FigureRequest request;
  request.settings["folder"] = study.folder.string();
  const Figure over = make_figure("over-training", request);
  EXPECT_EQ(over.panels.size(), 4U);
  // Each of the four variants has a band over its seeds and a mean.
  EXPECT_EQ(over.panels.front().marks.size(), 8U);
  EXPECT_EQ(over.numbers.at("accuracy/adder layers, adder/x"),
            read_histories(study.folder, {}).back().log.tables().at("tests/step").numbers);
  EXPECT_EQ(make_figure("trained-ranks", request).panels.size(), 4U);
  FigureRequest losses = request;
  losses.settings["show"] = std::vector<std::string>{"loss", "bits"};
  const Figure both = make_figure("over-training", losses);
  ASSERT_EQ(both.panels.size(), 2U);
  const auto &nats = both.numbers.at("loss/adder layers, adder/mean"),
             &bits = both.numbers.at("bits/adder layers, adder/mean");
  ASSERT_EQ(bits.size(), nats.size());
  for (std::size_t i = 0; i < bits.size(); ++i) EXPECT_NEAR(bits[i], nats[i] / std::log(2), 1e-12);

  // Checkpoints without a log, like those of other programs, give the ranks that the log has for
  // the same inputs.
  const RunFolder run = runs_of(study).front().folder;
  fs::create_directories(folder_ / "elsewhere");
  for (const std::int64_t step : recipe_of(run).checkpoints()) {
    fs::copy(run.model(step),
             folder_ / "elsewhere" / ("checkpoint-" + std::to_string(step) + ".h5"));
  }
  const auto data = open_training_data(recipe().data());
  const auto series = read_histories(folder_ / "elsewhere", {data->test_input(0)});
  const TrainingLog log = read_training_log(run.log());
  for (const char* const table : {"probes/step", "probes/mean_rank", "probes/entropy"}) {
    EXPECT_EQ(series.front().log.tables().at(table), log.tables().at(table)) << table;
  }
  EXPECT_THROW((void)read_histories(folder_ / "elsewhere", {}), Error);
  request.settings["folder"] = (folder_ / "elsewhere").string();
  request.settings["input"] = data->test_input(0).locator;
  EXPECT_EQ(make_figure("over-training", request).panels.size(), 3U);
}

TEST(TrainingStudiesTest, ComparesWhatThePapersOfDaftAndFastformerDo) {
  const auto model_of = [](const char* study, const std::string& variant, ExampleKind kind) {
    const TrainingVariant one = with_variants(find_training_study(study), variant).variants.at(0);
    const ParameterValues shared = {{"dataset", std::string("d")}, {"from", std::string("m.h5")}};
    return recipe_of_variant(Recipe(shared), one, 3).model(kind);
  };
  const auto images = ExampleKind::images, language = ExampleKind::chunks;
  const ModelSpec local = model_of("daft-window", "local-7", images);
  EXPECT_EQ(local.mechanism.name, "daft-local");
  EXPECT_EQ(local.mechanism.parameters.at("kernel"), ParameterValue(std::int64_t{7}));
  for (const std::int64_t width : {32, 48, 96}) {
    const ModelSpec spec = model_of("daft-sizes", "softmax-" + std::to_string(width), images);
    EXPECT_EQ(spec.width, width);
    EXPECT_EQ(spec.layer.attention.heads, width / 16);
  }
  EXPECT_EQ(model_of("daft-factors", "free", images).mechanism.parameters.at("factors"),
            ParameterValue(std::int64_t{0}));
  const auto part_of_conv = [&](const char* variant, const char* setting) {
    const MechanismChoice choice = model_of("daft-parts", variant, images).mechanism;
    return make_mechanism(choice)->choice().parameters.at(setting);
  };
  EXPECT_EQ(part_of_conv("plain", "reparameterised"), ParameterValue(false));
  EXPECT_EQ(part_of_conv("plain", "gate"), ParameterValue(true));
  EXPECT_EQ(part_of_conv("ungated", "gate"), ParameterValue(false));
  EXPECT_EQ(part_of_conv("ungated", "reparameterised"), ParameterValue(true));
  const ModelSpec windowed = model_of("fastformer-lm", "windowed", language);
  EXPECT_EQ(windowed.layer.form, LayerForm::fastformer);
  EXPECT_EQ(windowed.layer_mechanisms.size(), 6U);
  EXPECT_EQ(model_of("fastformer-lm", "softmax", language).layer.form, LayerForm::transformer);
  // One of the variants begins with the given model, the other with random values.
  const TrainingStudy& conversion = find_training_study("daft-conversion");
  const Recipe shared({{"dataset", std::string("d")}, {"from", std::string("m.h5")}});
  const Recipe converted = recipe_of_variant(shared, conversion.variants.at(0), 1),
               random = recipe_of_variant(shared, conversion.variants.at(1), 1);
  EXPECT_EQ(converted.from(), "m.h5");
  EXPECT_EQ(converted.from_without().size(), 4U);
  EXPECT_EQ(random.from(), "");
  EXPECT_EQ(converted.model(images).mechanism, random.model(images).mechanism);
  EXPECT_EQ(random.model(images).readout.kind, Readout::mean);
}

TEST(TrainingStudiesTest, EveryVariantIsARecipe) {
  for (const TrainingStudy& study : training_studies()) {
    std::vector<std::string> recipes;
    for (const TrainingVariant& one : study.variants) {
      ParameterValues values = one.changes;
      values["dataset"] = std::string("d");
      if (!study.needs.empty()) values.try_emplace(std::string(study.needs), std::string("m.h5"));
      recipes.push_back(Recipe(values).to_json());
    }
    std::sort(recipes.begin(), recipes.end());
    EXPECT_EQ(std::adjacent_find(recipes.begin(), recipes.end()), recipes.end()) << study.name;
  }
  EXPECT_THROW((void)find_training_study("table-5"), Error);
}

}  // namespace
}  // namespace attnscope
