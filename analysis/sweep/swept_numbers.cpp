#include "analysis/sweep/swept_numbers.h"

#include <algorithm>

#include "analysis/baselines/equal_entropy.h"
#include "analysis/baselines/null_model.h"
#include "analysis/heads/head_table.h"
#include "analysis/matrix/analysed_matrix.h"
#include "analysis/sweep/statistics.h"
#include "core/error.h"
#include "core/text/number_text.h"

namespace attnscope {

std::vector<StatisticName> statistic_names() {
  std::vector<StatisticName> names;
  const auto add = [&](std::string_view name, std::string_view title) {
    const bool known =
        std::ranges::any_of(names, [name](const StatisticName& one) { return one.name == name; });
    if (!known) names.push_back({name, title});
  };
  for (const SweepStatistic& statistic : sweep_statistics()) add(statistic.name, statistic.title);
  for (const HeadMeasure& measure : head_measures()) add(measure.name, measure.title);
  add(kRankAtEntropy, "equivalent rank at the same entropy");
  return names;
}

void request_for(const SweptNumbers& numbers, TraceRequest& request) {
  request_for(numbers.analysed, request);
  if (numbers.heads) request.queries_keys_values = true;
}

void check_numbers(const SweptNumbers& numbers) {
  const MatrixKind of = numbers.analysed.of;
  check_added(numbers.analysed);
  if (numbers.baselines) check_null_models(numbers.analysed);
  if (numbers.at_entropy) check_equal_entropy(*numbers.at_entropy, numbers.analysed);
  if (numbers.heads && is_of_layer(of)) {
    throw Error(ErrorKind::usage, "the analysed matrix is defined per layer, not per head")
        .about("--head-numbers")
        .found(in_words(numbers.analysed));
  }
}

std::string in_words(const SweptNumbers& numbers) {
  std::string words;
  const auto add = [&](const std::string& more) { words += (words.empty() ? "" : "; ") + more; };
  if (!numbers.analysed.is_plain_map()) add(in_words(numbers.analysed));
  if (numbers.heads) add("numbers of heads");
  if (numbers.baselines) add("null models and their spectra");
  if (numbers.at_entropy) add("ranks at the entropy " + exact(*numbers.at_entropy) + " ln n");
  return words;
}

}  // namespace attnscope
