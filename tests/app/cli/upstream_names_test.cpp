// DAFT and Fastformer with the tensor names of their public implementations, run from a shell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/cli/ran.h"
#include "tests/support/model_shapes.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using testing::HasSubstr;

struct UpstreamFile {
  const char* file;
  NamedShapes shapes;
  std::string input;
  const char* mechanism;
};

TEST(UpstreamFiles, AreInspectedTracedAndMeasured) {
  const TemporaryFolder folder;
  const std::string image = samples + "inputs/00_t_shirt.png", ids = "ids:3,1,4,1,5,9,2,6";
  const UpstreamFile files[] = {
      {"aft.safetensors", aft_pytorch_vit_shapes({}, 48), image, "daft-full (factors=0)"},
      {"labml_vit.safetensors", labml_vit_shapes({}), image, "daft-full (factors=0)"},
      {"labml.safetensors", labml_aft_shapes({}), ids, "daft-full (factors=0)"},
      {"fastformer.safetensors", fastformer_shapes({}), ids, "additive (causal=false, window=0)"},
  };
  for (const UpstreamFile& model : files) {
    const std::string file = (folder / model.file).string();
    write_hashed_safetensors(file, model.shapes);
    const Ran inspected = run(program + "inspect " + file);
    EXPECT_EQ(inspected.status, 0) << inspected.output;
    EXPECT_THAT(inspected.output, Not(HasSubstr("none recognised")));
    EXPECT_THAT(inspected.output, Not(HasSubstr("without a role")));
    const std::string on_input = file + " --input " + model.input;
    const Ran traced = run(program + "trace " + on_input + " --out " + file + ".h5");
    EXPECT_EQ(traced.status, 0) << traced.output;
    EXPECT_THAT(traced.output, HasSubstr(model.mechanism));
    EXPECT_THAT(traced.output, HasSubstr("logit"));
    const Ran measured = run(program + "spectrum " + on_input);
    EXPECT_EQ(measured.status, 0) << measured.output;
    EXPECT_THAT(measured.output, HasSubstr(model.mechanism));
  }
  const std::string classifier = (folder / "fastformer.safetensors").string();
  const Ran judged = run(program + "evaluate " + classifier + " --input ids:3,1,4");
  EXPECT_EQ(judged.status, 2);
  EXPECT_THAT(judged.output, HasSubstr("a text classifier does not predict the next token"));
  const Ran counted = run(program + "energy " + classifier + " --set classes=4");
  EXPECT_EQ(counted.status, 0) << counted.output;
  EXPECT_THAT(counted.output, HasSubstr("\nattention pooling "));
  EXPECT_THAT(counted.output, Not(HasSubstr("not counted")));
}

}  // namespace
}  // namespace attnscope
