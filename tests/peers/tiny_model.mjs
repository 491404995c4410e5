// Writes a GGUF file with a llama-architecture model of random weights over single bytes.
// usage: node tiny_model.mjs FILE
// It speaks noise; what is real is the engine that loads and samples it.
import { writeFileSync } from "node:fs";

const embedding = 64, layers = 2, heads = 4, hidden = 128, context = 4096;
const tokens = ["<unk>", "<s>", "</s>"];
for (let byte = 0; byte < 256; ++byte)
  tokens.push(`<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`);
// GGUF token types: 2 unknown, 3 control, 6 byte.
const types = [2, 3, 3, ...Array(256).fill(6)];

const u32 = (value) => { const b = Buffer.alloc(4); b.writeUInt32LE(value); return b; };
const u64 = (value) => { const b = Buffer.alloc(8); b.writeBigUInt64LE(BigInt(value)); return b; };
const i32 = (value) => { const b = Buffer.alloc(4); b.writeInt32LE(value); return b; };
const f32 = (value) => { const b = Buffer.alloc(4); b.writeFloatLE(value); return b; };
const text = (value) => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);
const list = (type, values) => Buffer.concat([u32(type), u64(values.length), ...values]);

// Value types of GGUF's metadata.
const U32 = 4, I32 = 5, F32 = 6, STRING = 8, ARRAY = 9;
const metadata = [
  ["general.architecture", STRING, text("llama")],
  ["general.name", STRING, text("tiny-random")],
  ["llama.context_length", U32, u32(context)],
  ["llama.embedding_length", U32, u32(embedding)],
  ["llama.block_count", U32, u32(layers)],
  ["llama.feed_forward_length", U32, u32(hidden)],
  ["llama.attention.head_count", U32, u32(heads)],
  ["llama.attention.head_count_kv", U32, u32(heads)],
  ["llama.attention.layer_norm_rms_epsilon", F32, f32(1e-5)],
  ["llama.rope.dimension_count", U32, u32(embedding / heads)],
  ["llama.vocab_size", U32, u32(tokens.length)],
  ["tokenizer.ggml.model", STRING, text("llama")],
  ["tokenizer.ggml.tokens", ARRAY, list(STRING, tokens.map(text))],
  ["tokenizer.ggml.scores", ARRAY, list(F32, tokens.map(() => f32(0)))],
  ["tokenizer.ggml.token_type", ARRAY, list(I32, types.map(i32))],
  ["tokenizer.ggml.bos_token_id", U32, u32(1)],
  ["tokenizer.ggml.eos_token_id", U32, u32(2)],
  ["tokenizer.ggml.unknown_token_id", U32, u32(0)],
];

const tensors = [
  ["token_embd.weight", [embedding, tokens.length]],
  ["output_norm.weight", [embedding]],
  ["output.weight", [embedding, tokens.length]],
];
for (let layer = 0; layer < layers; ++layer)
  for (const [name, shape] of [
    ["attn_norm", [embedding]], ["ffn_norm", [embedding]],
    ["attn_q", [embedding, embedding]], ["attn_k", [embedding, embedding]],
    ["attn_v", [embedding, embedding]], ["attn_output", [embedding, embedding]],
    ["ffn_gate", [embedding, hidden]], ["ffn_up", [embedding, hidden]], ["ffn_down", [hidden, embedding]],
  ])
    tensors.push([`blk.${layer}.${name}.weight`, shape]);

// A generator of its own (mulberry32), so that the file is the same everywhere.
let state = 7;
const random = () => {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), state | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
};
const gauss = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

const alignment = 32;
const padding = (size) => Buffer.alloc((alignment - (size % alignment)) % alignment);
const infos = [], data = [];
let offset = 0;
for (const [name, shape] of tensors) {
  const count = shape.reduce((a, b) => a * b, 1);
  const values = Float32Array.from({ length: count }, () => (name.includes("norm") ? 1 : 0.3 * gauss()));
  const bytes = Buffer.from(values.buffer);
  infos.push(text(name), u32(shape.length), ...shape.map(u64), u32(0 /* F32 */), u64(offset));
  data.push(bytes, padding(bytes.length));
  offset += bytes.length + padding(bytes.length).length;
}
const head = Buffer.concat([
  Buffer.from("GGUF"), u32(3), u64(tensors.length), u64(metadata.length),
  ...metadata.flatMap(([name, type, value]) => [text(name), u32(type), value]),
  ...infos,
]);
writeFileSync(process.argv[2], Buffer.concat([head, padding(head.length), ...data]));
