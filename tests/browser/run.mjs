// A run of made-up results for tests of the report: every outcome, two levels, two variants, and texts that try to break a page.
// usage: node run.mjs FOLDER
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const sha = (text) => createHash("sha256").update(text).digest("hex");

// What a hostile model writes.
export const hostile = {
  html: '</pre></script><script>window.broken = 1</script><img src="https://example.invalid/x.png" onerror="window.broken = 2">',
  control: "bell \u0007 escape \u001b[31m nul \u0000 return \r here",
  direction: "if (admin\u202e \u2066// check\u2069 \u2066) { \u200b \ufeff",
  line: "x".repeat(5 * 1024 * 1024),
};

const problems = [["1", "3", "3_csr_spmm", "Sparse matrix times dense features", "graphs"], ["1", "6", "6_softmax", "Row softmax", "learning"], ["2", "8", "8_attention", "Attention with a window", "learning"], ["sci", "heat2d", "heat2d", "Heat equation in the plane", "physics"]];
const models = [["alpha", 1.6], ["beta", 1.1], ["gamma", 0.8]];
const verdicts = ["PASS_FASTER", "PASS_EQUIVALENT", "PASS_SLOWER", "PASS_INCONCLUSIVE", "INCORRECT_GENERALISATION", "COMPILE_ERROR", "REJECTED_STATE", "RUNTIME_FAULT"];
const outcomes = { INCORRECT_GENERALISATION: "incorrect", COMPILE_ERROR: "compile_fail", REJECTED_STATE: "rejected", RUNTIME_FAULT: "error" };

const kernel = (version, lines) => `//@ problem level1/3\n__global__ void kernel(const float* x, float* y, int n) {\n  // version ${version}\n${Array.from({ length: lines }, (_, i) => `  y[${i}] = x[${i}] * ${version}.0f;`).join("\n")}\n}\n`;

const call = (tool, code, success, verdict, started) => ({
  tool_name: tool, call_id: `c${started}`, args: { kernel_code: code }, result_text: success ? `${tool} PASSED` : `${tool} FAILED\nerror: "z" is undefined`,
  success, metadata: { verdict, source_sha256: sha(code) }, started_s: started, wall_clock_s: 4, lock_wait_s: 0.5,
});

// Blocks of four calls about the ratio, in a fixed pattern.
function samples(ratio) {
  const rows = [];
  for (let replicate = 0; replicate < 3; ++replicate) for (let shape = 0; shape < 2; ++shape) for (let block = 0; block < 8; ++block)
    for (let position = 0; position < 4; ++position) {
      const candidate = position === 1 || position === 2 ? 1 : 0;
      const noise = 1 + 0.01 * Math.sin(7 * replicate + 3 * shape + 11 * block + position);
      rows.push([replicate, shape, block, position, candidate, (candidate ? 1e-5 : 1e-5 * ratio) * noise, 2e-5, 1]);
    }
  return rows;
}

function finalResult(verdict, ratio, code) {
  const correct = verdict.startsWith("PASS");
  const interval = { point: ratio, low: ratio * 0.98, high: ratio * 1.02 };
  const calls = ["published", "edge"].map((shape) => ({ shape, content: "default", dims: { n: 64 }, draw: 0, failure: null, worst_share: 0.2, device_seconds: 1e-5 }));
  const failure = { verdict: "INCORRECT_UNWRITTEN", text: "y[0, 128]: never written", tensor: "y", index: [0, 128], got: 4.6e37, expected: -195.98, allowed: 0.003, wrong: 67068, total: 120060, pattern: "columns 128..289 (tail)", hint: "does the grid cover the whole output?", defence: "poison" };
  const shapes = ["n=4096", "n=1048576"];
  return {
    compiled: verdict !== "COMPILE_ERROR", correctness: correct, verdict, flags: verdict === "PASS_EQUIVALENT" ? ["UNEVEN"] : [], confidence: 0.95,
    inner_verdict: verdict === "INCORRECT_GENERALISATION" ? "INCORRECT_UNWRITTEN" : "",
    reason: correct ? `${ratio.toPrecision(3)}x, geometric mean over 2 shapes` : "one line on why it failed", reproduce: "sweep eval kernel.cu --device cuda:0 --problem level1/3 --seed 0",
    speedup: correct ? interval : null, runtime: correct ? 10 : -1, ref_runtime: correct ? 10 * ratio : -1,
    timings: correct ? shapes.map((shape) => ({ shape, seed_us: 10 * ratio, candidate_us: 10, speedup: interval, share_of_floor: 0.4, replicates: 3, blocks: 8 })) : [],
    stages: ["screen", "compile", "check", "stress", "time"].map((name, i) => ({ name, ran: correct || i < 3, passed: correct || i < 2, summary: "", seconds: 0.2 * i, passed_count: i === 2 ? 22 : 0, total_count: i === 2 ? 22 : 0 })),
    kernel_sha256: sha(code), plan_sha256: sha("plan"),
    evaluation: {
      metrics: [{ name: "bytes_per_second", shape: "n=4096", value: 2.5e11, unit: "B/s", text: "" }, { name: "roofline", shape: "n=4096", value: null, unit: "", reason: "not calibrated" }],
      stages: {
        compile: { log: verdict === "COMPILE_ERROR" ? 'kernel.cu(3): error: identifier "z" is undefined' : "", kernels: [{ name: "kernel", registers: 32, spill_bytes: 0, shared_bytes: 1024, stack_bytes: 0 }] },
        check: { calls, failure: null }, stress: { calls, inner: verdict === "INCORRECT_GENERALISATION" ? failure : null },
        time: correct ? { samples: { columns: [], rows: samples(ratio) }, conditions: { sm_clock_mhz: 1980, max_sm_clock_mhz: 1980, memory_clock_mhz: 3201, temperature_c: 48, power_watts: 389, reason: "", throttle: [] }, guards: { drift: { point: 0.001, low: 0, limit: 0.03 } } } : undefined,
      },
    },
  };
}

function trajectory(model, speed, [level, id, name, title, domain], number) {
  const verdict = verdicts[number % verdicts.length];
  const ratio = { PASS_FASTER: speed + 0.5, PASS_EQUIVALENT: 1, PASS_SLOWER: 0.6 }[verdict] ?? speed;
  const [first, second] = [kernel(1, 12), kernel(2, 14)];
  const turn = (turn_id, code, tool, success, found, more = {}) => ({
    turn_id, messages_in: [{ role: "user", content: "Write a kernel." }], response: [], reasoning: `Thought of turn ${turn_id + 1}.`, text: `Answer of turn ${turn_id + 1}.`, feedback_to_model: "",
    requests: [{ index: turn_id, http_status: 200, latency_s: 2, wait_s: 0.3, response_sha256: sha(`answer ${turn_id}`) }], tool_calls: [call(tool, code, success, found, 8 * turn_id + 3)],
    llm_latency_s: 2.5, turn_wall_clock_s: 7, tools_wall_clock_s: 4, started_s: 8 * turn_id, tokens_before: 3000 * turn_id, tokens_after: 3000 * (turn_id + 1),
    best_visible_speedup: turn_id ? ratio : null, llm_usage: { input_tokens: 2500, output_tokens: 500, reasoning_tokens: 200 }, cost_usd: 0.002, ...more,
  });
  return {
    schema: 1, item_id: `custom/${model}/${level === "sci" ? level : `level${level}`}/${id}`, run_name: "browser", model_name: model, variant: "custom", level, problem_id: id, problem_name: name, problem_title: title, problem_domain: domain,
    attempt: 1, harness: "default", max_turns: 6, max_tool_calls: 12, started_at: "2026-01-31T12:00:00.000Z", finished_at: "2026-01-31T12:10:00.000Z", agent_wall_clock_s: 21, total_turns: 2, total_tool_calls: 2,
    llm_input_tokens: 5000, llm_output_tokens: 1000, llm_total_tokens: 6000, cost_usd: 0.004, outcome: outcomes[verdict] ?? "correct", stop_reason: "submitted", system_prompt: "You write GPU kernels.",
    final_result: finalResult(verdict, ratio, second),
    turns: [turn(0, first, "compile_kernel", false, "COMPILE_ERROR"), turn(1, second, "submit_kernel", true, verdict, { is_final: true, submitted_kernel: second })],
    provenance: { sweep_version: "0.1.0", device: "cuda:0", gpu_name: "NVIDIA H200", driver: "580.159.04", arch: "sm_90a", compiler: "NVRTC 13.0", base_url: "https://user:secret@models.invalid/v1?key=secret", api_kind: "openai", problem_sha256: sha(id), seed_sha256: sha(name) },
  };
}

function breakIt(t) {
  const all = `${hostile.html}\n${hostile.control}\n${hostile.direction}`;
  t.problem_title = hostile.html + hostile.direction;
  t.turns[0].text = `${all}\n${hostile.line}`;
  t.turns[0].reasoning = hostile.line;
  t.turns[0].tool_calls[0].args.kernel_code = `${all}\n${hostile.line}`;
  t.turns[0].tool_calls[0].tool_name = hostile.html;
  t.turns[1].submitted_kernel = all;
  t.turns[1].tool_calls[0].args.kernel_code = all;
  t.turns[1].tool_calls[0].result_text = all;
  t.final_result.reason = all;
  t.final_result.timings.forEach((timing) => (timing.shape = all));
  return t;
}

// The ledger of a run that has ended, hash-chained as docs/run_format.md says.
function ledger() {
  let prev = "0".repeat(64);
  return ["run_start", "run_end"].map((kind, seq) => {
    const data = kind === "run_end" ? { interrupted: false, outcomes: {} } : {};
    const row = { data, item: "", kind, prev, seq, time: "2026-01-31T12:00:00.000Z" };
    prev = sha(JSON.stringify(row));
    return `${JSON.stringify({ data, hash: prev, item: "", kind, prev: row.prev, seq, time: row.time })}\n`;
  }).join("");
}

// Returns the names of the items' pages, relative to the report folder.
export function makeRun(folder) {
  const pages = [];
  const put = (model, [level, id], t) => {
    const place = join(folder, "custom", encodeURIComponent(model));
    mkdirSync(place, { recursive: true });
    const stem = `level_${level}_problem_${id}`;
    writeFileSync(join(place, `${stem}_trajectory.json`), typeof t === "string" || Buffer.isBuffer(t) ? t : JSON.stringify(t));
    for (const code of t.turns?.map((one) => one.submitted_kernel).filter(Boolean) ?? []) {
      mkdirSync(join(folder, "artifacts"), { recursive: true });
      writeFileSync(join(folder, "artifacts", sha(code)), code);
    }
    if (t.turns) pages.push(`t/custom/${encodeURIComponent(encodeURIComponent(model))}/${stem}.html`);
  };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "ledger.jsonl"), ledger());
  let number = 0;
  for (const [model, speed] of models) for (const problem of problems) put(model, problem, trajectory(model, speed, problem, number++));
  put("<b>evil</b>", problems[0], breakIt(trajectory("<b>evil</b>", 1.2, problems[0], 0)));
  // No UTF-8, and no JSON: shown as unreadable or nowhere, and nothing else suffers.
  put("delta", problems[0], Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22]));
  return pages;
}

if (process.argv[1]?.endsWith("run.mjs")) console.log(makeRun(process.argv[2]).join("\n"));
