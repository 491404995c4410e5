// Tables of what an item consists of.
#include "report/table_fields.h"
#include "report/tables.h"

namespace sweep::report {

namespace {

// A part with the item that it is of.
template <class T>
struct ItemPart {
  const Row* row = nullptr;
  const T* part = nullptr;
};

template <class T>
std::vector<ItemPart<T>> item_parts(const RowPointers& rows, std::vector<T> Row::*member) {
  std::vector<ItemPart<T>> out;
  for (const Row* row : rows) {
    for (const T& part : row->*member) {
      out.push_back({row, &part});
    }
  }
  return out;
}

template <class P>
Fields<P> with_item(Fields<P> fields) {
  Fields<P> out = {
      text_field<P>(
          "problem", "problem", "Level and problem.", [](const P& p) { return p.row->problem; }),
      text_field<P>(
          "model", "model", "Name in the configuration.", [](const P& p) { return p.row->model; }),
      text_field<P>("variant",
                    "variant",
                    "Problem set that the run names.",
                    [](const P& p) { return p.row->variant; }),
      count_field<P>("attempt", "attempt", "From 1.", [](const P& p) { return p.row->attempt; }),
      data_only(text_field<P>(
          "item", "item", "As in the table items.", [](const P& p) { return p.row->item; }))};
  out.insert(out.end(), fields.begin(), fields.end());
  return out;
}

// 0 means that it is not known.
std::optional<double> if_known(double value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

struct ItemCall {
  const Row* row = nullptr;
  const RowTurn* turn = nullptr;
  const RowCall* call = nullptr;
  std::int64_t number = 0;
};

}  // namespace

DataTable shapes_table(const RowPointers& rows) {
  using P = ItemPart<record::ShapeTiming>;
  return table_of(
      "shapes",
      "Timed shapes",
      "One row an item and timed shape.",
      with_item<P>(
          {text_field<P>("shape", "shape", "Its dims.", [](const P& p) { return p.part->shape; }),
           number_field<P>("seed_us",
                           "seed",
                           "us",
                           Show::micros,
                           "The seed kernel's time.",
                           [](const P& p) { return if_known(p.part->seed_us); }),
           number_field<P>("kernel_us",
                           "kernel",
                           "us",
                           Show::micros,
                           "The kernel's time.",
                           [](const P& p) { return if_known(p.part->candidate_us); }),
           {{"speedup",
             "speedup",
             "seed time / kernel time",
             Type::interval,
             Show::ratio,
             "With its 95% interval."},
            [](const P& p) { return cell(p.part->speedup, "not timed"); }},
           number_field<P>("share_of_floor",
                           "of floor",
                           "1",
                           Show::percent,
                           "Lower bound of the time over the time.",
                           [](const P& p) { return p.part->share_of_floor; }),
           number_field<P>("throughput_us",
                           "in a row",
                           "us",
                           Show::micros,
                           "What the kernel's call takes in a graph of many; short calls only.",
                           [](const P& p) { return p.part->throughput_us; }),
           {{"throughput_speedup",
             "speedup in a row",
             "seed time / kernel time",
             Type::interval,
             Show::ratio,
             "Of calls in graphs of many, with its 95% interval; decides nothing."},
            [](const P& p) { return cell(p.part->throughput_speedup, "not measured"); }},
           count_field<P>("replicates",
                          "replicates",
                          "Sessions of the timing.",
                          [](const P& p) { return p.part->replicates; }),
           count_field<P>("blocks",
                          "blocks",
                          "Paired blocks a replicate.",
                          [](const P& p) { return p.part->blocks; })}),
      item_parts(rows, &Row::timings));
}

DataTable item_metrics_table(const RowPointers& rows) {
  using P = ItemPart<RowMetric>;
  return table_of(
      "metrics",
      "Numbers of the judge",
      "One row an item, shape and number.",
      with_item<P>(
          {text_field<P>("metric", "metric", "Its name.", [](const P& p) { return p.part->name; }),
           text_field<P>("shape", "shape", "Its dims.", [](const P& p) { return p.part->shape; }),
           number_field<P>("value",
                           "value",
                           "as `unit` says",
                           Show::plain,
                           "The number.",
                           [](const P& p) { return std::optional(p.part->value); }),
           text_field<P>(
               "unit",
               "unit",
               "Of the number.",
               [](const P& p) { return p.part->unit; },
               "a plain ratio")}),
      item_parts(rows, &Row::metrics));
}

DataTable roofline_table(const RowPointers& rows) {
  using P = ItemPart<RooflinePoint>;
  const auto number = [](const char* key,
                         const char* title,
                         const char* unit,
                         const char* description,
                         double RooflinePoint::*member) {
    return number_field<P>(
        key,
        title,
        unit,
        Show::plain,
        description,
        [member](const P& p) { return if_known(p.part->*member); },
        "not known");
  };
  return table_of(
      "roofline",
      "Roofline",
      "Where kernels stand under the roofline, one row a timed shape.",
      with_item<P>(
          {text_field<P>("shape", "shape", "Its dims.", [](const P& p) { return p.part->shape; }),
           number("intensity",
                  "intensity",
                  "flop/byte",
                  "By the problem's work model.",
                  &RooflinePoint::intensity),
           number("achieved",
                  "achieved",
                  "flop/s",
                  "Flops of the work model over the time.",
                  &RooflinePoint::achieved),
           number("bytes_per_second",
                  "bandwidth",
                  "byte/s",
                  "Bytes over the time.",
                  &RooflinePoint::bytes_per_second),
           number("memory_ceiling",
                  "memory ceiling",
                  "byte/s",
                  "Of the device.",
                  &RooflinePoint::memory_ceiling),
           number("compute_ceiling",
                  "compute ceiling",
                  "flop/s",
                  "Of the device.",
                  &RooflinePoint::compute_ceiling),
           number("share", "share", "1", "Achieved over the roofline.", &RooflinePoint::share),
           text_field<P>("unit",
                         "unit",
                         "That the flops are counted on.",
                         [](const P& p) { return p.part->unit; }),
           text_field<P>(
               "bound",
               "bound",
               "Ceiling that bounds it; without a share, why there is none.",
               [](const P& p) { return p.part->bound; },
               "not known"),
           text_field<P>(
               "source",
               "source",
               "Where the ceilings are from.",
               [](const P& p) { return p.part->source; },
               "not known")}),
      item_parts(rows, &Row::roofline));
}

DataTable stages_table(const RowPointers& rows) {
  using P = ItemPart<record::Stage>;
  return table_of(
      "stages",
      "Stages",
      "One row an item and stage of the evaluation.",
      with_item<P>(
          {text_field<P>("stage", "stage", "Its name.", [](const P& p) { return p.part->name; }),
           truth_field<P>("passed",
                          "passed",
                          "Whether it passed.",
                          [](const P& p) {
                            return p.part->ran ? std::optional(p.part->passed) : std::nullopt;
                          }),
           count_field<P>("passed_count",
                          "cases passed",
                          "Of its cases.",
                          [](const P& p) { return p.part->passed_count; }),
           count_field<P>("total_count",
                          "cases",
                          "Its cases; 0: it counts none.",
                          [](const P& p) { return p.part->total_count; }),
           number_field<P>("seconds",
                           "time",
                           "s",
                           Show::seconds,
                           "Wall time.",
                           [](const P& p) { return std::optional(p.part->seconds); }),
           text_field<P>(
               "summary",
               "summary",
               "One line.",
               [](const P& p) { return p.part->summary; },
               "none")}),
      item_parts(rows, &Row::stages));
}

DataTable turns_table(const RowPointers& rows) {
  using P = ItemPart<RowTurn>;
  return table_of(
      "turns",
      "Turns",
      "One row an item and answer of the model.",
      with_item<P>(
          {count_field<P>("turn", "turn", "From 1.", [](const P& p) { return p.part->turn; }),
           count_field<P>("tokens_before",
                          "tokens before",
                          "Of the item's answers so far.",
                          [](const P& p) { return p.part->tokens_before; }),
           count_field<P>("tokens_after",
                          "tokens after",
                          "The same with this answer.",
                          [](const P& p) { return p.part->tokens_after; }),
           number_field<P>("started_s",
                           "started",
                           "s",
                           Show::seconds,
                           "Since the item's session began.",
                           [](const P& p) { return std::optional(p.part->started_s); }),
           number_field<P>("seconds",
                           "time",
                           "s",
                           Show::seconds,
                           "The whole turn.",
                           [](const P& p) { return std::optional(p.part->seconds); }),
           number_field<P>("latency_s",
                           "model",
                           "s",
                           Show::seconds,
                           "What the model took of it.",
                           [](const P& p) { return std::optional(p.part->latency_s); }),
           number_field<P>(
               "best_visible_speedup",
               "best so far",
               "seed time / kernel time",
               Show::ratio,
               "Of any version so far, on the published shapes.",
               [](const P& p) { return p.part->best_visible_speedup; },
               "none was timed so far"),
           truth_field<P>("replayed",
                          "replayed",
                          "Taken from the ledger: its times are those of the replay.",
                          [](const P& p) { return std::optional(p.part->replayed); })}),
      item_parts(rows, &Row::series));
}

DataTable tool_calls_table(const RowPointers& rows) {
  std::vector<ItemCall> calls;
  for (const Row* row : rows) {
    for (const RowTurn& turn : row->series) {
      std::int64_t number = 0;
      for (const RowCall& call : turn.calls) {
        calls.push_back({row, &turn, &call, ++number});
      }
    }
  }
  return table_of(
      "tool_calls",
      "Tool calls",
      "One row a call of a tool.",
      with_item<ItemCall>(
          {count_field<ItemCall>(
               "turn", "turn", "From 1.", [](const ItemCall& c) { return c.turn->turn; }),
           count_field<ItemCall>(
               "call", "call", "Of the turn, from 1.", [](const ItemCall& c) { return c.number; }),
           text_field<ItemCall>(
               "tool", "tool", "Its name.", [](const ItemCall& c) { return c.call->tool; }),
           text_field<ItemCall>("origin",
                                "origin",
                                "How it was written: native, text:json, auto.",
                                [](const ItemCall& c) { return c.call->origin; }),
           truth_field<ItemCall>("success",
                                 "success",
                                 "Whether it did what was asked.",
                                 [](const ItemCall& c) { return std::optional(c.call->success); }),
           text_field<ItemCall>(
               "verdict",
               "verdict",
               "Of the judge.",
               [](const ItemCall& c) { return c.call->verdict; },
               "the tool gives none"),
           number_field<ItemCall>(
               "started_s",
               "started",
               "s",
               Show::seconds,
               "Since the item's session began.",
               [](const ItemCall& c) { return std::optional(c.call->started_s); }),
           number_field<ItemCall>(
               "seconds",
               "time",
               "s",
               Show::seconds,
               "Wall time.",
               [](const ItemCall& c) { return std::optional(c.call->seconds); })}),
      calls);
}

}  // namespace sweep::report
