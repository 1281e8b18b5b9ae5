#include "analysis/training/code_updates.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "analysis/hash_codes/learned_codes.h"
#include "core/model/model.h"
#include "core/parameters/typed_values.h"
#include "core/training/data/random_order.h"

namespace attnscope {

namespace {

/// Inputs for the codes; a different choice at every update.
std::vector<std::shared_ptr<const Input>> inputs_of(const TrainingRun& run,
                                                    const RandomNumbers& numbers) {
  const std::int64_t size = run.data().size();
  const RandomOrder order(numbers.of("order"), size);
  std::vector<std::shared_ptr<const Input>> inputs;
  for (std::int64_t i = 0; i < std::min(run.recipe().code_inputs(), size); ++i) {
    inputs.push_back(std::make_shared<const Input>(run.data().learnt_input(order.at(i))));
  }
  return inputs;
}

std::vector<double> means_by_layer(const MatrixD& errors) {
  const Eigen::VectorXd means = errors.rowwise().mean();
  return {means.begin(), means.end()};
}

}  // namespace

void update_codes(TrainingRun& run, const Progress& progress) {
  const std::filesystem::path nowhere = "memory";
  const auto model = read_model(checkpoint_of(run.snapshot(), nowhere, "memory"), nowhere);
  const MechanismChoice& mechanism = model->spec().mechanism;
  const ParameterValues parameters = make_mechanism(mechanism)->choice().parameters;
  const TypedValues read(parameters);
  const RandomNumbers numbers = RandomNumbers(run.recipe().data().seed)
                                    .of("codes")
                                    .of(static_cast<std::uint64_t>(run.step()));
  HashLearningOptions options;
  options.bits = read.whole("bits");
  options.supports = read.whole("supports");
  options.pairs = std::min(options.pairs, model->spec().tokens() / 2);
  options.seed = static_cast<std::uint32_t>(numbers.bits(0));
  const LearnedCodes codes =
      learn_hash_codes(*model, mechanism, inputs_of(run, numbers), options, progress);
  for (std::size_t layer = 0; layer < codes.tensors.layers->size(); ++layer) {
    const std::string before = "blocks." + std::to_string(layer) + ".attn.fast_attention.";
    for (const auto& [name, tensor] : (*codes.tensors.layers)[layer]) {
      run.replace(before + name, tensor.values());
    }
  }
  run.log().add("codes/step", static_cast<double>(run.step()));
  run.log().add("codes/error_before", means_by_layer(codes.error_before));
  run.log().add("codes/error", means_by_layer(codes.error_after));
}

}  // namespace attnscope
