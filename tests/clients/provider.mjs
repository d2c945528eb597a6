// A fake provider with a ledger, for official SDKs to write to.
//
// Every write that arrives whole is one attempt; every committed one is an effect, a row of the ledger. With `keyOf`
// it remembers answers under idempotency keys the way Stripe documents it: the same request again gets the stored
// answer, another payload under a used key is an error, and so is a key whose first request still runs.
//
// What the next attempts meet is scripted with play(): each entry is
//   'drop'                 commit, then close the connection without an answer
//   'hold'                 commit, then wait for release() before answering; held() says when it has come so far
//   {status, headers, body, keep}   answer this without an effect; keep: remember it under the key
// Unscripted attempts commit and are answered.
import { createServer } from 'node:http';
import { once } from 'node:events';

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

export class Provider {
  attempts = [];
  reads = [];
  ledger = [];
  onConflict = () => {}; // called when a second request meets a running one under the same key
  #script = [];
  #memory = new Map();
  #held = gate();
  #released = gate();

  // answer(attempt, row) makes the body of a committed write; read(request) that of a read; keyOf(attempt) the key.
  constructor({ answer, read = () => ({}), keyOf = () => undefined, conflict, mismatch }) {
    Object.assign(this, { answer, read, keyOf, conflict, mismatch });
    this.server = createServer((request, response) => this.#serve(request, response).catch(() => response.destroy()));
  }

  async listen(port = 0) {
    this.server.listen(port, '127.0.0.1');
    await once(this.server, 'listening');
    this.url = `http://127.0.0.1:${this.server.address().port}`;
    return this;
  }

  async close() {
    this.release();
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  // As new: an empty ledger, no key remembered, nothing scripted.
  reset() {
    Object.assign(this, { attempts: [], reads: [], ledger: [], onConflict() {} });
    this.#memory.clear();
    this.play();
  }

  play(...steps) {
    this.#script = steps;
    this.#held = gate();
    this.#released = gate();
  }

  held() { return this.#held.opened; }
  release() { this.#released.open(); }

  async #serve(request, response) {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const { method, headers } = request;
    const attempt = { method, path: request.url, headers, body: Buffer.concat(pieces).toString() };
    if (READS.has(method)) {
      this.reads.push(attempt);
      return send(response, { status: 200, body: this.read(attempt) });
    }
    this.attempts.push(attempt);
    const key = this.keyOf(attempt);
    const known = key && this.#memory.get(key);
    return known ? this.#again(known, attempt, response) : this.#first(key, attempt, response);
  }

  async #first(key, attempt, response) {
    const step = this.#script.shift();
    if (step?.status) {
      if (step.keep) this.#memory.set(key, { request: meaning(attempt), stored: step });
      return send(response, step);
    }
    const row = { number: this.ledger.length + 1, ...attempt };
    this.ledger.push(row);
    const entry = { request: meaning(attempt), stored: null };
    if (key) this.#memory.set(key, entry);
    const answer = { status: 200, ...this.answer(attempt, row) };
    if (step === 'hold') {
      this.#held.open();
      await this.#released.opened;
    }
    entry.stored = answer;
    if (step === 'drop') return response.destroy();
    return send(response, answer);
  }

  #again(known, attempt, response) {
    if (known.request !== meaning(attempt)) return send(response, this.mismatch);
    if (known.stored) {
      const headers = { ...known.stored.headers, 'Idempotent-Replayed': 'true' };
      return send(response, { ...known.stored, headers });
    }
    send(response, this.conflict);
    this.onConflict();
  }
}

const meaning = ({ method, path, body }) => `${method} ${path}\n${body}`;

function gate() {
  let open;
  const opened = new Promise((resolve) => { open = resolve; });
  return { opened, open };
}

function send(response, { status, headers = {}, body = {} }) {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length, ...headers });
  response.end(bytes);
}
