#include "submission/machine.h"
#include "submission/plan_text.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace sweep::submission {
namespace {

using expr::Node;
using expr::NodePtr;

constexpr std::int64_t kMaxGridX = 2147483647;
constexpr std::int64_t kMaxGridYZ = 65535;
constexpr std::int64_t kMaxThreads = 1024;
constexpr std::int64_t kMaxBlockZ = 64;
constexpr std::int64_t kMaxClusterBlocks = 16;              // above 8 where the device has it
constexpr std::int64_t kMaxShared = std::int64_t{1} << 20;  // above any device's limit
constexpr std::size_t kMaxPlanArguments = 2'000'000;  // of all launches together: bounds memory

const LaunchStatement* find_launch(const std::vector<Statement>& statements,
                                   const std::string& kernel) {
  for (const Statement& statement : statements) {
    const LaunchStatement* found = nullptr;
    if (const auto* launch = std::get_if<LaunchStatement>(&statement.what)) {
      found = launch->kernel == kernel ? launch : nullptr;
    } else if (const auto* loop = std::get_if<ForStatement>(&statement.what)) {
      found = find_launch(loop->body, kernel);
    } else if (const auto* choice = std::get_if<IfStatement>(&statement.what)) {
      found = find_launch(choice->yes, kernel);
      found = found != nullptr ? found : find_launch(choice->no, kernel);
    }
    if (found != nullptr) {
      return found;
    }
  }
  return nullptr;
}

std::string text_of(const std::array<std::int64_t, 3>& e) {
  return "(" + std::to_string(e[0]) + ", " + std::to_string(e[1]) + ", " + std::to_string(e[2]) +
         ")";
}

void check_extents(const Launch& launch, const LaunchStatement& statement) {
  const auto& g = launch.grid;
  const auto& b = launch.block;
  if (std::min({g[0], g[1], g[2]}) < 0 || g[0] > kMaxGridX || std::max(g[1], g[2]) > kMaxGridYZ) {
    fail_run("E_PLAN_GRID",
             statement.grid->offset,
             launch.kernel + "'s grid is " + text_of(g),
             "x is at most 2147483647, y and z 65535: put the large extent first");
  }
  const bool too_large =
      std::max(b[0], b[1]) > kMaxThreads || b[2] > kMaxBlockZ || b[0] * b[1] * b[2] > kMaxThreads;
  if (std::min({b[0], b[1], b[2]}) < 1 || too_large) {
    fail_run("E_PLAN_BLOCK",
             statement.block->offset,
             launch.kernel + "'s block is " + text_of(b),
             "a block has 1 to 1024 threads, z at most 64");
  }
  if (launch.shared_bytes < 0 || launch.shared_bytes > kMaxShared) {
    fail_run("E_PLAN_SHARED",
             statement.shared->offset,
             launch.kernel + " asks for " + std::to_string(launch.shared_bytes) +
                 " bytes of shared memory");
  }
}

void check_cluster(const Launch& launch, const Node& node) {
  const auto& c = launch.cluster;
  const bool small = std::min({c[0], c[1], c[2]}) >= 1 && std::max({c[0], c[1], c[2]}) <= 16;
  if (!small || c[0] * c[1] * c[2] > kMaxClusterBlocks) {
    fail_run("E_PLAN_CLUSTER",
             node.offset,
             launch.kernel + "'s cluster is " + text_of(c),
             "a cluster has 1 to 16 blocks");
  }
  for (std::size_t i = 0; i < 3; ++i) {
    if (launch.grid.at(i) % c.at(i) != 0) {
      fail_run("E_PLAN_CLUSTER",
               node.offset,
               launch.kernel + "'s grid " + text_of(launch.grid) +
                   " is no multiple of its cluster " + text_of(c),
               "round the grid up with align(x, m) and let the blocks beyond the end do nothing");
    }
  }
}

}  // namespace

std::array<std::int64_t, 3> Machine::extents(const Node& node) {
  std::array<std::int64_t, 3> out{1, 1, 1};
  if (node.kind != Node::Kind::call || (node.text != "dim3" && node.text != "cluster")) {
    out[0] = evaluator_.integer(node);
    return out;
  }
  if (node.operands.empty() || node.operands.size() > 3) {
    fail_run("E_PLAN_SYNTAX", node.offset, "a grid or block has one to three extents");
  }
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    out.at(i) = evaluator_.integer(*node.operands[i]);
  }
  return out;
}

void Machine::run(const LaunchStatement& statement) {
  const std::size_t offset = offset_;
  Launch launch;
  launch.kernel = statement.kernel;
  launch.grid = extents(*statement.grid);
  launch.block = extents(*statement.block);
  launch.shared_bytes = statement.shared ? evaluator_.integer(*statement.shared) : 0;
  check_extents(launch, statement);
  set_attributes(launch, statement);
  for (const NodePtr& node : statement.arguments) {
    launch.arguments.push_back(argument(evaluator_.value(*node)));
  }
  if (*std::min_element(launch.grid.begin(), launch.grid.end()) == 0) {
    ++out_.skipped_launches;
    ++turn_;
    return;
  }
  if (launch.cooperative) {
    check_cooperative(launch, statement);
  }
  arguments_ += launch.arguments.size();
  if (arguments_ > kMaxPlanArguments / static_cast<std::size_t>(share_)) {
    fail_run("E_PLAN_TOO_LONG", offset, "more than 2 million kernel arguments in one expansion");
  }
  launch.site = site(statement, offset);
  std::tie(launch.line, launch.column) = positions_.at(launch.site);
  add_step(std::move(launch));
}

Argument Machine::argument(const Value& value) {
  if (const auto* buffer = std::get_if<BufferValue>(&value)) {
    const BufferFacts& facts = buffers_[buffer->buffer];
    return BufferRef{buffer->buffer,
                     buffer->elements * static_cast<std::int64_t>(expr::size_of(facts.type)),
                     facts.writable,
                     facts.type};
  }
  if (const auto* map = std::get_if<MapValue>(&value)) {
    return MapRef{map->map};
  }
  if (const auto* peers = std::get_if<PeersValue>(&value)) {
    return PeersRef{peer_table(peers->buffer)};
  }
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    return *integer;
  }
  return std::get<double>(value);
}

std::size_t Machine::peer_table(std::size_t buffer) {
  const auto found = std::ranges::find_if(
      out_.peers, [buffer](const PeerTable& table) { return table.buffers.front() == buffer; });
  if (found != out_.peers.end()) {
    return static_cast<std::size_t>(found - out_.peers.begin());
  }
  const BufferFacts& facts = buffers_[buffer];
  out_.peers.push_back({facts.name, facts.type, buffer >= tensors_, {buffer}});
  return out_.peers.size() - 1;
}

std::size_t Machine::site(const LaunchStatement& statement, std::size_t offset) {
  const auto [found, fresh] = sites_.try_emplace(&statement, out_.sites.size());
  if (fresh) {
    Site site;
    for (const NodePtr& node : statement.arguments) {
      site.arguments.push_back(position(submission_.source, node->offset));
    }
    out_.sites.push_back(std::move(site));
    positions_.push_back(position(submission_.source, offset));
  }
  return found->second;
}

void Machine::add_step(Step step) {
  if (static_cast<std::int64_t>(out_.steps.size()) >= max_launches_) {
    fail_run("E_PLAN_TOO_MANY_LAUNCHES",
             offset_,
             "more than " + std::to_string(max_launches_) + " launches",
             "loop inside the kernel");
  }
  out_.steps.push_back(std::move(step));
  turns_.push_back(turn_++);
}

std::int64_t Machine::occupancy(const Node& call) {
  const std::string& kernel = call.operands[0]->text;
  const LaunchStatement* launch = find_launch(submission_.plan.statements, kernel);
  if (launch == nullptr) {
    fail_run("E_PLAN_OCCUPANCY",
             call.operands[0]->offset,
             "the plan never launches '" + kernel + "'",
             suggestion(kernel, name_expressions(submission_.plan)));
  }
  if (!binding_.occupancy) {
    fail_run(
        "E_PLAN_OCCUPANCY", call.offset, "occupancy is not known before the kernels are compiled");
  }
  if (std::find(asking_.begin(), asking_.end(), launch) != asking_.end()) {
    fail_run("E_PLAN_OCCUPANCY",
             call.offset,
             "the occupancy of '" + kernel + "' depends on itself",
             "give its threads and shared bytes: occupancy(K, threads, shared)");
  }
  asking_.push_back(launch);
  std::int64_t threads = 0;
  if (call.operands.size() > 1) {
    threads = evaluator_.integer(*call.operands[1]);
  } else {
    const std::array<std::int64_t, 3> block = extents(*launch->block);
    threads = product({block[0], block[1], block[2]});
  }
  if (threads < 1 || threads > kMaxThreads) {
    fail_run("E_PLAN_BLOCK",
             call.offset,
             "occupancy of a block of " + std::to_string(threads) + " threads",
             "a block has 1 to 1024 threads");
  }
  const bool own = call.operands.size() > 2;
  const NodePtr shared = own ? call.operands[2] : launch->shared;
  const std::int64_t bytes = shared ? evaluator_.integer(*shared) : 0;
  if (bytes < 0 || bytes > kMaxShared) {
    fail_run("E_PLAN_SHARED",
             call.offset,
             "occupancy with " + std::to_string(bytes) + " bytes of shared memory");
  }
  asking_.pop_back();
  return resident(kernel, threads, bytes);
}

std::int64_t Machine::resident(const std::string& kernel,
                               std::int64_t threads,
                               std::int64_t shared_bytes) {
  const auto [found, fresh] = resident_.try_emplace({kernel, threads, shared_bytes}, 0);
  if (fresh) {
    found->second = binding_.occupancy(kernel, threads, shared_bytes);
  }
  return found->second;
}

void Machine::set_attributes(Launch& launch, const LaunchStatement& statement) {
  if (statement.cluster) {
    launch.cluster = extents(*statement.cluster);
    check_cluster(launch, *statement.cluster);
  }
  launch.cooperative = statement.cooperative;
  launch.pdl = statement.pdl;
}

// All blocks of a cooperative grid are resident at once, or it cannot begin.
void Machine::check_cooperative(const Launch& launch, const LaunchStatement& statement) {
  if (!binding_.exact || !binding_.occupancy) {
    return;
  }
  const auto& b = launch.block;
  const std::int64_t each = resident(launch.kernel, b[0] * b[1] * b[2], launch.shared_bytes);
  const auto& g = launch.grid;
  const std::int64_t most = each * binding_.sm_count;
  if (g[0] > most || g[1] > most || g[2] > most || g[0] * g[1] * g[2] > most) {
    fail_run("E_PLAN_COOPERATIVE",
             statement.grid->offset,
             launch.kernel + "'s cooperative grid is " + text_of(g) + ", but only " +
                 std::to_string(most) + " blocks are resident at once (" + std::to_string(each) +
                 " on each of " + std::to_string(binding_.sm_count) + " multiprocessors)",
             "launch at most sm_count*occupancy(" + launch.kernel + ") blocks and loop inside");
  }
}

}  // namespace sweep::submission
