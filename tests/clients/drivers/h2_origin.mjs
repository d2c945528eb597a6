// An origin that no profile names: HTTP/2 and HTTP/1.1 under a certificate of its own.
// node h2_origin.mjs CERTIFICATE KEY   prints its port, and ends with its standard input.
// It answers with the protocol that it was spoken to in, and whether a proxy left a trace in the request.
import { createSecureServer } from 'node:http2';
import { readFileSync } from 'node:fs';

const [, , cert, key] = process.argv;
const options = { cert: readFileSync(cert), key: readFileSync(key), allowHTTP1: true };
const server = createSecureServer(options, (request, response) => {
  const body = JSON.stringify({ protocol: request.httpVersion, via: request.headers.via ?? null });
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.on('end', () => process.exit(0)).resume();
