// The line protocol between the matrix and a client: commands come in, answers go out, members parted by tabs.
//   write URL OPERATION TEXT | read URL | events URL OPERATION TEXT | blind URL
//   answer STATUS REPLAYED TEXT | error KIND MESSAGE MEMBERS | event DATA … end | blind ISSUER PROTOCOL
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const flat = (value) => `${value ?? '-'}`.replace(/[\t\r\n]+/g, ' ');

export function say(...words) {
  process.stdout.write(`${words.map(flat).join('\t')}\n`);
}

export async function serve(version, led, verbs) {
  say('ready', version, led);
  for await (const line of createInterface({ input: process.stdin })) {
    const [verb, ...words] = line.split('\t');
    try {
      await verbs[verb](...words);
    } catch (error) {
      say('error', kind(error), error.message, members(error));
    }
  }
  process.exit(0);
}

const kind = (error) => (error.name === 'Error' ? error.constructor.name : error.name);

// What else a caller can read of an error without looking inside the SDK.
function members(error) {
  const found = { status: error.status ?? error.statusCode ?? error.code };
  for (const name of ['error', 'data', 'shown', 'body', 'raw', 'response']) {
    const value = name === 'response' ? error.response?.data ?? error.response?.body : error[name];
    if (value && typeof value !== 'function') found[name] = value;
  }
  try {
    return JSON.stringify(found);
  } catch {
    return JSON.stringify({ status: found.status });
  }
}

// The version of an installed package.
export function packageVersion(name) {
  const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), 'node_modules', ...name.split('/'));
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version;
}
