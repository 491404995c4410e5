#include "report/pages.h"

#include <array>
#include <string_view>

namespace sweep::report {

namespace {

struct Term {
  std::string_view word;
  std::string_view meaning;
};

template <class List>
Markup definitions(const List& list, bool code) {
  Markup out;
  for (const Term& term : list) {
    const Markup word = code ? element("code", text(term.word)) : text(term.word);
    out +=
        element("dt", {{"id", std::string(term.word)}}, word) + element("dd", text(term.meaning));
  }
  return element("dl", {{"class", "glossary"}}, out);
}

Markup paragraph(std::string_view words) {
  return element("p", text(words));
}

// clang-format off
constexpr std::array kNumbers = {
    Term{"speedup", "Time of the problem's seed kernel over the time of the model's kernel. Both run in alternating order in one session on the same device, with fresh equal inputs and, on a GPU, cold caches; every timed call is judged too. Blocks of four calls, seed kernel kernel seed, give one log ratio each. The point and its 95% interval (Student t) come from the means of fresh pairs of processes. Of several shapes it is the geometric mean."},
    Term{"geometric mean", "Of speedups of correct kernels that were timed; the others are left out, and how many are timed stands beside it. Where a figure counts failures as 1.0x its caption says so. Speedups are never averaged arithmetically."},
    Term{"correct rate", "Correct over judged items, with Wilson's 95% interval. Judged are finished items without those skipped and those lost to infrastructure. A problem that had not been admitted by test when its item began (no cheap wrong kernel passes, no honest one fails) is listed and in no rate, mean or figure."},
    Term{"kernel, seed", "Median time of a call; over several shapes their geometric mean."},
    Term{"of roofline, floor", "The shortest time that the hardware allows for the work and bytes that the problem states, as a share of the kernel's time. Figures of the datasheet; bytes that fit in the second-level cache do not count."},
    Term{"roofline point", "Operations that the problem states a byte that it states, and operations over the kernel's time, under what this device was measured to reach. Without a calibration there are no ceilings."},
    Term{"held-out", "Shapes and contents drawn with a secret salt, timed and judged after the visible ones. A kernel that is right on visible shapes alone is INCORRECT_GENERALISATION; one that is much slower on held-out shapes is marked specialised."},
    Term{"largest error, of what is allowed", "How far outputs are from an fp64 reference, over a multiple of the seed kernel's own rounding error on the same inputs. Above 100% a kernel is wrong."},
    Term{"tokens", "Prompt and answer of every turn, prompts counted anew each time; reasoning is part of the answer."},
    Term{"cost", "Of the answers that count, by the prices of the configuration; unknown as soon as one price is. Answers that were lost stand beside it."},
    Term{"wall time", "From the item's first request to its last tool call: the model, waiting for its endpoint, and the tools."},
    Term{"best so far", "Largest speedup on the visible shapes of any version up to that turn, by a quick timing that decides nothing."}};

constexpr std::array kOutcomeTerms = {
    Term{"correct", "All outputs are right on published, random, edge and held-out shapes. By the verdict: faster, equivalent, slower, inconclusive or unstable."},
    Term{"incorrect", "Wrong values, or right only on the published shapes."},
    Term{"does not compile", "The launch plan or the code was refused."},
    Term{"fault while running", "The kernel crashed or could not be launched."},
    Term{"no kernel", "Nothing was handed in."},
    Term{"timed out", "A call did not end in the time that the problem allows."},
    Term{"rejected", "A rule was broken; the page of rejected kernels has the evidence."},
    Term{"skipped", "Not run, with the reason; in no rate."},
    Term{"lost to infrastructure", "The harness, the machine or an endpoint failed: it counts for nobody and is in no rate."}};

constexpr std::array kVerdictTerms = {
    Term{"PASS_FASTER", "The whole interval is above 1 + m, and no shape is slower. m, the margin, is twice the half-width of the seed timed against itself, at least 1%."},
    Term{"PASS_EQUIVALENT", "The whole interval lies within 1/(1 + m) and 1 + m."},
    Term{"PASS_SLOWER", "The whole interval is below 1/(1 + m)."},
    Term{"PASS_INCONCLUSIVE", "Correct, and nothing may be said of its speed: the interval leaves it open, it was not timed, or it ran on the cpu device."},
    Term{"UNSTABLE", "The seed's own time drifted, too many blocks were disturbed, or another program computed on the GPU, twice."},
    Term{"PLAN_ERROR", "The launch plan cannot be read, or not be expanded for some shape."},
    Term{"COMPILE_ERROR", "The compiler refused the text."},
    Term{"LAUNCH_ERROR", "The device refused to load or launch a kernel."},
    Term{"RUNTIME_FAULT", "The kernel crashed its process or the device, twice."},
    Term{"OUT_OF_MEMORY", "Scratch, code or local memory are above the problem's limit."},
    Term{"TIMEOUT", "A call did not end in time."},
    Term{"INCORRECT_VALUE", "An output differs from the reference by more than is allowed."},
    Term{"INCORRECT_UNWRITTEN", "An output element was never written."},
    Term{"INCORRECT_NONDETERMINISTIC", "Equal inputs gave different bits where the problem forbids it."},
    Term{"INCORRECT_OUT_OF_BOUNDS", "An access outside the buffers."},
    Term{"INCORRECT_INPUT_MUTATED", "An input was changed."},
    Term{"INCORRECT_PRECISION", "Small errors spread over the output, as of too low a precision."},
    Term{"INCORRECT_INSTRUCTIONS", "Right results without the instructions that the problem asks for."},
    Term{"INCORRECT_GENERALISATION", "Right on the published shapes, wrong on others."},
    Term{"REJECTED_STATE", "Outputs depend on what an earlier call left."},
    Term{"REJECTED_STALE", "An output is the result for an earlier call's inputs."},
    Term{"REJECTED_LATE_STORE", "An output changed after its call had ended."},
    Term{"REJECTED_FLOOR", "Faster than the hardware can do the work."},
    Term{"REJECTED_TIMER", "A call takes longer by other clocks than its events say."},
    Term{"REJECTED_CARRYOVER",
         "The seed runs slower after this kernel than after itself, beyond what both lose alike."},
    Term{"REJECTED_ESCAPE", "The sandbox ended the code for a system call; cpu device only."},
    Term{"REJECTED_FORBIDDEN", "The compiled code holds something that is not allowed."},
    Term{"REVIEW", "A person should look; nothing is proved."},
    Term{"INFRA_*", "Device, judge, endpoint, disk or a process failed outside the kernel's calls."}};

constexpr std::array kFlagTerms = {
    Term{"UNEVEN", "Mean and median of the call times disagree by over 5%: the ratio of means decides, and may not look like the medians beside it."},
    Term{"repeated after UNSTABLE", "The first measurement was disturbed; this is the second."},
    Term{"specialised", "The speedup on held-out shapes is below 0.8 of that on visible ones."},
    Term{"unsealed", "The cpu device: the kernel ran as host code inside the sandbox."},
    Term{"run without a sandbox", "The machine lacked a protection and the user allowed it."},
    Term{"fails stress, fails held-out", "Seen, and in this variant not decisive."},
    Term{"shared GPU", "Another program had the GPU open while it was locked for timing."},
    Term{"virtual ranks", "The problem has ranks, and one device played all of them."},
    Term{"quick look", "One replicate and no stress: no result."}};

constexpr std::array kFigureTerms = {
    Term{"outcome matrix", "Problems by models; the colour is the word of the verdict, green is PASS_FASTER alone."},
    Term{"fast_p", "Share of problems on which a model's kernel is correct and more than p times as fast as the seed, over p. Once by the point, once by the lower end of the interval; bands are over problems."},
    Term{"speedup, dot and whisker", "Each correct and timed kernel with its 95% interval. Hollow dots claim nothing."},
    Term{"cost and tokens against speedup", "One point a model. Failures count as 1.0x there, since a model that fails leaves the reader with the seed. The line joins models that no other beats in both."},
    Term{"solve rate against tokens", "Share of judged items that are correct within so many tokens."},
    Term{"best so far by turn", "Geometric mean over items of the best visible speedup up to each turn; items without one count as 1.0x."},
    Term{"tool use", "Correct rate of items that called a tool and of those that did not. Models choose when to call: this is no effect of the tool."},
    Term{"domains, levels", "Correct rate with Wilson's interval by the problem's field and level."},
    Term{"reward hacking", "Of kernels that pass the published checks, and of those that pass stress too, how many a later stage refuses."},
    Term{"roofline", "Work that the problem states a byte against work over time, under the device's ceilings."},
    Term{"blocks", "On a trajectory's page: the ratio of every block of four calls, and the interval as a bar."},
    Term{"timeline, tokens by turn", "On a trajectory's page: when the model and the tools worked, and what each turn took."}};
// clang-format on

}  // namespace

Markup methods_body() {
  Markup body = element("h1", text("How to read this"));
  body += paragraph(
      "1.0x is the problem's seed kernel: plain unfused code in the problem's precision, not a "
      "library and not PyTorch. Every interval is 95% unless it says otherwise.");
  body += element("h2", text("Numbers")) + definitions(kNumbers, false);
  body += element("h2", text("Outcomes")) + definitions(kOutcomeTerms, false);
  body += element("h2", {{"id", "verdicts"}}, text("Verdicts")) + definitions(kVerdictTerms, true);
  body += element("h2", text("Flags")) + definitions(kFlagTerms, true);
  body +=
      element("h2", text("Figures")) +
      paragraph("Each says its n and interval, and has its numbers as a table and for download.") +
      definitions(kFigureTerms, false);
  body += element("h2", text("pass@k")) +
          paragraph(
              "Only over attempts that were made independently of each other: turns of one "
              "conversation are no independent attempts. Where there are fewer than k it is not "
              "given, with the reason.");
  body += element("h2", text("The cpu device and scripted models")) +
          paragraph(
              "The cpu device runs kernels as host code. Its results are unsealed, its times must "
              "not be ranked beside GPU times, and it never says PASS_FASTER. Scripted models are "
              "part of sweep and play fixed answers: their numbers say nothing about any model.");
  body += element("h2", text("Texts of models")) +
          paragraph(
              "What a model wrote is shown as text. Characters that cannot be seen, or that turn "
              "the direction of text, stand as their code in single angle quotes. Long texts are "
              "cut in the middle, and say where the whole text is.");
  return body;
}

std::string methods_page(const Context& context) {
  return document(context, kMethodsPage, "How to read this", {}, methods_body());
}

}  // namespace sweep::report
