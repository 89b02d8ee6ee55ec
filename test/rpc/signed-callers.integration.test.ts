import { createSecretKey } from 'node:crypto'
import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { headers } from 'nats'
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { readConfig } from '#lib/config/read-config'
import { callerKey, callerKeys, signatureOf } from '#lib/rpc/signatures/caller-keys'
import type { Caller } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import { createCallerSigner } from '#lib/rpc/signatures/sign-callers'
import { newCallerKey, testCallerKeys, testReader, testSigner } from '../support/caller-keys.ts'
import { keepingLog, owner } from '../support/rpc.ts'
import { added, machine, subject, useServing } from '../support/serving.ts'
import { createCallerReader, type ReadCaller } from '#lib/rpc/signatures/verify-callers'

const serving = useServing()
const folder = mkdtempSync(join(tmpdir(), 'roster-caller-keys-'))
afterAll(() => rmSync(folder, { recursive: true }))

const root: Caller = { ...owner, userId: 'root', instanceRoles: ['IAM_OWNER'] }
let seen: Caller[]

const serveWith = (readCaller: ReadCaller = testReader('users')) =>
  serving.start(
    { addMachineUser: async (_: object, _request: object, { caller }: Call) => (seen.push(caller), added) },
    { readCaller },
  )

beforeEach(() => {
  seen = []
})

/** The reason for which a call with this header was refused; undefined where it was accepted. */
async function refusal(header: string): Promise<string | undefined> {
  const sent = headers()
  sent.set('roster-caller', header)
  sent.set('roster-organization', 'house')
  sent.set('roster-request-id', 'of-the-forger')
  const options = { headers: sent, timeout: 5000 }
  const answer = await serving.gateway.connection.request(subject('AddMachineUser'), machine(), options)
  return answer.headers?.get('roster-error') || undefined
}

/** Signs like the gateway, also with values that the gateway would not use. */
function signed(caller: Caller, { key = testCallerKeys.users, service = 'users', lives = 30_000 } = {}): string {
  const until = String(Date.now() + lives)
  const text = JSON.stringify(caller)
  const secret = createSecretKey(Buffer.from(key, 'base64'))
  return `${until}.${signatureOf(secret, service, until, text).toString('base64url')}.${text}`
}

test('the service gets exactly the caller that the gateway signed, each time', async () => {
  await serveWith()
  const sign = testSigner()
  const named = { ...owner, userId: 'ünïcödé "and\n\0'.repeat(3) }
  for (const caller of [owner, root, named, owner]) {
    expect(await refusal(sign(caller, 'users'))).toBeUndefined()
    expect(seen.at(-1)).toEqual(caller)
  }
  // Each header is verified once: the same header gives the same object, and no call can change it for the next.
  expect(seen[3]).toBe(seen[0])
  expect(() => seen[0]!.organizationRoles['house']!.push('IAM_OWNER')).toThrow()
  expect(() => Object.assign(seen[0]!, { userId: 'root' })).toThrow()
  expect(sign(owner, 'users')).toBe(sign(owner, 'users'))
})

describe('a caller is refused, and the log says so,', () => {
  const changed = (header: string) => header.replace('"owner"', '"root!"')
  const rewritten = (header: string) => header.replace(/^\d+/, String(Date.now() + 50_000))

  test.each<[string, () => string, string?]>([
    ['without a signature', () => JSON.stringify(root)],
    ['that is empty', () => '{}'],
    ['with the signature cut', () => signed(root).replace(/\.[^.]{43}\./, '.AAAA.')],
    ['with no bytes as signature', () => signed(root).replace(/\.[^.]{43}\./, '..')],
    ['with another signature', () => signed(root).replace(/\.[^.]{43}\./, `.${'A'.repeat(43)}.`)],
    ['signed with another key', () => signed(root, { key: newCallerKey() })],
    ['signed with the key of a sister', () => signed(root, { key: testCallerKeys.grants })],
    ['signed for a sister', () => signed(root, { key: testCallerKeys.grants, service: 'grants' })],
    ['signed for a sister that has the same key', () => signed(root, { service: 'grants' })],
    ['whose time is over', () => signed(root, { lives: -1 }), 'CLOCKS_DIFFER'],
    ['whose time is longer than a minute', () => signed(root, { lives: 75_000 }), 'CLOCKS_DIFFER'],
    ['that was changed after it was signed', () => changed(signed(owner))],
    ['whose time was changed after it was signed', () => rewritten(signed(owner))],
    ['that was written again', () => `${signed(owner)} `.replace('{"', '{ "')],
  ])('%s', async (_, forge, reason = 'CALLER_NOT_SIGNED') => {
    await serveWith()
    // A valid header that is remembered does not make a forged one valid.
    expect(await refusal(testSigner()(owner, 'users'))).toBeUndefined()
    expect(await refusal(forge())).toBe(reason)
    expect(seen).toHaveLength(1)
    expect(serving.lines).toHaveLength(1)
    expect(serving.lines[0]).toContain('the caller was refused')
    expect(serving.lines[0]).toContain('of-the-forger')
  })

  test('once the signature ends, even if it was verified before', async () => {
    await serveWith()
    const header = signed(owner, { lives: 3000 })
    expect(await refusal(header)).toBeUndefined()
    await vi.waitFor(async () => expect(await refusal(header)).toBe('CLOCKS_DIFFER'), { timeout: 15_000 })
  })
})

test('the gateway renews a signature before it ends, and signs for each service separately', () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    const [sign, read] = [testSigner(), testReader('users')]
    const made = new Set<string>()
    for (let second = 0; second < 120; second++) {
      const header = sign(owner, 'users')
      made.add(header)
      const left = Number(header.split('.')[0]) - Date.now()
      expect(left).toBeGreaterThanOrEqual(19_000)
      expect(left).toBeLessThanOrEqual(60_000)
      expect(read(header).userId).toBe('owner')
      vi.advanceTimersByTime(1000)
    }
    expect(made.size).toBeLessThanOrEqual(7)
    expect(() => read(sign(owner, 'grants'))).toThrow('not signed for this service')
    expect(() => sign(owner, 'elsewhere')).toThrow('no caller key for elsewhere')
  } finally {
    vi.useRealTimers()
  }
})

test('the memory of verified callers is bounded', () => {
  const read = testReader('users')
  const sign = testSigner()
  // A gateway may send forty million characters. The reader forgets most headers, and verifies a repeated one again.
  const roles = { house: ['x'.repeat(400_000)] }
  const large = Array.from({ length: 100 }, (_, index) => ({ ...owner, userId: `${index}`, organizationRoles: roles }))
  const first = sign(large[0]!, 'users')
  const known = read(first)
  expect(read(first)).toBe(known)
  for (const caller of large) read(sign(caller, 'users'))
  expect(read(first)).not.toBe(known)
  expect(read(first)).toEqual(known)
})

describe('a key in a file', () => {
  const write = (name: string, content: string) => {
    // Replace the file as Kubernetes does: a link switches at once to another target.
    const content_ = join(folder, `${name}-${Math.random()}`)
    writeFileSync(content_, `${content}\n`)
    symlinkSync(content_, `${content_}-link`)
    renameSync(`${content_}-link`, join(folder, name))
  }
  const file = (name: string) => join(folder, name)
  const [old, next] = [newCallerKey(), newCallerKey()]

  function open() {
    const { log, lines } = keepingLog()
    const environment = { OF_SERVICE_FILE: file('service'), OF_GATEWAY_FILE: file('gateway') }
    const config = readConfig({ OF_SERVICE: callerKey, OF_GATEWAY: callerKeys(['users']) }, environment)
    return {
      lines,
      read: createCallerReader('users', config.OF_SERVICE(log)),
      sign: createCallerSigner(config.OF_GATEWAY(log)),
    }
  }

  test('changes without a restart, under load, and without a refused call; the old key is worthless then', async () => {
    write('service', old)
    write('gateway', `users:${old}`)
    const { sign, read } = open()
    await serveWith(read)
    const refused: (string | undefined)[] = []
    const callers = Array.from({ length: 20 }, (_, index) => ({ ...owner, userId: `caller-${index}` }))
    const enough = new AbortController()
    let asked = 0
    const load = async (caller: Caller) => {
      while (!enough.signal.aborted) {
        refused.push(await refusal(sign(caller, 'users')))
        asked++
      }
    }
    const loads = callers.map(load)
    const more = async (calls = 200) => {
      const until = asked + calls
      await vi.waitFor(() => expect(asked).toBeGreaterThan(until), { timeout: 15_000 })
    }
    await more()
    const before = signed(owner, { key: old, lives: 55_000 })
    write('service', `${next}, ${old}`)
    // The service accepts the new key at once, because the gateway may be faster.
    expect(await refusal(signed(owner, { key: next }))).toBeUndefined()
    write('gateway', `users:${next}`)
    const isNext = () => expect(sign({ ...owner }, 'users')).toSatisfy((header: string) => signs(next, header))
    await vi.waitFor(isNext, { timeout: 10_000 })
    await more()
    expect(await refusal(before)).toBeUndefined()
    write('service', next)
    await vi.waitFor(async () => expect(await refusal(before)).toBe('CALLER_NOT_SIGNED'), { timeout: 10_000 })
    await more()
    enough.abort()
    await Promise.all(loads)
    expect(refused.filter(Boolean)).toEqual([])
    expect(await refusal(sign(owner, 'users'))).toBeUndefined()
  })

  test('changes nothing when it becomes unreadable or is gone, and the log says so once', async () => {
    write('service', old)
    write('gateway', `users:${old}`)
    const { sign, read, lines } = open()
    // A forged header makes the service look at its file.
    const look = () => expect(() => read(signed(root))).toThrow('not signed')
    write('service', 'nonsense')
    look()
    look()
    rmSync(file('service'))
    look()
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
      'a setting keeps its former value',
      'a setting keeps its former value',
    ])
    expect(lines.join('')).not.toContain(old)
    expect(read(sign(owner, 'users')).userId).toBe('owner')
    write('service', next)
    look()
    expect(() => read(sign(owner, 'users'))).toThrow('not signed')
  })
})

function signs(key: string, header: string): boolean {
  const [, until, signature, text] = /^(\d+)\.([\w-]+)\.(.*)$/s.exec(header)!
  const secret = createSecretKey(Buffer.from(key, 'base64'))
  return signatureOf(secret, 'users', until!, text!).toString('base64url') === signature
}
