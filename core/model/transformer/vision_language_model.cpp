#include "core/model/transformer/vision_language_model.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/model/parts/activation.h"

namespace attnscope {

namespace {

/// The number of the tower's layer that is read. Throws Error(unsupported) if there is none.
std::int64_t layer_read(const VisionLanguageFile& file, const Transformer& tower) {
  const std::int64_t layers = tower.spec().layers;
  // Hidden state 0 is the input of the first layer.
  const std::int64_t layer =
      file.feature_layer < 0 ? layers + file.feature_layer : file.feature_layer - 1;
  if (layer >= 0 && layer < layers) return layer;
  throw Error(ErrorKind::unsupported, "the tower has no output of this layer")
      .in_file(tower.file())
      .about("vision_feature_layer")
      .expected("-" + std::to_string(layers) + " to " + std::to_string(layers) + ", but not 0")
      .found(std::to_string(file.feature_layer));
}

Linear read_linear(const Checkpoint& connector, const std::string& name, std::int64_t outputs,
                   std::int64_t inputs, std::set<std::string>& read) {
  const auto tensor = [&](const std::string& full, const Shape& shape) {
    const StoredTensor& stored = connector.at(full);
    if (stored.shape != shape) {
      throw Error(ErrorKind::damaged, "the tensor fits neither the tower nor the language model")
          .in_file(connector.path())
          .about(full)
          .expected(to_string(shape))
          .found(to_string(stored.shape));
    }
    read.insert(full);
    return stored.view().to_float();
  };
  Tensor weight = tensor(name + ".weight", {outputs, inputs});
  std::vector<float> bias;
  if (connector.find(name + ".bias")) {
    const Tensor values = tensor(name + ".bias", {outputs});
    bias.assign(values.values().begin(), values.values().end());
  }
  return {std::move(weight), std::move(bias)};
}

/// Puts `count` tokens in place of the one for the picture, unless there are so many already.
/// Throws Error(usage).
void make_room(std::int64_t image_token, std::int64_t count, const std::string& mark,
               TokenizedText& text) {
  const auto first = std::ranges::find(text.ids, image_token);
  const std::int64_t place = first - text.ids.begin();
  const std::int64_t marks = std::ranges::count(text.ids, image_token);
  const bool whole = marks == count && std::all_of(first, first + count, [&](std::int64_t id) {
                       return id == image_token;
                     });
  if (whole) return;
  if (marks != 1) {
    throw Error(ErrorKind::usage, "the text must have one place for the picture")
        .expected("one " + visible_text(mark))
        .found(std::to_string(marks));
  }
  const std::int64_t more = count - 1;
  const auto fill = [&](auto& list) {
    const auto value = list[static_cast<std::size_t>(place)];
    list.insert(list.begin() + place, static_cast<std::size_t>(more), value);
  };
  fill(text.ids);
  fill(text.texts);
  fill(text.types);
  for (std::int64_t& special : text.special) special += special > place ? more : 0;
  std::erase(text.special, place);  // the picture's tokens are no special ones
}

}  // namespace

Tensor ImageConnector::operator()(ConstMatrixMap patches) const {
  Tensor hidden = first(patches);
  apply_activation(activation, hidden.values());
  return second(seen(hidden));
}

ImageConnector read_image_connector(const VisionLanguageFile& file, std::int64_t tower_width,
                                    std::int64_t language_width) {
  std::set<std::string> read;
  ImageConnector connector{
      read_linear(file.connector, "linear_1", language_width, tower_width, read),
      read_linear(file.connector, "linear_2", language_width, language_width, read),
      file.activation};
  for (const StoredTensor& tensor : file.connector.tensors()) {
    if (read.contains(tensor.name)) continue;
    throw Error(ErrorKind::unsupported, "the connector has a tensor that is not two linear layers'")
        .in_file(file.connector.path())
        .about("multi_modal_projector." + tensor.name)
        .expected("linear_1 and linear_2")
        .remedy("--option ignore=multi_modal_projector." + tensor.name +
                " if it does not change the computation");
  }
  return connector;
}

VisionLanguageModel::VisionLanguageModel(std::shared_ptr<const Transformer> tower,
                                         std::shared_ptr<const Transformer> language,
                                         ImageConnector connector, const VisionLanguageFile& file)
    : tower_(std::move(tower)),
      language_(std::move(language)),
      connector_(std::move(connector)),
      architecture_(file.name + ": " + tower_->architecture() + ", " + language_->architecture()),
      assumptions_(language_->assumptions()),
      feature_layer_(layer_read(file, *tower_)),
      keeps_prefix_(file.keeps_prefix),
      image_token_(file.image_token),
      prompt_(file.prompt) {
  for (Assumption one : tower_->assumptions()) {
    one.option = kTowerOption + one.option;
    assumptions_.push_back(std::move(one));
  }
  for (const auto& [pattern, count] : file.excluded) {
    assumptions_.push_back(
        {kIgnoreOption, pattern, std::to_string(count) + " tensors left out, as set by the user"});
  }
  if (image_token_ < 0 || image_token_ >= spec().input.vocabulary) {
    throw Error(ErrorKind::damaged, "the token for the picture is outside the vocabulary")
        .in_file(language_->file())
        .about("image_token_index")
        .expected("0 to " + std::to_string(spec().input.vocabulary - 1))
        .found(std::to_string(image_token_));
  }
  mark_ = language_->vocabulary()->text_of(image_token_);
}

std::string VisionLanguageModel::prompt_for(const std::string& text) const {
  if (text.find(mark_) != std::string::npos) return text;
  constexpr std::string_view place = "{text}";
  const std::size_t at = prompt_.find(place);
  const bool fits = at != std::string::npos && prompt_.find(mark_) != std::string::npos;
  if (fits) return std::string(prompt_).replace(at, place.size(), text);
  throw Error(ErrorKind::usage, "the prompt around a question is not known for this model")
      .in_file(file())
      .expected("a whole text with " + visible_text(mark_) + " in the picture's place")
      .remedy("write it as its model card does: \"USER: " + visible_text(mark_) +
              " What is this? ASSISTANT:\"");
}

TokenizedText VisionLanguageModel::tokens_of(const Input& input) const {
  Input asked = input;
  Text* const text = std::get_if<Text>(&asked.content);
  const Vocabulary& vocabulary = *language_->vocabulary();
  if (std::holds_alternative<Image>(input.content)) {
    throw Error(ErrorKind::usage, "the model reads a picture together with a text")
        .about(input.label)
        .expected("ask:photo.png ||| What is on the table?")
        .remedy("add the text: --prompt \"What is on the table?\"");
  }
  if (!text || !text->picture) return tokenize_input(input, spec(), vocabulary);
  const InputSpec& seen = tower_->spec().input;
  if (keeps_prefix_ && seen.prefix_tokens() > 0) {
    throw Error(ErrorKind::unsupported, "a class token among the picture's tokens is not supported")
        .in_file(tower_->file())
        .about("vision_feature_select_strategy");
  }
  if (text->ids.empty()) text->characters = prompt_for(text->characters);
  TokenizedText tokens = tokenize_input(asked, spec(), vocabulary);
  const std::int64_t cells = seen.grid_rows() * seen.grid_columns();
  try {
    make_room(image_token_, cells, mark_, tokens);
  } catch (Error& error) {
    throw error.about(input.label);
  }
  const std::int64_t context = spec().input.context, found = std::ssize(tokens.ids);
  if (context > 0 && found > context) {
    throw Error(ErrorKind::usage, "the text with the picture is longer than the model's context")
        .about(input.label)
        .expected("at most " + std::to_string(context) + " tokens")
        .found(std::to_string(found) + ", " + std::to_string(cells) + " of them the picture's");
  }
  return tokens;
}

std::optional<PictureTokens> VisionLanguageModel::look_at(const Input& input,
                                                          const TokenizedText& text,
                                                          const Progress& progress) const {
  const Text* const asked = std::get_if<Text>(&input.content);
  if (!asked || !asked->picture) return std::nullopt;
  TraceRequest request;
  request.implied_maps = false;
  request.tokens = true;
  request.layers = {feature_layer_};
  Trace trace = tower_->run(input, tower_->spec().mechanism, request, progress.silent());
  const Tensor& all = trace.layers[static_cast<std::size_t>(feature_layer_)].tokens;
  const std::int64_t prefix = trace.layout.prefix, width = all.extent(1);
  PictureTokens result;
  result.rows = connector_({all.data() + prefix * width, all.extent(0) - prefix, width});
  result.first = std::ranges::find(text.ids, image_token_) - text.ids.begin();
  result.grid_rows = trace.layout.rows;
  result.grid_columns = trace.layout.columns;
  result.image = std::move(*trace.image);
  return result;
}

Trace VisionLanguageModel::run(const Input& input, const MechanismChoice& mechanism,
                               const TraceRequest& request, const Progress& progress) const {
  progress.step(0, "looking at the picture");
  TokenizedText text = tokens_of(input);
  const std::optional<PictureTokens> picture = look_at(input, text, progress);
  return language_->run_tokens(input, std::move(text), picture ? &*picture : nullptr, mechanism,
                               request, progress);
}

}  // namespace attnscope
