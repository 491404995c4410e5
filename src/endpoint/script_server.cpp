#include "endpoint/builtin.h"
#include "endpoint/script.h"
#include "util/error.h"
#include "util/text.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <mutex>
#include <thread>

#include <httplib.h>

namespace sweep::endpoint {
namespace {

constexpr std::size_t kMaxRequest = std::size_t{64} << 20;

void pause(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

void answer_error(httplib::Response& response,
                  int status,
                  const std::string& message,
                  const std::string& code) {
  response.status = status;
  response.set_content(
      dump({{"error", {{"message", message}, {"type", "script_error"}, {"code", code}}}}),
      "application/json");
}

// A stream whose pieces go out one by one; with `bytes` below the whole, the connection ends there.
void answer_stream(httplib::Response& response,
                   std::vector<std::string> events,
                   int pace_ms,
                   double share) {
  std::size_t whole = 0;
  for (const std::string& event : events)
    whole += event.size();
  const std::size_t limit =
      share > 0 ? static_cast<std::size_t>(static_cast<double>(whole) * share) : whole;
  response.set_chunked_content_provider(
      "text/event-stream",
      [events = std::move(events), pace_ms, limit, cut = share > 0](std::size_t,
                                                                    httplib::DataSink& sink) {
        std::size_t sent = 0;
        for (const std::string& event : events) {
          const std::size_t size = std::min(event.size(), limit - sent);
          if (!sink.write(event.data(), size))
            return false;
          sent += size;
          if (size < event.size())
            break;
          if (pace_ms > 0)
            pause(pace_ms);
        }
        if (cut)
          return false;
        sink.done();
        return true;
      });
}

// A whole document, or the first bytes of one whose announced length is not reached.
void answer_document(httplib::Response& response, std::string body, double share) {
  if (share <= 0) {
    response.set_content(body, "application/json");
    return;
  }
  const auto limit = static_cast<std::size_t>(static_cast<double>(body.size()) * share);
  const std::size_t whole = body.size();
  response.set_content_provider(
      whole,
      "application/json",
      [body = std::move(body), limit](std::size_t, std::size_t, httplib::DataSink& sink) {
        sink.write(body.data(), limit);
        return false;
      });
}

}  // namespace

std::string_view builtin_name(std::string_view base_url) {
  return base_url.starts_with(kBuiltinPrefix) ? base_url.substr(kBuiltinPrefix.size())
                                              : std::string_view();
}

void check_scripts(const std::filesystem::path& folder, std::string_view model) {
  std::vector<std::string> models;
  for (const Script& script : load_scripts(folder))
    models.push_back(script.model);
  if (model.empty() || std::find(models.begin(), models.end(), model) != models.end())
    return;
  std::string all;
  for (const std::string& one : models)
    all += (all.empty() ? "" : ", ") + one;
  const auto near = util::closest(model, models);
  throw util::UsageError(
      {folder.string(),
       "no script plays model '" + util::printable(model) + "'; there are " + all,
       (near ? "did you mean '" + *near + "'? " : "") +
           std::string("name one of them as [[models]] name or deployment_name")},
      "E_SCRIPT_MODEL");
}

struct ScriptServer::Impl {
  std::vector<Script> scripts;
  Seen seen;
  httplib::Server server;
  int port = 0;
  std::thread thread;
  std::mutex mutex;
  std::map<std::string, std::size_t> tries;  // faults already played, by request body

  void answer(const httplib::Request& request, httplib::Response& response, bool chat);
  void serve_turn(const ScriptTurn& turn,
                  const ScriptRequest& asked,
                  std::size_t bytes,
                  double cut,
                  bool chat,
                  httplib::Response& response) const;
  const ScriptFault* next_fault(const ScriptTurn& turn, const std::string& key);
};

// Identical requests count together; when all faults are played the count starts anew.
const ScriptFault* ScriptServer::Impl::next_fault(const ScriptTurn& turn, const std::string& key) {
  if (turn.faults.empty())
    return nullptr;
  const std::lock_guard lock(mutex);
  std::size_t& count = tries[key];
  if (count < turn.faults.size())
    return &turn.faults[count++];
  tries.erase(key);
  return nullptr;
}

void ScriptServer::Impl::serve_turn(const ScriptTurn& turn,
                                    const ScriptRequest& asked,
                                    std::size_t bytes,
                                    double cut,
                                    bool chat,
                                    httplib::Response& response) const {
  const AnswerContext context{asked.model, asked.turn, bytes};
  if (turn.delay_ms > 0)
    pause(turn.delay_ms);
  if (asked.stream)
    answer_stream(response,
                  chat ? chat_events(turn, context) : responses_events(turn, context),
                  turn.pace_ms,
                  cut);
  else
    answer_document(response,
                    dump(chat ? chat_document(turn, context) : responses_document(turn, context)),
                    cut);
}

void ScriptServer::Impl::answer(const httplib::Request& request,
                                httplib::Response& response,
                                bool chat) {
  if (seen)
    seen(request.body);
  const auto body = parse_json(request.body);
  if (!body || !body->is_object()) {
    answer_error(response, 400, "the request is not a JSON object", "bad_request");
    return;
  }
  const ScriptRequest asked = chat ? read_chat_request(*body) : read_responses_request(*body);
  ScriptMiss miss;
  const ScriptTurn* turn = find_turn(scripts, asked, miss);
  if (turn == nullptr) {
    answer_error(response, 400, miss.why, "no_script");
    return;
  }
  const ScriptFault* fault = next_fault(*turn, request.body);
  if (fault != nullptr && fault->status != 0) {
    if (fault->body.empty())
      answer_error(response, fault->status, "scripted fault", "scripted");
    else
      response.set_content(fault->body,
                           fault->body.starts_with('<') ? "text/html" : "application/json");
    response.status = fault->status;
    if (!fault->retry_after.empty())
      response.set_header("Retry-After", fault->retry_after);
    return;
  }
  serve_turn(*turn, asked, request.body.size(), fault != nullptr ? fault->cut : 0, chat, response);
}

ScriptServer::ScriptServer(const std::filesystem::path& folder, Seen seen)
    : impl_(std::make_unique<Impl>()) {
  Impl& impl = *impl_;
  impl.seen = std::move(seen);
  impl.scripts = load_scripts(folder);
  impl.server.set_payload_max_length(kMaxRequest);
  impl.server.set_tcp_nodelay(true);
  impl.server.Post("/v1/chat/completions",
                   [&impl](const httplib::Request& request, httplib::Response& response) {
                     impl.answer(request, response, true);
                   });
  impl.server.Post("/v1/responses",
                   [&impl](const httplib::Request& request, httplib::Response& response) {
                     impl.answer(request, response, false);
                   });
  impl.server.Get("/v1/models", [&impl](const httplib::Request&, httplib::Response& response) {
    Json models = {{"object", "list"}, {"data", Json::array()}};
    for (const Script& script : impl.scripts)
      models["data"].push_back({{"id", script.model}, {"object", "model"}});
    response.set_content(dump(models), "application/json");
  });
  impl.port = impl.server.bind_to_any_port("127.0.0.1");
  if (impl.port <= 0)
    throw util::InfraError(
        {"built-in endpoint", "no loopback port could be opened", "check the network settings"},
        "E_BUILTIN_START");
  impl.thread = std::thread([&impl] { impl.server.listen_after_bind(); });
  while (!impl.server.is_running())
    pause(1);
}

ScriptServer::~ScriptServer() {
  impl_->server.stop();
  impl_->thread.join();
}

int ScriptServer::port() const {
  return impl_->port;
}

std::string ScriptServer::base_url() const {
  return "http://127.0.0.1:" + std::to_string(impl_->port) + "/v1";
}

int serve_scripts(const std::filesystem::path& folder) {
  const ScriptServer server(folder);
  std::cout << server.port() << "\n" << std::flush;
  if (!std::cout)
    return 3;
  std::cin.ignore(std::numeric_limits<std::streamsize>::max());
  return 0;
}

}  // namespace sweep::endpoint
