// Loading a model: its tensors' names identify the architecture, or it is refused.
#include <cstdio>

#include "core/error.h"
#include "core/model/model.h"

int main(int, char** argv) {
  using namespace attnscope;
  try {
    // The second argument gives what the file does not specify: {{"heads", "3"}}.
    const auto model = load_model(argv[1], {{}, {}});
    std::printf("%s: %lld layers of %lld heads, %s\n", model->name().c_str(),
                static_cast<long long>(model->spec().layers),
                static_cast<long long>(model->spec().layer.attention.heads),
                to_string(model->spec().mechanism).c_str());
    for (const Assumption& assumed : model->assumptions()) {
      std::printf("assumed %s=%s\n", assumed.option.c_str(), assumed.value.c_str());
    }
  } catch (const Error& error) {
    std::printf("%s\n", error.what());  // problem, place, expected, found, remedy
    return 1;
  }
}
