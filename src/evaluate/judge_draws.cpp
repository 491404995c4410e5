#include "evaluate/judge_draws.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace sweep::evaluate {
namespace {

constexpr std::size_t kPerturbations = 4;

std::vector<std::string> content_names(const Session& session) {
  std::vector<std::string> names = {"default"};
  if (session.has(Defence::contents)) {
    for (const problem::Content& content : session.problem().contents) {
      names.push_back(content.name);
    }
  }
  return names;
}

}  // namespace

expr::IntEnv free_dims(const problem::Problem& problem, const expr::IntEnv& dims) {
  expr::IntEnv free;
  for (const problem::Dim& dim : problem.dims) {
    const auto found = dims.find(dim.name);
    if (dim.kind != problem::Dim::Kind::derived && found != dims.end()) {
      free[dim.name] = found->second;
    }
  }
  return free;
}

std::vector<NumberedDraw> check_draws(const Session& session, const StageOptions& options) {
  const problem::Problem& problem = session.problem();
  const problem::Key root = problem::Key::from_seed(options.seed).derive("check");
  const std::vector<Place> places =
      options.places.empty() ? visible_places(problem, session.options().arm.device.kind, false)
                             : options.places;
  std::vector<NumberedDraw> draws;
  for (const Place& place : places) {
    for (const std::string& content : content_names(session)) {
      for (int seed = 0; seed < std::max(options.check_seeds, 1); ++seed) {
        const int number = session.has(Defence::fresh_content) ? seed : 0;
        const problem::Key key = root.derive(problem.id + '\n' + place.name + '\n' + content +
                                             '\n' + std::to_string(number));
        draws.push_back({problem::make_draw(problem, place.name, place.free, content, key),
                         static_cast<std::uint64_t>(seed)});
      }
    }
  }
  return draws;
}

std::vector<Perturbation> probe_changes(const problem::Problem& problem,
                                        const problem::Draw& first) {
  return perturbations(problem, first, first.key, kPerturbations);
}

StressDraws stress_draws(const Session& session, const StageOptions& options) {
  const problem::Problem& problem = session.problem();
  const problem::Key key = problem::Key::from_seed(options.seed).derive("stress\n" + problem.id);
  StressDraws all;
  all.draws =
      problem::stress_draws(problem, key, 0, std::max(options.stress_draws, 1), session.machine());
  all.random = static_cast<int>(all.draws.size());
  std::vector<problem::Draw> edges = problem::edge_draws(problem, key, session.machine());
  all.edges = static_cast<int>(edges.size());
  all.draws.insert(all.draws.end(),
                   std::make_move_iterator(edges.begin()),
                   std::make_move_iterator(edges.end()));
  if (!session.has(Defence::contents)) {
    std::erase_if(all.draws, [](const problem::Draw& draw) { return draw.content != "default"; });
  }
  return all;
}

}  // namespace sweep::evaluate
