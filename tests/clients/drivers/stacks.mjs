// Node's ways to speak HTTP: node stacks.mjs https | fetch | axios | undici | http2
// From Node 24 on the environment alone leads the built-in ones (NODE_USE_ENV_PROXY=1); before, an agent has to be given.
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect as http2Connect } from 'node:http2';
import { connect as tlsConnect } from 'node:tls';
import { readFileSync } from 'node:fs';
import axios from 'axios';
import { HttpsProxyAgent } from 'https-proxy-agent';
import * as undici from 'undici';
import { packageVersion, say, serve } from './lines.mjs';

const proxy = process.env.HTTPS_PROXY;
const byEnvironment = Number(process.versions.node.split('.')[0]) >= 24 && process.env.NODE_USE_ENV_PROXY === '1';
const which = process.argv[2];
const json = { 'content-type': 'application/json' };

const stacks = {
  https: {
    led: byEnvironment ? 'environment' : 'agent: HttpsProxyAgent',
    send: (url, { method, headers, body }) => new Promise((resolve, reject) => {
      const agent = byEnvironment ? undefined : new HttpsProxyAgent(proxy);
      const request = httpsRequest(url, { method, headers, agent }, (response) => resolve({
        status: response.statusCode, headers: response.headers, body: response,
        issuer: response.socket.getPeerCertificate?.().issuer?.CN, protocol: response.httpVersion,
      }));
      request.on('error', reject).end(body);
    }),
  },
  fetch: {
    led: byEnvironment ? 'environment' : 'setGlobalDispatcher(new EnvHttpProxyAgent())',
    send: async (url, options) => {
      const response = await fetch(url, options);
      return { status: response.status, headers: Object.fromEntries(response.headers), body: response.body };
    },
  },
  undici: {
    led: 'dispatcher: EnvHttpProxyAgent',
    send: async (url, options) => {
      const { statusCode, headers, body } = await undici.request(url, options);
      return { status: statusCode, headers, body };
    },
  },
  axios: {
    led: 'environment',
    send: async (url, { method, headers, body }) => {
      const options = { url, method, headers, data: body, responseType: 'stream', validateStatus: () => true };
      const response = await axios(options);
      return {
        status: response.status, headers: response.headers, body: response.data,
        issuer: response.data.socket?.getPeerCertificate?.().issuer?.CN,
      };
    },
  },
};

async function text(body) {
  const pieces = [];
  for await (const piece of body) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString();
}

async function answer({ status, headers, body }) {
  say('answer', status, headers['idempotent-replayed'] ?? '-', await text(body));
}

async function blind(url) {
  const response = await stacks[which].send(url, { method: 'GET', headers: {} });
  const { protocol, via } = JSON.parse(await text(response.body));
  say('blind', response.issuer, via ? `through ${via}` : protocol);
}

async function events(url, operation, body) {
  const response = await stacks[which].send(url, { method: 'GET', headers: {} });
  let rest = '';
  for await (const piece of response.body) {
    rest += Buffer.from(piece).toString();
    for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
      say('event', rest.slice(0, end).replace('data: ', ''));
      rest = rest.slice(end + 2);
    }
  }
  say('end');
}

// HTTP/2 takes no proxy: CONNECT by hand, then the session over the socket that it leaves.
function tunnel(url) {
  const { hostname } = new URL(url);
  const { hostname: host, port } = new URL(proxy);
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host, port, method: 'CONNECT', path: `${hostname}:443`, agent: false });
    request.on('error', reject).on('connect', (_, socket) => {
      const ca = readFileSync(process.env.NODE_EXTRA_CA_CERTS);
      resolve(tlsConnect({ socket, servername: hostname, ALPNProtocols: ['h2'], ca }));
    }).end();
  });
}

async function blindHttp2(url) {
  const socket = await tunnel(url);
  const session = http2Connect(url, { createConnection: () => socket });
  const stream = session.request({ ':path': new URL(url).pathname });
  const { protocol, via } = JSON.parse(await text(stream));
  say('blind', socket.getPeerCertificate().issuer.CN, via ? `through ${via}` : protocol);
  session.close();
}

if (!byEnvironment && which === 'fetch') undici.setGlobalDispatcher(new undici.EnvHttpProxyAgent());
if (which === 'undici') undici.setGlobalDispatcher(new undici.EnvHttpProxyAgent());

if (which === 'http2') {
  await serve(`Node ${process.version}`, 'CONNECT by hand', { blind: blindHttp2 });
} else {
  const { led, send } = stacks[which];
  const version = ['axios', 'undici'].includes(which) ? packageVersion(which) : `Node ${process.version}`;
  await serve(version, led, {
    write: async (url, operation, body) =>
      answer(await send(url, { method: 'POST', headers: { ...json, 'operation-id': operation }, body: JSON.stringify({ text: body }) })),
    read: async (url) => answer(await send(url, { method: 'GET', headers: {} })),
    events,
    blind,
  });
}
