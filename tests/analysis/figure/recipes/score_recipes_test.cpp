// Figures of the scores of a head, compared with naive transcriptions of what their captions say.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>

#include "analysis/figure/fit.h"
#include "analysis/figure/recipe.h"
#include "analysis/head_steps/head_steps.h"
#include "core/error.h"
#include "core/input/input.h"
#include "core/model/model.h"
#include "tests/support/attention_subjects.h"
#include "tests/support/paths.h"

namespace attnscope {
namespace {

FigureRequest sample_run(const std::string& name, const MechanismChoice* over = nullptr) {
  const std::filesystem::path samples = std::filesystem::path(source_folder()) / "sample_data";
  Subject subject;
  subject.label = name;
  subject.model = load_model(samples / "models" / (name + ".h5"));
  subject.mechanism = over ? *over : subject.model->spec().mechanism;
  const bool text = subject.model->spec().reads_texts();
  subject.input = std::make_shared<const Input>(
      text ? open_input("text:To be, or not to be")
           : open_input((samples / "inputs/09_ankle_boot.png").string()));
  TraceRequest wanted;
  wanted.queries_keys_values = wanted.quantities = true;
  subject.trace = std::make_shared<const Trace>(
      subject.model->run(*subject.input, subject.mechanism, wanted, {}));
  FigureRequest request;
  request.subjects = {std::move(subject)};
  return request;
}

std::string key_of(const Keys& keys, const std::string& name) {
  for (const auto& [key, value] : keys) {
    if (key == name) return value;
  }
  return {};
}

std::vector<const Line*> line_marks(const Panel& panel) {
  std::vector<const Line*> lines;
  for (const Mark& mark : panel.marks) {
    if (const auto* line = std::get_if<Line>(&mark)) lines.push_back(line);
  }
  return lines;
}

/// Lines from a query to a key, without the points of tokens and the entries of the legend.
std::vector<const Line*> links_of(const Figure& figure) {
  std::vector<const Line*> links = line_marks(figure.panels.at(0));
  std::erase_if(links, [](const Line* line) { return key_of(line->keys, "weight").empty(); });
  return links;
}

TEST(AttentionLines, AreTheWeightsOfTheMaps) {
  FigureRequest request = sample_run("shakespeare-softmax");
  const Trace& trace = *request.subjects[0].trace;
  request.settings = {{"layer", std::int64_t{1}}, {"smallest-weight", 0.1}};
  const Figure figure = make_figure("attention-lines", request);
  const ImpliedMaps& maps = trace.layers[1].implied_map;
  std::size_t expected = 0;
  for (std::int64_t head = 0; head < maps.extent(0); ++head) {
    for (std::int64_t query = 0; query < maps.extent(1); ++query) {
      for (std::int64_t key = 0; key < maps.extent(2); ++key) {
        expected += static_cast<double>(maps.at(head, query, key)) >= 0.1 ? 1 : 0;
      }
    }
  }
  const std::vector<const Line*> links = links_of(figure);
  ASSERT_EQ(links.size(), expected);
  double before = 0;
  for (const Line* link : links) {
    const std::int64_t head = std::stoll(key_of(link->keys, "head"));
    const std::int64_t query = std::stoll(key_of(link->keys, "query"));
    const std::int64_t key = std::stoll(key_of(link->keys, "key"));
    EXPECT_EQ(link->x, (std::vector<double>{0, 1}));
    EXPECT_EQ(link->y, (std::vector<double>{double(query), double(key)}));
    const double weight = std::stod(key_of(link->keys, "weight"));
    EXPECT_EQ(static_cast<float>(weight), maps.at(head, query, key));
    EXPECT_GE(weight, before) << "the greatest are drawn last";
    before = weight;
  }
  EXPECT_EQ(links.back()->colour.alpha, 255);
  EXPECT_EQ(figure.panels[0].y.ticks.at(1).label, trace.layout.name(1));
}

TEST(AttentionLines, ShowOneQueryAndTheGreatestWeights) {
  FigureRequest request = sample_run("shakespeare-softmax");
  request.settings = {
      {"query", std::int64_t{5}}, {"heads", IndexRanges{{0, 0}}}, {"smallest-weight", 0.0}};
  const Figure one = make_figure("attention-lines", request);
  for (const Line* link : links_of(one)) EXPECT_EQ(key_of(link->keys, "query"), "5");
  EXPECT_EQ(links_of(one).size(), 6U) << "a text's query does not see later keys";
  EXPECT_TRUE(one.panels[0].legend == LegendPosition::none) << "a single head needs no legend";
  request.settings["most-lines"] = std::int64_t{2};
  const Figure two = make_figure("attention-lines", request);
  ASSERT_EQ(links_of(two).size(), 2U);
  EXPECT_EQ(links_of(two)[1]->y, links_of(one)[5]->y);
  EXPECT_NE(two.caption.find("2 lines: the greatest of 6 weights"), std::string::npos)
      << two.caption;
}

TEST(AttentionLines, NeedAText) {
  const FigureFit fit = fit_of("attention-lines", sample_run("fashion-softmax").subjects);
  EXPECT_EQ(fit.missing, "needs a model that has run on a text");
  FigureRequest request = sample_run("shakespeare-softmax");
  request.settings = {{"tokens", IndexRanges{{0, 99}}}};
  EXPECT_THROW((void)make_figure("attention-lines", request), Error);
}

TEST(ScoreChannels, AreTheProductsWhoseSumIsTheScore) {
  FigureRequest request = sample_run("fashion-softmax");
  request.settings = {{"layer", std::int64_t{2}},
                      {"head", std::int64_t{1}},
                      {"query", std::int64_t{7}},
                      {"keys", std::int64_t{5}}};
  const Figure figure = make_figure("score-channels", request);
  const LayerTrace& layer = request.subjects[0].trace->layers[2];
  const auto query = layer.queries.slice(1).row(7);
  const auto& heat = std::get<HeatMap>(figure.panels.at(0).marks.at(0));
  const std::vector<double>& keys = figure.numbers.at("key");
  ASSERT_EQ(keys.size(), 5U);
  double before = 2;
  for (std::size_t row = 0; row < keys.size(); ++row) {
    const auto key = static_cast<std::int64_t>(keys[row]);
    double sum = 0;
    for (std::int64_t c = 0; c < heat.columns; ++c) {
      const double term =
          static_cast<double>(query(c)) * static_cast<double>(layer.keys.slice(1)(key, c));
      sum += term;
      EXPECT_NEAR(
          heat.values[row * static_cast<std::size_t>(heat.columns) + static_cast<std::size_t>(c)],
          term, 1e-6);
    }
    EXPECT_NEAR(figure.numbers.at("sum")[row], sum, 1e-5);
    EXPECT_NEAR(figure.numbers.at("score")[row], sum / std::sqrt(static_cast<double>(heat.columns)),
                1e-5);
    const double weight = figure.numbers.at("weight")[row];
    EXPECT_EQ(static_cast<float>(weight), layer.implied_map.at(1, 7, key));
    EXPECT_LE(weight, before);
    before = weight;
  }
  EXPECT_EQ(line_marks(figure.panels.at(1)).at(0)->x, figure.numbers.at("score"));
}

TEST(ScoreChannels, AreDistancesForAdderAndRefusedWithoutQueriesAndKeys) {
  const FigureRequest adder = sample_run("fashion-adder");
  const Figure figure = make_figure("score-channels", adder);
  for (const float term : std::get<HeatMap>(figure.panels.at(0).marks.at(0)).values) {
    EXPECT_LE(term, 0);
  }
  EXPECT_NE(figure.caption.find("−|q_c − k_c|"), std::string::npos) << figure.caption;
  const MechanismChoice linear{"linear", {}};
  const FigureRequest other = sample_run("fashion-softmax", &linear);
  EXPECT_TRUE(fit_of("score-channels", other.subjects).missing.starts_with("needs softmax"));
  EXPECT_THROW((void)make_figure("score-channels", other), Error);
  const FigureRequest daft = sample_run("fashion-daft-full");
  EXPECT_FALSE(fit_of("score-channels", daft.subjects).missing.empty());
  EXPECT_FALSE(fit_of("query-key-scatter", daft.subjects).missing.empty());
  EXPECT_THROW((void)make_figure("query-key-scatter", daft), Error);
}

/// The direction of greatest variance of the rows, by power iteration.
Eigen::VectorXd main_direction(const MatrixD& rows) {
  const MatrixD centred = rows.rowwise() - rows.colwise().mean();
  Eigen::VectorXd axis = Eigen::VectorXd::Ones(rows.cols());
  for (int step = 0; step < 5000; ++step) {
    axis = (centred.transpose() * (centred * axis)).eval();
    axis.normalize();
  }
  return axis;
}

TEST(QueryKeyPlane, BalancesWithoutChangingTheWeights) {
  const FigureRequest request = sample_run("fashion-softmax");
  const Trace& trace = *request.subjects[0].trace;
  const QueryKeyPlane plane = query_key_plane(trace, 1, 2, true);
  const LayerTrace& layer = trace.layers[1];
  MatrixD queries = layer.queries.slice(2).cast<double>();
  MatrixD keys = layer.keys.slice(2).cast<double>();
  const double c = plane.balance;
  ASSERT_GT(c, 0);
  const Eigen::RowVectorXd move = c * c * queries.colwise().mean() - keys.colwise().mean();
  for (Eigen::Index i = 0; i < queries.rows(); ++i) queries.row(i) *= c;
  for (Eigen::Index j = 0; j < keys.rows(); ++j) keys.row(j) = (keys.row(j) + move) / c;
  EXPECT_LT((queries.colwise().mean() - keys.colwise().mean()).norm(), 1e-9);
  const auto spread = [](const MatrixD& rows) {
    return (rows.rowwise() - rows.colwise().mean()).norm();
  };
  EXPECT_NEAR(spread(queries) / spread(keys), 1, 1e-9);
  const double width = static_cast<double>(queries.cols());
  for (const Eigen::Index query : {Eigen::Index{0}, Eigen::Index{9}}) {
    Eigen::VectorXd weights = keys * queries.row(query).transpose() / std::sqrt(width);
    weights = (weights.array() - weights.maxCoeff()).exp().matrix().eval();
    weights /= weights.sum();
    for (Eigen::Index key = 0; key < keys.rows(); ++key) {
      EXPECT_NEAR(weights(key), layer.implied_map.at(2, query, key), 1e-5);
    }
  }
  MatrixD both(queries.rows() + keys.rows(), queries.cols());
  both << queries, keys;
  const Eigen::VectorXd axis = main_direction(both);
  const Eigen::VectorXd along = (both.rowwise() - both.colwise().mean()) * axis;
  const double sign = along(0) * plane.query_x[0] < 0 ? -1 : 1;
  for (std::size_t i = 0; i < plane.query_x.size(); ++i) {
    EXPECT_NEAR(plane.query_x[i], sign * along(static_cast<Eigen::Index>(i)), 1e-3);
  }
  for (std::size_t j = 0; j < plane.key_x.size(); ++j) {
    EXPECT_NEAR(plane.key_x[j], sign * along(queries.rows() + static_cast<Eigen::Index>(j)), 1e-3);
  }
}

TEST(QueryKeyScatter, HasAPointPerTokenAndKeepsDistancesOfAdder) {
  const FigureRequest request = sample_run("fashion-adder");
  const Figure figure = make_figure("query-key-scatter", request);
  EXPECT_EQ(figure.numbers.at("balance").at(0), 0);
  EXPECT_NE(figure.caption.find("as recorded"), std::string::npos) << figure.caption;
  std::size_t queries = 0, keys = 0;
  for (const Line* line : line_marks(figure.panels.at(0))) {
    queries += key_of(line->keys, "query").empty() ? 0 : 1;
    keys += key_of(line->keys, "key").empty() ? 0 : 1;
  }
  const auto tokens = static_cast<std::size_t>(request.subjects[0].trace->tokens());
  EXPECT_EQ(queries, tokens);
  EXPECT_EQ(keys, tokens);
  FigureRequest balanced = request;
  balanced.settings = {{"balance", "on"}};
  EXPECT_THROW((void)make_figure("query-key-scatter", balanced), Error);
}

}  // namespace
}  // namespace attnscope
