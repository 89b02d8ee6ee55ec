import { type DescMessage, getOption, ScalarType } from '@bufbuild/protobuf'
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt'
import { describe, expect, test } from 'vitest'
import { roster } from '#lib/health/release'
import { registry } from '#lib/registry'
import { type Method, methods, offered as operations } from '#lib/rpc/methods'
import { contract, offeredServices, streams } from '../examples/contract.ts'
import { declared } from './declared.ts'

const named = (some: readonly Method[]) => some.map((method) => [method.path.slice(1), method] as const)
const all = named([...methods.values()])
const offered = named(operations)
const pages = all.filter(([, { page }]) => page)
const routed = offered.filter(([, { http }]) => http)

test('the contract is what was last read in review', async () => {
  await expect(declared()).toMatchFileSnapshot('./contract.txt')
})

describe('the contract has all that a client needs to call it:', () => {
  test('the tests know every offered operation, and each by a name of its own', () => {
    const names = offered.map(([, { desc }]) => desc.name)
    expect([...Object.keys(contract), ...Object.keys(streams)].toSorted()).toEqual(names.toSorted())
    const services = offered.map(([, { desc }]) => desc.parent.typeName)
    expect(new Set(offeredServices.map(({ fullName }) => fullName as string))).toEqual(new Set(services))
  })

  test('each has a verb and path of its own', () => {
    const routes = [...routed, ...pages]
      .flatMap(([, { http, moreHttp }]) => [http!, ...moreHttp])
      .map(({ verb, template }) => `${verb} ${template.replaceAll(/\{.+?\}/g, '{}')}`)
    expect(new Set(routes).size).toBe(routes.length)
  })

  test.each([...routed, ...pages])(
    '%s: POST, PUT, PATCH, bulks and secrets have a body, and fields of the path are fields of the request',
    (_, method) => {
      expect(method.desc.methodKind).toBe('unary')
      const { verb, hasBody } = method.http!
      // Logs keep addresses, so no secret comes in one.
      const hasSecret = verb === 'DELETE' && names(method.desc.input).includes('session_token')
      expect(hasBody).toBe(['POST', 'PUT', 'PATCH'].includes(verb) || method.items !== undefined || hasSecret)
      for (const { template } of [method.http!, ...method.moreHttp])
        for (const [, bound] of template.matchAll(/\{(.+?)(?:=\*\*)?\}/g))
          expect(names(method.desc.input)).toContain(bound)
    },
  )

  test('a permission of an object names the field that holds its id', () => {
    for (const [, { access, desc }] of all) if (access.resource) expect(names(desc.input)).toContain(access.resource)
  })

  test('what has no path is a stream, with the cursors that the gateway asks again with', () => {
    for (const [, { desc, http, streams }] of offered) {
      expect(http === undefined).toBe(streams)
      if (!streams) continue
      for (const { field } of [desc.input, desc.output]) expect(field['cursor']?.scalar).toBe(ScalarType.STRING)
    }
  })

  test('an internal method has no path', () => {
    for (const [, { access, http }] of all) if (access.rule === 'internal') expect(http).toBeUndefined()
  })

  test('a method says since when it is deprecated, and no other does', () => {
    for (const [, { desc, deprecatedSince }] of all) expect(deprecatedSince !== undefined).toBe(desc.deprecated)
  })
})

test('what says with which release it came names this one or an earlier one', () => {
  const [method, event] = ['since', 'event_since'].map((name) => registry.getExtension(`roster.options.v1.${name}`)!)
  const events = [...registry].filter((desc) => desc.kind === 'message')
  const said = [
    ...[...methods.values()].map(({ desc }) => getOption(desc, method!) as string),
    ...events.map((desc) => getOption(desc, event!) as string),
  ].filter((since) => since !== '')
  const partsOf = (release: string) => release.split('.').map(Number) as [number, number]
  const [major, minor] = partsOf(roster.release)
  for (const since of new Set(said)) {
    expect(since).toMatch(/^\d+\.\d+$/)
    const [ofMajor, ofMinor] = partsOf(since)
    expect([since, ofMajor < major || (ofMajor === major && ofMinor <= minor)]).toEqual([since, true])
  }
})

// Without it the gateway takes the call for a write: it counts against the caller's writes, and an Idempotency-Key is
// stored.
test.each(offered.filter(([, method]) => looksLikeRead(method)))('%s says that it changes nothing', (_, { desc }) => {
  expect(desc.idempotency).toBe(MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS)
})

test('a read asks for a permission to read, and a write for none such', () => {
  for (const [name, { access, reads }] of all) {
    // Whoever may not answer a request learns nothing of it.
    if (access.permission && !/\/(GetAuthRequest|RetrieveIdentityProviderIntent)$/.test(name))
      expect([name, access.permission.endsWith('.read')]).toEqual([name, reads])
  }
})

// A GET reads by its verb.
function looksLikeRead({ desc, http, streams }: Method): boolean {
  if (http?.verb === 'GET') return false
  return streams || /^(Get|List|Search|Watch|Lookup)/.test(desc.name) || http?.template.endsWith('_search') === true
}

function names(message: DescMessage): string[] {
  return message.fields.map(({ name }) => name)
}
