// The figures of spectra of other matrices than maps, and with their baselines.
#include <cmath>
#include <gtest/gtest.h>
#include <memory>
#include <variant>

#include "analysis/baselines/null_model.h"
#include "analysis/figure/recipe.h"
#include "analysis/spectrum/mean_spectrum.h"
#include "core/error.h"
#include "tests/analysis/analysed/softmax_cases.h"

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
        null_ranks(*request.subjects[0].trace, IdentityView::without, false).at(0);
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
  request.settings = {{"channels", "all"}, {"centred", true}};
  EXPECT_THROW((void)make_figure("cumulative-spectrum", request), Error);
}

}  // namespace
}  // namespace attnscope
