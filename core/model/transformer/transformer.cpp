#include "core/model/transformer/transformer.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/model/parts/score_bias.h"
#include "core/model/preprocessing/preprocessing.h"
#include "core/model/transformer/vision_language_model.h"
#include "core/platform/process_memory.h"

namespace attnscope {

namespace {

/// `choice` as the model runs it: over the model's token layout, and with the parameter "causal" on
/// in a causal model, if the mechanism has it.
MechanismChoice as_run(const ModelSpec& spec, MechanismChoice choice) {
  choice = choice_over_tokens(std::move(choice), spec.has_grid());
  if (!spec.layer.scores.causal && !spec.has_decoder()) return choice;
  const MechanismEntry& entry = find_mechanism(choice.name);
  if (!entry.causal) {
    throw Error(ErrorKind::usage, "this mechanism has no causal form")
        .about(choice.name)
        .remedy("overlay another mechanism on the language model");
  }
  // In an encoder–decoder each layer specifies whether it is causal.
  if (spec.layer.scores.causal && find_description(entry.parameters, "causal"))
    choice.parameters["causal"] = true;
  return choice;
}

/// Transposes [C, H, W] to [H · W, C].
Tensor channels_last(const Tensor& image) {
  const std::int64_t channels = image.extent(0), pixels = image.size() / channels;
  Tensor tokens({pixels, channels});
  tokens.matrix() = ConstMatrixMap(image.data(), channels, pixels).transpose();
  return tokens;
}

/// The rows of `first` followed by those of `second`.
Tensor joined(const Tensor& first, const Tensor& second) {
  Tensor all({first.extent(0) + second.extent(0), second.extent(1)});
  all.matrix().topRows(first.extent(0)) = first.matrix();
  all.matrix().bottomRows(second.extent(0)) = second.matrix();
  return all;
}

/// Number of map entries of each layer; for windowed attention only those of its blocks.
std::vector<std::int64_t> map_entries(const std::vector<AttentionShape>& shapes,
                                      const std::vector<StageWeights>& stages) {
  std::vector<std::int64_t> entries;
  auto shape = shapes.begin();
  for (const StageWeights& stage : stages) {
    for (const Block& block : stage.blocks) {
      const std::int64_t side = block.attention.grid_window;
      const std::int64_t seen = side > 0 ? std::min(side * side, shape->keys) : shape->keys;
      entries.push_back(shape->heads * shape->queries * seen);
      ++shape;
    }
  }
  return entries;
}

/// True if rows of every layer's maps can be computed from its queries and keys only.
bool have_rows_apart(const std::vector<StageWeights>& stages,
                     const std::vector<std::shared_ptr<const Mechanism>>& mechanisms,
                     const TraceRequest& request) {
  auto next = mechanisms.begin();
  for (const StageWeights& stage : stages) {
    for (const Block& block : stage.blocks) {
      const ScoreSpec& scores = block.spec.scores;
      const MechanismEntry& mechanism = find_mechanism((*next++)->choice().name);
      const bool has_parameters =
          !mechanism.tensors.empty() && (request.parameters || !block.attention.mechanism.empty() ||
                                         !block.attention.gates.empty());
      const bool apart = mechanism.rows && !has_parameters &&
                         block.spec.form == LayerForm::transformer &&
                         block.attention.grid_window == 0 && block.attention.sinks.empty() &&
                         scores.bias == ScoreBias::none && scores.window == 0 &&
                         scores.soft_cap == 0 && !scores.picture_both_ways;
      if (!apart) return false;
    }
  }
  return true;
}

/// Labels of the logits: classes, or tokens as displayed.
std::vector<std::string> labels_of(const ModelSpec& spec, const Vocabulary* vocabulary) {
  if (!spec.readout.gives_token_logits() || !vocabulary) return spec.labels;
  std::vector<std::string> labels;
  const bool numbers = spec.tail.vocabulary > 0;  // ids, because no tokenizer knows them
  for (std::int64_t id = 0; id < spec.output_vocabulary(); ++id) {
    labels.push_back(numbers ? std::to_string(id) : visible_text(vocabulary->text_of(id)));
  }
  return labels;
}

/// Throws Error(usage) for unknown token types. Models without types accept all.
void check_types(const InputSpec& spec, const Input& input, const TokenizedText& tokens) {
  const auto greatest = std::max_element(tokens.types.begin(), tokens.types.end());
  if (spec.token_types == 0 || greatest == tokens.types.end() || *greatest < spec.token_types) {
    return;
  }
  throw Error(ErrorKind::usage, "the model has no such type of tokens")
      .about(input.label)
      .expected("types 0 to " + std::to_string(spec.token_types - 1))
      .found(std::to_string(*greatest))
      .remedy("the tokenizer next to the weights may belong to another model");
}

/// Puts the pictures' tokens in their places.
void put_pictures(const PictureTokens& pictures, Tensor& tokens) {
  for (std::size_t i = 0; i < pictures.places.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    tokens.matrix().row(pictures.places[i]) = seen(pictures.rows.front()).row(row);
  }
}

/// Adds the pictures' rows that belong after layer `layer`, if they have them.
void add_deeper_rows(const PictureTokens* pictures, std::int64_t layer, Tensor& tokens) {
  if (!pictures || layer + 1 >= std::ssize(pictures->rows)) return;
  const Tensor& rows = pictures->rows[static_cast<std::size_t>(layer) + 1];
  for (std::size_t i = 0; i < pictures->places.size(); ++i) {
    tokens.matrix().row(pictures->places[i]) += seen(rows).row(static_cast<Eigen::Index>(i));
  }
}

}  // namespace

Transformer::Transformer(std::filesystem::path file, std::string name, Architecture architecture,
                         TransformerWeights weights, std::shared_ptr<const Vocabulary> vocabulary)
    : file_(std::move(file)),
      name_(std::move(name)),
      architecture_(std::move(architecture)),
      status_(model_status(architecture_.assumptions, architecture_.name)),
      weights_(std::move(weights)),
      vocabulary_(std::move(vocabulary)),
      labels_(labels_of(architecture_.spec, vocabulary_.get())) {}

WeightExtents Transformer::extents() const {
  WeightExtents extents;
  const TokenReadout& readout = weights_.readout;
  for (const Linear& layer : readout.head) extents.head.push_back(layer.outputs());
  extents.head_biases = readout.head.empty() || readout.head.back().has_bias();
  extents.tied_head = readout.tied_head;
  extents.pooling = readout.pooling1.outputs();
  const Block& block = weights_.stages.front().blocks.front();
  extents.query_key_value_biases = block.attention.query.has_bias();
  extents.output_biases = !block.attention.out || block.attention.out->has_bias();
  const Mlp* const mlp =
      block.experts ? &block.experts->mlps.front() : (block.mlp ? &*block.mlp : nullptr);
  extents.linear_biases = mlp != nullptr && mlp->mlp1.has_bias();
  if (block.experts) {
    extents.router_biases = block.experts->router.has_bias();
    extents.shared_gate = block.experts->shared_gate.has_value();
  }
  extents.key_biases = !block.attention.key || block.attention.key->has_bias();
  extents.layer_scales = !block.scale1.empty();
  if (const auto& norm = block.attention.query_norm) extents.query_norm = std::ssize(norm->weight);
  extents.local_convolutions = block.local1 || block.local2;
  extents.mlp_norm = block.spec.residual != Residual::parallel || block.mlp_norms.before;
  const std::optional<PatchEmbedding>& patches = weights_.embedding.patches;
  extents.embedding_norm = weights_.embedding.norm || (patches && patches->norm_after);
  extents.patch_biases = !patches || patches->patch.has_bias();
  extents.head_norm = readout.head_norm.has_value();
  extents.encoder_norm = weights_.stages.front().norm.has_value();
  extents.final_norm = readout.final_norm.has_value();
  if (patches && patches->stem) {
    for (const Stem::Layer& layer : patches->stem->layers)
      extents.stem_norms.push_back(layer.norm.has_value());
  }
  return extents;
}

Transformer::Start Transformer::embed_text(const Input& input, TokenizedText text,
                                           const PictureTokens* pictures) const {
  if (spec().input.pads_to_context) {
    fill_up(spec().input, *vocabulary_, text);
  } else {
    leave_out_padding(spec().input.padding, input, text);
  }
  Start start;
  check_types(spec().input, input, text);
  start.tokens = (*weights_.embedding.text)(text.ids, text.types);
  start.pictures = pictures;
  if (pictures) {
    put_pictures(*pictures, start.tokens);
    start.layout.pictures = pictures->cells;
    start.images = pictures->images;
  }
  if (spec().readout.kind == Readout::end_token) {
    start.end = end_of_text(text.ids, spec().readout.end_token);
  }
  start.layout.texts = std::move(text.texts);
  start.layout.special = std::move(text.special);
  return start;
}

void Transformer::embed_second_text(const Input& input, Start& start) const {
  TokenizedText text = tokenize_for_decoder(input, spec(), *vocabulary_);
  start.second_tokens = (*weights_.stages.back().text)(text.ids, text.types);
  add_sinusoids(spec().positions, start.second_tokens.matrix());
  start.second_layout.texts = std::move(text.texts);
  start.second_layout.special = std::move(text.special);
}

Transformer::Start Transformer::embed(const Input& input) const {
  const Embedding& embedding = weights_.embedding;
  Start start;
  if (spec().reads_texts()) {
    refuse_pictures(input);
    start = embed_text(input, tokenize_input(input, spec(), *vocabulary_), nullptr);
  } else {
    PreparedInput prepared = prepare_input(input, spec());
    if (prepared.image) start.images.push_back(std::move(*prepared.image));
    const InputSpec& shape = spec().input;
    const bool keeps_size = shape.keeps_sizes();
    start.layout = {
        shape.prefix_tokens(),
        keeps_size ? shape.cells(prepared.values.extent(1), shape.patch_height) : shape.grid_rows(),
        keeps_size ? shape.cells(prepared.values.extent(2), shape.patch_width)
                   : shape.grid_columns()};
    start.layout.registers = spec().input.register_tokens;
    if (spec().is_pyramid()) {
      start.tokens = channels_last(prepared.values);
      return start;
    }
    if (embedding.sound) {
      start.tokens = (*embedding.sound)(prepared.values);
      start.layout.texts = std::move(prepared.texts);
      return start;
    }
    start.tokens = embedding.patches ? (*embedding.patches)(prepared.values, spec())
                                     : std::move(prepared.values);
  }
  if (embedding.projection && !embedding.text) {
    start.tokens = (*embedding.projection)(seen(start.tokens));
    start.tokens.matrix() *= embedding_scale(spec());
  }
  if (spec().has_decoder()) embed_second_text(input, start);
  add_positions(start.tokens, 0);
  return start;
}

void Transformer::add_positions(Tensor& tokens, std::int64_t first) const {
  const Embedding& embedding = weights_.embedding;
  add_sinusoids(spec().positions, tokens.matrix(), first);
  if (embedding.norm) embedding.norm->apply(tokens.matrix());
  if (embedding.projection && embedding.text) tokens = (*embedding.projection)(seen(tokens));
  if (!embedding.late_positions.empty()) {
    tokens.matrix() += seen(embedding.late_positions)
                           .middleRows(spec().positions.offset + first, tokens.extent(0));
  }
}

std::vector<TokenLayout> Transformer::stage_layouts(const Start& start) const {
  if (spec().has_decoder()) return {start.layout, start.second_layout};
  if (spec().tail.kind == Tail::class_attention) {
    TokenLayout patches = start.layout;
    patches.prefix = 0;
    return {patches, start.layout};
  }
  if (!spec().is_pyramid()) return {start.layout};
  std::vector<TokenLayout> layouts;
  for (const GridExtents& grid : pyramid_grids(spec())) {
    layouts.push_back({.prefix = 0, .rows = grid.rows, .columns = grid.columns});
  }
  return layouts;
}

std::vector<AttentionShape> Transformer::shapes(const std::vector<TokenLayout>& layouts,
                                                const Start& start) const {
  std::vector<AttentionShape> list;
  const std::int64_t tokens = start.tokens.extent(0);
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    const GridExtents grid{layouts[i].rows, layouts[i].columns};
    const std::int64_t queries = spec().is_pyramid()             ? grid.tokens()
                                 : i > 0 && spec().has_decoder() ? start.second_tokens.extent(0)
                                                                 : tokens;
    for (const Block& block : weights_.stages[i].blocks) {
      const auto& reduction = block.attention.reduction;
      const bool crosses = block.spec.attention.of == Attending::encoder;
      const bool asks = block.spec.attention.of == Attending::class_token;
      const std::int64_t heads = block.spec.attention.heads;
      const std::int64_t width = block.attention.query.outputs() / heads;
      list.push_back({.queries = asks ? 1 : queries,
                      .keys = crosses     ? tokens
                              : asks      ? tokens + 1
                              : reduction ? reduction->output_grid(grid).tokens()
                                          : queries,
                      .heads = heads,
                      .head_width = width,
                      .value_width = block.attention.value.outputs() / block.spec.key_heads()});
    }
  }
  return list;
}

LayerKind Transformer::kind_of(const Block& block, std::size_t stage) const {
  if (block.spec.attention.of == Attending::class_token) return LayerKind::class_attention;
  if (!spec().has_decoder()) return LayerKind::plain;
  if (stage == 0) return LayerKind::encoder;
  return block.spec.attention.of == Attending::encoder ? LayerKind::cross : LayerKind::decoder;
}

void Transformer::run_layers(const std::vector<std::shared_ptr<const Mechanism>>& mechanisms,
                             const std::vector<TokenLayout>& layouts, const TraceRequest& request,
                             const Progress& progress, Start& start, Trace& trace) const {
  Tensor& tokens = start.tokens;
  Tensor memory;
  GridExtents grid{spec().input.image_height, spec().input.image_width};
  std::size_t layer = 0;
  for (std::size_t i = 0; i < weights_.stages.size(); ++i) {
    const StageWeights& stage = weights_.stages[i];
    if (stage.text) {
      memory = std::exchange(tokens, std::move(start.second_tokens));
    }
    if (!stage.class_token.empty()) tokens = joined(stage.class_token, tokens);
    tokens = embed_in_steps(stage.steps, std::move(tokens), grid);
    if (stage.embedding) tokens = (*stage.embedding)(tokens, grid);
    if (stage.merging) tokens = (*stage.merging)(tokens, grid);
    grid = {layouts[i].rows, layouts[i].columns};
    if (stage.embedding_norm) stage.embedding_norm->apply(tokens.matrix());
    if (i == 0 && request.tokens) trace.embedded = tokens;
    for (std::size_t place = 0; place < stage.blocks.size(); ++place, ++layer) {
      progress.step(static_cast<double>(layer) / static_cast<double>(mechanisms.size()),
                    "running the model");
      const auto index = static_cast<std::int64_t>(layer);
      const Block& block = stage.blocks[place];
      // The kind is set for unrecorded layers too, because layers of a kind are counted.
      trace.layers[layer].kind = kind_of(block, i);
      if (index < request.first_layer) continue;
      if (request.change_rows) request.change_rows(LayerRows::residual, index, tokens.matrix());
      const bool convolves = place == 0 && stage.convolution;
      const Tensor embedded = convolves ? tokens : Tensor();
      LayerTrace* const recorded = wants_layer(request, index) ? &trace.layers[layer] : nullptr;
      if (recorded) record_mechanism(*mechanisms[layer], trace, *recorded);
      run_block(block,
                {.mechanism = *mechanisms[layer],
                 .request = request,
                 .layout = layouts[i],
                 .memory = &memory,
                 .memory_layout = &layouts.front(),
                 .parameters = layer_parameters(block.attention.mechanism, request, index),
                 .layer = index,
                 .recorded = recorded},
                tokens);
      add_deeper_rows(start.pictures, index, tokens);
      if (convolves) stage.convolution->apply(embedded, tokens);
      if (place == 0 && stage.positions) {
        tokens.matrix() += (*stage.positions)(tokens, grid).matrix();
      }
      if (recorded && request.tokens) recorded->tokens = tokens;
      // Threads would otherwise keep the score blocks of thousands of keys in their arenas.
      if (request.large_maps == TraceRequest::LargeMaps::computed) release_freed_memory();
      if (recorded && request.layer_recorded) request.layer_recorded(trace, index);
    }
    if (stage.norm) stage.norm->apply(tokens.matrix());
  }
}

void Transformer::read_out(const TraceRequest& request, Start& start, Trace& trace) const {
  Tensor& tokens = start.tokens;
  const TokenReadout& readout = weights_.readout;
  if (readout.final_norm) readout.final_norm->apply(tokens.matrix());
  if (spec().readout.gives_token_logits()) {
    Tensor last({1, spec().width});
    last.matrix() = tokens.matrix().bottomRows(1);
    trace.logits = readout.token_logits(request.token_logits ? tokens : last, spec());
    if (request.token_logits) {
      trace.token_logits = std::move(trace.logits);
      trace.logits = Tensor({1, trace.token_logits.extent(1)});
      trace.logits.matrix() = seen(trace.token_logits).bottomRows(1);
    }
  } else {
    Tensor features = readout.features(tokens, spec(), start.end);
    trace.logits = readout.classify(features, tokens, spec());
    const std::int64_t width = features.size();
    if (width > 0) trace.features = std::move(features).reshaped({width});
    Tensor importance = readout.importance(tokens);
    if (!importance.empty() && wants_layer(request, spec().layers - 1)) {
      trace.layers.back().quantities["pooling_importance"] = std::move(importance);
    }
  }
  const std::int64_t classes = trace.logits.size();
  if (classes > 0) trace.logits = std::move(trace.logits).reshaped({classes});
}

void Transformer::check_first_layer(const TraceRequest& request) const {
  if (request.first_layer == 0) return;
  if (!can_skip_layers() || !request.change_rows) {
    throw Error(ErrorKind::usage, "the first layers of the run cannot be skipped")
        .in_file(file_)
        .expected(can_skip_layers() ? "a function that sets the tokens (change_rows)"
                                    : "a model of one stage");
  }
  if (request.first_layer < 0 || request.first_layer >= spec().layers) {
    throw Error(ErrorKind::usage, "the model has no such layer")
        .expected("0 to " + std::to_string(spec().layers - 1))
        .found(std::to_string(request.first_layer));
  }
}

Trace Transformer::run(const Input& input, const MechanismChoice& mechanism,
                       const TraceRequest& wanted, const Progress& progress) const {
  check_requested_layers(wanted, spec());
  check_first_layer(wanted);
  const MechanismChoice asked = as_run(spec(), mechanism);
  (void)make_mechanism(asked);  // its errors come before those of the input
  return run_from(embed(input), input, asked, wanted, progress);
}

Trace Transformer::run_tokens(const Input& input, TokenizedText text, const PictureTokens* pictures,
                              const MechanismChoice& mechanism, const TraceRequest& wanted,
                              const Progress& progress) const {
  check_requested_layers(wanted, spec());
  check_first_layer(wanted);
  const MechanismChoice asked = as_run(spec(), mechanism);
  Start start = embed_text(input, std::move(text), pictures);
  add_positions(start.tokens, 0);
  return run_from(std::move(start), input, asked, wanted, progress);
}

Trace Transformer::run_from(Start start, const Input& input, const MechanismChoice& asked,
                            const TraceRequest& wanted, const Progress& progress) const {
  const std::unique_ptr<const Mechanism> attention = make_mechanism(asked);
  const std::vector<std::shared_ptr<const Mechanism>> mechanisms = layer_mechanisms(spec(), asked);
  const std::vector<TokenLayout> layouts = stage_layouts(start);
  const std::vector<AttentionShape> extents = shapes(layouts, start);
  const TraceRequest request =
      with_room_for_maps(wanted, map_entries(extents, weights_.stages),
                         have_rows_apart(weights_.stages, mechanisms, wanted));

  Trace trace = begin_trace(*this, input, *attention, as_run(spec(), spec().mechanism));
  trace.layout = layouts.front();
  trace.images = std::move(start.images);
  trace.causal = spec().layer.scores.causal && !sees_both_ways(spec().layer.scores, trace.layout);
  trace.labels = labels_;
  trace.map_channels = attention->structure(extents.front()).channels;
  if (trace.map_channels > 1) trace.map_channel = request.channel;
  trace.layers.resize(extents.size());
  run_layers(mechanisms, layouts, request, progress, start, trace);
  read_out(request, start, trace);
  progress.step(1, "running the model");
  return trace;
}

bool Transformer::can_append(const MechanismChoice& mechanism, std::int64_t tokens) const {
  if (!spec().is_language_model() || spec().has_decoder() || spec().input.pads_to_context ||
      weights_.stages.size() != 1 || !weights_.embedding.text ||
      !weights_.embedding.text->types.empty()) {
    return false;
  }
  const StageWeights& stage = weights_.stages.front();
  if (stage.positions || stage.convolution || !stage.class_token.empty()) return false;
  const auto alone = [tokens](const Block& block) {
    const LayerSpec& layer = block.spec;
    const bool by_length = layer.rotary.scaling == RotaryScaling::dynamic ||
                           layer.rotary.scaling == RotaryScaling::longrope;
    const bool table = layer.scores.bias == ScoreBias::disentangled ||
                       layer.scores.bias == ScoreBias::table ||
                       layer.scores.bias == ScoreBias::decomposed;
    return layer.form == LayerForm::transformer && layer.scores.causal && !table &&
           layer.attention.of == Attending::self && !block.attention.reduction &&
           block.attention.grid_window == 0 && !block.attention.convolves() &&
           !(layer.rotary.form != Rotary::none && by_length &&
             tokens > layer.rotary.trained_context);
  };
  const auto by_rows = [](const std::shared_ptr<const Mechanism>& one) {
    const MechanismEntry& entry = find_mechanism(one->choice().name);
    return entry.terms && !entry.sequential && !one->has_identity_mapping() &&
           !one->choice().parameters.contains("causal");
  };
  return std::ranges::all_of(stage.blocks, alone) &&
         std::ranges::all_of(layer_mechanisms(spec(), as_run(spec(), mechanism)), by_rows);
}

Tensor Transformer::append(const std::vector<std::int64_t>& ids, const MechanismChoice& mechanism,
                           std::vector<KeyValueCache>& cache, const Progress& progress,
                           const PictureTokens* pictures) const {
  const StageWeights& stage = weights_.stages.front();
  cache.resize(stage.blocks.size());
  const std::int64_t before = cache.front().tokens(), after = before + std::ssize(ids);
  if (spec().input.context > 0 && after > spec().input.context) {
    throw Error(ErrorKind::usage, "the text is longer than the model's context")
        .in_file(file_)
        .expected("at most " + std::to_string(spec().input.context) + " tokens")
        .found(std::to_string(after));
  }
  const auto mechanisms = layer_mechanisms(spec(), as_run(spec(), mechanism));
  Tensor tokens = (*weights_.embedding.text)(ids, {}, before);
  const bool has_pictures = pictures && before == 0;
  if (has_pictures) put_pictures(*pictures, tokens);
  add_positions(tokens, before);
  if (stage.embedding_norm) stage.embedding_norm->apply(tokens.matrix());
  TraceRequest request;
  request.implied_maps = false;
  TokenLayout layout;
  if (pictures) layout.pictures = pictures->cells;
  for (std::size_t layer = 0; layer < stage.blocks.size(); ++layer) {
    if (progress.cancelled()) throw Cancelled{};
    const Block& block = stage.blocks[layer];
    const auto index = static_cast<std::int64_t>(layer);
    run_block(block,
              {.mechanism = *mechanisms[layer],
               .request = request,
               .layout = layout,
               .parameters = layer_parameters(block.attention.mechanism, request, index),
               .layer = index,
               .cache = &cache[layer]},
              tokens);
    if (has_pictures) add_deeper_rows(pictures, index, tokens);
  }
  if (stage.norm) stage.norm->apply(tokens.matrix());
  Tensor last({1, tokens.extent(1)});
  last.matrix() = std::as_const(tokens).matrix().bottomRows(1);
  if (weights_.readout.final_norm) weights_.readout.final_norm->apply(last.matrix());
  Tensor logits = weights_.readout.token_logits(last, spec());
  const std::int64_t vocabulary = logits.size();
  return std::move(logits).reshaped({vocabulary});
}

WeightExtents weight_extents(const Model& model) {
  const Transformer* const transformer = find_transformer(model);
  return transformer ? transformer->extents() : WeightExtents{};
}

void refuse_pictures(const Input& input) {
  const Text* const text = std::get_if<Text>(&input.content);
  if (!text || text->pictures.empty()) return;
  throw Error(ErrorKind::usage, "the model reads a text without a picture")
      .about(input.label)
      .expected("a language model with an image tower, such as LLaVA")
      .remedy("give the text alone, or another model");
}

void leave_out_padding(std::int64_t id, const Input& input, TokenizedText& tokens) {
  if (id < 0) return;
  while (!tokens.ids.empty() && tokens.ids.back() == id) {
    tokens.ids.pop_back();
    tokens.texts.pop_back();
    tokens.types.pop_back();
  }
  std::erase_if(tokens.special, [&](std::int64_t i) { return i >= std::ssize(tokens.ids); });
  const auto padding = std::find(tokens.ids.begin(), tokens.ids.end(), id);
  if (padding == tokens.ids.end() && !tokens.ids.empty()) return;
  throw Error(ErrorKind::usage, tokens.ids.empty() ? "the text consists of padding only"
                                                   : "the text has padding before its end")
      .about(input.label)
      .expected("no token " + std::to_string(id) + " before the end")
      .found("token " + std::to_string(padding - tokens.ids.begin()))
      .remedy("leave it out; if it is an ordinary token of this model, set padding=-1");
}

void fill_up(const InputSpec& spec, const Vocabulary& vocabulary, TokenizedText& tokens) {
  const std::string shown = vocabulary.text_of(spec.padding);
  while (std::ssize(tokens.ids) < spec.context) {
    tokens.special.push_back(std::ssize(tokens.ids));
    tokens.ids.push_back(spec.padding);
    tokens.texts.push_back(shown);
    tokens.types.push_back(0);
  }
}

const Transformer* find_transformer(const Model& model) {
  const auto* const both = dynamic_cast<const VisionLanguageModel*>(&model);
  return both ? &both->language() : dynamic_cast<const Transformer*>(&model);
}

const Transformer& transformer_of(const Model& model) {
  if (const Transformer* const found = find_transformer(model)) return *found;
  throw Error(ErrorKind::usage, "the model does not give access to its weights")
      .in_file(model.file());
}

const Block& block_of(const Transformer& model, std::int64_t layer) {
  std::int64_t first = 0;
  for (const StageWeights& stage : model.weights().stages) {
    const std::int64_t count = std::ssize(stage.blocks);
    if (layer >= first && layer < first + count) {
      return stage.blocks[static_cast<std::size_t>(layer - first)];
    }
    first += count;
  }
  throw Error(ErrorKind::usage, "the model has no such layer")
      .in_file(model.file())
      .expected("0 to " + std::to_string(first - 1))
      .found(std::to_string(layer));
}

void require_products(const Transformer& model, std::int64_t layer) {
  const ModelSpec& spec = model.spec();
  const auto& products = spec.multiplicative_layers;
  if (spec.arithmetic == Arithmetic::multiplicative ||
      std::find(products.begin(), products.end(), layer) != products.end()) {
    return;
  }
  throw Error(ErrorKind::usage, "the layer's projections are not matrix products")
      .in_file(model.file())
      .about("layer " + std::to_string(layer))
      .expected("y = x W + b")
      .found("adder arithmetic, −Σ|x − W|");
}

Eigen::RowVectorXd bias_of(const Linear& linear) {
  const Tensor nothing({1, linear.inputs()});
  const Tensor bias = linear(nothing.matrix());
  return bias.matrix().row(0).cast<double>();
}

MatrixD matrix_of(const Linear& linear) {
  // Multiplied by so great a power of two, weights are not rounded when the bias is added and
  // subtracted again, in float32.
  constexpr float kScale = 0x1p60F;
  Tensor one({linear.inputs(), linear.inputs()});
  one.matrix().setIdentity();
  one.matrix() *= kScale;
  Tensor rows = linear(std::as_const(one).matrix());
  if (linear.has_bias()) rows.matrix().rowwise() -= bias_of(linear).cast<float>();
  return rows.matrix().cast<double>() / double{kScale};
}

}  // namespace attnscope
