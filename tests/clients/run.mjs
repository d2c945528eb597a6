#!/usr/bin/env node
// Official SDKs against the real opid: node tests/clients/run.mjs [PART OF A FILE'S NAME]
// OPID_BIN names the binary; by default it is the dev build's, else the release build's.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { BINARY, ROOT } from './opid.mjs';

const here = join(ROOT, 'tests', 'clients');

function install() {
  if (existsSync(join(here, 'node_modules'))) return true;
  if (spawnSync('npm', ['--version']).error) {
    console.log('skipped: the SDKs are not installed, and there is no npm to do it');
    return false;
  }
  const options = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', options, { cwd: here, stdio: 'inherit' });
  if (status !== 0) {
    console.error('npm ci failed');
    process.exit(1);
  }
  return true;
}

if (!BINARY || !existsSync(BINARY)) {
  console.error(`there is no opid${BINARY ? ` at ${BINARY}` : ''}; ./dev build makes one`);
  process.exit(1);
}
if (!install()) process.exit(0);
const files = readdirSync(here).filter((name) => name.endsWith('.test.mjs') && name.includes(process.argv[2] ?? ''));
if (!files.length) {
  console.error(`no test file's name contains '${process.argv[2]}'`);
  process.exit(1);
}
const env = { ...process.env, OPID_BIN: BINARY, NO_PROXY: '127.0.0.1' };
for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY']) {
  delete env[name];
  delete env[name.toLowerCase()];
}
const run = spawnSync(process.execPath, ['--test', '--test-reporter=spec', ...files.map((name) => join(here, name))],
  { stdio: 'inherit', env });
process.exit(run.status ?? 1);
