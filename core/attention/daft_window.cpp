#include "core/attention/daft_window.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/attention/costs/costs.h"
#include "core/attention/mechanism_cost.h"
#include "core/error.h"

namespace attnscope {

namespace {

/// One value per head from a stored tensor [h], [h, 1] or [h, 1, 1].
Eigen::VectorXf one_a_head(const Tensor& tensor, const char* name, std::int64_t heads) {
  if (tensor.size() != heads) {
    throw Error(ErrorKind::usage, "the window biases do not fit the heads")
        .about(name)
        .expected(to_string(Shape{heads}))
        .found(to_string(tensor.shape()));
  }
  return Eigen::Map<const Eigen::VectorXf>(tensor.data(), heads);
}

/// Reparameterises `taps` in place (DAFT, Eq. 9), in double.
void reparameterise(Matrix& taps, const Eigen::VectorXf& gain, const Eigen::VectorXf& bias) {
  for (Eigen::Index head = 0; head < taps.rows(); ++head) {
    Eigen::RowVectorXd centred = taps.row(head).cast<double>();
    centred.array() -= centred.mean();
    const double deviation = std::sqrt(centred.squaredNorm() / static_cast<double>(centred.size()));
    const double scale = deviation > 0 ? static_cast<double>(gain(head)) / deviation : 0.0;
    taps.row(head) = (scale * centred).cast<float>();
    taps.row(head).array() += bias(head);
  }
}

void keep_largest(Matrix& taps) {
  for (Eigen::Index head = 0; head < taps.rows(); ++head) {
    Eigen::Index largest = 0;
    const float value = taps.row(head).maxCoeff(&largest);
    taps.row(head).setZero();
    taps(head, largest) = value;
  }
}

class WindowedDaft final : public Mechanism {
 public:
  explicit WindowedDaft(const DaftWindowOptions& options) : options_(options) {}

  [[nodiscard]] Tensor forward(const AttentionInput& input) const override {
    return daft_convolution(input, channels(input), DaftWindow(input, options_));
  }

  [[nodiscard]] Tensor implied_map(const AttentionInput& input) const override {
    return daft_map(input, channels(input), DaftWindow(input, options_));
  }

  /// Quantities "window_bias" [h, rows, columns], which is w inside the window (one row if
  /// one-dimensional), and "key_logits" [D or h, M], which is K.
  [[nodiscard]] NamedTensors quantities(const AttentionInput& input) const override {
    (void)channels(input);
    const DaftWindow window(input, options_);
    Tensor biases({window.heads(), 2 * window.half_rows() + 1, 2 * window.half_columns() + 1});
    std::copy_n(window.taps().data(), biases.size(), biases.data());
    NamedTensors quantities;
    quantities.emplace("window_bias", std::move(biases));
    quantities.emplace("key_logits", daft_key_logits(input));
    return quantities;
  }

  [[nodiscard]] MapStructure structure(const AttentionShape& shape) const override {
    return daft_structure(shape);
  }

 private:
  [[nodiscard]] DaftChannels channels(const AttentionInput& input) const {
    DaftChannels channels = daft_channels(input, options_.conv_heads);
    channels.gated = options_.gated;
    return channels;
  }

  DaftWindowOptions options_;
};

/// The fields that all windowed entries share. Each entry still sets its name, title, source, costs
/// and `make`.
///
/// Layer parameters: "r" [h, k] or [h, k, k]; with "gamma" and "beta" [h] it becomes γ (r − mean) /
/// std + β (Eq. 9; std of the population; 0 / 0 is 0); without them, or with reparameterised=false,
/// r is used unchanged. Without "r" (an overlay), w is 0 inside the window, as at the
/// initialisation γ = β = 0. Two-dimensional windows need tokens on a grid. Prefix tokens have no
/// position: every token sees them, and they see every token, with bias 0. Causal layers are
/// sequences with one-dimensional windows; the later half of the taps is unused.
MechanismEntry daft_window_entry() {
  using Values = const TypedValues&;
  using Extents = const AttentionShape&;
  const auto one_a_head = [](Extents, Values values) {
    return values.flag("reparameterised") ? std::optional(Shape{values.whole("conv_heads")})
                                          : std::nullopt;
  };
  MechanismEntry entry;
  entry.parameters = {
      setting::whole("kernel", 11, {1, 9999}, "2s + 1, length of the window, odd (Eq. 7)")
          .in("tokens"),
      setting::whole("conv_heads", 16, {1, 1e6},
                     "h, heads of position biases; each is shared by D / h channels (Eq. 7)"),
      setting::whole("dimensions", 2, {1, 2},
                     "dimensions of the window: 2 on a grid of patches, 1 along a sequence; auto: "
                     "those of the tokens")
          .or_word({"auto"})
          .by_default("auto"),
      setting::flag("full_keys", false,
                    "the model's keys have D channels instead of one for each head of biases"),
      setting::flag("reparameterised", true,
                    "w = γ (r − mean) / std + β (Eq. 9); false: w = r, the naive parameters of "
                    "Table 7"),
      setting::flag("gate", true,
                    "σ(Q) multiplies the output (Eq. 4); false: queries have no effect (Table 8)"),
  };
  entry.tensors = {{"r", "[h, k] or [h, k, k], biases of the window's places (Eq. 7)",
                    [](Extents, Values values) {
                      Shape shape = {values.whole("conv_heads"), values.whole("kernel")};
                      if (daft_dimensions(values) != 1) shape.push_back(values.whole("kernel"));
                      return std::optional(std::move(shape));
                    }},
                   {"gamma", "[h], γ of Eq. 9, with reparameterised=true", one_a_head},
                   {"beta", "[h], β of Eq. 9, with reparameterised=true", one_a_head}};
  entry.projections = [](std::int64_t width, Extents shape, Values values) {
    std::vector<Projection> list = separate_projections(width, shape, values);
    if (!values.flag("full_keys")) list[1].outputs = values.whole("conv_heads");
    return list;
  };
  entry.causal = true;
  return entry;
}

/// Operations with a window of `kernel` tokens; "auto" dimensions count as 2.
std::vector<OperationCount> daft_window_counts(const AttentionShape& shape,
                                               CostConvention convention, const TypedValues& values,
                                               std::int64_t kernel) {
  std::vector<OperationCount> counts =
      costs::daft_conv(shape, convention,
                       {.kernel = kernel,
                        .heads = values.whole("conv_heads"),
                        .dimensions = daft_dimensions(values).value_or(2)});
  if (!values.flag("gate")) {
    std::erase_if(counts, [](const auto& count) { return count.component == "gate"; });
  }
  return counts;
}

/// Throws Error(usage) for an even kernel; the message names the mechanism `name`.
std::unique_ptr<Mechanism> make_daft_window(std::string_view name, DaftWindowKind kind,
                                            const TypedValues& values) {
  const DaftWindowOptions options = daft_window_options(kind, values);
  if (options.kernel % 2 == 0) {
    throw Error(ErrorKind::usage, "the size of the window must be odd")
        .about(std::string(name) + " kernel")
        .expected("an odd number")
        .found(std::to_string(options.kernel))
        .remedy("set kernel=" + std::to_string(options.kernel + 1));
  }
  return std::make_unique<WindowedDaft>(options);
}

}  // namespace

/// DAFT-conv (DAFT, Eq. 7 to 9, Algorithm 2): biases in a window, shared by all positions and by
/// the channels of a head; every token still sees every other.
MechanismEntry daft_conv_entry() {
  MechanismEntry entry = daft_window_entry();
  entry.name = "daft-conv";
  entry.title = "DAFT-conv";
  entry.source = "DAFT, Eq. 7 to 9";
  entry.formula = "exp(K + w) by channel, w in a window and 0 outside, gated by σ(Q)";
  entry.rank = "N";
  entry.complexity = {"NsD + ND²", "ND", "DAFT, Eq. 7 to 9"};
  entry.counts = [](const AttentionShape& shape, CostConvention convention,
                    const TypedValues& values) {
    return daft_window_counts(shape, convention, values, values.whole("kernel"));
  };
  entry.make = [](const TypedValues& values) {
    return make_daft_window("daft-conv", DaftWindowKind::conv, values);
  };
  return entry;
}

/// DAFT-conv without global connectivity: tokens outside the window are not seen (DAFT, section 5.1
/// and Fig. 2).
MechanismEntry daft_local_entry() {
  MechanismEntry entry = daft_window_entry();
  entry.name = "daft-local";
  entry.title = "DAFT-local";
  entry.source = "DAFT, section 5.1";
  entry.formula = "the same only inside the window";
  entry.rank = "N";
  entry.complexity = {"NsD + ND²", "ND", "DAFT, 5.1"};
  entry.counts = [](const AttentionShape& shape, CostConvention convention,
                    const TypedValues& values) {
    auto counts = daft_window_counts(shape, convention, values, values.whole("kernel"));
    // Without global connectivity there are no sums over all tokens.
    std::erase_if(counts, [](const auto& count) { return count.component == "global sums"; });
    return counts;
  };
  entry.make = [](const TypedValues& values) {
    return make_daft_window("daft-local", DaftWindowKind::local, values);
  };
  return entry;
}

/// DAFT-conv with one nonzero bias per head (DAFT, appendix C, Eq. 11 at inference).
MechanismEntry daft_one_hot_entry() {
  MechanismEntry entry = daft_window_entry();
  entry.name = "daft-one-hot";
  entry.title = "DAFT-one-hot";
  entry.source = "DAFT, appendix C";
  entry.formula = "the same with one bias of each head";
  entry.rank = "N";
  entry.complexity = {"NsD + ND²", "ND", "DAFT, appendix C"};
  entry.counts = [](const AttentionShape& shape, CostConvention convention,
                    const TypedValues& values) {
    // One bias per head is an index: a window of one token.
    return daft_window_counts(shape, convention, values, 1);
  };
  entry.make = [](const TypedValues& values) {
    return make_daft_window("daft-one-hot", DaftWindowKind::one_hot, values);
  };
  return entry;
}

std::optional<std::int64_t> daft_dimensions(const TypedValues& values) {
  if (values.is("dimensions", "auto")) return std::nullopt;
  return values.whole("dimensions");
}

DaftWindowOptions daft_window_options(DaftWindowKind kind, const TypedValues& values) {
  return {.kind = kind,
          .kernel = values.whole("kernel"),
          .conv_heads = values.whole("conv_heads"),
          .dimensions = daft_dimensions(values),
          .reparameterised = values.flag("reparameterised"),
          .gated = values.flag("gate")};
}

DaftWindow::DaftWindow(const AttentionInput& input, const DaftWindowOptions& options)
    : local_(options.kind == DaftWindowKind::local), causal_(input.causal) {
  if (input.queries.rows() != input.keys.rows()) {
    throw Error(ErrorKind::usage, "windows need as many keys as queries")
        .expected(std::to_string(input.queries.rows()) + " keys")
        .found(std::to_string(input.keys.rows()));
  }
  half_columns_ = options.kernel / 2;
  prefix_ = input.layout && !input.causal
                ? std::min<std::int64_t>(input.layout->prefix, input.keys.rows())
                : 0;
  columns_ = input.keys.rows() - prefix_;
  const bool grid = !input.causal && input.layout && input.layout->is_grid_of(input.keys.rows());
  const std::int64_t dimensions = options.dimensions.value_or(grid ? 2 : 1);
  if (dimensions == 2) {
    if (!grid) {
      throw Error(ErrorKind::usage, "a window of two dimensions needs tokens on a grid")
          .about("dimensions")
          .remedy("set dimensions=1");
    }
    rows_ = input.layout->rows;
    columns_ = input.layout->columns;
    half_rows_ = half_columns_;
  }
  const std::int64_t heads = options.conv_heads;
  const std::int64_t count = (2 * half_rows_ + 1) * (2 * half_columns_ + 1);
  taps_ = Matrix::Zero(heads, count);
  const Tensor* const r = daft_parameter(input, "r");
  if (!r) return;
  if (r->rank() < 2 || r->size() != heads * count || r->extent(0) != heads ||
      r->shape().back() != options.kernel) {
    Shape expected = {heads, options.kernel};
    if (dimensions == 2) expected.push_back(options.kernel);
    throw Error(ErrorKind::usage, "the window biases do not fit kernel, heads and dimensions")
        .about("r")
        .expected(to_string(expected))
        .found(to_string(r->shape()));
  }
  std::copy_n(r->data(), taps_.size(), taps_.data());
  const bool plain = !options.reparameterised;
  const Tensor* const gamma = plain ? nullptr : daft_parameter(input, "gamma");
  const Tensor* const beta = plain ? nullptr : daft_parameter(input, "beta");
  if (!gamma != !beta) {
    throw Error(ErrorKind::usage, "gain and bias of the window biases must be given together")
        .about(gamma ? "beta" : "gamma");
  }
  if (gamma) {
    reparameterise(taps_, one_a_head(*gamma, "gamma", heads), one_a_head(*beta, "beta", heads));
  }
  if (options.kind == DaftWindowKind::one_hot) keep_largest(taps_);
}

void DaftWindow::fill(std::int64_t head, std::int64_t first_query, StridedMatrixMap block) const {
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  block.setConstant(local_ ? kNever : 0.0F);
  block.leftCols(prefix_).setZero();
  for (std::int64_t row = 0; row < block.rows(); ++row) {
    const std::int64_t query = first_query + row - prefix_;
    if (query < 0) {
      block.row(row).setZero();
      continue;
    }
    const std::int64_t y = query / columns_, x = query % columns_;
    for (std::int64_t dy = -half_rows_; dy <= half_rows_; ++dy) {
      if (y + dy < 0 || y + dy >= rows_) continue;
      const std::int64_t from = std::max(-half_columns_, -x);
      const std::int64_t to = std::min(half_columns_, columns_ - 1 - x);
      const std::int64_t tap = (dy + half_rows_) * (2 * half_columns_ + 1) + half_columns_;
      for (std::int64_t dx = from; dx <= to; ++dx) {
        block(row, prefix_ + (y + dy) * columns_ + x + dx) = taps_(head, tap + dx);
      }
    }
    if (causal_) block.row(row).tail(block.cols() - query - 1).setConstant(kNever);
  }
}

}  // namespace attnscope
