// Attention maps of a model on an input, with its own mechanism and with another one.
#include <cstdio>

#include "core/model/model.h"

int main(int, char** argv) {
  using namespace attnscope;
  const auto model = load_model(argv[1]);
  const Input input = open_input(argv[2]);
  TraceRequest request;
  request.queries_keys_values = true;  // in addition to the maps
  for (const MechanismChoice& mechanism :
       {model->spec().mechanism, MechanismChoice{"linear", {}}}) {
    const Trace trace = model->run(input, mechanism, request, {});
    const ConstMatrixMap map = trace.layers[0].implied_map.slice(1);  // layer 0, head 1: [N, N]
    std::printf("%s: the class token gives itself %.3f\n", to_string(mechanism).c_str(),
                static_cast<double>(map(0, 0)));
  }
}
