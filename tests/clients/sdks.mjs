// How each SDK is pointed at opid's reverse mode, given an operation ID, and made to write once.
//
// alone      what the fake provider's ledger shows when the SDK itself meets a lost answer, without opid; optional
// profile    what its provider's profile says beside hosts and upstream, or the name of a shipped one
// keyOf      where the provider honours a key: a lost answer then heals by itself
// answer     the provider's answer to the write of this number
// write      (base URL, operation ID, text) -> the ID that the SDK hands over
// advice     the text that the SDK shows of an answer of opid's own
import Anthropic from '@anthropic-ai/sdk';
import { Octokit } from '@octokit/rest';
import { retry } from '@octokit/plugin-retry';
import { LogLevel, WebClient } from '@slack/web-api';
import OpenAI from 'openai';
import { SquareClient } from 'square';
import twilio from 'twilio';

const KEY = { encoding: 'uuid', window: { for: '24h' } };
const operationHeader = (operation) => ({ headers: { 'Operation-Id': operation } });

const silent = { debug() {}, info() {}, warn() {}, error() {} };

const openIssue = (Kit) => async (baseUrl, operation, title) => {
  const octokit = new Kit({ auth: 'secret', baseUrl, log: silent, retry: { retryAfterBaseValue: 20 } });
  const issue = { owner: 'ada', repo: 'engine', title, headers: { 'operation-id': operation } };
  return (await octokit.rest.issues.create(issue)).data.number;
};
const issueAnswer = (number) => ({ status: 201, body: { number, title: 'x' } });

// No call of Twilio's takes headers; its HTTP client does.
class OperationClient extends twilio.RequestClient {
  constructor(operation) {
    super();
    this.operation = operation;
  }

  request(options) {
    return super.request({ ...options, headers: { ...options.headers, 'Operation-Id': this.operation } });
  }
}

async function sendMail(baseUrl, operation, text) {
  process.env.RESEND_BASE_URL = baseUrl; // read once, when the module is loaded
  const { Resend } = await import('resend');
  const mail = { from: 'a@example.com', to: ['b@example.com'], subject: 'Hello', text };
  const { data, error } = await new Resend('re_secret').emails.send(mail, { idempotencyKey: operation });
  if (error) throw Object.assign(new Error(error.message), { shown: error });
  return data.id;
}

let squareKeys = 0;
async function pay(baseUrl, operation, note) {
  const square = new SquareClient({ token: 'secret', baseUrl });
  // Every run makes up a key of its own, as the API's examples do: it is no part of what was meant.
  const payment = { sourceId: 'cnon:card', idempotencyKey: `key-${squareKeys += 1}`, note };
  return (await square.payments.create(payment, operationHeader(operation))).payment.id;
}

export const SDKS = {
  openai: {
    alone: 2,
    profile: { hosts: ['api.openai.com'], key: 'none' },
    answer: (number) => ({ body: { id: `chat-${number}`, object: 'chat.completion', choices: [] } }),
    write: async (baseURL, operation, content) => (await new OpenAI({ apiKey: 'secret', baseURL })
      .chat.completions.create({ model: 'test-model', messages: [{ role: 'user', content }] },
        operationHeader(operation))).id,
    advice: (error) => error.error.message,
    status: (error) => error.status,
  },
  anthropic: {
    alone: 2,
    profile: { hosts: ['api.anthropic.com'], key: 'none' },
    answer: (number) => ({ body: { id: `msg-${number}`, type: 'message', role: 'assistant', content: [] } }),
    write: async (baseURL, operation, content) => (await new Anthropic({ apiKey: 'secret', baseURL })
      .messages.create({ model: 'test-model', max_tokens: 9, messages: [{ role: 'user', content }] },
        operationHeader(operation))).id,
    advice: (error) => error.error.message,
    status: (error) => error.status,
  },
  octokit: {
    alone: 1,
    profile: 'github',
    answer: issueAnswer,
    write: openIssue(Octokit),
    advice: (error) => error.message,
    status: (error) => error.status,
  },
  octokit_retry: {
    alone: 2,
    provider: 'github',
    answer: issueAnswer,
    write: openIssue(Octokit.plugin(retry)),
    advice: (error) => error.message,
    status: (error) => error.status,
  },
  slack: {
    alone: 2,
    profile: { hosts: ['slack.com'], key: 'none', problems: 'slack' },
    answer: (number) => ({ body: { ok: true, ts: `${number}.0`, channel: 'C1' } }),
    write: async (base, operation, text) => (await new WebClient('xoxb-secret',
      { slackApiUrl: `${base}/api/`, logLevel: LogLevel.ERROR, logger: slackLogger, ...operationHeader(operation) })
      .chat.postMessage({ channel: 'C1', text })).ts,
    advice: (error) => JSON.stringify(error.data),
    status: () => undefined, // the SDK takes 200 alone for an answer
  },
  twilio: {
    alone: 1,
    profile: { hosts: ['api.twilio.com'], key: 'none' },
    answer: (number) => ({ status: 201, body: { sid: `SM${number}`, status: 'queued' } }),
    write: async (base, operation, body) => {
      const client = twilio(`AC${'0'.repeat(32)}`, 'secret', { httpClient: new OperationClient(operation) });
      client.api.baseUrl = base;
      return (await client.messages.create({ to: '+15005550006', from: '+15005550001', body })).sid;
    },
    advice: (error) => error.message,
    status: (error) => error.status,
  },
  resend: {
    profile: { hosts: ['api.resend.com'], key: { carrier: 'header:Idempotency-Key', ...KEY } },
    keyOf: ({ headers }) => headers['idempotency-key'],
    answer: (number) => ({ body: { id: `mail-${number}` } }),
    write: sendMail,
    advice: (error) => error.shown.message,
    status: (error) => error.shown.statusCode ?? error.shown.status,
  },
  square: {
    // Not alone: after a failed fetch this SDK's timer would keep the process for a minute.
    profile: { hosts: ['connect.squareup.com'], key: { carrier: 'body:/idempotency_key', ...KEY } },
    keyOf: ({ body }) => JSON.parse(body).idempotency_key,
    answer: (number) => ({ body: { payment: { id: `pay-${number}`, status: 'COMPLETED' } } }),
    write: pay,
    advice: (error) => error.message,
    status: (error) => error.statusCode,
  },
};

const slackLogger = { ...silent, setLevel() {}, getLevel: () => LogLevel.ERROR, setName() {} };
