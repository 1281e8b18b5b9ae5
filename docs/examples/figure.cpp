// A figure as data, as drawn by the window and in papers.
#include <cstdio>

#include "analysis/figure/recipe.h"
#include "core/model/model.h"

int main(int, char** argv) {
  using namespace attnscope;
  Subject subject;
  subject.model = load_model(argv[1]);
  subject.mechanism = subject.model->spec().mechanism;
  subject.label = subject.model->name();
  subject.input = std::make_shared<const Input>(open_input(argv[2]));
  subject.trace =
      std::make_shared<const Trace>(subject.model->run(*subject.input, subject.mechanism, {}, {}));
  FigureRequest request;
  request.subjects = {subject};
  request.settings = {{"threshold", 0.5}};
  const Figure figure = make_figure("rank-by-layer", request);
  std::printf("%s\n%s\n", figure.title.c_str(), figure.caption.c_str());
}
