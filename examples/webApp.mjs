// An Express app that shows prices of a Tapedeck server. The token stays on this server: browsers never see it.
//
//   npm install express
//   TAPEDECK_URL=http://127.0.0.1:8080 TAPEDECK_TOKEN=pk_… PORT=3000 node webApp.mjs
import { env } from 'node:process';
import express from 'express';

const base = env.TAPEDECK_URL ?? 'http://127.0.0.1:8080';
const workspace = env.TAPEDECK_WORKSPACE ?? 'MINE';
const headers = { authorization: `Bearer ${env.TAPEDECK_TOKEN}` };

const app = express();

app.get('/prices/:symbol', async (request, response) => {
  const symbol = encodeURIComponent(request.params.symbol);
  const answer = await fetch(`${base}/v1/data/${workspace}/PRICES/${symbol}?last=30`, { headers });
  if (!answer.ok) return response.status(answer.status).send(await answer.text());
  response.json(await answer.json());
});

// A chart is an image of the same records.
app.get('/charts/:symbol.svg', async (request, response) => {
  const symbol = encodeURIComponent(request.params.symbol);
  const url = `${base}/v1/data/${workspace}/PRICES/${symbol}?last=30&format=svg`;
  const answer = await fetch(url, { headers });
  response.status(answer.status).type(answer.headers.get('content-type') ?? 'text/plain');
  response.send(Buffer.from(await answer.arrayBuffer()));
});

const server = app.listen(Number(env.PORT ?? 3000), '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}/prices/ACME\n`);
});
