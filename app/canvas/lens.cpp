#include "app/canvas/lens.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>
#include <algorithm>
#include <array>
#include <backends/imgui_impl_opengl3.h>
#include <cmath>
#include <imgui.h>
#include <imgui_internal.h>

#include "app/canvas/lens_controls.h"
#include "app/look/font_file.h"

namespace attnscope {

namespace {

constexpr double field_width = 200, line = 25.5, header = 30, padding = 6;
constexpr int fields = 8;

/// Makes a context current, and restores the former one at the end.
class CurrentContext {
 public:
  explicit CurrentContext(ImGuiContext* context) : before_(ImGui::GetCurrentContext()) {
    ImGui::SetCurrentContext(context);
  }
  ~CurrentContext() { ImGui::SetCurrentContext(before_); }
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;

 private:
  ImGuiContext* before_;
};

int button_of(Qt::MouseButton button) {
  return button == Qt::LeftButton     ? 0
         : button == Qt::RightButton  ? 1
         : button == Qt::MiddleButton ? 2
                                      : -1;
}

int imgui_key(int key) {
  switch (key) {
    case Qt::Key_Tab:
      return ImGuiKey_Tab;
    case Qt::Key_Left:
      return ImGuiKey_LeftArrow;
    case Qt::Key_Right:
      return ImGuiKey_RightArrow;
    case Qt::Key_Home:
      return ImGuiKey_Home;
    case Qt::Key_End:
      return ImGuiKey_End;
    case Qt::Key_Delete:
      return ImGuiKey_Delete;
    case Qt::Key_Backspace:
      return ImGuiKey_Backspace;
    case Qt::Key_Return:
      return ImGuiKey_Enter;
    case Qt::Key_Enter:
      return ImGuiKey_KeyPadEnter;
    case Qt::Key_Escape:
      return ImGuiKey_Escape;
    case Qt::Key_A:
      return ImGuiKey_A;
    case Qt::Key_C:
      return ImGuiKey_C;
    case Qt::Key_V:
      return ImGuiKey_V;
    case Qt::Key_X:
      return ImGuiKey_X;
    default:
      return -1;
  }
}

}  // namespace

Lens::Lens() : context_(nullptr) {
  ImGuiContext* before = ImGui::GetCurrentContext();
  context_ = ImGui::CreateContext();
  ImGui::SetCurrentContext(context_);
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.LogFilename = nullptr;
  io.ConfigFlags |= ImGuiConfigFlags_NoMouseCursorChange;
  for (int key = 0; key < ImGuiKey_COUNT; ++key) io.KeyMap[key] = key;
  ImGui::SetCurrentContext(before);
  clock_.start();
}

Lens::~Lens() {
  const CurrentContext current(context_);
  if (backend_ready_) ImGui_ImplOpenGL3_Shutdown();
  ImGui::DestroyContext(context_);
}

int Lens::columns_in(double width) {
  return std::clamp(static_cast<int>((width - padding) / (field_width + padding)), 1, 4);
}

QSizeF Lens::tall_size() { return {field_width + 3 * padding, header + fields * line + padding}; }

QSizeF Lens::wide_size(double width) {
  return {width,
          header + std::ceil(static_cast<double>(fields) / columns_in(width)) * line + padding};
}

void Lens::load_font(const QFont& font, double pixel_ratio) {
  ImGuiIO& io = ImGui::GetIO();
  io.Fonts->Clear();
  const auto pixels = static_cast<float>(std::round(12 * pixel_ratio));
  ImFontConfig config;
  config.OversampleH = 1;  // the FreeType builder hints to whole pixels
  config.PixelSnapH = true;
  face_ = font_file(font);
  if (face_.isEmpty()) {
    config.SizePixels = pixels;
    io.Fonts->AddFontDefault(&config);
  } else {
    config.FontDataOwnedByAtlas = false;
    io.Fonts->AddFontFromMemoryTTF(face_.data(), static_cast<int>(face_.size()), pixels * 1.18F,
                                   &config, io.Fonts->GetGlyphRangesDefault());
  }
  if (backend_ready_) ImGui_ImplOpenGL3_DestroyFontsTexture();
}

bool Lens::holds(QPointF position) const {
  return place_.contains(position) || popup_open_ || item_held_;
}

bool Lens::mouse(const QMouseEvent& event) {
  position_ = event.position();
  const int button = button_of(event.button());
  const bool down = event.type() != QEvent::MouseButtonRelease;
  const bool mine = holds(position_) || (!down && button >= 0 && buttons_[button]);
  if (button >= 0 && (mine || !down)) {
    if (down) pressed_[button] = true;
    buttons_[button] = down;
  }
  wake();
  return mine;
}

bool Lens::moved(QPointF position) {
  const bool before = holds(position_);
  position_ = position;
  const bool now = holds(position_) || buttons_[0];
  if (before || now) wake();
  return now;
}

bool Lens::wheel(const QWheelEvent& event) {
  if (!holds(event.position())) return false;
  const CurrentContext current(context_);
  ImGui::GetIO().MouseWheel += static_cast<float>(event.angleDelta().y()) / 120.0F;
  wake();
  return true;
}

bool Lens::key(const QKeyEvent& event, bool down) {
  if (!typing_ && !popup_open_) return false;
  const CurrentContext current(context_);
  ImGuiIO& io = ImGui::GetIO();
  const int key = imgui_key(event.key());
  if (key >= 0) io.KeysDown[key] = down;
  io.KeyCtrl = event.modifiers().testFlag(Qt::ControlModifier);
  io.KeyShift = event.modifiers().testFlag(Qt::ShiftModifier);
  if (down && !io.KeyCtrl) {
    for (const QChar letter : event.text()) {
      if (letter.isPrint()) io.AddInputCharacterUTF16(letter.unicode());
    }
  }
  wake();
  return true;
}

void Lens::left() {
  position_ = {-1e6, -1e6};
  wake();
}

QRectF Lens::control(const std::string& name) const {
  const auto found = controls_.find(name);
  return found == controls_.end() ? QRectF() : found->second;
}

void Lens::noted(const std::string& name) {
  const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
  controls_[name] =
      QRectF(QPointF(low.x, low.y) / pixel_ratio_, QPointF(high.x, high.y) / pixel_ratio_);
}

void Lens::draw_focus(const Input& input) const {
  QRectF place;
  for (const auto& [name, rect] : controls_) {
    if (name == input.focused || name.starts_with(input.focused + "/")) place = place.united(rect);
  }
  if (place.isEmpty()) return;
  const auto ratio = static_cast<float>(input.pixel_ratio);
  const QRectF ring = place.adjusted(-2, -2, 2, 2);
  ImGui::GetForegroundDrawList()->AddRect(
      {static_cast<float>(ring.left()) * ratio, static_cast<float>(ring.top()) * ratio},
      {static_cast<float>(ring.right()) * ratio, static_cast<float>(ring.bottom()) * ratio},
      lens::to_packed(input.colours->accent), 5 * ratio, 0, 2 * ratio);
}

ViewSettings Lens::draw(const Input& input) {
  const CurrentContext current(context_);
  ViewSettings view = input.view;
  const auto ratio = static_cast<float>(input.pixel_ratio);
  if (!style_ready_ || pixel_ratio_ != input.pixel_ratio || style_theme_ != input.colours->theme) {
    if (pixel_ratio_ != input.pixel_ratio) load_font(input.font, input.pixel_ratio);
    pixel_ratio_ = input.pixel_ratio;
    style_theme_ = input.colours->theme;
    style_ready_ = true;
    lens::set_style(*input.colours, ratio);
  }
  if (!backend_ready_) {
    ImGui_ImplOpenGL3_Init("#version 330 core");
    backend_ready_ = true;
  }
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = {static_cast<float>(input.widget.width()) * ratio,
                    static_cast<float>(input.widget.height()) * ratio};
  io.DisplayFramebufferScale = {1, 1};  // all lengths here are device pixels
  io.DeltaTime = std::clamp(static_cast<float>(clock_.nsecsElapsed()) * 1e-9F, 1e-4F, 0.1F);
  clock_.restart();
  io.MousePos = {static_cast<float>(position_.x()) * ratio,
                 static_cast<float>(position_.y()) * ratio};
  for (int i = 0; i < 3; ++i) {
    io.MouseDown[i] = buttons_[i] || pressed_[i];
    pressed_[i] = false;
  }
  place_ = input.place;
  controls_.clear();

  ImGui_ImplOpenGL3_NewFrame();
  ImGui::NewFrame();
  ImGui::SetNextWindowPos(
      {static_cast<float>(place_.left()) * ratio, static_cast<float>(place_.top()) * ratio});
  ImGui::SetNextWindowSize(
      {static_cast<float>(place_.width()) * ratio, static_cast<float>(place_.height()) * ratio});
  constexpr ImGuiWindowFlags flags = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav;
  ImGui::Begin("lens", nullptr, flags);
  const float small = 20 * ratio;
  const ImVec2 top = ImGui::GetCursorPos();
  ImGui::SetCursorPosY(top.y + (small - ImGui::GetTextLineHeight()) / 2);
  ImGui::TextUnformatted("Lens");
  ImGui::SameLine();
  ImGui::TextDisabled("R resets, L closes it");
  ImGui::SetCursorPos({ImGui::GetWindowWidth() - top.x - small + 2 * ratio, top.y});
  close_wanted_ =
      lens::sign_button("close", lens::Sign::chevron_down, false, *input.colours, small);
  noted("close");
  if (input.place.height() > 40) {
    const int columns = input.side == LensSide::right ? 1 : columns_in(place_.width());
    ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, ImVec2(5 * ratio, 2.5F * ratio));
    ImGui::SetCursorPosY(top.y + small + 2 * ratio);
    if (ImGui::BeginTable("fields", columns, ImGuiTableFlags_SizingStretchSame)) {
      contents(input, view);
      ImGui::EndTable();
    }
    ImGui::PopStyleVar();
  }
  ImGui::End();
  if (!input.focused.empty()) draw_focus(input);
  ImGui::Render();
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  popup_open_ = !context_->OpenPopupStack.empty();
  item_held_ = ImGui::IsAnyItemActive();
  typing_ = io.WantTextInput;
  if (frames_wanted_ > 0) --frames_wanted_;
  return view;
}

}  // namespace attnscope
