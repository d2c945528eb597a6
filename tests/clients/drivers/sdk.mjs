// Official SDKs through HTTPS_PROXY, to the hosts that they know by themselves: node sdk.mjs NAME. Lines: see lines.mjs.
//
// led      what leads it through the proxy: the environment, or what its user has to set
// write    (operation, text) -> the ID that the SDK hands over
// read     () -> something of the answer
// events   (operation, text, tell) -> tells each event as it comes
import { HttpsProxyAgent } from 'https-proxy-agent';
import { EnvHttpProxyAgent, setGlobalDispatcher } from 'undici';
import { packageVersion, say, serve } from './lines.mjs';

const name = process.argv[2];
const byEnvironment = Number(process.versions.node.split('.')[0]) >= 24 && process.env.NODE_USE_ENV_PROXY === '1';
const dispatcher = byEnvironment ? 'environment' : 'setGlobalDispatcher(new EnvHttpProxyAgent())';
const agent = () => new HttpsProxyAgent(process.env.HTTPS_PROXY, { keepAlive: true });
const header = (operation) => ({ 'Operation-Id': operation });

async function shared(key, base, more = {}) {
  const { SDKS } = await import('../sdks.mjs');
  return { led: dispatcher, write: (operation, text) => SDKS[key].write(base, operation, text), ...more };
}

const octokit = (key) => async () => {
  const { Octokit } = await import('@octokit/rest');
  const kit = new Octokit({ auth: 'secret' });
  return {
    ...await shared(key, 'https://api.github.com'),
    package: '@octokit/rest',
    read: async () => (await kit.rest.issues.get({ owner: 'ada', repo: 'engine', issue_number: 7 })).data.title,
  };
};

const MCP = 'https://mcp.example.com/mcp';

async function mcpSession(operation, onNote = () => {}) {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
  const { LoggingMessageNotificationSchema } = await import('@modelcontextprotocol/sdk/types.js');
  const client = new Client({ name: 'matrix', version: '1' });
  client.setNotificationHandler(LoggingMessageNotificationSchema, onNote);
  const options = operation ? { requestInit: { headers: header(operation) } } : {};
  await client.connect(new StreamableHTTPClientTransport(new URL(MCP), options));
  return client;
}

async function callTool(operation, text, onNote) {
  const client = await mcpSession(operation, onNote);
  try {
    return (await client.callTool({ name: 'send', arguments: { text } })).content[0].text;
  } finally {
    await client.close();
  }
}

const SDKS = {
  async stripe() {
    const { default: Stripe } = await import('stripe');
    const stripe = new Stripe('sk_test_4242', { httpAgent: agent(), telemetry: false });
    const charge = (operation, description) => stripe.charges.create(
      { amount: 2000, currency: 'usd', source: 'tok_visa', description }, { idempotencyKey: operation });
    return {
      led: 'httpAgent: new HttpsProxyAgent(…)',
      write: async (operation, text) => {
        const made = await charge(operation, text);
        return [made.id, made.lastResponse.headers['idempotent-replayed']];
      },
      read: async () => (await stripe.charges.retrieve('read-1')).id,
    };
  },
  octokit: octokit('octokit'),
  'octokit-retry': octokit('octokit_retry'),
  async slack() {
    const { LogLevel, WebClient } = await import('@slack/web-api');
    const client = (headers) => new WebClient('xoxb-secret', { agent: agent(), logLevel: LogLevel.ERROR, headers });
    return {
      led: 'agent: new HttpsProxyAgent(…)',
      package: '@slack/web-api',
      write: async (operation, text) => (await client(header(operation)).chat.postMessage({ channel: 'C1', text })).ts,
      read: async () => (await client({}).auth.test()).user_id,
    };
  },
  async openai() {
    const { default: OpenAI } = await import('openai');
    const client = new OpenAI({ apiKey: 'secret' });
    return shared('openai', undefined, {
      read: async () => (await client.models.retrieve('read-1')).id,
      events: async (operation, content, tell) => {
        const call = { model: 'm', stream: true, messages: [{ role: 'user', content }] };
        for await (const event of await client.chat.completions.create(call, { headers: header(operation) })) {
          tell(event.choices[0].delta.content);
        }
      },
    });
  },
  async anthropic() {
    const { default: Anthropic } = await import('@anthropic-ai/sdk');
    const client = new Anthropic({ apiKey: 'secret' });
    return shared('anthropic', undefined, {
      package: '@anthropic-ai/sdk',
      read: async () => (await client.models.retrieve('read-1')).id,
      events: async (operation, content, tell) => {
        const call = { model: 'm', max_tokens: 9, stream: true, messages: [{ role: 'user', content }] };
        for await (const event of await client.messages.create(call, { headers: header(operation) })) tell(event.message?.id ?? 'two');
      },
    });
  },
  async twilio() {
    const { default: twilio } = await import('twilio');
    const client = twilio(`AC${'0'.repeat(32)}`, 'secret');
    return {
      ...await shared('twilio', 'https://api.twilio.com'),
      led: 'environment (HTTP_PROXY)',
      read: async () => (await client.messages('read-1').fetch()).sid,
    };
  },
  async notion() {
    const { Client } = await import('@notionhq/client');
    const client = (headers) => new Client({ // no method takes headers, a fetch of one's own does
      auth: 'secret', logLevel: 'error', fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, ...headers } }),
    });
    return {
      led: dispatcher,
      package: '@notionhq/client',
      write: async (operation, text) => (await client(header(operation)).pages.create({
        parent: { page_id: 'p' }, properties: { title: { title: [{ text: { content: text } }] } },
      })).id,
      read: async () => (await client({}).users.retrieve({ user_id: 'read-1' })).id,
    };
  },
  async square() {
    const { SquareClient } = await import('square');
    const client = new SquareClient({ token: 'secret' });
    return shared('square', 'https://connect.squareup.com', {
      read: async () => (await client.payments.get({ paymentId: 'read-1' })).payment.id,
    });
  },
  async resend() {
    const made = await shared('resend', 'https://api.resend.com');
    return {
      ...made,
      read: async () => {
        const { Resend } = await import('resend');
        return (await new Resend('re_secret').emails.get('read-1')).data.id;
      },
    };
  },
  async sendgrid() {
    const { default: mail } = await import('@sendgrid/mail');
    mail.setApiKey('SG.secret');
    return {
      led: 'environment',
      package: '@sendgrid/mail',
      write: async (operation, text) => {
        mail.client.setDefaultHeader(header(operation));    // global: the headers of a message go into the mail
        const [response] = await mail.send({ to: 'b@example.com', from: 'a@example.com', subject: 'Hello', text });
        return [response.headers['x-message-id'], response.headers['idempotent-replayed']];
      },
      read: async () => (await mail.client.request({ method: 'GET', url: '/v3/alerts/read-1' }))[1].id,
    };
  },
  async linear() {
    const { LinearClient } = await import('@linear/sdk');
    const client = (headers) => new LinearClient({ apiKey: 'secret', headers });
    return {
      led: dispatcher,
      package: '@linear/sdk',
      write: async (operation, title) => (await client(header(operation)).createIssue({ teamId: 't', title })).issueId,
      read: async () => (await client({}).viewer).id,
    };
  },
  async mcp() {
    return {
      led: dispatcher,
      package: '@modelcontextprotocol/sdk',
      write: (operation, text) => callTool(operation, text),
      read: async () => {
        const client = await mcpSession();
        try {
          return (await client.listTools()).tools[0].name;
        } finally {
          await client.close();
        }
      },
      events: async (operation, text, tell) => {
        await callTool(operation, text, ({ params }) => tell(params.data));
        tell('two');
      },
    };
  },
};

if (!byEnvironment) setGlobalDispatcher(new EnvHttpProxyAgent());
const sdk = await SDKS[name]();
await serve(packageVersion(sdk.package ?? name), sdk.led, {
  write: async (_, operation, text) => {
    const [id, replayed] = [].concat(await sdk.write(operation, text));
    say('answer', '-', replayed, id);
  },
  read: async () => say('answer', '-', '-', await sdk.read()),
  events: async (_, operation, text) => {
    await sdk.events(operation, text, (data) => say('event', data));
    say('end');
  },
});
