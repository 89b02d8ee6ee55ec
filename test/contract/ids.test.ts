import { type DescField, type DescMessage, hasOption, ScalarType } from '@bufbuild/protobuf'
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt'
import { expect, test } from 'vitest'
import { aliasOf } from '#lib/rpc/aliases'
import { offered } from '#lib/rpc/methods'
import { registry } from '#lib/registry'
import { things } from './things.ts'

/** Other ids, and things that have a role of their own there. */
const others = new Set([
  'event_id',
  'aggregate_id',
  'causation_id',
  'code_id',
  'request_id',
  'auth_request_id',
  'authorization_id',
  // Of OAuth 2.0.
  'client_id',
  // The key itself.
  'public_key',
  // An id of one of several kinds of things.
  'object_id',
  // Of a passkey, which has no operations of its own kind; and of WebAuthn.
  'passkey_id',
  'u2f_id',
  'rp_id',
  'credential_id',
  'granted_org_id',
  'granted_role_key',
  'project_owner_id',
  'hinted_user_id',
  'inviter_id',
  // Of what one operation begins, and others finish.
  'idp_intent_id',
])

/** Fields of other names, with none of these beside them, and why. */
const exceptions: Record<string, string> = {
  'feed.v1.Event.id': "CloudEvents' name",
  'grants.v1.ApplicationRefusal.refusal_id': 'no operation takes it',
  'grants.v1.ExplainedEvent.id': 'as of Event',
  'grants.v1.Ground.id': 'of a membership, a user grant or a project grant',
  'idp.v1.AppleKey.team_id': "Apple's, of a developer",
  'idp.v1.AppleProvider.team_id': "Apple's, of a developer",
  'idp.v1.MicrosoftTenant.tenant_id': "Microsoft's, of a directory",
  'idp.v1.TenantList.ids': "Microsoft's, of directories",
  'object.v1.BulkDone.id': 'of whatever the bulk is about',
  'users.v1.AuthRequest.hint_user_id': "ZITADEL's message",
  'users.v1.AuthRequest.id': "ZITADEL's message, whose id came with the address of the page",
  'users.v1.GetGeneralSettingsResponse.default_org_id': "ZITADEL's message",
  'users.v1.LoginPolicyProvidersChange.add_idp_id': 'one of two that say what happens',
  'users.v1.LoginPolicyProvidersChange.remove_idp_id': 'one of two that say what happens',
  'users.v1.Passkey.id': "ZITADEL's message",
  'users.v1.PasskeyRegistrationCode.id': "ZITADEL's message",
  'users.v1.RemoveIDPLinkRequest.linked_user_id': "ZITADEL's message",
  'users.v1.SignInRecord.id': 'no operation takes it',
  'users.v1.TrustedBrowser.trust_id': 'no operation takes it',
  'users.v1.UserFactor.id': "ZITADEL's message",
}

/** Operations on the acting organization, which take no id. */
const ofActingOrganization = /^(Update|Deactivate|Reactivate)Organization$/

/** Of another directory, to which Roster proves itself. */
const foreignPasswords = /\.bind_password$/

const [requests, answers] = [new Set<DescMessage>(), new Set<DescMessage>()]
for (const { desc } of offered) {
  collect(desc.input, requests)
  collect(desc.output, answers)
}
const texts = [...new Set([...requests, ...answers])].flatMap(({ fields }) => fields).filter(isText)
const aliases = texts.filter((field) => aliasOf(field))

test('every id has the one name of its thing, or that name beside it', () => {
  const ids = texts.filter(({ name }) => /(^|_)(ids?|keys?)$/.test(name))
  expect(ids.length).toBeGreaterThan(200)
  const isNamed = ({ name }: DescField) => {
    const one = name.replace(/s$/, '')
    return one in things || others.has(one)
  }
  const unnamed = ids.filter((field) => ![field, ...namesBeside(field)].some(isNamed)).map(pathOf)
  expect(unnamed.toSorted()).toEqual(Object.keys(exceptions).toSorted())
})

test.each(Object.entries(things))('what makes, finds and changes it has %s', (name, thing) => {
  const called = (name: string) => offered.filter(({ desc }) => new RegExp(`^(${name})$`).test(desc.name))
  const makes = called(`(Add|Create)(${thing})`)
  const finds = called(`Get(${thing})|(Search|List)(${thing})s`)
  const changes = called(`(Get|Update|Deactivate|Reactivate|Remove|Delete)(${thing})`)
  const without = [
    // A caller chooses the key of a role.
    ...makes.filter(({ desc }) => ![name, `${name}s`].some((each) => has(desc.output, each) || has(desc.input, each))),
    ...finds.filter(({ desc }) => !has(desc.output, name)),
    ...changes.filter(({ desc }) => !has(desc.input, name) && !ofActingOrganization.test(desc.name)),
  ]
  expect(without.map(({ desc }) => desc.name)).toEqual([])
  expect(makes.length + finds.length + changes.length).toBeGreaterThan(1)
})

test('a password is a text, and its name the same in every request', () => {
  const fields = [...requests].flatMap((message) => message.fields)
  const found = fields.filter((field) => field.name.endsWith('password') && (isText(field) || field.message))
  expect(found.length).toBeGreaterThan(8)
  const isNamed = (field: DescField) => isText(field) && ['password', 'current_password'].includes(field.name)
  const others = found.filter((field) => ![field, ...namesBeside(field)].some(isNamed)).map(pathOf)
  expect(others.filter((path) => !foreignPasswords.test(path))).toEqual([])
})

test('another name is of the same kind, keeps the rules of its field, and is known to be sent or not', () => {
  expect(aliases.length).toBeGreaterThan(20)
  const rules = registry.getExtension('buf.validate.field')!
  const odd = aliases.filter((alias) => {
    const field = aliasOf(alias)!.at(-1)!
    const isLike = isText(field) && alias.fieldKind === field.fieldKind
    const isExplicit = alias.fieldKind === 'list' || alias.presence === FeatureSet_FieldPresence.EXPLICIT
    return !isLike || hasOption(alias, rules) || (requests.has(alias.parent) && !isExplicit)
  })
  expect(odd.map(pathOf)).toEqual([])
})

function namesBeside(field: DescField): DescField[] {
  return aliases.filter((alias) => aliasOf(alias)!.includes(field))
}

/** Whether the message has the field, or one within it. */
function has(message: DescMessage, name: string): boolean {
  const within = new Set<DescMessage>()
  collect(message, within)
  return [...within].some(({ fields }) => fields.some((field) => field.name === name))
}

function collect(message: DescMessage, into: Set<DescMessage>): void {
  if (into.has(message) || !message.typeName.startsWith('roster.')) return
  into.add(message)
  for (const field of message.fields) if (field.message) collect(field.message, into)
}

function isText(field: DescField): boolean {
  return (field.fieldKind === 'scalar' || field.fieldKind === 'list') && field.scalar === ScalarType.STRING
}

function pathOf(field: DescField): string {
  return `${field.parent.typeName.replace('roster.', '')}.${field.name}`
}
