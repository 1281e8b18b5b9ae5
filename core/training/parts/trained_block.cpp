#include "core/training/parts/trained_block.h"

#include <utility>

#include "core/architecture/pyramid_grid.h"
#include "core/attention/mechanism.h"
#include "core/error.h"
#include "core/parameters/typed_values.h"
#include "core/training/attention/trained_heads.h"
#include "core/training/kernels/gelu.h"
#include "core/training/kernels/products.h"

namespace attnscope {

namespace {

/// Queries, keys or values of [n, 3·D]: `which` is 0, 1 or 2.
template <class Rows>
auto third(Rows& projections, Eigen::Index which) {
  auto rows = rows_of(projections);
  return share_of_head(rows, 3, which);
}

/// Columns [column, column + width) of the rows of one sequence.
template <class Map, class Rows>
Map columns_of_sequence(Rows& rows, std::int64_t first_row, std::int64_t tokens,
                        std::int64_t column, std::int64_t width) {
  return {rows.data() + first_row * rows.cols() + column, tokens, width,
          Eigen::OuterStride<>(rows.cols())};
}

/// The attention settings of layer `index`.
TrainedAttentionForm attention_form(const ModelSpec& spec, std::int64_t index,
                                    const GradientForms& forms) {
  const std::int64_t heads = layer_of(spec, index).attention.heads,
                     each = width_of_layer(spec, index) / heads;
  TokenLayout layout;
  if (spec.is_pyramid()) {
    const GridExtents grid = pyramid_grids(spec).at(place_of_layer(spec, index).stage);
    layout = {0, grid.rows, grid.columns};
  } else if (!spec.reads_texts()) {
    layout = {spec.input.prefix_tokens(), spec.input.grid_rows(), spec.input.grid_columns()};
  }
  const std::int64_t tokens =
      spec.reads_texts() ? spec.input.context : layout.prefix + layout.rows * layout.columns;
  return {
      .mechanism = mechanism_of(spec, index),
      .causal = spec.layer.scores.causal,
      .score_gradient = forms.scores,
      .learned_importances = forms.learned_importances || spec.layer.form == LayerForm::fastformer,
      .shape = {tokens, tokens, heads, each, each},
      .layout = layout,
      .layer = index,
      .shorter = spec.reads_texts() && !spec.is_language_model()};
}

/// Number of channels of a layer's keys. Windowed DAFT may have one per head of its biases (DAFT,
/// 3.2).
std::int64_t width_of_keys(const MechanismChoice& mechanism, std::int64_t width) {
  const ParameterValues parameters = make_mechanism(mechanism)->choice().parameters;
  const TypedValues values(parameters);
  const bool narrow = values.has("full_keys") && !values.flag("full_keys");
  return narrow ? values.whole("conv_heads") : width;
}

/// Sets the noise and the dropout of example `index` of a pass.
void set_omission(const Omission& omission, std::size_t index, AttentionTensors& tensors) {
  tensors.noise = omission.bias_noise ? &*omission.bias_noise : nullptr;
  if (omission.examples.empty()) return;
  tensors.dropout = {omission.examples[index].of("omission").of(omission.place).of("attention"),
                     omission.attention_dropout};
}

/// Pointers to the mechanism's own parameters within `numbers`.
template <class Number>
std::vector<Number*> places_of(const std::vector<ParameterSlot>& slots, Number* numbers) {
  std::vector<Number*> places;
  places.reserve(slots.size());
  for (const ParameterSlot& slot : slots) places.push_back(slot.in(numbers));
  return places;
}

/// True if queries and keys share a projection, as with a learned hash (EcoFormer, 5.1) if files
/// have a name for it. Throws Error(unsupported) for adder layers and pyramids with a learned hash.
bool shares_queries(const ModelSpec& spec, std::int64_t index, const TrainedBlockNames& names) {
  if (names.query_key.empty()) return false;
  const MechanismChoice mechanism = mechanism_of(spec, index);
  if (mechanism.name != "hash") return false;
  const ParameterValues parameters = make_mechanism(mechanism)->choice().parameters;
  if (!TypedValues(parameters).is("codes", "learned")) return false;
  const bool adder = arithmetic_of(spec, index) == Arithmetic::adder;
  if (!adder && !spec.is_pyramid()) return true;
  throw Error(ErrorKind::unsupported,
              "learned hash codes can be trained only in plain vision transformers")
      .about("codes")
      .expected(adder ? "sign in adder layers, which have norms of queries, keys and values"
                      : "sign in a pyramid")
      .found("learned");
}

void check_narrow_keys(Arithmetic arithmetic, const TrainedBlockNames& names) {
  const bool adder = arithmetic == Arithmetic::adder;
  if (!adder && !names.key.empty()) return;
  throw Error(ErrorKind::unsupported,
              adder ? "adder layers need queries, keys and values of the same width"
                    : "the layer's keys have fewer channels than its values")
      .about("full_keys")
      .expected("true")
      .found("false");
}

/// A function that makes linear layers of layer `index` from name, norm, inputs, outputs and
/// groups.
auto linears_of(ParameterTable& table, const ModelSpec& spec, std::int64_t index,
                const std::string& prefix, const GradientForms& forms) {
  const bool fastformer = spec.layer.form == LayerForm::fastformer;
  TrainedLinearForm all{
      .arithmetic = arithmetic_of(spec, index),
      .initialisation = fastformer ? Initialisation::small_normal : Initialisation::xavier,
      .bias = !fastformer,
      .gradients = forms.linear,
      .norm_eps = spec.layer.norm.eps};
  return [&table, prefix, all](const std::string& name, const std::string& norm,
                               std::int64_t inputs, std::int64_t outputs, std::int64_t groups = 1) {
    TrainedLinearForm one = all;
    one.name = prefix + name;
    one.norm = prefix + norm;
    one.inputs = inputs;
    one.outputs = outputs;
    one.groups = groups;
    return TrainedLinear(table, std::move(one));
  };
}

}  // namespace

TrainedFastformer::TrainedFastformer(ParameterTable& table, const std::string& prefix,
                                     const TrainedFastformerNames& names, Form form)
    : form_(std::move(form)) {
  const std::int64_t width = form_.width;
  norm_ = TrainedNorm(table, prefix + names.norm, width, form_.norm_eps);
  projections_ = TrainedLinear(table, {.name = {},
                                       .inputs = width,
                                       .outputs = 3 * width,
                                       .parts = {{prefix + names.query, width},
                                                 {prefix + names.key, width},
                                                 {prefix + names.value, width}},
                                       .initialisation = Initialisation::small_normal,
                                       .bias = false});
  out_ = TrainedLinear(table, {.name = prefix + names.out,
                               .inputs = width,
                               .outputs = width,
                               .initialisation = Initialisation::small_normal,
                               .bias = false});
  query_importance_ = table.add(prefix + names.query_importance, {width}, Initialisation::zeros);
  key_importance_ = table.add(prefix + names.key_importance, {width}, Initialisation::zeros);
  middle_norm_ = TrainedNorm(table, prefix + names.middle_norm, width, form_.norm_eps);
}

void TrainedFastformer::pool(const float* importance, std::span<const std::int64_t> lengths,
                             const ConstStridedMatrixMap& tokens, Matrix& means,
                             AttentionRoom& room) const {
  const float* const own[] = {importance};
  means.resize(tokens.rows(), tokens.cols());
  StridedMatrixMap output = rows_of(means);
  std::int64_t row = 0;
  for (const std::int64_t count : lengths) {
    const auto part = some_rows(tokens, row, count);
    form_.pooling->forward({part, part, part, form_.heads, own}, some_rows(output, row, count),
                           room);
    row += count;
  }
}

void TrainedFastformer::pool_backward(const float* importance, float* d_importance,
                                      std::span<const std::int64_t> lengths,
                                      const ConstStridedMatrixMap& tokens, const Matrix& d_means,
                                      StridedMatrixMap d_tokens, AttentionRoom& attention,
                                      Room& room) const {
  const float* const own[] = {importance};
  float* const of_own[] = {d_importance};
  room.of_values.resize(tokens.rows(), tokens.cols());
  room.of_queries.resize(tokens.rows(), tokens.cols());  // gradient of unused queries
  StridedMatrixMap of_values = rows_of(room.of_values), of_queries = rows_of(room.of_queries);
  std::int64_t row = 0;
  for (const std::int64_t count : lengths) {
    const auto part = some_rows(tokens, row, count);
    form_.pooling->backward({part, part, part, form_.heads, own},
                            some_rows(rows_of(d_means), row, count),
                            {some_rows(of_queries, row, count), some_rows(d_tokens, row, count),
                             some_rows(of_values, row, count), of_own},
                            attention);
    row += count;
  }
  // The tokens are both keys and values, so that both gradients count.
  d_tokens += room.of_values;
}

void TrainedFastformer::forward(const float* values, std::span<const std::int64_t> lengths,
                                const Matrix& x, Matrix& y, Memory& memory) const {
  norm_.forward(values, x, memory.normed, memory.norm);
  projections_.forward(values, memory.normed, memory.projections, memory.linear);
  const Matrix& projections = memory.projections;
  pool(query_importance_.in(values), lengths, third(projections, 0), memory.pooled,
       memory.attention);
  out_.forward(values, memory.pooled, memory.projected, memory.linear);
  memory.mixed = memory.normed + memory.projected.cwiseProduct(third(projections, 1));
  middle_norm_.forward(values, memory.mixed, memory.between, memory.middle_norm);
  pool(key_importance_.in(values), lengths, rows_of(std::as_const(memory.between)),
       memory.pooled_mixed, memory.attention);
  y = memory.mixed + memory.pooled_mixed.cwiseProduct(third(projections, 2));
}

void TrainedFastformer::backward(const float* values, float* gradients,
                                 std::span<const std::int64_t> lengths, const Matrix& x, Matrix& dx,
                                 Memory& memory, Room& room) const {
  const Matrix& projections = memory.projections;
  room.projections.resize(projections.rows(), projections.cols());
  room.tokens.resize(x.rows(), x.cols());
  // dx is the gradient of y, then of the mixed tokens, of the normalised tokens, and of x.
  third(room.projections, 2) = dx.cwiseProduct(memory.pooled_mixed);
  room.means = dx.cwiseProduct(third(projections, 2));
  pool_backward(key_importance_.in(values), key_importance_.in(gradients), lengths,
                rows_of(std::as_const(memory.between)), room.means, rows_of(room.tokens),
                memory.attention, room);
  middle_norm_.backward(values, gradients, memory.mixed, room.tokens, memory.middle_norm, dx);
  third(room.projections, 1) = dx.cwiseProduct(memory.projected);
  room.means = dx.cwiseProduct(third(projections, 1));
  out_.backward(values, gradients, memory.pooled, room.means, memory.linear, &room.tokens);
  pool_backward(query_importance_.in(values), query_importance_.in(gradients), lengths,
                third(projections, 0), room.tokens, third(room.projections, 0), memory.attention,
                room);
  projections_.backward(values, gradients, memory.normed, room.projections, memory.linear,
                        &room.tokens);
  room.tokens += dx;
  dx.setZero();
  norm_.backward(values, gradients, x, room.tokens, memory.norm, dx);
}

TrainedBlock::TrainedBlock(ParameterTable& table, const ModelSpec& spec, std::int64_t index,
                           const std::string& prefix, const TrainedBlockNames& names,
                           const GradientForms& forms)
    : width_(width_of_layer(spec, index)),
      heads_(layer_of(spec, index).attention.heads),
      key_width_(width_of_keys(mechanism_of(spec, index), width_)),
      shared_(shares_queries(spec, index, names)),
      activation_(spec.layer.mlp.activation),
      attention_(make_trained_attention(attention_form(spec, index, forms))) {
  const double eps = spec.layer.norm.eps;
  if (spec.layer.form == LayerForm::fastformer) {
    fastformer_.emplace(table, prefix, names.fastformer,
                        TrainedFastformer::Form{width_, heads_, eps, attention_});
  } else {
    add_attention(table, spec, index, prefix, names, forms);
  }
  const auto linear = linears_of(table, spec, index, prefix, forms);
  const std::int64_t hidden = layer_of(spec, index).mlp.width;
  norm2_ = TrainedNorm(table, prefix + names.norm2, width_, eps);
  mlp1_ = linear(names.mlp1, names.mlp1_norm, width_, hidden);
  mlp2_ = linear(names.mlp2, names.mlp2_norm, hidden, width_);
}

void TrainedBlock::add_attention(ParameterTable& table, const ModelSpec& spec, std::int64_t index,
                                 const std::string& prefix, const TrainedBlockNames& names,
                                 const GradientForms& forms) {
  const Arithmetic arithmetic = arithmetic_of(spec, index);
  const double eps = spec.layer.norm.eps;
  const auto linear = linears_of(table, spec, index, prefix, forms);
  norm1_ = TrainedNorm(table, prefix + names.norm1, width_, eps);
  if (key_width_ == width_ && !shared_) {
    qkv_ = linear(names.qkv, names.qkv_norm, width_, 3 * width_, 3);
  } else {
    if (!shared_) check_narrow_keys(arithmetic, names);
    qkv_ = projections(table, prefix, names);
  }
  if (arithmetic == Arithmetic::adder) {
    heads_norm_.emplace(table, prefix + names.heads_norm, width_, eps);
  }
  for (const OwnParameter& one : attention_->own_parameters()) {
    const std::string& before = one.name.starts_with("ksh.") ? names.hash : names.own;
    own_.push_back(
        table.add(prefix + before + one.name, one.shape, one.initialisation, false, true));
  }
  out_ = linear(names.out, names.out_norm, width_, width_);
}

TrainedLinear TrainedBlock::projections(ParameterTable& table, const std::string& prefix,
                                        const TrainedBlockNames& names) const {
  std::vector<LinearPart> parts{{prefix + names.value, width_}};
  if (shared_) {
    parts.insert(parts.begin(), {prefix + names.query_key, width_});
  } else {
    parts.insert(parts.begin(), {{prefix + names.query, width_}, {prefix + names.key, key_width_}});
  }
  const std::int64_t outputs = shared_ ? 2 * width_ : 2 * width_ + key_width_;
  return {table, {.name = {}, .inputs = width_, .outputs = outputs, .parts = std::move(parts)}};
}

AttentionTensors TrainedBlock::sequence_of(const Matrix& qkv, std::int64_t first_row,
                                           std::int64_t tokens) const {
  const auto part = [&](std::int64_t first, std::int64_t width) {
    return columns_of_sequence<ConstStridedMatrixMap>(qkv, first_row, tokens, first, width);
  };
  const std::int64_t keys = shared_ ? 0 : width_;
  return {part(0, width_), part(keys, key_width_), part(keys + key_width_, width_), heads_};
}

void TrainedBlock::attend(const float* values, std::span<const std::int64_t> lengths,
                          Memory& memory, const Omission& omission) const {
  const std::vector<const float*> own = places_of(own_, values);
  memory.attended.resize(memory.qkv.rows(), width_);
  std::int64_t row = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const std::int64_t tokens = lengths[i];
    AttentionTensors tensors = sequence_of(memory.qkv, row, tokens);
    tensors.own = own;
    set_omission(omission, i, tensors);
    attention_->forward(
        tensors, columns_of_sequence<StridedMatrixMap>(memory.attended, row, tokens, 0, width_),
        memory.attention);
    row += tokens;
  }
}

void TrainedBlock::attend_backward(const float* values, float* gradients,
                                   std::span<const std::int64_t> lengths, const Matrix& d_attended,
                                   Memory& memory, Matrix& d_qkv, const Omission& omission) const {
  const std::vector<const float*> own = places_of(own_, values);
  const std::vector<float*> of_own = places_of(own_, gradients);
  d_qkv.resize(memory.qkv.rows(), 2 * width_ + key_width_);
  std::int64_t row = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const std::int64_t tokens = lengths[i];
    const auto part = [&](std::int64_t first, std::int64_t width) {
      return columns_of_sequence<StridedMatrixMap>(d_qkv, row, tokens, first, width);
    };
    AttentionTensors tensors = sequence_of(memory.qkv, row, tokens);
    tensors.own = own;
    set_omission(omission, i, tensors);
    attention_->backward(
        tensors, columns_of_sequence<ConstStridedMatrixMap>(d_attended, row, tokens, 0, width_),
        {part(0, width_), part(width_, key_width_), part(width_ + key_width_, width_), of_own},
        memory.attention);
    row += tokens;
  }
  if (!shared_) return;
  d_qkv.middleCols(width_, width_) += d_qkv.leftCols(width_);
  d_qkv = d_qkv.rightCols(2 * width_).eval();
}

void TrainedBlock::activate(Memory& memory) const {
  memory.active.resize(memory.hidden.rows(), memory.hidden.cols());
  const auto run = activation_ == Activation::gelu_tanh ? gelu_tanh : gelu;
  run(memory.hidden.data(), memory.hidden.size(), memory.active.data());
}

void TrainedBlock::activate_backward(const Memory& memory, Matrix& d_active) const {
  const auto run = activation_ == Activation::gelu_tanh ? multiply_by_gelu_tanh_derivative
                                                        : multiply_by_gelu_derivative;
  run(memory.hidden.data(), memory.hidden.size(), d_active.data());
}

void TrainedBlock::forward(const float* values, std::span<const std::int64_t> lengths, Matrix& x,
                           Memory& memory, const Omission& omission) const {
  memory.x = x;
  run_attention(values, lengths, memory, omission);
  norm2_.forward(values, memory.middle, memory.normed2, memory.norm2);
  mlp1_.forward(values, memory.normed2, memory.hidden, memory.mlp1_layer);
  activate(memory);
  mlp2_.forward(values, memory.active, memory.branch, memory.mlp2_layer);
  omit(omission, 1, lengths, memory.branch);
  x = memory.middle + memory.branch;
}

void TrainedBlock::run_attention(const float* values, std::span<const std::int64_t> lengths,
                                 Memory& memory, const Omission& omission) const {
  if (fastformer_) {
    fastformer_->forward(values, lengths, memory.x, memory.middle, memory.fastformer);
    return;
  }
  norm1_.forward(values, memory.x, memory.normed1, memory.norm1);
  qkv_.forward(values, memory.normed1, memory.qkv, memory.qkv_layer);
  attend(values, lengths, memory, omission);
  if (heads_norm_) {
    heads_norm_->forward(values, memory.attended, memory.normed_heads, memory.heads_norm);
  }
  out_.forward(values, heads_norm_ ? memory.normed_heads : memory.attended, memory.branch,
               memory.out_layer);
  omit(omission, 0, lengths, memory.branch);
  memory.middle = memory.x + memory.branch;
}

void TrainedBlock::backward(const float* values, float* gradients,
                            std::span<const std::int64_t> lengths, Matrix& dx, Memory& memory,
                            Room& room, const Omission& omission) const {
  // The gradient of a branch, which is dx unless something was omitted.
  const auto of_branch = [&](std::uint64_t place) -> const Matrix& {
    if (!omission) return dx;
    room.branch = dx;
    omit(omission, place, lengths, room.branch);
    return room.branch;
  };
  mlp2_.backward(values, gradients, memory.active, of_branch(1), memory.mlp2_layer, &room.hidden);
  activate_backward(memory, room.hidden);
  mlp1_.backward(values, gradients, memory.normed2, room.hidden, memory.mlp1_layer, &room.normed);
  norm2_.backward(values, gradients, memory.middle, room.normed, memory.norm2, dx);
  if (fastformer_) {
    fastformer_->backward(values, gradients, lengths, memory.x, dx, memory.fastformer,
                          room.fastformer);
    return;
  }
  out_.backward(values, gradients, heads_norm_ ? memory.normed_heads : memory.attended,
                of_branch(0), memory.out_layer, &room.attended);
  if (heads_norm_) {
    room.before_norm.setZero(room.attended.rows(), room.attended.cols());
    heads_norm_->backward(values, gradients, memory.attended, room.attended, memory.heads_norm,
                          room.before_norm);
    room.attended.swap(room.before_norm);
  }
  attend_backward(values, gradients, lengths, room.attended, memory, room.qkv, omission);
  qkv_.backward(values, gradients, memory.normed1, room.qkv, memory.qkv_layer, &room.normed);
  norm1_.backward(values, gradients, memory.x, room.normed, memory.norm1, dx);
}

}  // namespace attnscope
