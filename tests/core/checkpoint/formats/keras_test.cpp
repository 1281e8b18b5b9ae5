// Keras files, written by tests/data/checkpoint/make_keras.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/formats/keras_names.h"
#include "tests/core/checkpoint/formats/stored_values.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/zip_writer.h"

namespace attnscope {
namespace {

void expect_layers(const Checkpoint& file) {
  EXPECT_THAT(file.at("layers/dense/vars/0").view().to_float().values(),
              testing::ElementsAreArray(ramp()));
  const StoredTensor& query = file.at("layers/multi_head_attention/query_dense/vars/0");
  EXPECT_EQ(query.shape, (Shape{3, 2, 2}));
  EXPECT_THAT(query.view().to_float().values(), testing::ElementsAreArray(ramp()));
  EXPECT_THAT(file.at("optimizer/vars/0").view().to_int64(), testing::ElementsAre(3));
  EXPECT_EQ(file.tensors().size(), 4U);
}

TEST(Keras, IsAnHdf5FileInAZipArchive) {
  for (const char* name : {"model.keras", "deflated.keras"}) {
    const Checkpoint file = open_checkpoint(test_data(std::string("checkpoint/") + name));
    EXPECT_EQ(file.format(), "keras");
    expect_layers(file);
    EXPECT_THAT(file.metadata().at("model_config"), testing::HasSubstr("Functional"));
    EXPECT_THAT(file.metadata().at("keras"), testing::HasSubstr("3.4.1"));
  }
}

TEST(Keras, CallsWeightsByTheNamesOfTheUsersLayers) {
  const Checkpoint file = open_checkpoint(test_data("checkpoint/named.keras"));
  std::vector<std::string> names;
  for (const StoredTensor& tensor : file.tensors()) names.push_back(tensor.name);
  EXPECT_THAT(names, testing::UnorderedElementsAre(
                         "mlp_0_up/kernel", "mlp_0_down/kernel", "mlp_0_down/bias", "head/kernel",
                         "ln/beta", "bn/moving_variance", "patches/kernel",
                         "attention_0/query_dense/kernel", "attention_0/output_dense/bias",
                         "tokens/table/embeddings", "tokens/widen/kernel", "block_0/scale/vars/0",
                         "layers/unheard_of/vars/0", "optimizer/vars/0"));
  EXPECT_EQ(file.at("head/kernel").view().to_float().data()[0], 1.0F);
}

TEST(Keras, KeepsNamesThatWouldCollide) {
  const std::vector<std::string> paths = {"layers/dense/vars/0", "layers/dense_1/vars/0"};
  const auto model = [](const std::string& second) {
    return R"({"config": {"layers": [{"class_name": "Dense", "config": {"name": "a"}},
               {"class_name": "Dense", "config": {"name": ")" +
           second + R"("}}]}})";
  };
  EXPECT_THAT(keras_names(paths, model("b")), testing::ElementsAre("a/kernel", "b/kernel"));
  EXPECT_EQ(keras_names(paths, model("a")), paths);
  EXPECT_EQ(keras_names(paths, R"({"config": {"layers": [3]}})"), paths);
  EXPECT_EQ(keras_names(paths, "no JSON"), paths);
}

TEST(Keras, MayHoldOnlyWeights) {
  const Checkpoint file = open_checkpoint(test_data("checkpoint/keras.weights.h5"));
  EXPECT_EQ(file.format(), "hdf5");
  expect_layers(file);
}

TEST(Keras, TensorFlowModelsOfTransformersOpen) {
  const Checkpoint file = open_checkpoint(test_data("checkpoint/tf_model.h5"));
  const std::string attention = "bert/tf_bert_model/bert/encoder/layer_._0/attention/self/query/";
  EXPECT_THAT(file.at(attention + "kernel:0").view().to_float().values(),
              testing::ElementsAreArray(ramp()));
  EXPECT_EQ(file.at(attention + "bias:0").shape, Shape{4});
  EXPECT_EQ(file.metadata().at("backend"), "tensorflow");
}

TEST(Keras, NamesTheArchiveInErrors) {
  const auto broken = test_data("checkpoint/broken.keras");
  expect_refusal([&] { return open_checkpoint(broken); }, ErrorKind::damaged, "truncated", broken);
  const TemporaryFolder folder;
  const auto empty = folder.write("a.keras", zip_bytes({stored_member("config.json", "{}")}));
  expect_refusal([&] { return open_checkpoint(empty); }, ErrorKind::not_this_format,
                 "model.weights.h5", empty);
  const auto text = folder.write("a.keras", zip_bytes({stored_member("model.weights.h5", "no")}));
  expect_refusal([&] { return open_checkpoint(text); }, ErrorKind::not_this_format, "HDF5", text);
}

}  // namespace
}  // namespace attnscope
