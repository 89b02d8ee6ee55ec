import type { DescField } from '@bufbuild/protobuf'
import type { Access, HttpRule, Method } from '#lib/rpc/methods'
import { commentOf, jsonCommentOf } from './comments.ts'
import { errorsOf } from './errors.ts'
import { examplePathValue } from './example-values.ts'
import { referHeaders, referParameters } from './headers.ts'
import { type Form, isElsewhere, neededOf, type Schema, type Schemas } from './schemas.ts'
import { wellKnown } from './well-known.ts'

/** One route of a method as an operation of OpenAPI. */
export interface Operation {
  verb: string
  path: string
  operation: Schema
}

/** All routes of a method. The first one has the method's name for its id. */
export function operationsOf(method: Method, schemas: Schemas): Operation[] {
  return [method.http!, ...method.moreHttp].map((rule, index) => ({
    verb: rule.verb.toLowerCase(),
    path: rule.template.replaceAll(variable, (_, name: string) => `{${fieldOf(method, name).jsonName}}`),
    operation: operationOf(method, rule, index, schemas),
  }))
}

// `{role_key=**}` takes the rest of the path. OpenAPI cannot say so; a client that encodes its slashes is right as well.
const variable = /\{(\w+)(?:=\*\*)?\}/g

function operationOf(method: Method, rule: HttpRule, index: number, schemas: Schemas): Schema {
  const { desc, access, deprecatedSince } = method
  const bound = [...rule.template.matchAll(variable)].map(([, name]) => fieldOf(method, name!))
  const body = rule.verb !== 'GET' && (rule.hasBody || method.oauth) ? bodyOf(method, bound, schemas) : undefined
  return {
    operationId: index === 0 ? desc.name : `${desc.name}${index + 1}`,
    tags: [desc.parent.name],
    summary: spaced(desc.name),
    description: [method.oauth ? commentOf(desc) : jsonCommentOf(desc), describeAccess(method)]
      .filter(Boolean)
      .join('\n\n'),
    ...(deprecatedSince !== undefined && { deprecated: true }),
    security: securityOf(method),
    parameters: [
      ...bound.map((field) => pathParameter(method, field, schemas)),
      ...(rule.hasBody || method.oauth ? [] : queryParameters(method, bound, schemas)),
      ...headersOf(method, access),
    ],
    ...(body && { requestBody: body }),
    responses: { '200': answerOf(method, schemas), ...errorsOf(method) },
  }
}

function fieldOf({ desc, subject }: Method, name: string): DescField {
  const field = desc.input.fields.find((candidate) => candidate.name === name)
  if (!field) throw new Error(`${subject}: its path names no field of the request`)
  return field
}

/** `AddOIDCIDP` as "Add OIDC IDP", `AddHumanUser` as "Add human user". */
function spaced(name: string): string {
  const words = name.match(/OIDC|IDP|LDAP|SAML|JWT|DPoP|OAuth|[A-Z]+(?![a-z])|[A-Z][a-z]*/g) ?? [name]
  return words.map((word, index) => (index > 0 && /^[A-Z][a-z]+$/.test(word) ? word.toLowerCase() : word)).join(' ')
}

function pathParameter({ desc }: Method, field: DescField, schemas: Schemas): Schema {
  const example = examplePathValue(desc.name, field.jsonName)
  const { description, ...schema } = schemas.field(field, 'request')
  return {
    name: field.jsonName,
    in: 'path',
    required: true,
    ...(description ? { description } : {}),
    schema,
    ...(example !== undefined && { example }),
  }
}

// A message has no form in a query, unless JSON writes it as a text.
function queryParameters({ desc }: Method, bound: DescField[], schemas: Schemas): Schema[] {
  return desc.input.fields
    .filter((field) => !isElsewhere(field, bound))
    .filter(({ message }) => !message || (wellKnown.get(message.typeName) as Schema | undefined)?.['type'] === 'string')
    .map((field) => {
      const { description, deprecated, ...schema } = schemas.field(field, 'request')
      return {
        name: field.jsonName,
        in: 'query',
        ...(description ? { description } : {}),
        ...(deprecated ? { deprecated } : {}),
        ...(field.fieldKind === 'list' && { style: 'form', explode: true }),
        schema,
      }
    })
}

function headersOf({ oauth, reads, desc }: Method, { rule }: Access): Schema[] {
  if (oauth) return desc.input.field['dpopProof'] ? referParameters('DPoP') : []
  return [
    ...(rule === 'public' ? [] : referParameters('x-service-orgid')),
    ...(reads ? [] : referParameters('Idempotency-Key', 'If-Match', 'If-None-Match')),
  ]
}

function bodyOf({ desc, oauth }: Method, bound: DescField[], schemas: Schemas): Schema {
  const form: Form = oauth ? 'oauth' : 'request'
  // Over HTTP the proof of OAuth 2.0 is a header.
  const elsewhere = oauth ? desc.input.fields.filter(({ name }) => ['dpop_proof', 'http_basic'].includes(name)) : bound
  const type = oauth ? 'application/x-www-form-urlencoded' : 'application/json'
  const schema = schemas.refer(desc.input, form, elsewhere)
  return { required: neededOf(desc.input, form, elsewhere).length > 0, content: { [type]: { schema } } }
}

function answerOf({ desc, oauth, reads, deprecatedSince }: Method, schemas: Schemas): Schema {
  const { output } = desc
  const objects = output.fields.flatMap(({ fieldKind, message }) => (fieldKind === 'message' ? [message] : []))
  const hasSequence = [output, ...objects].some(({ field }) => field['details'])
  return {
    description: 'The answer.',
    headers: referHeaders(
      'x-request-id',
      ...(hasSequence ? (['ETag'] as const) : []),
      ...(reads || oauth ? [] : (['Idempotent-Replayed'] as const)),
      ...(deprecatedSince === undefined ? [] : (['Deprecation'] as const)),
    ),
    content: { 'application/json': { schema: schemas.refer(output, oauth ? 'oauth' : 'answer') } },
  }
}

function securityOf({ access, desc }: Method): object[] {
  if (access.rule !== 'public') return [{ bearer: [] }]
  // The client may also prove itself in the form.
  return desc.input.field['clientSecret'] ? [{}, { client: [] }] : []
}

function describeAccess({ access, desc }: Method): string {
  const { rule, permission, scope, resource, orSelf, orPermission, project, anyAudience } = access
  const audience = anyAudience ? ' An access token for a project is enough.' : ''
  if (rule === 'public') return 'It needs no token.'
  if (rule === 'authenticated') return `Any caller with a token may call it.${audience}`
  const spell = (name: string) => desc.input.fields.find((field) => field.name === name)?.jsonName
  const where = {
    organization: 'in the acting organization',
    instance: 'on the instance',
    resource: `in the organization of the object that \`${spell(resource)}\` names`,
  }[scope]
  const there = project ? `, or in the project of \`${spell(project)}\`` : ''
  const self = orSelf ? ' The user itself needs no permission.' : ''
  const other = orPermission ? ` \`${orPermission}\` on the instance is enough, where the operation says so.` : ''
  return `The caller needs the permission \`${permission}\` ${where}${there}.${self}${other}${audience}`
}
