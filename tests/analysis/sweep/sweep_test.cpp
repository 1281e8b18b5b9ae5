#include "analysis/sweep/sweep.h"

#include <atomic>
#include <cmath>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <tbb/global_control.h>

#include "analysis/baselines/equal_entropy.h"
#include "analysis/baselines/null_model.h"
#include "analysis/figure/recipe.h"
#include "analysis/heads/head_table.h"
#include "analysis/matrix/analysed_matrix.h"
#include "analysis/sweep/input_block.h"
#include "analysis/sweep/statistics.h"
#include "analysis/sweep/sweep_fingerprint.h"
#include "analysis/sweep/sweep_summary.h"
#include "core/checkpoint/weight_files.h"
#include "core/error.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

const std::string kData = source_folder() + "/tests/data/sweep/";

class Sweep : public testing::Test {
 protected:
  static std::shared_ptr<const Model> model() {
    static const auto loaded =
        load_model(kData + "model.npz", {{{"heads", "2"}, {"crop_fraction", "1"}}, {}});
    return loaded;
  }

  SweepRequest request(const std::string& out, std::int64_t count = 0) {
    SweepRequest wanted;
    wanted.subjects = {{"tiny", model(), {}, nullptr, nullptr}};
    wanted.data_set = open_data_set(kData + "images.npz");
    wanted.data_set_path = kData + "images.npz";
    wanted.choice.count = count;
    wanted.out = folder_.path() / out;
    wanted.checkpoint_seconds = 0;
    return wanted;
  }

  TemporaryFolder folder_;
};

nlohmann::json reference() {
  return nlohmann::json::parse(std::ifstream(kData + "reference.json"));
}

TEST_F(Sweep, AgreesWithNumPy) {
  SweepRequest wanted = request("r.h5");
  wanted.views = {IdentityView::without, IdentityView::with};
  const SweepResult result = run_sweep(wanted);
  const nlohmann::json expected = reference();
  ASSERT_EQ(result.series.size(), 2U);
  EXPECT_EQ(result.done, expected["images"]);
  EXPECT_EQ(result.series[0].labelled, expected["images"]);
  EXPECT_EQ(result.series[0].correct, expected["correct"]);
  EXPECT_EQ(result.series[1].label, "tiny + I");
  // The maps are float32, and f(r) agrees to about that precision.
  constexpr double kTolerance = 2e-6;
  const SweptSpectrum all = swept_spectrum(result.series[0], {}, {}, 0.9);
  EXPECT_EQ(all.maps, 96 * 4);
  for (std::size_t r = 0; r < all.mean_share.size(); ++r) {
    EXPECT_NEAR(all.mean_share[r], expected["mean_share"][r].get<double>(), kTolerance);
    EXPECT_NEAR(all.standard_deviation[r], expected["standard_deviation"][r].get<double>(),
                kTolerance);
  }
  const SweptSpectrum one = swept_spectrum(result.series[0], {1}, {0}, 0.9);
  const SweptSpectrum with = swept_spectrum(result.series[1], {}, {}, 0.9);
  for (std::size_t r = 0; r < one.mean_share.size(); ++r) {
    EXPECT_NEAR(one.mean_share[r], expected["mean_share_layer_1_head_0"][r].get<double>(),
                kTolerance);
    EXPECT_NEAR(with.mean_share[r], expected["mean_share_with_identity"][r].get<double>(),
                kTolerance);
  }
  for (std::size_t l = 0; l < 2; ++l) {
    const LayerSweep& layer = result.series[0].layers[l];
    const SweptRanks ranks = swept_ranks(layer, -1, 0);
    EXPECT_NEAR(ranks.mean, expected["mean_rank"][l].get<double>(), 1e-12);
    EXPECT_NEAR(ranks.standard_deviation, expected["rank_deviation"][l].get<double>(), 1e-10);
    for (const char* q : {"0.05", "0.25", "0.5", "0.75", "0.95"}) {
      EXPECT_NEAR(ranks.quantile(std::stod(q)), expected["quantiles"][q][l].get<double>(), 1e-12);
    }
    for (std::int64_t head = 0; head < 2; ++head) {
      EXPECT_NEAR(swept_ranks(layer, head, 0).quantile(0.75),
                  expected["head_quantiles"][l][static_cast<std::size_t>(head)].get<double>(),
                  1e-12);
    }
  }
}

TEST_F(Sweep, TakesSharesOfSquaresOnRequest) {
  SweepRequest wanted = request("squares.h5");
  wanted.share = RankShare::energy;
  (void)run_sweep(wanted);
  const SweepResult result = read_sweep(wanted.out);
  EXPECT_EQ(result.share, RankShare::energy);
  const nlohmann::json expected = reference();
  const SweptSpectrum all = swept_spectrum(result.series[0], {}, {}, 0.9);
  for (std::size_t r = 0; r < all.mean_share.size(); ++r) {
    EXPECT_NEAR(all.mean_share[r], expected["mean_share_of_squares"][r].get<double>(), 2e-6);
  }
  for (std::size_t l = 0; l < 2; ++l) {
    EXPECT_NEAR(swept_ranks(result.series[0].layers[l], -1, 0).mean,
                expected["mean_rank_of_squares"][l].get<double>(), 1e-12);
  }
  wanted.share = RankShare::values;
  EXPECT_THROW((void)run_sweep(wanted), Error) << "the file holds another sweep";
}

TEST_F(Sweep, HasTheSameBytesOnOneThread) {
  const auto with_null = [this](const std::string& out) {
    SweepRequest wanted = request(out, 40);
    wanted.numbers.baselines = true;
    return wanted;
  };
  (void)run_sweep(with_null("many.h5"));
  {
    const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
    (void)run_sweep(with_null("one.h5"));
  }
  EXPECT_FALSE(read_bytes(folder_.path() / "many.h5").empty());
  EXPECT_EQ(read_bytes(folder_.path() / "many.h5"), read_bytes(folder_.path() / "one.h5"));
}

TEST_F(Sweep, ResumesAfterCancellation) {
  SweepRequest whole = request("whole.h5", 60);
  whole.numbers.baselines = true;
  (void)run_sweep(whole);
  SweepRequest parts = request("parts.h5", 60);
  parts.numbers.baselines = true;
  int stops = 0;
  std::int64_t done_before = 0;
  for (bool finished = false; !finished;) {
    std::stop_source stop;
    const Progress progress({}, stop.get_token());
    try {
      (void)run_sweep(parts, progress, [&](const SweepResult& result) {
        EXPECT_GT(result.done, done_before);
        done_before = result.done;
        stop.request_stop();
      });
      finished = true;
    } catch (const Cancelled&) {
      ++stops;
      // The results so far can be read while the sweep is stopped.
      EXPECT_EQ(read_sweep(sweep_checkpoint(parts.out)).done, done_before);
      EXPECT_FALSE(std::filesystem::exists(parts.out));
    }
    ASSERT_LE(stops, 10);
  }
  EXPECT_GE(stops, 3);
  EXPECT_EQ(read_bytes(whole.out), read_bytes(parts.out));
  EXPECT_FALSE(std::filesystem::exists(sweep_checkpoint(parts.out)));
}

/// Requests a stop when its fifth item is read.
class StoppingDataSet : public DataSet {
 public:
  StoppingDataSet(std::shared_ptr<const DataSet> items, std::stop_source& stop)
      : items_(std::move(items)), stop_(stop) {}
  std::int64_t size() const override { return items_->size(); }
  Input item(std::int64_t index) const override {
    if (++read_ == 5) stop_.request_stop();
    return items_->item(index);
  }
  const std::vector<std::string>& class_names() const override { return items_->class_names(); }

 private:
  std::shared_ptr<const DataSet> items_;
  std::stop_source& stop_;
  mutable std::atomic<int> read_{0};
};

TEST_F(Sweep, KeepsEveryFinishedInputOfItsFirstBlockWhenCancelled) {
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  const SweepRequest whole = request("whole.h5", 12);
  (void)run_sweep(whole);
  SweepRequest stopped = request("stopped.h5", 12);
  stopped.checkpoint_seconds = 3600;
  std::stop_source stop;
  stopped.data_set = std::make_shared<StoppingDataSet>(stopped.data_set, stop);
  EXPECT_THROW((void)run_sweep(stopped, Progress({}, stop.get_token())), Cancelled);
  const std::int64_t done = read_sweep(sweep_checkpoint(stopped.out)).done;
  EXPECT_GE(done, 1);
  EXPECT_LT(done, 12);
  (void)run_sweep(request("stopped.h5", 12));
  EXPECT_EQ(read_bytes(whole.out), read_bytes(stopped.out));
}

TEST_F(Sweep, AFinishedResultIsNotSweptAgain) {
  const SweepRequest wanted = request("r.h5", 20);
  const SweepResult first = run_sweep(wanted);
  const auto written = std::filesystem::last_write_time(wanted.out);
  int advanced = 0;
  const SweepResult again = run_sweep(wanted, {}, [&](const SweepResult&) { ++advanced; });
  EXPECT_EQ(advanced, 0);
  EXPECT_EQ(again.done, 20);
  EXPECT_EQ(again.series[0].layers[0].share_sums, first.series[0].layers[0].share_sums);
  EXPECT_EQ(std::filesystem::last_write_time(wanted.out), written);
  SweepRequest anew = wanted;
  anew.restart = true;
  (void)run_sweep(anew, {}, [&](const SweepResult&) { ++advanced; });
  EXPECT_GT(advanced, 0);
}

TEST_F(Sweep, AFinishedResultRemovesItsOwnUnfinishedWork) {
  const SweepRequest wanted = request("killed.h5");
  (void)run_sweep(wanted);
  const std::filesystem::path unfinished = sweep_checkpoint(wanted.out);
  std::filesystem::copy_file(wanted.out, unfinished);  // killed before it was removed
  (void)run_sweep(wanted);
  EXPECT_FALSE(std::filesystem::exists(unfinished));
  SweepRequest other = request("other.h5");
  other.thresholds = {0.5};
  (void)run_sweep(other);
  std::filesystem::copy_file(other.out, unfinished);
  (void)run_sweep(wanted);
  EXPECT_TRUE(std::filesystem::exists(unfinished)) << "work of another sweep";
}

TEST_F(Sweep, DoesNotReplaceTheResultOfAnotherSweep) {
  (void)run_sweep(request("r.h5", 20));
  const std::string before = read_bytes(folder_.path() / "r.h5");
  SweepRequest other = request("r.h5", 30);
  const Error error = refusal_of([&] { (void)run_sweep(other); });
  EXPECT_THAT(error.what(), testing::HasSubstr("the result of another sweep"));
  EXPECT_THAT(error.what(), testing::HasSubstr("--restart"));
  EXPECT_EQ(read_bytes(folder_.path() / "r.h5"), before);
  std::ofstream(folder_.path() / "notes.txt") << "what I thought";
  EXPECT_THROW((void)run_sweep(request("notes.txt", 20)), Error);
  EXPECT_EQ(read_bytes(folder_.path() / "notes.txt"), "what I thought");
  other.restart = true;
  EXPECT_EQ(run_sweep(other).done, 30);
}

TEST_F(Sweep, RefusesUnfinishedWorkOfAnotherSweep) {
  std::stop_source stop;
  const Progress progress({}, stop.get_token());
  EXPECT_THROW(
      (void)run_sweep(request("r.h5"), progress, [&](const SweepResult&) { stop.request_stop(); }),
      Cancelled);
  SweepRequest other = request("r.h5");
  other.thresholds = {0.5};
  EXPECT_THAT(error_of([&] { (void)run_sweep(other); }), testing::HasSubstr("--restart"));
  other.restart = true;
  EXPECT_EQ(run_sweep(other).done, 96);
}

TEST_F(Sweep, DoesNotResumeOverChangedClassFolders) {
  namespace fs = std::filesystem;
  const fs::path images = folder_.path() / "images";
  const fs::path samples = source_folder() + "/sample_data/inputs";
  const auto put = [&](const char* from, const char* place) {
    fs::create_directories((images / place).parent_path());
    fs::copy_file(samples / from, images / place, fs::copy_options::overwrite_existing);
  };
  put("08_bag.png", "bag/1.png");
  put("09_ankle_boot.png", "boot/1.png");
  const auto over_them = [&] {
    SweepRequest wanted = request("r.h5");
    wanted.data_set = open_data_set(images);
    wanted.data_set_path = images;
    return wanted;
  };
  (void)run_sweep(over_them());
  const auto refusal_now = [&]() -> std::string {
    try {
      (void)run_sweep(over_them());
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was refused";
  };
  EXPECT_EQ(refusal_now(), "nothing was refused");
  // The data set gains a picture; then it has the old number of pictures, but one of them differs.
  put("08_bag.png", "boot/2.png");
  EXPECT_THAT(refusal_now(), testing::AllOf(testing::HasSubstr("the contents of the data set"),
                                            testing::HasSubstr("the size of the data set")));
  fs::remove(images / "boot/2.png");
  EXPECT_EQ(refusal_now(), "nothing was refused");
  put("08_bag.png", "boot/1.png");
  EXPECT_THAT(refusal_now(), testing::HasSubstr("a difference in the contents of the data set"));
}

TEST_F(Sweep, DoesNotTakeADataSetThatIsGoneForAnEmptyOne) {
  const std::filesystem::path images = folder_.path() / "images.npz";
  std::filesystem::copy_file(kData + "images.npz", images);
  SweepRequest wanted = request("r.h5");
  wanted.data_set = open_data_set(images);
  wanted.data_set_path = images;
  std::filesystem::remove(images);
  const Error error =
      refusal_of([&] { (void)run_sweep(wanted); }, testing::Message() << "nothing was refused");
  EXPECT_EQ(error.kind(), ErrorKind::io);
  EXPECT_THAT(error.what(), testing::HasSubstr("images.npz"));
}

TEST_F(Sweep, DiffersForOtherHeadsOfTheSameFile) {
  (void)run_sweep(request("r.h5", 2));
  SweepRequest other = request("r.h5", 2);
  other.subjects[0].model =
      load_model(kData + "model.npz", {{{"heads", "4"}, {"crop_fraction", "1"}}, {}});
  EXPECT_THAT(error_of([&] { return run_sweep(other); }),
              testing::HasSubstr("a difference in the models"));
}

TEST_F(Sweep, DiffersForAnotherSeed) {
  const SweepRequest one = request("r.h5", 2);
  SweepRequest other = one;
  other.choice.seed = one.choice.seed + 1;
  EXPECT_EQ(fingerprint_difference(sweep_fingerprint(one), sweep_fingerprint(one)), "");
  EXPECT_EQ(fingerprint_difference(sweep_fingerprint(one), sweep_fingerprint(other)), "the seed");
}

TEST(SweepFingerprint, NamesTheDifferenceOfTwoSweeps) {
  EXPECT_EQ(fingerprint_difference(R"({"seed": 1, "first": 0})", R"({"seed": 2, "first": 1})"),
            "the first input, the seed");
  EXPECT_EQ(fingerprint_difference(R"({"seed": 1})", R"({"seed": 1})"), "");
  EXPECT_EQ(fingerprint_difference("no JSON", "none either"), "everything");
}

TEST(WeightFiles, AreTheShardsBehindAnIndexToo) {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  const fs::path shard = folder / "m-1.bin";
  const fs::path index = folder.write(
      "m.index.json", R"({"weight_map": {"a": "m-1.bin", "b": "m-1.bin", "c": "m-2.bin"}})");
  EXPECT_EQ(weight_files(index), (std::vector<fs::path>{shard, folder / "m-2.bin", index}));
  EXPECT_EQ(weight_files(shard), std::vector<fs::path>{shard});
  (void)folder.write("m.index.json", R"({"weight_map": 3})");
  EXPECT_EQ(weight_files(index), std::vector<fs::path>{index});
  const fs::path part = folder / "q-00002-of-00002.gguf";
  EXPECT_EQ(weight_files(part), (std::vector<fs::path>{folder / "q-00001-of-00002.gguf", part}));
}

TEST_F(Sweep, ReadsBackWhatItWrote) {
  SweepRequest wanted = request("r.h5", 20);
  wanted.subjects.push_back({"hashed",
                             model(),
                             {"hash", {{"bits", std::int64_t{4}}, {"supports", std::int64_t{8}}}},
                             nullptr,
                             nullptr});
  wanted.thresholds = {0.9, 0.5};
  const SweepResult result = run_sweep(wanted);
  const SweepResult read = read_sweep(wanted.out);
  ASSERT_EQ(read.series.size(), 2U);
  EXPECT_EQ(read.thresholds, result.thresholds);
  EXPECT_EQ(read.series[1].layers[1].ranks, result.series[1].layers[1].ranks);
  EXPECT_EQ(read.series[1].layers[1].share_sums, result.series[1].layers[1].share_sums);
  const StatisticSums& codes = read.series[1].layers[0].statistics.at("distinct_codes");
  EXPECT_EQ(codes.counts, (std::vector<std::int64_t>{20, 20}));
  EXPECT_GE(codes.least[0], 1);
  EXPECT_LE(codes.greatest[0], 16);
  EXPECT_FALSE(read.series[0].layers[0].statistics.contains("distinct_codes"));
  const StatisticSums& entropy = read.series[0].layers[0].statistics.at("normalised_entropy");
  EXPECT_EQ(entropy.counts, (std::vector<std::int64_t>{20, 20}));
  EXPECT_GT(entropy.least[0], 0);
  EXPECT_LE(entropy.greatest[0], 1 + 1e-9);
  EXPECT_EQ(find_threshold(read, 0.5), 1U);
  EXPECT_THROW((void)find_threshold(read, 0.7), Error);
}

TEST_F(Sweep, TakesTheFirstInputsWhereAnEndIsGiven) {
  SweepRequest wanted = request("r.h5");
  wanted.end = 5;
  wanted.first = 2;
  EXPECT_EQ(swept_items(wanted), (std::vector<std::int64_t>{0, 1, 2})) << "counted from the first";
  const SweepResult result = run_sweep(wanted);
  EXPECT_EQ(result.done, 3);
  EXPECT_EQ(result.items, 3);
  wanted.end = 4;
  EXPECT_THROW((void)run_sweep(wanted), Error) << "that was another sweep";
  wanted.end = 1000;
  EXPECT_EQ(wanted.items(), 94) << "of 96";
}

TEST_F(Sweep, RefusesInvalidRequests) {
  SweepRequest wanted = request("r.h5");
  const auto refused = [&wanted](const char* why) {
    EXPECT_THAT(error_of([&] { return run_sweep(wanted); }), testing::HasSubstr(why));
  };
  wanted.first = 96;
  refused("the data set has no such inputs");
  wanted.first = wanted.end = 3;
  refused("found 3 to before 3");
  wanted = request("r.h5");
  wanted.thresholds = {1.5};
  refused("the threshold of the equivalent rank is out of range");
  wanted = request("r.h5");
  wanted.subjects.clear();
  refused("no model was given to sweep");
  EXPECT_THROW((void)read_sweep(kData + "images.npz"), Error);
}

TEST_F(Sweep, ItsFiguresShowItsNumbers) {
  SweepRequest wanted = request("r.h5");
  wanted.subjects.push_back(
      {"hashed", model(), {"hash", {{"supports", std::int64_t{8}}}}, nullptr, nullptr});
  (void)run_sweep(wanted);
  const nlohmann::json expected = reference();
  FigureRequest asked;
  asked.settings["file"] = wanted.out.string();
  const Figure spectrum = make_figure("sweep-spectrum", asked);
  EXPECT_NEAR(spectrum.numbers.at("mean_share/tiny")[3], expected["mean_share"][3].get<double>(),
              2e-6);
  EXPECT_THAT(spectrum.caption, testing::HasSubstr("96 inputs of images.npz"));
  const Figure ranks = make_figure("sweep-ranks", asked);
  EXPECT_EQ(ranks.numbers.at("low_25/tiny")[0], expected["quantiles"]["0.25"][0]);
  EXPECT_EQ(ranks.numbers.at("high_5/tiny")[1], expected["quantiles"]["0.95"][1]);
  EXPECT_EQ(ranks.numbers.at("median/tiny")[1], expected["quantiles"]["0.5"][1]);
  const Figure quantities = make_figure("sweep-quantities", asked);
  EXPECT_TRUE(quantities.numbers.contains("mean/code_entropy/hashed"));
  // Both series are of the same model, which is named once.
  const std::string status = "model.npz " + in_words(model()->status()) + ". Made with";
  EXPECT_THAT(status, testing::StartsWith("model.npz unconfirmed: "));
  for (const Figure* figure : {&spectrum, &ranks, &quantities}) {
    EXPECT_THAT(figure->caption, testing::HasSubstr(". " + status)) << figure->name;
  }
  asked.settings["bands"] = std::vector<double>{60};
  EXPECT_THROW((void)make_figure("sweep-ranks", asked), Error);
  EXPECT_THROW((void)make_figure("sweep-spectrum", {}), Error);
}

const SweepStatistic& statistic(std::string_view name) {
  for (const SweepStatistic& one : sweep_statistics()) {
    if (one.name == name) return one;
  }
  throw std::runtime_error("no such statistic");
}

TEST(SweepStatistics, EqualTheirDefinitions) {
  const std::vector<float> even(8, 0.125F), single = {0, 0, 1, 0};
  const auto of = [](const char* name, const std::vector<float>& values, Eigen::Index rows) {
    const SweepStatistic& one = statistic(name);
    const ConstMatrixMap head(values.data(), rows, static_cast<Eigen::Index>(values.size()) / rows);
    if (one.of != nullptr) return one.of(head);
    return map_statistics(head.cast<double>(), up_to_the_query(rows)).at(name);
  };
  EXPECT_NEAR(of("importance_entropy", even, 1), 1, 1e-12);
  EXPECT_NEAR(of("importance_entropy", single, 1), 0, 1e-12);
  EXPECT_EQ(of("largest_importance", single, 1), 1);
  // The statistics of maps are those of the table of heads (heads_test compares them with NumPy).
  const std::vector<float> map = {1, 0, 0.5F, 0.5F};
  EXPECT_NEAR(of("entropy", map, 2), std::log(2) / 2, 1e-7);
  EXPECT_NEAR(of("normalised_entropy", map, 2), 1, 1e-7) << "the first sees one key";
  EXPECT_NEAR(of("sink", map, 2), 0.75, 1e-7);
  EXPECT_TRUE(std::isnan(of("entropy", {1.5F, -0.5F, 0, 1}, 2))) << "no distribution";
  // The four tokens have the codes 00, 00, 10 and 11 of two bits.
  const std::vector<float> codes = {-1, -1, -1, -1, 1, -1, 1, 1};
  EXPECT_EQ(of("distinct_codes", codes, 4), 3);
  EXPECT_NEAR(of("code_entropy", codes, 4), 1.5, 1e-12);
  EXPECT_NEAR(of("bit_imbalance", codes, 4), 0.25, 1e-12);
}

/// Mean over inputs and heads of one layer, computed run by run.
double mean_over_runs(const Model& model, const DataSet& data,
                      const std::function<double(const Trace& trace)>& sum_of_layer,
                      std::int64_t heads) {
  double sum = 0;
  for (std::int64_t item = 0; item < data.size(); ++item) {
    TraceRequest wanted;
    wanted.queries_keys_values = wanted.tokens = true;
    sum += sum_of_layer(model.run(data.item(item), model.spec().mechanism, wanted, {}));
  }
  return sum / static_cast<double>(data.size() * heads);
}

TEST_F(Sweep, NumbersOfHeadsAndNullModelsAreTheirMeansOverRuns) {
  SweepRequest wanted = request("numbers.h5");
  wanted.subjects[0].mechanism = model()->spec().mechanism;
  wanted.numbers.heads = wanted.numbers.baselines = true;
  const SweepResult result = run_sweep(wanted);
  const LayerSweep& layer = result.series[0].layers[1];
  const auto expect = [&](const char* name, const std::function<double(const Trace&)>& of) {
    EXPECT_NEAR(swept_statistic(layer.statistics.at(name), -1).mean,
                mean_over_runs(*model(), *wanted.data_set, of, layer.heads), 1e-9)
        << name;
  };
  const auto of_heads = [](double HeadRow::*value) {
    return [value](const Trace& trace) {
      double sum = 0;
      for (const HeadRow& row : head_table(trace).rows) sum += row.layer == 1 ? row.*value : 0;
      return sum;
    };
  };
  expect("distance", of_heads(&HeadRow::distance));
  expect("value_norm", of_heads(&HeadRow::value_norm));
  expect("rank_without_sinks", of_heads(&HeadRow::rank_without_sinks));
  expect("null_rank", [](const Trace& trace) {
    double sum = 0;
    for (const NullRanks& null : null_ranks(trace)) {
      sum += null.layer == 1 ? null.rank : 0;
    }
    return sum;
  });
  const double over = swept_statistic(layer.statistics.at("rank_over_null"), -1).mean;
  EXPECT_GT(over, 0);
  EXPECT_LT(over, 2);
  EXPECT_EQ(swept_statistic(layer.statistics.at("induction"), -1).count, 0) << "of texts alone";
}

TEST_F(Sweep, RanksAtAnEntropyAreTheirMeansOverRuns) {
  SweepRequest wanted = request("entropy.h5");
  wanted.subjects[0].mechanism = {"softmax", {}};
  wanted.views = {IdentityView::without, IdentityView::with};
  wanted.numbers.at_entropy = 0.6;
  const SweepResult result = run_sweep(wanted);
  EXPECT_EQ(read_sweep(wanted.out).numbers, wanted.numbers);
  ASSERT_EQ(result.series.size(), 2U);
  for (const bool identity : {false, true}) {
    const LayerSweep& layer = result.series[identity ? 1 : 0].layers[1];
    std::int64_t maps = 0;
    double sum = 0;
    const MatrixChoice analysed{.identity = wanted.views[identity ? 1 : 0]};
    for (std::int64_t item = 0; item < wanted.data_set->size(); ++item) {
      const Trace trace = model()->run(wanted.data_set->item(item), {"softmax", {}}, {}, {});
      for (const EntropyRank& one : ranks_at_entropy(trace, 0.6, analysed)) {
        if (one.layer != 1 || std::isnan(one.rank)) continue;
        sum += one.rank;
        ++maps;
      }
    }
    const SweptStatistic swept =
        swept_statistic(layer.statistics.at(std::string(kRankAtEntropy)), -1);
    ASSERT_GT(maps, 0);
    EXPECT_EQ(swept.count, maps);
    EXPECT_NEAR(swept.mean, sum / static_cast<double>(maps), 1e-9);
  }
  SweepRequest other = request("refused.h5");
  other.subjects[0].mechanism = {"softmax", {}};
  other.numbers.at_entropy = 1.5;
  EXPECT_THROW((void)run_sweep(other), Error);
  other.numbers = {.analysed = {MatrixKind::tokens, false}, .at_entropy = 0.5};
  EXPECT_THROW((void)run_sweep(other), Error);
}

TEST_F(Sweep, SpectraOfNullModelsAreThoseOfNumPy) {
  SweepRequest wanted = request("null.h5");
  wanted.subjects[0].mechanism = model()->spec().mechanism;
  wanted.numbers.baselines = true;
  const SweepResult result = run_sweep(wanted);
  const nlohmann::json expected = reference();
  const SweepSeries& series = result.series.at(0);
  const auto near = [&](const std::vector<double>& found, const char* key) {
    ASSERT_EQ(found.size(), expected.at(key).size());
    for (std::size_t r = 0; r < found.size(); ++r) {
      EXPECT_NEAR(found[r], expected[key][r].get<double>(), 1e-5) << key << " " << r;
    }
  };
  const SweptSpectrum null = swept_null_spectrum(series, {}, {}, 0.9);
  EXPECT_EQ(null.maps, 96 * 2 * 2 * 8);
  near(null.mean_share, "null_mean_share");
  near(null.standard_deviation, "null_standard_deviation");
  near(swept_null_spectrum(series, {1}, {0}, 0.9).mean_share, "null_mean_share_layer_1_head_0");
  const SweepResult read = read_sweep(wanted.out);
  EXPECT_EQ(read.series[0].layers[1].null_share_sums, series.layers[1].null_share_sums);
  EXPECT_EQ(read.series[0].layers[1].null_share_squares, series.layers[1].null_share_squares);
  EXPECT_EQ(read.series[0].layers[1].null_maps, series.layers[1].null_maps);

  FigureRequest asked;
  asked.settings["file"] = wanted.out.string();
  const Figure figure = make_figure("sweep-spectrum", asked);
  EXPECT_EQ(figure.numbers.at("null_mean_share/tiny"), null.mean_share);
  const auto* const band = std::get_if<Band>(&figure.panels.at(0).marks.front());
  ASSERT_NE(band, nullptr) << "behind everything else";
  EXPECT_EQ(band->label, "rows shuffled");
  EXPECT_NEAR(band->low[5], null.mean_share[4] - null.standard_deviation[4], 1e-12);
  EXPECT_THAT(figure.caption, testing::HasSubstr("in another order"));
  asked.settings["null"] = std::string("none");
  EXPECT_FALSE(make_figure("sweep-spectrum", asked).numbers.contains("null_mean_share/tiny"));
}

TEST_F(Sweep, ReportsAFileWithoutSpectraOfNullModels) {
  SweepRequest wanted = request("plain.h5");
  (void)run_sweep(wanted);
  FigureRequest asked;
  asked.settings["file"] = wanted.out.string();
  EXPECT_FALSE(make_figure("sweep-spectrum", asked).numbers.contains("null_mean_share/tiny"));
  asked.settings["null"] = std::string("shuffled");
  const Error error = refusal_of([&] { (void)make_figure("sweep-spectrum", asked); },
                                 testing::Message() << "there are no null models in the file");
  EXPECT_THAT(error.what(), testing::HasSubstr("holds no spectra of null models"));
  EXPECT_THAT(error.remedy_text(), testing::HasSubstr("--baselines"));
}

TEST_F(Sweep, AveragesRanksOfOtherMatricesOverRuns) {
  for (const MatrixChoice& analysed :
       {MatrixChoice{MatrixKind::map, true}, MatrixChoice{MatrixKind::head_output, false},
        MatrixChoice{MatrixKind::tokens, false}, MatrixChoice{MatrixKind::output, true}}) {
    SweepRequest wanted = request("of.h5");
    wanted.restart = true;
    wanted.subjects[0].mechanism = model()->spec().mechanism;
    wanted.numbers.analysed = analysed;
    const SweepResult result = run_sweep(wanted);
    const LayerSweep& layer = result.series[0].layers[0];
    EXPECT_EQ(layer.heads, is_of_layer(analysed.of) ? 1 : 2);
    const auto sum = [&](const Trace& trace) {
      double ranks = 0;
      for (const MapSpectrum& map : spectra_of(without_model(trace), analysed)) {
        ranks += map.layer == 0 ? static_cast<double>(map.equivalent_rank) : 0;
      }
      return ranks;
    };
    EXPECT_NEAR(swept_ranks(layer, -1, 0).mean,
                mean_over_runs(*model(), *wanted.data_set, sum, layer.heads), 1e-9)
        << in_words(analysed);
    EXPECT_EQ(read_sweep(wanted.out).numbers, wanted.numbers);
  }
}

TEST_F(Sweep, DoesNotResumeWorkOfOtherNumbers) {
  SweepRequest wanted = request("other.h5");
  (void)run_sweep(wanted);
  EXPECT_EQ(read_sweep(wanted.out).numbers, SweptNumbers{});
  wanted.numbers.heads = true;
  const Error error =
      refusal_of([&] { (void)run_sweep(wanted); },
                 testing::Message() << "the finished sweep has no numbers of heads");
  EXPECT_EQ(error.found_text(), "a difference in the further numbers");
  wanted.numbers = {.analysed = {MatrixKind::scores, false}, .baselines = true};
  EXPECT_THROW((void)run_sweep(wanted), Error) << "null models are only defined for attention maps";
  wanted.numbers = {.analysed = {MatrixKind::tokens, false}, .heads = true};
  EXPECT_THROW((void)run_sweep(wanted), Error) << "tokens have no heads";
}

TEST_F(Sweep, NumbersHaveTheSameBytesAfterAnInterruption) {
  SweepRequest wanted = request("whole.h5");
  wanted.numbers.heads = wanted.numbers.baselines = true;
  (void)run_sweep(wanted);
  SweepRequest interrupted = wanted;
  interrupted.out = folder_.path() / "parts.h5";
  std::stop_source stop;
  EXPECT_THROW((void)run_sweep(interrupted, Progress({}, stop.get_token()),
                               [&](const SweepResult&) { stop.request_stop(); }),
               Cancelled);
  (void)run_sweep(interrupted);
  const auto bytes = [](const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  EXPECT_EQ(bytes(wanted.out), bytes(interrupted.out));
}

}  // namespace
}  // namespace attnscope
