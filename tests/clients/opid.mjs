// Starts the real opid on ports of its own, with its data in a temporary folder.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const BINARY = process.env.OPID_BIN ??
  [join(ROOT, 'build/dev/proxy/opid'), join(ROOT, 'build/release/proxy/opid')].find((path) => existsSync(path));
const START_SECONDS = Number(process.env.OPID_START_TIMEOUT ?? 30);

// The text of a shipped profile, pointed at a fake provider.
export function shippedProfile(name, upstream) {
  const text = readFileSync(join(ROOT, 'policies', `${name}.yaml`), 'utf8');
  return `${text.replace(/^upstream:.*\n/m, '')}\nupstream: ${upstream}\n`;
}

export class Opid {
  // profiles: {provider: text or object}; ports: the providers that get a port of their own
  constructor({ profiles, ports = [], config = {} }) {
    this.folder = mkdtempSync(join(tmpdir(), 'opid-clients-'));
    mkdirSync(join(this.folder, 'policies'));
    for (const [name, profile] of Object.entries(profiles)) {
      // JSON is YAML.
      const text = typeof profile === 'string' ? profile : JSON.stringify({ provider: name, ...profile }, null, 2);
      writeFileSync(join(this.folder, 'policies', `${name}.yaml`), text);
    }
    writeFileSync(join(this.folder, 'opid.yaml'), JSON.stringify({
      listen: {
        proxy: '127.0.0.1:0',
        admin: '127.0.0.1:0',
        providers: Object.fromEntries(ports.map((name) => [name, '127.0.0.1:0'])),
      },
      data: join(this.folder, 'data'),
      policies: [join(this.folder, 'policies')],
      ...config,
    }, null, 2));
  }

  async start() {
    this.ports = {};
    this.log = '';
    const options = { cwd: this.folder, stdio: ['ignore', 'pipe', 'pipe'] };
    this.process = spawn(BINARY, ['serve', '--config', join(this.folder, 'opid.yaml')], options);
    this.ended = once(this.process, 'exit');
    this.process.stderr.on('data', (bytes) => { this.log = (this.log + bytes).slice(-20000); });
    const watchdog = setTimeout(() => this.process.kill('SIGKILL'), START_SECONDS * 1000);
    try {
      await this.#ready();
    } finally {
      clearTimeout(watchdog);
    }
    return this;
  }

  async #ready() {
    for await (const line of createInterface({ input: this.process.stdout })) {
      const [what, ...words] = line.trim().split(/\s+/);
      if (what === 'listening') this.ports[words.at(-2)] = Number(words.at(-1).split(':').at(-1));
      if (what === 'ready') {
        this.process.stdout.resume();
        return;
      }
    }
    await this.ended;
    throw new Error(`opid ended before it was ready, code ${this.process.exitCode}\n${this.log}`);
  }

  // The base URL for an SDK that takes a path.
  base(provider) { return `http://127.0.0.1:${this.ports.proxy}/${provider}`; }

  async kill(signal = 'SIGKILL') {
    if (this.process?.exitCode === null && this.process.signalCode === null) this.process.kill(signal);
    await this.ended;
  }

  async close() {
    if (this.process) await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

// Runs body(opid) and shows the end of opid's log when it fails.
export async function withOpid(setting, body) {
  const opid = new Opid(setting);
  try {
    await opid.start();
    await body(opid);
  } catch (error) {
    console.error(`---- the end of opid's log\n${(opid.log ?? '').slice(-4000)}\n----`);
    throw error;
  } finally {
    await opid.close();
  }
}
