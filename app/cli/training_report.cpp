#include "app/cli/training_report.h"

#include <cstdio>
#include <string>
#include <vector>

#include "analysis/training/study_summary.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

std::string cell_of(const SeedMean& number, int decimals, double scale = 1) {
  if (number.runs == 0) return "–";
  std::string text = fixed_text(scale * number.mean, decimals);
  if (number.runs > 1) text += " ± " + fixed_text(scale * number.deviation, decimals);
  return text;
}

/// Ranks from the first layer to the last: "12.1 ± 0.4, 19.4 ± 1.2, …".
std::string ranks_text(const std::vector<SeedMean>& layers) {
  std::string text;
  for (const SeedMean& one : layers) text += (text.empty() ? " " : ", ") + cell_of(one, 1);
  return text;
}

void print_moments(const std::vector<VariantMoment>& moments) {
  for (const VariantMoment& one : moments) {
    std::printf("  %s: step %s, %s %% right, %lld runs\n", one.label.c_str(),
                cell_of(one.step, 0).c_str(), cell_of(one.accuracy, 2, 100).c_str(),
                static_cast<long long>(one.step.runs));
    std::printf("    rank of the mean curve by layer:%s\n", ranks_text(one.rank_of_mean).c_str());
    std::printf("    mean equivalent rank by layer:  %s\n", ranks_text(one.mean_rank).c_str());
  }
}

}  // namespace

void print_study(const StudyFolder& folder) {
  const StudySummary summary = summarise(read_histories(folder.folder, {}));
  std::printf("%s: %s\n", folder.folder.string().c_str(),
              std::string(study_of(folder).title).c_str());
  std::printf("Means ± standard deviations over seeds (of the sample: n − 1).\n");
  std::printf("At equal steps, %lld:\n", static_cast<long long>(summary.equal_step));
  print_moments(summary.at_equal_steps);
  if (!summary.at_equal_accuracy.empty()) {
    std::printf("At equal accuracy, %s %%:\n", fixed_text(100 * summary.equal_accuracy, 2).c_str());
    print_moments(summary.at_equal_accuracy);
  }
  std::printf("attnscope figure over-training --set folder=%s --out over-training.pdf draws it\n",
              folder.folder.string().c_str());
}

}  // namespace attnscope
