#include "core/model/parts/image_connector.h"

#include <set>
#include <string>

#include "core/error.h"
#include "core/model/parts/activation.h"

namespace attnscope {

namespace {

/// Reads a connector's tensors and remembers their names.
class ConnectorReader {
 public:
  explicit ConnectorReader(const VisionLanguageFile& file) : file_(file) {}

  /// `outputs`, `inputs`: the widths; outputs 0: any.
  [[nodiscard]] Linear linear(const std::string& name, std::int64_t outputs, std::int64_t inputs) {
    if (file_.connector.find(name)) {  // [in, out]
      const Tensor stored = tensor(name, {inputs, outputs});
      Tensor weight({outputs, inputs});
      weight.matrix() = stored.matrix().transpose();
      return {std::move(weight), {}};
    }
    const std::string full = name + ".weight";
    if (const Shape& shape = file_.connector.at(full).shape; outputs == 0 && !shape.empty()) {
      outputs = shape.front();
    }
    Tensor weight = tensor(full, {outputs, inputs});
    return {std::move(weight), vector(name + ".bias", outputs)};
  }

  [[nodiscard]] LayerNorm norm(const std::string& name, const NormSpec& spec, std::int64_t width) {
    const Tensor stored = tensor(name + ".weight", {width});
    return layer_norm(spec.kind, {stored.values().begin(), stored.values().end()},
                      vector(name + ".bias", width), spec.eps);
  }

  /// Throws Error(unsupported) for a tensor that was not read.
  void check_all_read(const ConnectorSpec& spec) const {
    for (const StoredTensor& tensor : file_.connector.tensors()) {
      if (read_.contains(tensor.name)) continue;
      throw Error(ErrorKind::unsupported, "the connector has a tensor that is not supported")
          .in_file(file_.connector.path())
          .about(file_.connector_prefix + tensor.name)
          .expected(spec.layers.front() + (spec.layers.size() > 1 ? " and " + spec.layers[1] : ""))
          .remedy("--option ignore=" + file_.connector_prefix + tensor.name +
                  " if it does not change the computation");
    }
  }

  /// Empty if the file does not have it.
  [[nodiscard]] std::vector<float> vector(const std::string& name, std::int64_t size) {
    if (!file_.connector.find(name)) return {};
    const Tensor values = tensor(name, {size});
    return {values.values().begin(), values.values().end()};
  }

 private:
  [[nodiscard]] Tensor tensor(const std::string& name, const Shape& shape) {
    const StoredTensor& stored = file_.connector.at(name);
    if (stored.shape != shape) {
      throw Error(ErrorKind::damaged, "the tensor fits neither the tower nor the language model")
          .in_file(file_.connector.path())
          .about(file_.connector_prefix + name)
          .expected(to_string(shape))
          .found(to_string(stored.shape));
    }
    read_.insert(name);
    return stored.view().to_float();
  }

  const VisionLanguageFile& file_;
  std::set<std::string> read_;
};

ImageConnector read_connector(const ConnectorSpec& spec, std::int64_t tower_width,
                              std::int64_t language_width, ConnectorReader& reader) {
  ImageConnector connector{.spec = spec, .first = {}};
  std::int64_t inputs = tower_width;
  if (!spec.norm.empty() && !spec.norm_of_squares) {
    connector.norm = reader.norm(spec.norm, spec.norm_spec, inputs);
  }
  if (!spec.means) inputs *= spec.merge * spec.merge;
  if (!spec.norm.empty() && spec.norm_of_squares) {
    connector.norm = reader.norm(spec.norm, spec.norm_spec, inputs);
  }
  const bool two = spec.layers.size() > 1;
  connector.first = reader.linear(spec.layers.front(), two ? 0 : language_width, inputs);
  if (two) {
    connector.second = reader.linear(spec.layers[1], language_width, connector.first.outputs());
  }
  return connector;
}

void check_merge(const VisionLanguageFile& file, const InputSpec& tower) {
  const std::int64_t side = file.connection.merge;
  const bool steps = tower.keeps_sizes() && side >= 1 &&
                     (tower.size_step % (side * tower.patch_height) != 0 ||
                      tower.size_step % (side * tower.patch_width) != 0);
  if (side >= 1 && !steps && tower.grid_rows() % side == 0 && tower.grid_columns() % side == 0) {
    return;
  }
  throw Error(ErrorKind::unsupported, "the tower's patches do not form whole squares")
      .in_file(file.config)
      .about("scale_factor, spatial_merge_size")
      .expected(steps ? "a divisor of the " + std::to_string(tower.size_step) +
                            " pixels of which the sides of an image are multiples"
                      : "a divisor of " + std::to_string(tower.grid_rows()) + " and " +
                            std::to_string(tower.grid_columns()))
      .found(std::to_string(side));
}

/// Squares of `merge` × `merge` patches of a grid with `columns` columns: their patches beside each
/// other, or their means.
Tensor squares_of(ConstMatrixMap patches, std::int64_t columns, const ConnectorSpec& spec) {
  const std::int64_t side = spec.merge, width = patches.cols(), rows = patches.rows() / columns;
  const std::int64_t across = columns / side;
  Tensor squares({rows / side * across, (spec.means ? 1 : side * side) * width});
  const float share = spec.means ? 1.0F / static_cast<float>(side * side) : 1.0F;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      const std::int64_t square = row / side * across + column / side;
      const std::int64_t place = spec.means ? 0 : row % side * side + column % side;
      squares.matrix().row(square).segment(place * width, width) +=
          share * patches.row(row * columns + column);
    }
  }
  return squares;
}

}  // namespace

Tensor ImageConnector::operator()(ConstMatrixMap patches, std::int64_t rows,
                                  std::int64_t columns) const {
  Tensor normed;
  if (norm && !spec.norm_of_squares) {
    normed = Tensor({rows * columns, patches.cols()});
    normed.matrix() = patches;
    norm->apply(normed.matrix());
  }
  Tensor squares = squares_of(normed.empty() ? patches : seen(normed), columns, spec);
  if (norm && spec.norm_of_squares) norm->apply(squares.matrix());
  Tensor hidden = first(seen(squares));
  if (!second) return hidden;
  apply_activation(spec.activation, hidden.values());
  return (*second)(seen(hidden));
}

ImageConnectors read_image_connectors(const VisionLanguageFile& file, const ModelSpec& tower,
                                      std::int64_t language_width) {
  check_merge(file, tower.input);
  ConnectorReader reader(file);
  ImageConnectors connectors{
      .main = read_connector(file.connection, tower.width, language_width, reader)};
  for (const auto& [layer, spec] : file.deeper) {
    connectors.deeper.emplace_back(layer,
                                   read_connector(spec, tower.width, language_width, reader));
  }
  if (!file.row_end.empty()) {
    connectors.row_end = reader.vector(file.row_end, language_width);
    if (connectors.row_end.empty()) {
      throw Error(ErrorKind::damaged, "the vector after each row of a picture's patches is missing")
          .in_file(file.connector.path())
          .about(file.row_end);
    }
  }
  reader.check_all_read(file.connection);
  return connectors;
}

}  // namespace attnscope
