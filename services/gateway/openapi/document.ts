import type { DescService } from '@bufbuild/protobuf'
import { roster } from '#lib/health/release'
import { offered } from '#lib/rpc/methods'
import { jsonCommentOf } from './comments.ts'
import { errorResponses, errorSchemas } from './errors.ts'
import { exampleOf } from './examples.ts'
import { headers, parameters } from './headers.ts'
import { operationsOf } from './operations.ts'
import { createSchemas, type Schema } from './schemas.ts'
import { serviceOrder } from './service-order.ts'

/**
 * The OpenAPI 3.1 document of everything that the gateway offers over HTTP, made from the descriptor set. Clients reach
 * the gateway at `publicUrl`.
 */
export function openApiDocument(publicUrl: string): Schema {
  const routed = offered.filter(({ http }) => http)
  const schemas = createSchemas(routed)
  const operations = routed.flatMap((method) => operationsOf(method, schemas))
  const paths: Record<string, Schema> = {}
  for (const { verb, path, operation } of operations) (paths[path] ??= {})[verb] = operation
  // Errors refer to further schemas.
  const errors = errorSchemas(schemas)
  const components = { ...schemas.components(), ...errors }
  for (const { operation } of operations) addExample(operation, components)
  return {
    openapi: '3.1.1',
    info: {
      title: 'Roster',
      version: roster.version,
      summary,
      description,
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl.replace(/\/+$/, '') }],
    tags: [...new Set(offered.map(({ desc }) => desc.parent))].toSorted((a, b) => placeOf(a) - placeOf(b)).map(tagOf),
    paths,
    components: {
      schemas: components,
      parameters,
      headers,
      responses: errorResponses(operations.map(({ operation }) => operation)),
      securitySchemes,
    },
  }
}

const summary = 'Identity management: users, organizations, projects, grants and identity providers.'

const description = `\
The same operations answer gRPC, gRPC-web and Connect at the same address. Server reflection describes their messages.

JSON is the canonical mapping of proto3. 64-bit numbers are strings. Default values are left out of answers. In requests
\`null\` counts as left out, although no schema says so. An unknown field, a wrong type and two members of a oneof are an
error that names the field. A text never has the character U+0000.

A token is a personal access token, the token of a session, or an access token of \`/oauth/v2/token\`. One that is bound
to a key comes as \`Authorization: DPoP\` with a proof in \`DPoP\`.

An error is a \`google.rpc.Status\`. Its \`ErrorInfo\` has a stable \`reason\`, and \`BadRequest\` names every field at
fault. A caller that lacks a permission gets the same answer for an object of others as for none.

\`x-request-timeout\` says in how many seconds the client needs an answer.`

const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer', description: 'A personal access token, a session’s or an access token.' },
  client: { type: 'http', scheme: 'basic', description: 'The id and the secret of a machine user (RFC 6749).' },
}

function placeOf({ name }: DescService): number {
  const place = serviceOrder.indexOf(name)
  return place === -1 ? serviceOrder.length : place
}

function addExample({ requestBody, operationId }: Schema, components: Record<string, Schema>) {
  const { content = {} } = (requestBody ?? {}) as { content?: Record<string, { schema: Schema; example?: unknown }> }
  for (const media of Object.values(content)) media.example = exampleOf(operationId as string, media.schema, components)
}

function tagOf(service: DescService): Schema {
  const streams = service.methods.filter(({ methodKind }) => methodKind !== 'unary').map(({ name }) => `\`${name}\``)
  const only = streams.length > 0 ? `Streams, in gRPC, gRPC-web and Connect only: ${streams.join(', ')}.` : ''
  const text = [jsonCommentOf(service), only].filter(Boolean).join('\n\n')
  return { name: service.name, ...(text !== '' && { description: text }) }
}
