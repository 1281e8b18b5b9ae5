// Distance between two models' maps on the same input.
#include <cstdio>

#include "analysis/comparison/comparison.h"
#include "core/model/model.h"

int main(int, char** argv) {
  using namespace attnscope;
  const Input input = open_input(argv[3]);
  TraceRequest request;
  request.tokens = true;  // needed by CKA
  const auto run = [&](const char* file) {
    const auto model = load_model(file);
    return model->run(input, model->spec().mechanism, request, {});
  };
  const SubjectComparison found = compare_traces(run(argv[1]), run(argv[2]), {});
  for (const ComparedLayer& layer : found.layers) {
    std::printf("layer %lld: JS divergence %.3f bits, CKA %.3f\n",
                static_cast<long long>(layer.layer), layer.values[ComparisonQuantity::divergence],
                layer.values[ComparisonQuantity::cka]);
  }
}
