import { create, type DescField, type DescMessage, type Message, ScalarType } from '@bufbuild/protobuf'
import { expect, test } from 'vitest'
import { registry } from '#lib/registry'
import { aliasOf } from '#lib/rpc/aliases'
import { offered } from '#lib/rpc/methods'
import { nameKindOf } from '#lib/rpc/name-kind'
import { validate } from '#lib/rpc/validate'

/** Fields of writes that are called names, keys and groups, and have no new name of an object. */
const others = [
  'users.v1.AddMachineKeyRequest.public_key',
  'grants.v1.AddApplicationKeyRequest.public_key',
  // Of an HTTP header.
  'idp.v1.AddJWTIDPRequest.header_name',
  'idp.v1.UpdateIDPJWTConfigRequest.header_name',
  // Of claims.
  'idp.v1.ClaimMapping.user_name',
  'idp.v1.ClaimMapping.given_name',
  'idp.v1.ClaimMapping.family_name',
  'idp.v1.ClaimMapping.display_name',
  'idp.v1.ClaimMapping.nick_name',
  'idp.v1.JWTProvider.header_name',
  // Of another directory.
  'users.v1.NewIDPLink.user_name',
  // Of a role that is there.
  'grants.v1.UpdateProjectRoleRequest.role_key',
  'grants.v1.RemoveProjectRoleRequest.role_key',
  // Typed, and means a user who is there.
  'users.v1.CreateSessionRequest.login_name',
  'users.v1.RequestPasswordResetRequest.login_name',
]

const written = new Set<DescMessage>()
const collect = (message: DescMessage) => {
  if (written.has(message) || !message.typeName.startsWith('roster.')) return
  written.add(message)
  for (const field of message.fields) if (field.message) collect(field.message)
}
for (const { reads, page, desc } of offered) if (!reads && !page) collect(desc.input)

const isText = (field: DescField) => field.fieldKind === 'scalar' && field.scalar === ScalarType.STRING
const pathOf = (field: DescField) => `${field.parent.typeName}.${field.name}`
const fields = [...written].flatMap((message) => message.fields).filter(isText)

test('every text of a write that is a name is declared as one', () => {
  const named = fields.filter(({ name }) => /(^|_)(name|key|group)$/.test(name))
  expect(named.length).toBeGreaterThan(30)
  const undeclared = named.filter((field) => nameKindOf(aliasOf(field)?.at(-1) ?? field) === undefined).map(pathOf)
  expect(undeclared.toSorted()).toEqual(others.map((path) => `roster.${path}`).toSorted())
})

test('a declared name is refused where it shows nothing or not what it holds, and the field named', () => {
  const declared = [...registry]
    .flatMap((type) => (type.kind === 'message' ? type.fields : []))
    .filter((field) => nameKindOf(field) !== undefined)
  expect(declared.length).toBeGreaterThan(30)
  for (const field of declared)
    for (const name of ['Bank \u202emoc.live', '\u200b', '\u3000', '\u2800', '\u0301']) {
      const message: Message = create(field.parent, { [field.localName]: name })
      expect(
        validate(field.parent, message).filter(({ field: at }) => at === field.jsonName),
        pathOf(field),
      ).not.toEqual([])
    }
})
