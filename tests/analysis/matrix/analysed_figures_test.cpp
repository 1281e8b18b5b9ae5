// Figures of the spectra of matrices other than maps, and figures with baselines.
#include <cmath>
#include <gtest/gtest.h>
#include <memory>
#include <variant>

#include "analysis/baselines/null_model.h"
#include "analysis/comparison/comparison.h"
#include "analysis/components/components.h"
#include "analysis/figure/recipe.h"
#include "analysis/heads/head_table.h"
#include "analysis/spectrum/mean_spectrum.h"
#include "core/error.h"
#include "tests/analysis/matrix/softmax_cases.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

FigureRequest softmax_request(bool causal = false) {
  FigureRequest request;
  Subject subject;
  subject.label = "net";
  subject.trace = std::make_shared<const Trace>(
      softmax_case({{"n", 30}, {"d", 5}, {"seed", 6}, {"causal", causal}}));
  request.subjects = {std::move(subject)};
  return request;
}

template <class Kind>
const Kind* first_of(const Panel& panel) {
  for (const Mark& mark : panel.marks) {
    if (const auto* one = std::get_if<Kind>(&mark)) return one;
  }
  return nullptr;
}

TEST(CumulativeSpectrumOfOthers, ShowsThemWithTheirBoundAndNamesThem) {
  FigureRequest request = softmax_request();
  request.settings = {{"of", "scores"}};
  const Figure figure = make_figure("cumulative-spectrum", request);
  EXPECT_EQ(figure.numbers.at("rank_bound/net").at(0), 5);
  EXPECT_EQ(figure.numbers.at("greatest_numerical_rank/net").at(0), 5);
  EXPECT_NE(figure.caption.find("of the scores before bias"), std::string::npos);
  request.settings = {{"of", "log-map"}, {"centred", true}};
  EXPECT_NE(make_figure("cumulative-spectrum", request).caption.find("without the mean row"),
            std::string::npos);
  request.settings = {{"of", "tokens"}};
  EXPECT_EQ(make_figure("rank-by-layer", request).numbers.at("mean_rank_by_layer/net").size(), 1U);
}

TEST(CumulativeSpectrumOfOthers, TheGreyBandIsThatOfTheNullModels) {
  for (const bool causal : {false, true}) {
    FigureRequest request = softmax_request(causal);
    request.settings = {{"null", "shuffled"}, {"identity", "without"}};
    const Figure figure = make_figure("cumulative-spectrum", request);
    const NullRanks null =
        null_ranks(*request.subjects[0].trace, {.identity = IdentityView::without}).at(0);
    EXPECT_NEAR(figure.numbers.at("null_rank_mean_of_maps/net").at(0), null.rank, 1e-12);
    const Band* const band = first_of<Band>(figure.panels.at(0));
    ASSERT_NE(band, nullptr);
    const MeanSpectrum mean = mean_spectrum(null.shuffled, 0.9);
    EXPECT_EQ(band->low, mean.low_share);
    EXPECT_EQ(band->high, mean.high_share);
    EXPECT_NE(figure.caption.find("in another order"), std::string::npos);
  }
  FigureRequest plain = softmax_request();
  EXPECT_EQ(first_of<Band>(make_figure("cumulative-spectrum", plain).panels.at(0)), nullptr);
}

TEST(CumulativeSpectrumOfOthers, NullModelsAreOfMaps) {
  FigureRequest request = softmax_request();
  request.settings = {{"null", "shuffled"}, {"of", "scores"}};
  EXPECT_THROW((void)make_figure("cumulative-spectrum", request), Error);
  request.settings = {{"null", "shuffled"}, {"added", "without-convolution"}};
  const Error error = refusal_of([&] { (void)make_figure("cumulative-spectrum", request); },
                                 testing::Message() << "the band would be that of the whole map");
  EXPECT_NE(std::string(error.what()).find("null models"), std::string::npos) << error.what();
  request.settings = {{"channels", "all"}, {"centred", true}};
  EXPECT_THROW((void)make_figure("cumulative-spectrum", request), Error);
}

FigureRequest two_softmax_requests() {
  FigureRequest request = softmax_request();
  Subject other;
  other.label = "other";
  other.trace = std::make_shared<const Trace>(
      softmax_case({{"n", 30}, {"d", 5}, {"seed", 16}, {"causal", false}}));
  request.subjects.push_back(std::move(other));
  return request;
}

TEST(ComparedFiguresOfOthers, CompareThemAndNameThem) {
  FigureRequest request = two_softmax_requests();
  request.settings = {{"of", "scores"}, {"centred", true}};
  const SubjectComparison found = compare_subjects(request.subjects[0], request.subjects[1],
                                                   {.analysed = {MatrixKind::scores, true}});
  const Figure spectra = make_figure("spectrum-comparison", request);
  EXPECT_EQ(spectra.numbers.at("spectrum_distance/other").at(0),
            found.mean[ComparisonQuantity::spectrum_distance]);
  EXPECT_NE(
      spectra.caption.find("Spectra of scores before bias, mask and cap, without the mean row"),
      std::string::npos)
      << spectra.caption;
  const Figure ranks = make_figure("rank-comparison", request);
  EXPECT_EQ(ranks.numbers.at("rank/other").at(0), found.mean[ComparisonQuantity::rank]);
  EXPECT_NE(ranks.panels.at(0).x.label.find("scores, centred"), std::string::npos);
  request.settings["identity"] = std::string("with");
  EXPECT_THROW((void)make_figure("rank-comparison", request), Error);
}

TEST(ComparedFiguresOfOthers, TheGreyBandIsThatOfTheNullModels) {
  FigureRequest request = two_softmax_requests();
  request.settings = {{"null", "shuffled"}};
  const Figure figure = make_figure("spectrum-comparison", request);
  std::vector<const Band*> bands;
  for (const Mark& mark : figure.panels.at(0).marks) {
    if (const auto* band = std::get_if<Band>(&mark)) bands.push_back(band);
  }
  ASSERT_EQ(bands.size(), 2U);
  EXPECT_TRUE(std::get_if<Band>(&figure.panels[0].marks.front())) << "behind the curves";
  for (std::size_t subject = 0; subject < 2; ++subject) {
    const NullRanks null = null_ranks(*request.subjects[subject].trace).at(0);
    const std::string& label = request.subjects[subject].label;
    EXPECT_EQ(figure.numbers.at("null_rank_mean_of_maps/" + label).at(0), null.rank);
    const MeanSpectrum mean = mean_spectrum(null.shuffled, 0.9);
    const Band& band = *bands[1 - subject];
    ASSERT_EQ(band.keys.at(0).second, label);
    // The share of r of 30 values is drawn at r / 30, which need not be a sample point of the band.
    for (const std::size_t r : {3U, 15U, 30U}) {
      const double at = static_cast<double>(r) / 30;
      const auto place = static_cast<std::size_t>(std::lround(at * 200));
      if (std::abs(at * 200 - static_cast<double>(place)) > 1e-9) continue;
      EXPECT_NEAR(band.low[place], mean.low_share[r - 1], 1e-9) << r;
      EXPECT_NEAR(band.high[place], mean.high_share[r - 1], 1e-9) << r;
    }
  }
  EXPECT_NE(figure.caption.find("in another order"), std::string::npos);
  request.settings["of"] = std::string("scores");
  EXPECT_THROW((void)make_figure("spectrum-comparison", request), Error);
}

TEST(ComponentsFigureOfOthers, ChannelsAreNamedAsSuch) {
  FigureRequest request = softmax_request();
  request.settings = {{"of", "values"}, {"count", std::int64_t{2}}};
  const Figure figure = make_figure("components", request);
  ASSERT_EQ(figure.panels.size(), 2U);
  EXPECT_EQ(figure.panels[0].title, "channels");
  EXPECT_EQ(figure.panels[0].x.label, "channel");
  for (const Tick& tick : figure.panels[0].x.ticks) {
    EXPECT_EQ(tick.label, std::to_string(std::lround(tick.value))) << "no half channels";
  }
  EXPECT_FALSE(figure.panels[0].x.ticks.empty());
  EXPECT_EQ(figure.panels[1].title, "keys");
  EXPECT_EQ(std::get<HeatMap>(figure.panels[0].marks.at(0)).columns, 5);
  EXPECT_NE(figure.caption.find("v_k over its channels, u_k over its keys"), std::string::npos)
      << figure.caption;
  const MapComponents found = map_components(request.subjects[0], {0, 0}, {MatrixKind::values}, 2);
  EXPECT_EQ(figure.numbers.at("share/net").at(1), found.share(1));
  request.settings["of"] = std::string("tokens");
  EXPECT_EQ(make_figure("components", request).panels.at(1).title, "tokens");
  request.settings = {{"of", "scores"}, {"identity", "with"}};
  EXPECT_THROW((void)make_figure("components", request), Error);
}

TEST(HeadFiguresOfOthers, NameTheMatrixOfTheRanks) {
  FigureRequest request = softmax_request();
  request.settings = {{"of", "head-output"},
                      {"measures", std::vector<std::string>{"equivalent_rank"}}};
  const Figure figure = make_figure("heads-over-depth", request);
  EXPECT_EQ(figure.numbers.at("equivalent_rank/net").at(0),
            head_table(*request.subjects[0].trace, {.analysed = {MatrixKind::head_output}})
                .rows.at(0)
                .equivalent_rank);
  EXPECT_NE(figure.caption.find("equivalent rank of head-output"), std::string::npos);
  EXPECT_NE(figure.caption.find("of the head outputs A V"), std::string::npos);
  request.settings["of"] = std::string("tokens");
  EXPECT_THROW((void)make_figure("heads-over-depth", request), Error) << "none of each head";
}

}  // namespace
}  // namespace attnscope
