// Chat Completions in front of llama.cpp with the model of tiny_model.mjs, on a loopback port that it prints.
// usage: node tiny_llm.mjs FILE.gguf
// With a tool it samples a call that its schema allows; without one it answers in noise, which need not be text.
import http from "node:http";
import { getLlama, LlamaCompletion } from "node-llama-cpp";

// Two threads on two busy cores wait for each other: one is faster by a factor of a hundred.
const llama = await getLlama({ gpu: false, maxThreads: 1, build: "never", logLevel: "error" });
const model = await llama.loadModel({ modelPath: process.argv[2] });
const context = await model.createContext({ contextSize: 512, sequences: 1, threads: 1 });
const completion = new LlamaCompletion({ contextSequence: context.getSequence() });

async function answer(request) {
  // The end of the prompt, since the context is small.
  const prompt = request.messages.map((m) => `${m.role}: ${m.content ?? ""}`).join("\n").slice(-200);
  const last = request.messages.at(-1).role;
  const tool = last === "tool" ? undefined : request.tools?.[0]?.function;
  const grammar = tool ? await llama.createGrammarForJsonSchema(tool.parameters) : undefined;
  const maxTokens = tool ? 280 : 48;
  const said = await completion.generateCompletion(prompt, { maxTokens, temperature: 0.8, seed: 1, grammar });
  let finish = tool ? "tool_calls" : "stop";
  try {
    if (tool) JSON.parse(said);
  } catch {
    finish = "length"; // a string that did not come to its end
  }
  const message = tool
    ? { role: "assistant", content: null,
        tool_calls: [{ id: `call_${request.messages.length}`, type: "function",
                       function: { name: tool.name, arguments: said } }] }
    : { role: "assistant", content: said };
  return {
    id: "chatcmpl-tiny", object: "chat.completion", model: request.model,
    choices: [{ index: 0, message, finish_reason: finish }],
    usage: { prompt_tokens: JSON.stringify(request.messages).length, completion_tokens: Buffer.byteLength(said) },
  };
}

function send(response, status, body) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

function stream(response, whole) {
  const { message, finish_reason } = whole.choices[0];
  const event = (delta, reason, usage) =>
    response.write(`data: ${JSON.stringify({ id: whole.id, model: whole.model, usage,
      choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`);
  response.writeHead(200, { "content-type": "text/event-stream" });
  const calls = message.tool_calls?.map((call, index) => ({ index, ...call }));
  event(calls ? { role: "assistant", tool_calls: calls } : { role: "assistant", content: message.content }, null);
  event({}, finish_reason, whole.usage);
  response.end("data: [DONE]\n\n");
}

// One sequence, one request at a time.
let last = Promise.resolve();
const server = http.createServer((request, response) => {
  if (request.method === "GET") {
    send(response, 200, { object: "list", data: [{ id: "tiny", object: "model", max_model_len: 512 }] });
    return;
  }
  let text = "";
  request.on("data", (chunk) => (text += chunk));
  request.on("end", () => {
    last = last.then(async () => {
      try {
        const asked = JSON.parse(text);
        const whole = await answer(asked);
        if (asked.stream) stream(response, whole);
        else send(response, 200, whole);
      } catch (error) {
        send(response, 500, { error: { message: String(error) } });
      }
    });
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
// Its parent keeps standard input open.
process.stdin.on("end", () => process.exit(0)).resume();
