#include "core/model/evaluation/zero_shot.h"

#include <utility>

#include "core/error.h"
#include "core/model/transformer/weight_extents.h"

namespace attnscope {

namespace {

/// The embedding [1, P], normalised to length 1. Towers return it as logits, or as features if
/// there are none.
Tensor embedding_of(const Trace& trace) {
  const Tensor& given = trace.logits.empty() ? trace.features : trace.logits;
  Tensor embedding({1, given.size()});
  embedding.matrix() = ConstMatrixMap(given.data(), 1, given.size());
  embedding.matrix() /= embedding.matrix().norm();
  return embedding;
}

Error no_common_space(const Model& tower) {
  return Error(ErrorKind::usage, "the model has no embedding in a space shared by images and texts")
      .in_file(tower.file())
      .expected("an image tower and a text tower with a projection each, as in CLIP and SigLIP");
}

/// P of an image tower; 0 if its features are not in a space shared with texts.
std::int64_t width_of_space(const Model& images) {
  const std::vector<std::int64_t> head = weight_extents(images).head;
  if (!head.empty()) return head.back();
  return images.spec().readout.kind == Readout::attention_pooling ? images.spec().width : 0;
}

/// True if the read-out covers the whole text: at its end token, or at the last token of texts that
/// are padded to one length.
bool reads_whole_texts(const ModelSpec& spec) {
  return spec.readout.kind == Readout::end_token ||
         (spec.readout.kind == Readout::last_token && spec.input.pads_to_context);
}

class ZeroShotModel final : public Model {
 public:
  /// `classes` is [classes, P], with rows of length 1.
  ZeroShotModel(std::shared_ptr<const Model> images, Tensor classes,
                std::vector<std::string> labels)
      : images_(std::move(images)), classes_(std::move(classes)), spec_(images_->spec()) {
    spec_.labels = std::move(labels);
  }

  [[nodiscard]] const ModelSpec& spec() const override { return spec_; }
  [[nodiscard]] const std::string& name() const override { return images_->name(); }
  [[nodiscard]] const std::filesystem::path& file() const override { return images_->file(); }
  [[nodiscard]] const std::string& architecture() const override { return images_->architecture(); }
  [[nodiscard]] const std::vector<Assumption>& assumptions() const override {
    return images_->assumptions();
  }
  [[nodiscard]] ModelStatus status() const override { return images_->status(); }

  [[nodiscard]] Trace run(const Input& input, const MechanismChoice& mechanism,
                          const TraceRequest& request, const Progress& progress) const override {
    Trace trace = images_->run(input, mechanism, request, progress);
    const Tensor embedding = embedding_of(trace);
    const std::int64_t classes = classes_.extent(0);
    trace.logits = Tensor({classes});
    MatrixMap(trace.logits.data(), 1, classes) = embedding.matrix() * classes_.matrix().transpose();
    trace.labels = spec_.labels;
    return trace;
  }

 private:
  std::shared_ptr<const Model> images_;
  Tensor classes_;
  ModelSpec spec_;
};

}  // namespace

std::shared_ptr<const Model> zero_shot_model(std::shared_ptr<const Model> images,
                                             const Model& texts,
                                             const std::vector<ClassPrompt>& prompts,
                                             const Progress& progress) {
  if (prompts.empty()) throw Error(ErrorKind::usage, "zero-shot classification needs prompts");
  if (images->spec().reads_texts() || !images->spec().readout.gives_features()) {
    throw no_common_space(*images);
  }
  if (!reads_whole_texts(texts.spec())) {
    throw Error(ErrorKind::usage, "the text model must read texts at their end")
        .in_file(texts.file())
        .expected("a text tower of CLIP or SigLIP");
  }
  TraceRequest request;
  request.implied_maps = false;
  Tensor classes;
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    progress.step(static_cast<double>(i) / static_cast<double>(prompts.size()), "reading prompts");
    Input input;
    input.label = prompts[i].label;
    input.content = prompts[i].text;
    const Tensor embedding =
        embedding_of(texts.run(input, texts.spec().mechanism, request, progress.silent()));
    if (classes.empty()) {
      classes = Tensor({static_cast<std::int64_t>(prompts.size()), embedding.size()});
    }
    classes.matrix().row(static_cast<Eigen::Index>(i)) = embedding.matrix().row(0);
    labels.push_back(prompts[i].label);
  }
  if (classes.extent(1) == 0) throw no_common_space(texts);
  if (width_of_space(*images) != classes.extent(1)) throw no_common_space(*images);
  return std::make_shared<ZeroShotModel>(std::move(images), std::move(classes), std::move(labels));
}

}  // namespace attnscope
