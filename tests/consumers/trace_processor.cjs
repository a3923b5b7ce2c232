// Runs Perfetto's trace processor, compiled to WebAssembly, in Node: node trace_processor.cjs FOLDER REQUEST REPLY
// FOLDER holds the web page of Perfetto. REQUEST is a stream of its RPC messages; the answers are written to REPLY.
"use strict";
const fs = require("node:fs");
const path = require("node:path");

const [folder, requestFile, replyFile] = process.argv.slice(2);
const version = fs.readdirSync(folder).find((name) => /^v\d/.test(name));
const fileOf = (url) => path.join(folder, version, path.basename(String(url).split("?")[0]));
const exit = process.exit.bind(process);
const CHUNK_BYTES = 16 << 20;

// What the bundle expects of a web worker.
globalThis.self = globalThis;
globalThis.location = { href: "http://localhost/engine_bundle.js", search: "" };
globalThis.importScripts = () => {};
globalThis.WorkerGlobalScope = function WorkerGlobalScope() {};
globalThis.fetch = async (url) =>
  new Response(fs.readFileSync(fileOf(url)), { headers: { "content-type": "application/wasm" } });
globalThis.XMLHttpRequest = class {
  open(_method, url) {
    this.url = url;
  }
  send() {
    const bytes = fs.readFileSync(fileOf(this.url));
    this.status = 200;
    this.response = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  }
};

const replies = [];
const port = { onmessage: null, postMessage: (data) => replies.push(Buffer.from(data)) };
const bundle = fs.readFileSync(path.join(folder, version, "engine_bundle.js"), "utf8");
// Without `process`, the bundle takes the way of a browser.
Object.defineProperty(globalThis, "process", { value: undefined, configurable: true, writable: true });
new Function("require", "module", "exports", bundle)();
globalThis.onmessage({ data: port });

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
(async () => {
  while (!port.onmessage) await pause(10);
  await pause(1500);
  const request = new Uint8Array(fs.readFileSync(requestFile));
  for (let at = 0; at < request.length; at += CHUNK_BYTES) {
    await port.onmessage({ data: request.subarray(at, at + CHUNK_BYTES) });
  }
  await pause(1500);
  fs.writeFileSync(replyFile, Buffer.concat(replies));
  exit(0);
})();
