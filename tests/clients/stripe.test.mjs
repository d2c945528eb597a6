// The official Stripe SDK against opid, on a port of its own for Stripe, with the shipped profile.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import Stripe from 'stripe';
import { shippedProfile, withOpid } from './opid.mjs';
import { declined, fakeStripe, sdk, sdkWithOperation, tooMany } from './stripe_api.mjs';

const CHARGE = { amount: 2000, currency: 'usd', source: 'tok_visa', description: 'Order 6735' };

const LIMIT = { timeout: 60_000 };

let provider;
before(async () => { provider = await fakeStripe(); });
after(() => provider.close());
beforeEach(() => provider.reset());

const setting = () => ({ profiles: { stripe: shippedProfile('stripe', provider.url) }, ports: ['stripe'] });

// A test with a fresh opid; body(client, opid).
const scene = (name, body) =>
  test(name, LIMIT, () => withOpid(setting(), (opid) => body(sdk(opid.ports.stripe), opid)));

// The SDK's own HTTP client hands over an object, the one with fetch a Headers.
const field = ({ lastResponse: { headers } }, name) =>
  (headers instanceof Headers ? headers.get(name) ?? undefined : headers[name]);

function assertAnswer(object, { replayed = false } = {}) {
  assert.equal(field(object, 'operation-status'), 'succeeded');
  assert.equal(field(object, 'idempotent-replayed'), replayed ? 'true' : undefined);
  assert.ok(field(object, 'operation-id'));
}

// What the SDK raises for an answer of opid's own: an error, and one that carries the advice.
const raises = (status, slug, advice) => (error) => {
  assert.ok(error instanceof Stripe.errors.StripeError, `not raised as Stripe's error: ${error}`);
  assert.equal(error.statusCode, status);
  assert.equal(error.code, slug);
  assert.equal(error.headers['opid-problem'], slug);
  assert.match(error.message, advice);
  return true;
};

const keysAt = () => new Set(provider.attempts.map(({ headers }) => headers['idempotency-key']));

// What the promise is rejected with, or undefined.
const rejection = (promise) => promise.then(() => undefined, (error) => error);

test('without opid a second run with a key of its own charges twice', LIMIT, async () => {
  const { port } = new URL(provider.url);
  provider.play('drop');
  const first = await sdk(port).charges.create(CHARGE);
  const second = await sdk(port).charges.create(CHARGE);
  assert.notEqual(first.id, second.id);
  assert.equal(provider.ledger.length, 2);
});

scene('a charge succeeds once, and Stripe sees nothing of opid but its key', async (stripe) => {
  const charge = await stripe.charges.create(CHARGE, { idempotencyKey: 'order-6735' });
  assert.deepEqual([charge.amount, charge.currency, charge.description], [2000, 'usd', 'Order 6735']);
  assertAnswer(charge);
  assert.equal(field(charge, 'operation-id'), 'order-6735');
  assert.equal(charge.lastResponse.requestId, 'req_1');
  const [{ headers }] = provider.attempts;
  assert.equal(headers.authorization, 'Bearer sk_test_4242');
  assert.match(headers['idempotency-key'], /^[\x21-\x7e]{8,255}$/);
  assert.deepEqual(Object.keys(headers).filter((name) => name.startsWith('operation-')), []);
  assert.equal(provider.ledger.length, 1);
});

scene('the same key again is replayed and asks Stripe nothing', async (stripe) => {
  const first = await stripe.charges.create(CHARGE, { idempotencyKey: 'order-6735' });
  const again = await stripe.charges.create(CHARGE, { idempotencyKey: 'order-6735' });
  assert.equal(again.id, first.id);
  assertAnswer(first);
  assertAnswer(again, { replayed: true });
  assert.equal(again.lastResponse.requestId, 'req_1');
  assert.equal(provider.attempts.length, 1);
});

scene('Stripe charges and the connection drops: one effect, and the SDK sees success', async (stripe) => {
  provider.play('drop');
  const charge = await stripe.charges.create(CHARGE, { idempotencyKey: 'order-6735' });
  assert.equal(charge.id, 'ch_1');
  assertAnswer(charge);
  assert.equal(provider.ledger.length, 1);
  assert.equal(provider.attempts.length, 2);
  assert.equal(keysAt().size, 1);
  const again = await stripe.charges.create(CHARGE, { idempotencyKey: 'order-6735' });
  assert.equal(again.id, 'ch_1');
  assertAnswer(again, { replayed: true });
  assert.equal(provider.attempts.length, 2);
});

scene('the same without a word from the caller: the key that the SDK makes up will do', async (stripe) => {
  provider.play('drop');
  const charge = await stripe.charges.create(CHARGE);
  assert.equal(charge.id, 'ch_1');
  assert.match(field(charge, 'operation-id'), /^stripe-node-retry-/);
  assert.equal(provider.ledger.length, 1);
});

scene('opid is killed between charge and answer; the run is repeated after its restart', async (stripe, opid) => {
  provider.play('hold');
  const cut = rejection(sdk(opid.ports.stripe, { maxNetworkRetries: 0 })
    .charges.create(CHARGE, { idempotencyKey: 'order-6735' }));
  await provider.held();
  await opid.kill('SIGKILL');
  assert.ok(await cut instanceof Stripe.errors.StripeConnectionError);
  provider.release();
  await opid.start();
  const again = sdk(opid.ports.stripe);
  const charge = await again.charges.create(CHARGE, { idempotencyKey: 'order-6735' });
  assert.equal(charge.id, 'ch_1');
  assertAnswer(charge);
  const replay = await again.charges.create(CHARGE, { idempotencyKey: 'order-6735' });
  assert.equal(replay.id, 'ch_1');
  assertAnswer(replay, { replayed: true });
  assert.equal(provider.ledger.length, 1);
  assert.equal(keysAt().size, 1);
});

scene('the same while Stripe still works on the first: in use, then the charge', async (stripe, opid) => {
  provider.play('hold');
  const cut = rejection(stripe.charges.create(CHARGE, { idempotencyKey: 'order-6735' }));
  await provider.held();
  await opid.kill('SIGKILL');
  await cut;
  provider.onConflict = () => provider.release();
  await opid.start();
  const charge = await sdk(opid.ports.stripe).charges.create(CHARGE, { idempotencyKey: 'order-6735' });
  assert.equal(charge.id, 'ch_1');
  assert.equal(provider.ledger.length, 1);
  assert.equal(keysAt().size, 1);
});

scene('another amount under the same key is raised as an error, not handed over as success', async (stripe) => {
  await stripe.charges.create(CHARGE, { idempotencyKey: 'order-6735' });
  const other = stripe.charges.create({ ...CHARGE, amount: 9900 }, { idempotencyKey: 'order-6735' });
  await assert.rejects(other, raises(422, 'payload-mismatch', /\S/));
  assert.equal(provider.attempts.length, 1);
});

scene('so is another connected account, and another endpoint', async (stripe) => {
  await stripe.charges.create(CHARGE, { idempotencyKey: 'order-6735' });
  await assert.rejects(stripe.charges.create(CHARGE, { idempotencyKey: 'order-6735', stripeAccount: 'acct_2' }),
    raises(422, 'payload-mismatch', /\S/));
  await assert.rejects(stripe.customers.create({ email: 'ada@example.com' }, { idempotencyKey: 'order-6735' }),
    raises(422, 'payload-mismatch', /\S/));
  assert.equal(provider.attempts.length, 1);
});

scene('the order of parameters is no difference', async (stripe) => {
  const { amount, ...rest } = CHARGE;
  const first = await stripe.charges.create({ amount, ...rest }, { idempotencyKey: 'order-6735' });
  const again = await stripe.charges.create({ ...rest, amount }, { idempotencyKey: 'order-6735' });
  assert.equal(again.id, first.id);
  assert.equal(provider.attempts.length, 1);
});

scene('an Operation-Id of the caller\'s own, by an HTTP client', async (stripe, opid) => {
  provider.play('drop');
  const first = await sdkWithOperation(opid.ports.stripe, 'run-81/charge').charges.create(CHARGE);
  assert.equal(field(first, 'operation-id'), 'run-81/charge');
  // A second run makes up another key; the Operation-Id is what counts.
  const again = await sdkWithOperation(opid.ports.stripe, 'run-81/charge').charges.create(CHARGE);
  assert.equal(again.id, first.id);
  assertAnswer(again, { replayed: true });
  await assert.rejects(sdkWithOperation(opid.ports.stripe, 'run-81/charge').charges.create({ ...CHARGE, amount: 1 }),
    raises(422, 'payload-mismatch', /\S/));
  assert.equal(provider.ledger.length, 1);
});

scene('an Operation-Id by rawRequest', async (stripe) => {
  const more = { additionalHeaders: { 'Operation-Id': 'run-81/raw' } };
  const first = await stripe.rawRequest('POST', '/v1/charges', CHARGE, more);
  const again = await stripe.rawRequest('POST', '/v1/charges', CHARGE, more);
  assert.equal(again.id, first.id);
  assert.equal(provider.attempts.length, 1);
});

scene('two callers at once share one charge', async (stripe, opid) => {
  provider.play('hold');
  const first = stripe.charges.create(CHARGE, { idempotencyKey: 'order-6735' });
  await provider.held();
  const second = sdk(opid.ports.stripe).charges.create(CHARGE, { idempotencyKey: 'order-6735' });
  setTimeout(() => provider.release(), 200);
  const [one, other] = await Promise.all([first, second]);
  assert.equal(one.id, other.id);
  const marked = [one, other].filter((charge) => field(charge, 'idempotent-replayed'));
  assert.equal(marked.length, 1);
  assert.equal(provider.attempts.length, 1);
});

scene('a declined card is an outcome: raised again on a re-run, and not tried again', async (stripe) => {
  provider.play(declined);
  for (const replayed of [undefined, 'true']) {
    const error = await rejection(stripe.charges.create(CHARGE, { idempotencyKey: 'order-6735' }));
    assert.ok(error instanceof Stripe.errors.StripeCardError, String(error));
    assert.equal(error.headers['operation-status'], 'failed');
    assert.equal(error.headers['idempotent-replayed'], replayed);
  }
  assert.equal(provider.attempts.length, 1);
  assert.equal(provider.ledger.length, 0);
});

scene('too many requests did nothing: the same key may try again', async (stripe) => {
  provider.play(tooMany);
  const error = await rejection(stripe.charges.create(CHARGE, { idempotencyKey: 'order-6735' }));
  assert.ok(error instanceof Stripe.errors.StripeRateLimitError, String(error));
  assert.equal(error.headers['operation-status'], 'prepared');
  const charge = await stripe.charges.create(CHARGE, { idempotencyKey: 'order-6735' });
  assert.equal(charge.id, 'ch_1');
  assertAnswer(charge);
  assert.equal(provider.ledger.length, 1);
});

scene('a refund carries its mark from the first attempt on, whatever becomes of it', async (stripe) => {
  provider.play('drop');
  const refund = await stripe.refunds.create({ charge: 'ch_77', metadata: { ticket: '9' } }, { idempotencyKey: 'r-9' });
  assert.equal(refund.id, 're_1');
  assert.equal(refund.metadata.ticket, '9');
  assert.ok(refund.metadata.operation_id);
  assert.equal(provider.attempts[0].body, provider.attempts[1].body);
  assert.equal(provider.ledger.length, 1);
});

scene('a delete has no key: after a lost answer it is sent no second time', async (stripe) => {
  provider.play('drop');
  for (let run = 0; run < 2; run += 1) {
    await assert.rejects(stripe.customers.del('cus_5', {}, { idempotencyKey: 'forget-5' }),
      raises(423, 'needs-review', /not retry/i));
  }
  assert.equal(provider.attempts.length, 1);
});

scene('a write without an ID is refused with words on how to add one', async (stripe) => {
  await assert.rejects(stripe.customers.del('cus_5'), raises(400, 'operation-id-missing', /Operation-Id/));
  assert.equal(provider.attempts.length, 0);
});

scene('reads pass through, and need no ID', async (stripe) => {
  const list = await stripe.charges.list({ limit: 3 });
  assert.deepEqual(list.data, []);
  assert.equal(field(list, 'operation-id'), undefined);
  assert.equal(provider.reads[0].path, '/v1/charges?limit=3');
});

test('Stripe cannot be reached: provably nothing happened, and the same key works later', LIMIT, async () => {
  const gone = await fakeStripe();
  const port = new URL(gone.url).port;
  await gone.close();
  const setting = { profiles: { stripe: shippedProfile('stripe', `http://127.0.0.1:${port}`) }, ports: ['stripe'] };
  await withOpid(setting, async (opid) => {
    const stripe = sdk(opid.ports.stripe, { maxNetworkRetries: 0 });
    await assert.rejects(stripe.charges.create(CHARGE, { idempotencyKey: 'order-6735' }),
      raises(502, 'not-sent', /same/i));
    const back = await fakeStripe(Number(port));
    try {
      const charge = await stripe.charges.create(CHARGE, { idempotencyKey: 'order-6735' });
      assertAnswer(charge);
      assert.equal(back.ledger.length, 1);
    } finally {
      await back.close();
    }
  });
});
