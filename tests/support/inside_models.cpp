#include "tests/support/inside_models.h"

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/support/hashed_weights.h"
#include "tests/support/model_shapes.h"
#include "tests/support/paths.h"
#include "tests/support/reference_maps.h"

namespace attnscope {

namespace {

const VitExtents kSmallVit = {.width = 24, .layers = 2, .classes = 5, .mlp_width = 40};

}  // namespace

InsideModel::InsideModel(const std::string& name)
    : expected_(open_checkpoint(source_folder() + "/tests/data/inside/" + name + ".npz")) {
  Input input;
  ModelOptions options;
  if (name == "vit") {
    write_hashed_safetensors(folder_ / "model.safetensors", timm_shapes(kSmallVit));
    options.overrides["heads"] = "3";
    input.content = hashed_input("input", {3, 32, 32});
  } else {
    const std::string family = "hugging_face_" + name;
    const nlohmann::json& of = read_test_data("models/families/" + family + ".json");
    (void)folder_.write("config.json", of.at("config").dump());
    write_hashed_safetensors(folder_ / "model.safetensors", family_shapes(family));
    input.content = Text{{}, of.at("ids").get<std::vector<std::int64_t>>()};
  }
  subject_.label = name;
  subject_.model = load_model(folder_ / "model.safetensors", options);
  subject_.mechanism = subject_.model->spec().mechanism;
  subject_.input = std::make_shared<const Input>(std::move(input));
  TraceRequest request;
  request.queries_keys_values = request.tokens = request.token_logits = true;
  subject_.trace = std::make_shared<const Trace>(
      subject_.model->run(*subject_.input, subject_.mechanism, request, {}));
}

MatrixD InsideModel::expected(const std::string& array) const {
  const Tensor tensor = expected_.at(array).view().to_float();
  if (tensor.rank() == 1) {
    return Eigen::Map<const Eigen::RowVectorXf>(tensor.data(), tensor.size()).cast<double>();
  }
  return tensor.matrix().cast<double>();
}

double InsideModel::expected_number(const std::string& array) const {
  return static_cast<double>(expected_.at(array).view().to_float().data()[0]);
}

double greatest_difference(const MatrixD& a, const MatrixD& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return std::numeric_limits<double>::infinity();
  return (a - b).cwiseAbs().maxCoeff();
}

}  // namespace attnscope
