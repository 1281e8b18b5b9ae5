#include "core/training/parts/trained_readout.h"

#include <cmath>
#include <numeric>
#include <utility>

#include "core/tensor/blas.h"
#include "core/training/kernels/products.h"

namespace attnscope {

TrainedReadout::TrainedReadout(ParameterTable& table, const ModelSpec& spec,
                               ParameterSlot embeddings)
    : spec_(spec), embeddings_(embeddings) {
  if (spec.readout.final_norm) {
    norm_.emplace(table, spec.reads_texts() ? "transformer.ln_f" : "norm", spec.width,
                  spec.layer.norm.eps);
  }
  if (spec.is_language_model()) {
    const double scale = spec.readout.logit_scale;
    logit_scale_ =
        static_cast<float>(scale == 0 ? 1 / std::sqrt(static_cast<double>(spec.width)) : scale);
    if (spec.layer.form == LayerForm::fastformer) {
      bias_ = table.add("proj_logits.bias", {spec.input.vocabulary}, Initialisation::zeros);
    }
    return;
  }
  head_ = TrainedLinear(table,
                        {.name = "head", .inputs = spec.width, .outputs = std::ssize(spec.labels)});
}

void TrainedReadout::forward(const float* values, std::span<const std::int64_t> lengths,
                             const Matrix& x, Memory& memory) const {
  const std::int64_t examples = std::ssize(lengths), prefix = spec_.input.prefix_tokens();
  if (reads_all()) {
    memory.read = x;
  } else {
    memory.read.resize(examples, x.cols());
    Eigen::Index row = 0;
    for (std::int64_t i = 0; i < examples; row += lengths[static_cast<std::size_t>(i++)]) {
      memory.read.row(i) = x.row(row);
    }
  }
  if (norm_) {
    norm_->forward(values, memory.read, memory.normed, memory.norm);
  } else {
    memory.normed = memory.read;
  }
  if (spec_.is_language_model()) return forward_vocabulary(values, memory);
  if (!reads_all()) {
    head_.forward(values, memory.normed, memory.logits, memory.head);
    return;
  }
  memory.averaged.resize(examples, x.cols());
  Eigen::Index row = 0;
  for (std::int64_t i = 0; i < examples; ++i) {
    const std::int64_t tokens = lengths[static_cast<std::size_t>(i)];
    memory.averaged.row(i) =
        memory.normed.middleRows(row + prefix, tokens - prefix).colwise().mean();
    row += tokens;
  }
  head_.forward(values, memory.averaged, memory.logits, memory.head);
}

/// logits = scale · (normed Eᵀ + b).
void TrainedReadout::forward_vocabulary(const float* values, Memory& memory) const {
  const std::int64_t vocabulary = spec_.input.vocabulary;
  memory.logits.resize(memory.normed.rows(), vocabulary);
  multiply_transposed(rows_of(std::as_const(memory.normed)),
                      rows_of(embeddings_.in(values), vocabulary, spec_.width), logit_scale_,
                      rows_of(memory.logits));
  if (!bias_) return;
  memory.logits.rowwise() +=
      logit_scale_ * Eigen::Map<const Eigen::RowVectorXf>(bias_.in(values), vocabulary);
}

void TrainedReadout::backward_vocabulary(const float* values, float* gradients,
                                         Memory& memory) const {
  const std::int64_t vocabulary = spec_.input.vocabulary, width = spec_.width;
  const Matrix& d_logits = memory.logits;
  add_transposed_product(rows_of(d_logits), rows_of(std::as_const(memory.normed)), logit_scale_,
                         rows_of(embeddings_.in(gradients), vocabulary, width));
  memory.d_normed.resize(memory.normed.rows(), width);
  multiply(rows_of(d_logits), rows_of(embeddings_.in(values), vocabulary, width), logit_scale_,
           rows_of(memory.d_normed));
  if (!bias_) return;
  Eigen::Map<Eigen::RowVectorXf>(bias_.in(gradients), vocabulary) +=
      logit_scale_ * d_logits.colwise().sum();
}

void TrainedReadout::backward(const float* values, float* gradients,
                              std::span<const std::int64_t> lengths, Matrix& dx,
                              Memory& memory) const {
  const std::int64_t prefix = spec_.input.prefix_tokens();
  const Matrix& d_logits = memory.logits;
  if (spec_.is_language_model()) {
    backward_vocabulary(values, gradients, memory);
  } else if (!reads_all()) {
    head_.backward(values, gradients, memory.normed, d_logits, memory.head, &memory.d_normed);
  } else {
    head_.backward(values, gradients, memory.averaged, d_logits, memory.head, &memory.d_averaged);
    memory.d_normed.setZero(memory.normed.rows(), memory.normed.cols());
    Eigen::Index row = 0;
    for (std::int64_t i = 0; i < d_logits.rows(); ++i) {
      const std::int64_t tokens = lengths[static_cast<std::size_t>(i)];
      memory.d_normed.middleRows(row + prefix, tokens - prefix).rowwise() =
          memory.d_averaged.row(i) / static_cast<float>(tokens - prefix);
      row += tokens;
    }
  }
  if (norm_) {
    memory.d_read.setZero(memory.read.rows(), memory.read.cols());
    norm_->backward(values, gradients, memory.read, memory.d_normed, memory.norm, memory.d_read);
  } else {
    memory.d_read.swap(memory.d_normed);
  }
  if (reads_all()) {
    dx.swap(memory.d_read);
    return;
  }
  dx.setZero(std::reduce(lengths.begin(), lengths.end()), memory.d_read.cols());
  Eigen::Index row = 0;
  for (Eigen::Index i = 0; i < memory.d_read.rows(); ++i) {
    dx.row(row) = memory.d_read.row(i);
    row += lengths[static_cast<std::size_t>(i)];
  }
}

}  // namespace attnscope
