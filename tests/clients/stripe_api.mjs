// A fake Stripe: form-encoded writes, and idempotency keys as Stripe documents them.
import Stripe from 'stripe';
import { Provider } from './provider.mjs';

const KINDS = {
  charges: ['ch', 'charge'], refunds: ['re', 'refund'], customers: ['cus', 'customer'],
  payment_intents: ['pi', 'payment_intent'],
};

const error = (status, members) => ({ status, body: { error: members } });

export const declined = {
  ...error(402, { type: 'card_error', code: 'card_declined', message: 'Your card was declined.' }), keep: true,
};
export const tooMany = error(429, { type: 'invalid_request_error', code: 'rate_limit', message: 'Too many requests.' });

// Members as the caller wrote them: amount=2000, metadata[order]=6735.
function members(body) {
  const found = {};
  for (const [name, value] of new URLSearchParams(body)) {
    const [, outer, inner] = /^([^[]+)(?:\[([^\]]+)\])?$/.exec(name) ?? [null, name];
    if (inner === undefined) found[outer] = /^\d+$/.test(value) ? Number(value) : value;
    else found[outer] = { ...found[outer], [inner]: value };
  }
  return found;
}

function answer({ method, path, body }, row) {
  const [, , collection, id] = path.split('/');
  const [prefix, object] = KINDS[collection];
  if (method === 'DELETE') return { body: { id, object, deleted: true } };
  return {
    headers: { 'Request-Id': `req_${row.number}`, 'Stripe-Version': '2026-01-01' },
    body: { id: `${prefix}_${row.number}`, object, status: 'succeeded', ...members(body) },
  };
}

export const fakeStripe = (port) => new Provider({
  answer,
  read: ({ path }) => ({ object: 'list', url: path, has_more: false, data: [] }),
  keyOf: ({ method, headers }) => (method === 'DELETE' ? undefined : headers['idempotency-key']),
  conflict: error(409, {
    type: 'idempotency_error', code: 'idempotency_key_in_use',
    message: 'There is currently another in-progress request using this Idempotent Key.',
  }),
  mismatch: error(400, {
    type: 'idempotency_error', message: 'Keys for idempotent requests can only be used with the same parameters.',
  }),
}).listen(port);

// The official SDK, on a port that speaks for Stripe.
export const sdk = (port, more = {}) =>
  new Stripe('sk_test_4242', { protocol: 'http', host: '127.0.0.1', port, telemetry: false, ...more });

// An SDK whose every call carries this Operation-Id: its typed calls take no headers of the caller's own.
export function sdkWithOperation(port, operation) {
  const httpClient = Stripe.createFetchHttpClient((url, options) =>
    fetch(url, { ...options, headers: [...headerPairs(options.headers), ['Operation-Id', operation]] }));
  return sdk(port, { httpClient });
}

const headerPairs = (headers) => (Array.isArray(headers) ? headers : [...new Headers(headers).entries()]);
