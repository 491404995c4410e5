#include "queue/slurm.h"

#include "util/text.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace sweep::queue {

namespace fs = std::filesystem;

namespace {

// In a file name pattern of sbatch.
std::string pattern(const std::string& path) {
  std::string out;
  for (const char c : path) {
    out += c == '%' ? "%%" : std::string(1, c);
  }
  return out;
}

std::string job_name(const std::string& run) {
  std::string out = "sweep-" + run;
  std::ranges::replace_if(
      out,
      [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '_';
      },
      '_');
  return out.substr(0, 60);
}

std::string directive(const std::string& option) {
  return "#SBATCH " + option + "\n";
}

std::string output(const SlurmJob& job, const std::string& file) {
  return directive("--output=\"" + pattern((job.run / "slurm").string()) + "/" + file + "\"");
}

constexpr const char* kTask = R"(limit=0
{0} &
child=$!
trap 'again=1; kill -TERM "$child" 2>/dev/null' TERM INT
trap 'again=1; limit=1; kill -TERM "$child" 2>/dev/null' USR1
while :; do
  again=0
  wait "$child"; code=$?
  [ "$again" = 1 ] || break
done
# The time limit came before the end of the work: the task goes back to the queue.
if [ "$limit" = 1 ] && [ "$code" = 130 ]; then
  scontrol requeue "${{SLURM_ARRAY_JOB_ID}}_${{SLURM_ARRAY_TASK_ID}}"
fi
exit "$code"
)";

}  // namespace

std::string shell_word(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    out += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return out + "'";
}

std::string array_script(const SlurmJob& job) {
  std::string command = shell_word(job.program.string()) + " " + shell_word(job.config.string()) +
                        " --task \"${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}\"" +
                        fmt::format(" --tasks {} --lease {:g} --yes", job.tasks, job.lease_s);
  for (const std::string& argument : job.arguments) {
    command += " " + shell_word(argument);
  }
  return "#!/bin/bash\n" + directive("--job-name=" + job_name(job.name)) +
         directive(fmt::format("--array=0-{}", job.tasks - 1)) +
         (job.gpu ? directive("--gres=gpu:1") : "") + directive("--requeue") +
         directive("--open-mode=append") +
         directive(fmt::format("--signal=B:USR1@{}", job.warn_s)) + output(job, "%A_%a.log") +
         fmt::format(kTask, command);
}

std::string join_script(const SlurmJob& job) {
  // A lease of a task whose node died may still run.
  std::string command = shell_word(job.program.string()) + " join " + shell_word(job.run.string()) +
                        fmt::format(" --wait {:g}", job.lease_s + 60);
  if (!job.on_finish.empty()) {
    command += " --on-finish " + shell_word(job.on_finish);
  }
  return "#!/bin/bash\n" + directive("--job-name=" + job_name(job.name) + "-join") +
         directive("--open-mode=append") + output(job, "%j-join.log") + "exec " + command + "\n";
}

}  // namespace sweep::queue
