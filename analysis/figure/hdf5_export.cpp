#include <set>

#include "analysis/figure/array_export.h"
#include "analysis/figure/text_export.h"
#include "core/checkpoint/hdf5/hdf5_writer.h"

namespace attnscope {

namespace {

/// Writes NeXus groups (NXentry for panels, NXdata for plottable marks), which NeXus readers draw:
/// https://manual.nexusformat.org/classes/base_classes/NXdata.html
class Hdf5Arrays : public ArrayFile {
 public:
  void array(const std::string& path, const Shape& shape, std::span<const double> values) override {
    file_.data("/" + path, shape, values);
  }
  void array(const std::string& path, const Shape& shape, std::span<const float> values) override {
    file_.data("/" + path, shape, values);
  }
  void array(const std::string& path, const Shape& shape,
             std::span<const std::uint8_t> values) override {
    file_.data("/" + path, shape, values);
  }
  void array(const std::string& path, const Shape& shape,
             const std::vector<std::string>& texts) override {
    file_.data("/" + path, shape, texts);
  }

  void text(const std::string& path, const std::string& name, const std::string& value) override {
    create(path);
    file_.attribute("/" + path, name, value);
  }
  void number(const std::string& path, const std::string& name, std::int64_t value) override {
    create(path);
    file_.attribute("/" + path, name, value);
  }

  void plot(const std::string& group, const std::string& signal,
            const std::vector<std::string>& others, const std::vector<std::string>& axes,
            const std::vector<std::string>& names) override {
    const std::string path = "/" + group;
    file_.attribute(path, "NX_class", "NXdata");
    file_.attribute(path, "signal", signal);
    if (!others.empty()) file_.attribute(path, "auxiliary_signals", others);
    file_.attribute(path, "axes", axes);
    std::vector<std::string> arrays = {signal};
    arrays.insert(arrays.end(), axes.begin(), axes.end());
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      if (!names[i].empty()) file_.attribute(path + "/" + arrays[i], "long_name", names[i]);
    }
    // The default plot is the first mark of a panel, in the first such panel.
    const std::size_t slash = group.find('/');
    const std::string panel = group.substr(0, slash);
    if (!entries_.insert(panel).second) return;
    file_.attribute("/" + panel, "NX_class", "NXentry");
    file_.attribute("/" + panel, "default", group.substr(slash + 1));
    if (entries_.size() > 1) return;
    file_.attribute("/", "NX_class", "NXroot");
    file_.attribute("/", "default", panel);
  }

  [[nodiscard]] std::string bytes() const { return file_.bytes(); }

 private:
  void create(const std::string& path) {
    if (!path.empty() && groups_.insert(path).second) file_.group("/" + path);
  }

  Hdf5Writer file_;
  std::set<std::string> groups_, entries_;
};

}  // namespace

std::string figure_as_hdf5(const Figure& figure) {
  Hdf5Arrays file;
  write_arrays(figure, file);
  return file.bytes();
}

}  // namespace attnscope
