// The playground inside a lesson, with the mechanisms of that lesson.
#include <sstream>

#include "app/panels/lessons/experiments/experiment.h"
#include "app/panels/playground/playground_view.h"
#include "core/error.h"

namespace attnscope {

ExperimentEntry playground_experiment() {
  return {
      "playground",
      {"mechanisms", "tokens", "tied"},
      [](const ExperimentContext& context) -> QWidget* {
        std::vector<std::string> shown;
        int tokens = 6;
        bool tied = false;
        for (const auto& [key, value] : context.settings) {
          std::istringstream words(value);
          if (key == "mechanisms") {
            for (std::string name; words >> name;) {
              shown.emplace_back(find_mechanism(name).name);
            }
          }
          if (key == "tied") tied = value == "true";
          if (key == "tokens" && !(words >> tokens)) {
            throw Error(ErrorKind::damaged, "the number of tokens must be an integer").found(value);
          }
        }
        auto* view = new PlaygroundView(shown, tokens, tied);
        view->setObjectName("experiment_playground");
        return view;
      }};
}

}  // namespace attnscope
