#include "endpoint/chat_stream.h"

#include <algorithm>
#include <array>

namespace sweep::endpoint {
namespace {

struct CallSlot {
  std::int64_t index = -1;
  std::string id;
  std::string name;
  std::string arguments;
  Json extra = Json::object();  // members we do not know, for replay
};

// `text` is one whole JSON object.
bool whole_object(const std::string& text) {
  const auto json = text.empty() ? std::nullopt : parse_json(text);
  return json && json->is_object();
}

// Joins the pieces of `reasoning_details`: a part with the index and type of the last one goes on
// with its texts.
void add_details(Json& list, const Json& pieces) {
  for (const Json& piece : pieces) {
    Json* last = list.empty() ? nullptr : &list.back();
    const bool same = last != nullptr && last->is_object() && piece.is_object() &&
                      piece.contains("index") && last->value("index", Json()) == piece["index"] &&
                      text_at(*last, "type") == text_at(piece, "type");
    if (!same) {
      list.push_back(piece);
      continue;
    }
    for (const auto& [key, value] : piece.items()) {
      const bool grows = (key == "text" || key == "summary") && value.is_string() &&
                         last->contains(key) && (*last)[key].is_string();
      if (grows)
        (*last)[key].get_ref<std::string&>() += value.get_ref<const std::string&>();
      else if (!value.is_null())
        (*last)[key] = value;
    }
  }
}

class ChatStream final : public Assembler {
 public:
  explicit ChatStream(const Asked& asked)
      : tools_(asked.offer.tools), reasoning_keys_(asked.profile.reasoning_read) {}

  bool add(const SseEvent& event) override;

  [[nodiscard]] bool complete() const override { return done_ || !finish_.empty(); }

  [[nodiscard]] const std::optional<WireError>& error() const override { return error_; }

  [[nodiscard]] Progress progress() const override { return progress_; }

  [[nodiscard]] Json take() override;

 private:
  bool add_delta(const Json& delta);
  bool add_member(const std::string& key, const Json& value);
  void add_name(CallSlot& slot, const std::string& name) const;
  void add_call(const Json& delta);
  CallSlot& slot_for(std::int64_t index, const std::string& id);
  void add_text(const std::string& key, const std::string& text);

  std::vector<std::string> tools_;
  std::vector<std::string> reasoning_keys_;
  bool any_choice_ = false;
  Json head_ = Json::object();     // id, model, usage of the document
  Json message_ = Json::object();  // everything but tool calls
  std::vector<CallSlot> calls_;
  std::string finish_;
  bool done_ = false;
  std::optional<WireError> error_;
  Progress progress_;
};

bool ChatStream::add(const SseEvent& event) {
  if (event.data == "[DONE]") {
    done_ = true;
    return true;
  }
  const auto chunk = parse_json(event.data);
  if (!chunk) {
    error_ = WireError{"an event of the stream is not JSON", "bad_event", "", "", 0};
    return false;
  }
  if (auto error = error_in(*chunk)) {
    error_ = std::move(error);
    return false;
  }
  for (const char* key : {"id", "model", "system_fingerprint"})
    if (const std::string text = text_at(*chunk, key); !text.empty() && !head_.contains(key))
      head_[key] = text;
  if (const Json* usage = member(*chunk, "usage"))
    head_["usage"] = *usage;
  bool output = false;
  const Json* choices = member(*chunk, "choices");
  if (choices == nullptr || !choices->is_array())
    return false;
  for (const Json& choice : *choices) {
    if (integer_at(choice, "index", 0) != 0)
      continue;
    if (auto error = error_in(choice))
      error_ = std::move(error);
    any_choice_ = true;
    if (const Json* delta = member(choice, "delta"))
      output = add_delta(*delta) || output;
    if (const std::string reason = text_at(choice, "finish_reason"); !reason.empty())
      finish_ = reason;
  }
  return output;
}

void ChatStream::add_text(const std::string& key, const std::string& text) {
  if (!message_.contains(key) || !message_[key].is_string())
    message_[key] = "";
  message_[key].get_ref<std::string&>() += text;
}

bool ChatStream::add_delta(const Json& delta) {
  bool output = false;
  if (!delta.is_object())
    return false;
  for (const auto& [key, value] : delta.items())
    if (key != "role" && !value.is_null())
      output = add_member(key, value) || output;
  return output;
}

bool ChatStream::add_member(const std::string& key, const Json& value) {
  const bool reasoning =
      std::find(reasoning_keys_.begin(), reasoning_keys_.end(), key) != reasoning_keys_.end();
  if (value.is_string() && (reasoning || key == "content" || key == "refusal")) {
    const auto& text = value.get_ref<const std::string&>();
    add_text(key, text);
    note_piece(progress_, reasoning, text);
    return !text.empty();
  }
  if (key == "tool_calls" && value.is_array()) {
    for (const Json& call : value)
      add_call(call);
    return true;
  }
  if (value.is_array() && message_.contains(key) && message_[key].is_array()) {
    if (key == "reasoning_details")
      add_details(message_[key], value);
    else
      message_[key].insert(message_[key].end(), value.begin(), value.end());
    return true;
  }
  message_[key] = value;
  return reasoning;
}

CallSlot& ChatStream::slot_for(std::int64_t index, const std::string& id) {
  const auto by = [&](auto&& test) { return std::find_if(calls_.rbegin(), calls_.rend(), test); };
  if (!id.empty()) {
    if (const auto known = by([&](const CallSlot& slot) { return slot.id == id; });
        known != calls_.rend())
      return *known;
    // A second call on the same index with another id is a call of its own.
    if (const auto waiting =
            by([&](const CallSlot& slot) { return slot.index == index && slot.id.empty(); });
        index >= 0 && waiting != calls_.rend())
      return *waiting;
  } else if (index >= 0) {
    if (const auto known = by([&](const CallSlot& slot) { return slot.index == index; });
        known != calls_.rend())
      return *known;
  } else if (!calls_.empty()) {
    return calls_.back();
  }
  calls_.emplace_back();
  calls_.back().index = index;
  return calls_.back();
}

// Names come whole, repeated in every piece, in parts, or growing.
void ChatStream::add_name(CallSlot& slot, const std::string& name) const {
  const auto known = [&](const std::string& one) {
    return std::find(tools_.begin(), tools_.end(), one) != tools_.end();
  };
  if (name.empty() || name == slot.name || known(slot.name))
    return;
  if (slot.name.empty() || (known(name) && name.starts_with(slot.name)))
    slot.name = name;
  else if (known(slot.name + name) || slot.arguments.empty())
    slot.name += name;
}

void ChatStream::add_call(const Json& delta) {
  // Each piece looks through all calls. More of them are a model's doing and no fault of the
  // server: those beyond are left out, as no session answers as many.
  constexpr std::size_t kMostCalls = 1024;
  const std::string id = text_at(delta, "id");
  CallSlot& slot = slot_for(integer_at(delta, "index"), id);
  if (calls_.size() > kMostCalls) {
    calls_.resize(kMostCalls);
    return;
  }
  if (slot.id.empty())
    slot.id = id;
  if (delta.is_object())
    for (const auto& [key, value] : delta.items())
      if (key != "index" && key != "id" && key != "function" && !value.is_null())
        slot.extra[key] = value;
  const Json* function = member(delta, "function");
  if (function == nullptr)
    return;
  add_name(slot, text_at(*function, "name"));
  const Json* arguments = member(*function, "arguments");
  if (arguments == nullptr)
    return;
  const std::string piece =
      arguments->is_string() ? arguments->get<std::string>() : dump(*arguments);
  progress_.arguments += piece.size();
  // Some servers send the whole arguments once more at the end.
  if (piece.size() > 2 && piece == slot.arguments && whole_object(piece))
    return;
  slot.arguments += piece;
}

Json ChatStream::take() {
  Json message = std::move(message_);
  message["role"] = "assistant";
  if (!message.contains("content"))
    message["content"] = nullptr;
  for (CallSlot& slot : calls_) {
    Json call = std::move(slot.extra);
    call["id"] = std::move(slot.id);
    call["type"] = "function";
    call["function"] = {{"name", std::move(slot.name)}, {"arguments", std::move(slot.arguments)}};
    message["tool_calls"].push_back(std::move(call));
  }
  Json document = std::move(head_);
  if (!any_choice_) {
    document["choices"] = Json::array();
    return document;
  }
  document["choices"].push_back(
      {{"index", 0},
       {"message", std::move(message)},
       {"finish_reason", finish_.empty() ? Json(nullptr) : Json(finish_)}});
  return document;
}

}  // namespace

std::unique_ptr<Assembler> make_chat_stream(const Asked& asked) {
  return std::make_unique<ChatStream>(asked);
}

}  // namespace sweep::endpoint
