// Official SDKs through opid's reverse mode, each against a fake provider of its own.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Opid, shippedProfile } from './opid.mjs';
import { Provider } from './provider.mjs';
import { SDKS } from './sdks.mjs';

const CONFLICT = { status: 409, body: { message: 'still running' } };
const MISMATCH = { status: 422, body: { message: 'used with another payload' } };
const providers = {};
let opid;

before(async () => {
  const profiles = {};
  for (const [name, sdk] of Object.entries(SDKS)) {
    if (!sdk.profile) continue;
    const provider = new Provider({
      answer: (_, { number }) => sdk.answer(number), keyOf: sdk.keyOf, conflict: CONFLICT, mismatch: MISMATCH,
    });
    const { url } = await provider.listen();
    providers[name === 'octokit' ? 'github' : name] = provider;
    if (typeof sdk.profile === 'string') profiles[sdk.profile] = shippedProfile(sdk.profile, url);
    else profiles[name] = { upstream: url, ...sdk.profile };
  }
  opid = new Opid({ profiles });
  await opid.start();
});

after(async () => {
  for (const provider of Object.values(providers)) await provider.close();
  if (process.env.OPID_SHOW_LOG) console.error(opid?.log);
  await opid?.close();
});

const rejection = (promise) => promise.then((found) => assert.fail(`handed over as success: ${found}`), (error) => {
  if (error instanceof assert.AssertionError) throw error;
  return error;
});

function assertShown(sdk, error, status, slug) {
  const shown = `${sdk.advice(error)}`;
  if (sdk.status(error) === undefined) assert.ok(shown.includes(slug), shown);
  else assert.equal(sdk.status(error), status, shown);
  assert.ok(shown.length > 12, `no advice reaches the caller: '${shown}'`);
}

for (const [name, sdk] of Object.entries(SDKS)) {
  const at = sdk.provider ?? (typeof sdk.profile === 'string' ? sdk.profile : name);
  const write = (run, text) => sdk.write(opid.base(at), `${name}-${run}`, text);
  const scene = (title, body) => test(`${name}: ${title}`, { timeout: 60_000 }, async () => {
    const provider = providers[at];
    provider.reset();
    await body(provider);
  });

  if (sdk.alone) {
    scene(`without opid a lost answer leaves ${sdk.alone} in the ledger`, async (provider) => {
      provider.play('drop');
      await sdk.write(provider.url, `${name}-alone`, 'hello').catch(() => {});
      assert.equal(provider.ledger.length, sdk.alone);
    });
  }

  scene('one write, and its replay', async (provider) => {
    const first = await write('success', 'hello');
    const again = await write('success', 'hello');
    assert.equal(again, first);
    assert.ok(first);
    assert.equal(provider.attempts.length, 1);
    const names = Object.keys(provider.attempts[0].headers);
    assert.deepEqual(names.filter((field) => field.startsWith('operation-')), []);
  });

  scene('a lost answer: one effect, whatever the SDK and its caller try', async (provider) => {
    provider.play('drop');
    if (sdk.keyOf) {
      const first = await write('lost', 'hello');
      assert.equal(await write('lost', 'hello'), first);
      assert.equal(provider.attempts.length, 2);
      assert.equal(new Set(provider.attempts.map(sdk.keyOf)).size, 1);
    } else {
      for (let run = 0; run < 2; run += 1) {
        assertShown(sdk, await rejection(write('lost', 'hello')), 423, 'needs-review');
      }
      assert.equal(provider.attempts.length, 1);
    }
    assert.equal(provider.ledger.length, 1);
  });

  scene('another payload is raised as an error', async (provider) => {
    await write('mismatch', 'hello');
    assertShown(sdk, await rejection(write('mismatch', 'something else')), 422, 'payload-mismatch');
    assert.equal(provider.attempts.length, 1);
  });
}
