// Spectra with the residual stream or the convolution added, compared with PyTorch and NumPy.

#include <gtest/gtest.h>

#include "analysis/figure/recipe.h"
#include "analysis/matrix/analysed_matrix.h"
#include "core/error.h"
#include "tests/support/inside_models.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

std::vector<double> numbers_of(const std::string& file, const std::string& array) {
  const Checkpoint stored = open_checkpoint(source_folder() + "/tests/data/" + file);
  const Tensor numbers = stored.at(array).view().to_float();
  return {numbers.values().begin(), numbers.values().end()};
}

/// Expects every singular value to within 1e-5 of the largest one.
void expect_values(const MapSpectrum& spectrum, std::span<const double> expected,
                   const std::string& what) {
  ASSERT_EQ(spectrum.singular_values.size(), expected.size()) << what;
  for (std::size_t t = 0; t < expected.size(); ++t) {
    ASSERT_NEAR(spectrum.singular_values[t], expected[t], 1e-5 * expected[0]) << what << " " << t;
  }
}

class ResidualOf : public testing::TestWithParam<const char*> {};

TEST_P(ResidualOf, OutputsAgreeWithPyTorch) {
  const InsideModel model(GetParam());
  const SpectrumOptions options = {.accuracy = SpectrumAccuracy::every_value, .layers = {1}};
  const auto heads = spectra_of(model.subject(),
                                {.of = MatrixKind::head_output, .added = Added::residual}, options);
  expect_values(heads.at(1), numbers_of("inside/added.npz", std::string(GetParam()) + "_head"),
                "head 1");
  const auto all =
      spectra_of(model.subject(), {.of = MatrixKind::output, .added = Added::residual}, options);
  ASSERT_EQ(all.size(), 1U);
  expect_values(all[0], numbers_of("inside/added.npz", std::string(GetParam()) + "_output"),
                "all heads");
}

TEST_P(ResidualOf, LayerUpdatesAgreeWithPyTorch) {
  const InsideModel model(GetParam());
  const auto found = spectra_of(model.subject(), {.of = MatrixKind::token_updates},
                                {.accuracy = SpectrumAccuracy::every_value, .layers = {1}});
  ASSERT_EQ(found.size(), 1U);
  expect_values(found[0], numbers_of("inside/added.npz", std::string(GetParam()) + "_updates"),
                "updates");
}

TEST_P(ResidualOf, NormWeightedMapsAgreeWithPyTorch) {
  const InsideModel model(GetParam());
  const AnalysedMatrix found =
      analysed_matrix(model.subject(), {1, 1}, {.of = MatrixKind::norm_weighted});
  EXPECT_LT(greatest_difference(found.matrix, model.expected("head_norms")), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Inside, ResidualOf, testing::Values("vit", "bert", "gpt2"),
                         [](const auto& one) { return std::string(one.param); });

Subject daft_subject(std::optional<std::int64_t> channel) {
  const std::string samples = source_folder() + "/sample_data/";
  Subject subject;
  subject.label = "fashion-daft-conv";
  subject.model = load_model(samples + "models/fashion-daft-conv.h5");
  subject.mechanism = subject.model->spec().mechanism;
  subject.input = std::make_shared<const Input>(open_input(samples + "inputs/00_t_shirt.png"));
  TraceRequest request;
  request.quantities = true;
  request.channel = channel;
  subject.trace = std::make_shared<const Trace>(
      subject.model->run(*subject.input, subject.mechanism, request, {}));
  return subject;
}

TEST(Added, ConvolutionAgreesWithNumPy) {
  const Subject subject = daft_subject(0);
  const SpectrumOptions options = {.accuracy = SpectrumAccuracy::every_value, .layers = {0, 5}};
  for (const Added added : {Added::without_convolution, Added::convolution}) {
    const bool alone = added == Added::convolution;
    const std::vector<double> expected =
        numbers_of("analysed/convolution.npz", alone ? "convolution" : "without_convolution");
    const auto spectra = spectra_of(subject, {.added = added}, options);
    ASSERT_EQ(spectra.size(), 6U);
    const std::size_t each = expected.size() / spectra.size();
    for (std::size_t i = 0; i < spectra.size(); ++i) {
      expect_values(spectra[i], std::span(expected).subspan(i * each, each),
                    "map " + std::to_string(i));
    }
    // Without the convolution every row is one common row, scaled by the query's gate and sum.
    if (alone) {
      EXPECT_GT(spectra[0].equivalent_rank, 10);
    } else {
      EXPECT_EQ(spectra[0].equivalent_rank, 1);
    }
  }
}

TEST(Added, ConvolutionAndTheRestAreTheMap) {
  const Subject subject = daft_subject(3);
  const MapIndex place{2, 1};
  const MatrixD sum = split_convolution(*subject.trace, place, Added::without_convolution) +
                      split_convolution(*subject.trace, place, Added::convolution);
  EXPECT_LT(greatest_difference(sum, map_seen(*subject.trace, place, IdentityView::as_is)), 1e-12);
}

void expect_refused(const Subject& subject, const MatrixChoice& analysed, const std::string& why) {
  const Error error = refusal_of([&] { (void)spectra_of(subject, analysed); },
                                 testing::Message() << "not refused: " << why);
  EXPECT_NE(error.message().find(why), std::string::npos) << error.message();
}

TEST(Added, RefusesUndefinedTermsWithTheReason) {
  const InsideModel vit("vit");
  expect_refused(vit.subject(), {.added = Added::residual}, "added to outputs, not to maps");
  expect_refused(vit.subject(), {.of = MatrixKind::values, .added = Added::residual},
                 "added to outputs");
  expect_refused(vit.subject(), {.of = MatrixKind::output, .added = Added::convolution},
                 "is only part of attention maps");
  expect_refused(vit.subject(), {.added = Added::convolution}, "adds no convolution");
  expect_refused(without_model(*vit.subject().trace),
                 {.of = MatrixKind::output, .added = Added::residual}, "does not hold the weights");
  expect_refused(without_model(*vit.subject().trace), {.of = MatrixKind::norm_weighted},
                 "does not hold the weights");
  expect_refused(daft_subject(std::nullopt), {.added = Added::convolution}, "has its own window");
}

TEST(Added, FiguresHaveItAsASetting) {
  const InsideModel vit("vit");
  FigureRequest request;
  request.subjects = {vit.subject()};
  request.settings = parse_settings(
      "rank-by-layer", {{"of", "output"}, {"added", "residual"}, {"identity", "as-is"}});
  const Figure figure = make_figure("rank-by-layer", request);
  EXPECT_NE(figure.caption.find("with the residual stream"), std::string::npos) << figure.caption;
}

}  // namespace
}  // namespace attnscope
