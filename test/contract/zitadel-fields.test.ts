import { nestedTypes } from '@bufbuild/protobuf/reflect'
import type { DescEnum, DescField, DescMessage, DescMethod, DescService } from '@bufbuild/protobuf'
import { beforeAll, expect, test } from 'vitest'
import { registry } from '#lib/registry'
import { publishedFiles } from './published.ts'

type Described = DescMessage | DescEnum | DescService
const own = [...registry.files].filter(({ name }) => name.startsWith('zitadel/')).flatMap(describedIn)
const published = new Map<string, Described>()
beforeAll(async () => {
  for (const one of (await publishedFiles()).flatMap(describedIn)) published.set(one.typeName, one)
}, 60_000)

// What ZITADEL has, and its package of npm does not yet: compared by hand with its Go module (v3.26.1).
const unpublished = [
  /^zitadel\.application\.v2\./,
  /^zitadel\.org\.v2\.AddOrganizationRequest\.organization_id$/,
  /^zitadel\.session\.v2\.((RecoveryCodeFactor|CheckRecoveryCode)\.|\w+\.recovery_code$)/,
  /^zitadel\.session\.v2\.SearchQuery\.expiration_date_query$/,
  /^zitadel\.user\.v2\.(UserService\.)?(Generate|Remove)RecoveryCodes/,
  /\.(SECOND_FACTOR_TYPE_RECOVERY_CODES|AUTHENTICATION_METHOD_TYPE_RECOVERY_CODE)$/,
]
// Roster's own, in place of messages of which it takes less, or nothing.
const standIns: Record<string, string> = { 'zitadel.session.v2.FurtherChecks': 'zitadel.session.v2.Checks' }
const refused = 'zitadel.session.v2.Later'

test('every message, enum and service of compat/zitadel/proto has the names, numbers and types that ZITADEL publishes', () => {
  const compared = own.filter(({ typeName }) => typeName !== refused).flatMap(partsOf)
  expect(compared.length).toBeGreaterThan(1000)
  const differing = compared
    .filter(({ name }) => !unpublished.some((one) => one.test(name)))
    .map(({ name, is }) => ({ name, is, ofZitadel: publishedAs(name) }))
    .filter(({ is, ofZitadel }) => is !== ofZitadel && !(is.endsWith(refused) && isOfBytes(is, ofZitadel)))
  expect(differing).toEqual([])
})

test('what is said to be unpublished is', () => {
  const names = own.flatMap(partsOf).map(({ name }) => name)
  for (const one of unpublished)
    expect(
      names.filter((name) => one.test(name) && publishedAs(name) !== 'missing'),
      String(one),
    ).toEqual([])
})

function describedIn(one: Parameters<typeof nestedTypes>[0]): Described[] {
  return [...nestedTypes(one)].filter((type) => type.kind !== 'extension')
}

interface Part {
  /** Of the message and field, enum and value, service and method. */
  name: string
  is: string
}

function partsOf(one: Described): Part[] {
  const named = (name: string, is: string) => ({ name: `${one.typeName}.${name}`, is })
  if (one.kind === 'message') return one.fields.map((field) => named(field.name, describeField(field)))
  if (one.kind === 'enum') return one.values.map(({ name, number }) => named(name, String(number)))
  return one.methods.map((method) => named(method.name, describeMethod(method)))
}

function publishedAs(part: string): string {
  const [, type = '', name = ''] = /^(.*)\.(\w+)$/.exec(part) ?? []
  const found = published.get(standIns[type] ?? type)
  return found ? (partsOf(found).find((one) => one.name.endsWith(`.${name}`))?.is ?? 'missing') : 'missing'
}

function describeField(field: DescField): string {
  const type = (field.message ?? field.enum)?.typeName ?? field.scalar
  return `${field.number} ${field.fieldKind} ${field.presence} ${standIns[String(type)] ?? type}`
}

function describeMethod({ input, output, methodKind }: DescMethod): string {
  return `${methodKind} ${input.typeName} ${output.typeName}`
}

// A message or a map of the same number, so whatever is sent is seen.
function isOfBytes(is: string, ofZitadel: string): boolean {
  return is.split(' ')[0] === ofZitadel.split(' ')[0] && /^\d+ (list|map|message) /.test(ofZitadel)
}
