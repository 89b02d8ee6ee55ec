import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { encryptionKey, type Keyring } from '#lib/encryption/keys'
import { readGrantsConfig } from '../services/grants/config.ts'
import { readIdpConfig } from '../services/idp/config.ts'
import { readNotifierConfig } from '../services/notifier/config.ts'
import { readUsersConfig } from '../services/users/config.ts'
import { deriveCode, newCode } from '../services/users/directory/email/code.ts'
import { writeKeys } from './compose-keys.ts'
import { deriveKeys, type KeyHolder } from './derive-keys.ts'
import { serviceEnvironment } from './local/service-environment.ts'

const root = randomBytes(32).toString('base64')
const storing = ['users', 'grants', 'idp', 'notifier'] as const
type Storing = (typeof storing)[number]
const folder = mkdtempSync(join(tmpdir(), 'roster-derived-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const file = (name: string) => readFileSync(join(import.meta.dirname, '..', name), 'utf8')
const purposes = [
  'email-code',
  'signing-key',
  'personal',
  'idp-client-secret',
  'webhook-secret',
  'idempotent-request',
  'idempotent-answer',
]

type Service = Exclude<KeyHolder, 'operator'>

/** The environment of a service as `npm start` makes it. */
function local(service: Service): Record<string, string | undefined> {
  const each = (value: string) => ({
    users: value,
    grants: value,
    idp: value,
    notifier: value,
    gateway: value,
    admin: value,
  })
  const servers = { natsUrl: each('nats://h'), redisUrl: 'redis://h', smtpUrl: 'smtp://h' }
  const options = { databaseUrls: each('postgres://h/d'), port: 1, adminTokenFile: 't', encryptionKey: root }
  return serviceEnvironment(service, servers as never, {
    ...options,
    env: { ROSTER_ENCRYPTION_KEY: root, ROSTER_CALLER_KEYS: 'x' },
  })
}

/**
 * The environment of a service in containers: the keys that docker-compose.yml names, in the files of the volumes
 * that it mounts.
 */
function containers(service: Service): Record<string, string | undefined> {
  const written = join(folder, 'containers')
  for (const name of [...storing, 'gateway', 'operator']) mkdirSync(join(written, name), { recursive: true })
  writeKeys(join(folder, 'root'), written, root)
  const mounts = mountsOf(service)
  expect(mounts).toEqual([`keys-${service}:/var/lib/roster/keys:ro`])
  const named = blockOf(service).match(/ROSTER_\w*KEY\w*: .*/g) ?? []
  return {
    ...local(service),
    ROSTER_ENCRYPTION_KEY: '',
    ROSTER_CALLER_KEY: '',
    ...Object.fromEntries(
      named.map((line) => {
        const [name, value] = line.split(': ') as [string, string]
        return [name, value.replace('/var/lib/roster/keys', join(written, service))]
      }),
    ),
  }
}

const blockOf = (service: string) =>
  new RegExp(`^  ${service}:\\n(?:    .*\\n|\\n)+`, 'm').exec(file('docker-compose.yml'))![0]
const mountsOf = (service: string) => blockOf(service).match(/keys[\w-]*:\/[\w/:-]+/g) ?? []

function keyrings(environment: typeof local): Record<Storing, Keyring> {
  return {
    users: readUsersConfig(environment('users')).ROSTER_ENCRYPTION_KEY,
    grants: readGrantsConfig(environment('grants')).ROSTER_ENCRYPTION_KEY,
    idp: readIdpConfig(environment('idp')).ROSTER_ENCRYPTION_KEY,
    notifier: readNotifierConfig(environment('notifier')).ROSTER_ENCRYPTION_KEY,
  }
}

describe.each([
  ['as npm start makes them', local],
  ['in containers', containers],
])('the environments of the services, %s:', (_, environment) => {
  const rings = keyrings(environment)
  const shared = encryptionKey.read(root)

  test('only users can derive a verification code', () => {
    const now = new Date()
    // One of today, and one of the time when all had one key.
    for (const code of [newCode('c', rings.users, 3600, now), newCode('c', shared, 3600, now)]) {
      expect(deriveCode(rings.users, code, 'u', 'a@example.com')).toMatch(/^\w{6}$/)
      for (const sister of ['idp', 'grants', 'notifier'] as const) {
        const derive = (keyId: string) => deriveCode(rings[sister], { ...code, keyId }, 'u', 'a@example.com')
        expect(() => derive(code.keyId)).toThrow('no encryption key has the id')
      }
    }
    const code = newCode('c', rings.users, 3600, now)
    const byIdp = deriveCode(rings.idp, { ...code, keyId: rings.idp.currentId }, 'u', 'a@example.com')
    expect(byIdp).not.toBe(deriveCode(rings.users, code, 'u', 'a@example.com'))
  })

  test('none decrypts what another encrypts, for whatever purpose', () => {
    for (const owner of storing)
      for (const sister of storing.filter((name) => name !== owner))
        for (const purpose of purposes) {
          const encrypted = rings[owner].encrypt(purpose, 'secret')
          expect(rings[owner].decrypt(purpose, encrypted)).toBe('secret')
          expect(() => rings[sister].decrypt(purpose, encrypted)).toThrow('no encryption key has the id')
        }
  })

  test('each still decrypts what it encrypted when all had one key, and of the others only answers, which live for a day', () => {
    const own = {
      users: ['email-code', 'signing-key', 'personal'],
      idp: ['idp-client-secret'],
      notifier: ['webhook-secret'],
      grants: [],
    }
    const answers = ['idempotent-request', 'idempotent-answer']
    for (const service of storing)
      for (const purpose of purposes) {
        const open = () => rings[service].decrypt(purpose, shared.encrypt(purpose, 'former'))
        if ([...own[service], ...answers].includes(purpose)) expect(open()).toBe('former')
        else expect(open).toThrow('no encryption key has the id')
      }
  })

  test('no service has the root, nor another’s key', () => {
    const values = Object.fromEntries(
      [...storing, 'gateway' as const].map((service) => [service, allValues(environment(service))]),
    )
    for (const [service, value] of Object.entries(values)) {
      expect(value).not.toContain(root)
      if (service !== 'gateway') expect(environment(service as Service)).not.toHaveProperty('ROSTER_CALLER_KEYS')
      for (const [other, variables] of Object.entries(deriveKeys(root))) {
        const own = other === service || (service === 'gateway' && 'ROSTER_CALLER_KEY' in variables)
        const first = (variables['ROSTER_ENCRYPTION_KEY'] ?? '').split(',')[0]!
        if (other !== service && first) expect(value).not.toContain(first)
        const callers = variables['ROSTER_CALLER_KEY']
        if (callers) expect(value.includes(callers)).toBe(own)
      }
    }
  })
})

function allValues(environment: Record<string, string | undefined>): string {
  return Object.entries(environment)
    .map(([name, value]) => (/KEYS?_FILE$/.test(name) && value ? readFileSync(value, 'utf8') : value))
    .join('\n')
}

test('in containers, only the one that makes the keys has the root, and each file is its owner’s to read', () => {
  expect(mountsOf('keys')).toEqual([
    'keys:/var/lib/roster/root',
    ...[...storing, 'gateway', 'operator'].map((name) => `keys-${name}:/var/lib/roster/of/${name}`),
  ])
  const rest = file('docker-compose.yml').replace(blockOf('keys'), '').replace(/^#.*$/gm, '')
  expect(rest).not.toMatch(/\bkeys:\//)
  expect(rest).not.toContain('${ROSTER_ENCRYPTION_KEY')
})

test('in containers, the root that was made stays, also the one that all services had', () => {
  const home = mkdtempSync(join(folder, 'home-'))
  for (const name of [...storing, 'gateway', 'operator']) mkdirSync(join(home, name))
  writeFileSync(join(home, 'encryption-key'), `${root}\n`)
  for (let start = 0; start < 2; start++) writeKeys(join(home, 'encryption-key'), home, '')
  const read = (name: string) => readFileSync(join(home, name), 'utf8').trim()
  expect(read('encryption-key')).toBe(root)
  const keys = deriveKeys(root)
  for (const [service, variables] of Object.entries(keys))
    for (const [name, value] of Object.entries(variables)) expect(read(`${service}/${name}`)).toBe(value)
})

test.each([...storing, 'gateway'])('in Kubernetes, %s mounts its own keys and no other', (service) => {
  const manifest = file(`deploy/kubernetes/${service}.yaml`)
  expect(manifest.match(/secretName: [\w-]+/g)).toEqual([`secretName: ${service}-keys`])
  const named = [...manifest.matchAll(/(ROSTER_\w+)_FILE, value: \/var\/lib\/roster\/keys\/(\w+)/g)]
  expect(named.map(([, name]) => name)).toEqual(Object.keys(deriveKeys(root)[service as Service]))
  for (const [, name, mounted] of named) expect(mounted).toBe(name)
})

test('the Secrets of Kubernetes hold what is derived, and what is no root is refused', { timeout: 60_000 }, () => {
  const run = (env: Record<string, string>) =>
    execFileSync(process.execPath, [join(import.meta.dirname, 'derive-keys.ts')], {
      env,
      encoding: 'utf8',
      stdio: 'pipe',
    })
  writeFileSync(join(folder, 'root-file'), `${root}\n`)
  const printed = run({ ROSTER_ENCRYPTION_KEY_FILE: join(folder, 'root-file') })
  expect(printed).toBe(run({ ROSTER_ENCRYPTION_KEY: root }))
  expect(printed).not.toContain(root)
  const documents = printed.split('---\n')
  for (const [index, [service, variables]] of Object.entries(deriveKeys(root)).entries()) {
    expect(documents[index]).toContain(`name: ${service}-keys,`)
    for (const [name, value] of Object.entries(variables)) expect(documents[index]).toContain(`  ${name}: "${value}"\n`)
  }
  expect(() => run({})).toThrow('ROSTER_ENCRYPTION_KEY is not set')
  expect(() => run({ ROSTER_ENCRYPTION_KEY: 'nonsense' })).toThrow('ROSTER_ENCRYPTION_KEY is not 32 bytes')
})

describe('a root that is changed', () => {
  const next = randomBytes(32).toString('base64')
  const ring = (roots: string) => encryptionKey.read(deriveKeys(roots).users['ROSTER_ENCRYPTION_KEY']!)

  test('comes first in each service’s keys, and what the former one encrypted can be decrypted until it goes', () => {
    const encrypted = ring(root).encrypt('signing-key', 'x')
    const both = ring(`${next},${root}`)
    expect(both.decrypt('signing-key', encrypted)).toBe('x')
    expect(both.currentId).toBe(ring(next).currentId)
    expect(() => ring(next).decrypt('signing-key', encrypted)).toThrow('no encryption key has the id')
  })

  test('is what the gateway signs with, while the services take both', () => {
    const keys = deriveKeys(`${next},${root}`)
    expect(keys.gateway).toEqual(deriveKeys(next).gateway)
    const of = (roots: string) => deriveKeys(roots).idp['ROSTER_CALLER_KEY']
    expect(keys.idp['ROSTER_CALLER_KEY']).toBe(`${of(next)},${of(root)}`)
  })
})

test('keys are the same again, and no two are alike', () => {
  expect(deriveKeys(root)).toEqual(deriveKeys(root))
  const keys = deriveKeys(root)
  const all = storing.flatMap((service) => [
    keys[service]['ROSTER_ENCRYPTION_KEY']!.split(',')[0]!,
    keys[service]['ROSTER_CALLER_KEY']!,
  ])
  expect(new Set([...all, root]).size).toBe(9)
})
