import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { consumers } from '../../lib/events/consumers.ts'
import { eraseSubject } from '#lib/outbox/erase-in-stream'
import { methods } from '../../lib/rpc/methods.ts'
import { internalCalls } from '../../services/internal-calls.ts'
import { projectRoot } from '../local/home.ts'
import { readAccounts } from './test-accounts.ts'

const accounts = readAccounts()
const stores = ['users', 'grants', 'idp', 'notifier'] as const
const callers = [...stores, 'gateway'] as const

/** Such as `roster.users.v1.InternalService.LookupUser`. */
const allowed = (by: (typeof callers)[number]) =>
  Object.entries(internalCalls[by]).flatMap(([service, names]) =>
    (names as readonly string[]).map((name) => subjectOf(service, name)),
  )
const subjectOf = (service: string, name: string) =>
  `roster.${service}.v1.InternalService.${name[0]!.toUpperCase()}${name.slice(1)}`
const serviceOf = (subject: string) => subject.split('.')[1]!

test('each internal method is called by somebody, and each that is called exists', () => {
  const internal = [...methods.values()]
    .filter(({ access }) => access.rule === 'internal')
    .map(({ subject }) => subject)
  expect([...new Set(callers.flatMap(allowed))].toSorted()).toEqual(internal.toSorted())
})

// A method that is not allowed does not compile, and is not there at run time. A client is named after the service
// that it calls.
test.each(callers)('%s calls the internal methods that it may call, and no others', (by) => {
  const folder = join(projectRoot, 'services', by)
  const called = new Set<string>()
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts') || /(^|\/)test-|\.test\.ts$/.test(file)) continue
    const text = readFileSync(join(folder, file), 'utf8')
    for (const [, list] of text.matchAll(/createClient\(([^)]*)\)/g)) expect(list).toContain(`internalCalls.${by}.`)
    for (const [, service, name] of text.matchAll(/\b(users|grants|idp|notifier)\.([a-z]\w*)/g)) {
      const method = subjectOf(service!, name!)
      if (service !== by && methods.has(method)) called.add(method)
    }
  }
  expect([...called].toSorted()).toEqual(allowed(by).toSorted())
})

test('what one account imports another exports to it, and the other way round', () => {
  const exported = Object.entries(accounts).flatMap(([from, { exports }]) =>
    exports.map(({ kind, subject, account: to }) => `${kind} ${subject}: ${from} to ${to}`),
  )
  const imported = Object.entries(accounts).flatMap(([to, { imports }]) =>
    imports.map(({ kind, subject, account: from }) => `${kind} ${subject}: ${from} to ${to}`),
  )
  expect(imported.toSorted()).toEqual(exported.toSorted())
})

/**
 * The methods that anybody may call over the gateway, pages too, by the service of proto/: `roster.users.v1.UserService.*`, say.
 */
const offered = new Set(
  [...methods.values()]
    .filter(({ access }) => access.rule !== 'internal')
    .map(({ desc }) => `${desc.parent.typeName}.*`),
)

test('no service of proto/ has internal methods beside others', () => {
  for (const { access, desc } of methods.values())
    expect(offered.has(`${desc.parent.typeName}.*`)).toBe(access.rule !== 'internal')
})

test.each(callers)('the account of %s imports what it calls and hears, and nothing else', (by) => {
  const called = [...allowed(by), ...(by === 'gateway' ? offered : [])]
  const jetstream = (name: string) => [
    `$JS.API.CONSUMER.INFO.${name}`,
    `$JS.API.CONSUMER.MSG.NEXT.${name}`,
    `$JS.ACK.${name}.>`,
  ]
  const expected = [
    ...called.map((subject) => `service ${serviceOf(subject).toUpperCase()} ${subject}`),
    // Calls to this one.
    ...callers
      .filter((other) => other === 'gateway' || allowed(other).some((subject) => serviceOf(subject) === by))
      .filter((other) => other !== by && by !== 'gateway')
      .map((other) => `stream ${other.toUpperCase()} roster.present.${by}.>`),
    ...(by === 'gateway' ? stores.map((name) => `service ${name.toUpperCase()} $SRV.INFO.${name}`) : []),
    ...(by === 'gateway'
      ? ['users', 'grants'].map((name) => `stream ${name.toUpperCase()} roster.callers.changed`)
      : []),
    ...(by === 'users' ? ['stream GRANTS roster.callers.changed'] : []),
    // The hints of each service whose events it follows.
    ...Object.entries(internalCalls[by])
      .filter(([, names]) => (names as readonly string[]).includes('listEvents'))
      .map(([name]) => `stream ${name.toUpperCase()} roster.happened.${name}`),
    ...(by === 'notifier' ? ['stream USERS roster.mails.registration'] : []),
    ...(by === 'gateway' ? [] : [`service ROSTER roster.events.${by}.>`, 'service KEEPER roster.stream.state']),
    ...(by === 'users' ? [`service KEEPER ${eraseSubject}.users.>`] : []),
    ...(by in consumers ? jetstream(`roster-events.${by}`).map((subject) => `service ROSTER ${subject}`) : []),
  ]
  const imported = accounts[by.toUpperCase()]!.imports.map(
    ({ kind, account, subject }) => `${kind} ${account} ${subject}`,
  )
  expect(imported.toSorted()).toEqual(expected.toSorted())
})

test('an account belongs to one service; beside them are the keeper of the stream, the operator and people', () => {
  const users = Object.entries(accounts).map(([name, { users }]) => [name, users])
  expect(Object.fromEntries(users)).toEqual({
    ...Object.fromEntries(callers.map((name) => [name.toUpperCase(), [name]])),
    KEEPER: ['keeper'],
    OPERATOR: ['operator'],
    ROSTER: ['admin'],
  })
  const asked = [
    'STREAM.INFO',
    'STREAM.CREATE',
    'STREAM.UPDATE',
    'STREAM.MSG.GET',
    'STREAM.MSG.DELETE',
    'STREAM.PURGE',
    'CONSUMER.LIST',
  ].map((name) => `${name}.roster-events`)
  for (const name of Object.keys(consumers))
    asked.push(`CONSUMER.INFO.roster-events.${name}`, `CONSUMER.CREATE.roster-events.${name}.>`)
  expect(accounts['KEEPER']!.imports.map(({ subject }) => subject).toSorted()).toEqual(
    asked.map((name) => `$JS.API.${name}`).toSorted(),
  )
  const looked = ['STREAM.INFO', 'STREAM.MSG.GET', 'STREAM.MSG.DELETE'].map((name) => `${name}.roster-events`)
  for (const name of Object.keys(consumers)) looked.push(`CONSUMER.INFO.roster-events.${name}`)
  expect(accounts['OPERATOR']!.imports.map(({ subject }) => subject).toSorted()).toEqual(
    [...looked.map((name) => `$JS.API.${name}`), ...callers.map((name) => `$SRV.*.${name}`)].toSorted(),
  )
  const { imports } = accounts['ROSTER']!
  expect(imports.map(({ subject }) => subject).toSorted()).toEqual(callers.map((name) => `$SRV.*.${name}`).toSorted())
})
