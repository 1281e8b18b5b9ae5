// Ranks over a data set, written to a file from which an interrupted sweep resumes.
#include "analysis/sweep/sweep.h"

#include <cstdio>

#include "analysis/sweep/sweep_summary.h"
#include "core/model/model.h"

int main(int, char** argv) {
  using namespace attnscope;
  Subject subject;
  subject.model = load_model(argv[1]);
  subject.mechanism = subject.model->spec().mechanism;
  subject.label = subject.model->name();
  SweepRequest request;
  request.subjects = {subject};
  request.data_set = open_data_set(argv[2]);
  request.data_set_path = argv[2];
  request.choice.count = 4;  // spread evenly over the items
  request.out = argv[3];
  request.restart = true;
  const SweepResult result = run_sweep(request);
  for (const SweepSeries& series : result.series) {
    std::printf("%s: %lld of %lld inputs named right\n", series.label.c_str(),
                static_cast<long long>(series.correct), static_cast<long long>(series.labelled));
  }
}
