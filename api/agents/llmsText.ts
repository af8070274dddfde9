// Serves `/llms.txt` for models that read this server's pages without the protocol (llmstxt.org).
import type { FastifyInstance } from 'fastify';

const TEXT = `# Tapedeck

> A metered API of financial data: datasets with history, time series, SQL, market types, streams and
> rules. Every request carries a token and costs messages; the headers *-messages-used report its cost.

## For agents

- POST /mcp: the Model Context Protocol over HTTP (tools, prompts); the token as "Authorization: Bearer …"
- \`tapedeck mcp --token …\`: the same over standard input and output
- GET /v1/account/allowance: messages that the token may still spend

## Queries

- GET /v1/data: the datasets that the token may read, with their schemas and weights
- GET /v1/data/{workspace}/{dataset}/{key}?last=5: records; range, from, to, asOf, filter, format=csv
- POST /v1/sql-query/{workspace} with a SELECT as its body; explain=true and estimate=true are
  free, maxMessages=n bounds the cost
- GET /v1/stock/{symbol}/quote, /chart/1y, /company and other market types; GET /v1/search/{text}
- GET /v1/stream/{workspace}/{dataset} and GET /v1/stocksUS?symbols=A,B: server-sent events

## Reference

- [OpenAPI](/v1/openapi-doc): every route, parameter and answer; needs no token
- [The market](/v1/openapi-doc?part=market): each market type by its own path, with all attributes
- [Changes](/v1/changelog)
`;

/** The page has no version in its path, as its readers expect. */
export function addLlmsText(server: FastifyInstance): void {
  server.get('/llms.txt', (_request, reply) => reply.type('text/plain; charset=utf-8').send(TEXT));
}
