import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { IssueTokenRequest } from '#gen/roster/users/v1/oauth_service'
import { IssueTokenRequest as codec } from '#gen/roster/users/v1/oauth_service'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { shiftClock } from '#test/support/shift-clock'
import { encryptionKey } from '#lib/encryption/keys'
import { saltCodes } from '../../directory/email/salt-codes.ts'
import { issueToken } from '../operations/issue-token.ts'
import { deleteSession } from '../../sessions/operations/session/delete-session.ts'
import { lockUser } from '../../directory/operations/user/lock-user.ts'
import { makeSecret } from '../../directory/secrets/secret.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../../testing/test-users.ts'
import { readCode } from './sealed-code.ts'
import { addPerson, longNonce, noteApplication, nothingNewer, redirectUri, told, Visitor } from './testing/visitors.ts'

let database: TestDatabase
let users: TestUsers
/** Another replica. */
let sister: TestUsers
let domains: { stop(): Promise<void> }

beforeAll(async () => {
  database = await createDatabase()
  const settings = { ROSTER_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') }
  users = await openUsers(database.urls.users, settings)
  sister = await openUsers(database.urls.users, settings)
  const clients = ['client', 'other']
  domains = await serveDomains({}, {}, { copied: nothingNewer(clients) })
  for (const clientId of clients)
    await noteApplication(
      users,
      clientId,
      { firstParty: true, authMethodType: 2, redirectUris: [redirectUri], grantTypes: [0] },
      { organizationId: 'acme' },
    )
}, 60_000)

afterEach(() => shiftClock(users.sql, '0'))
afterAll(async () => {
  await Promise.all([users?.stop(), sister?.stop(), domains?.stop()])
  await database?.drop()
})

let people = 0

/** A code of a new person, which carries its authorization, or is `stored`. */
async function newCode(kind: Kind, parameters: Parameters<Visitor['begin']>[0] = {}) {
  const name = `person${people++}`
  const userId = await addPerson(users, name)
  const browser = new Visitor(users)
  const nonce = kind === 'stored' ? longNonce : 'n'
  const { code } = told(await browser.signIn(await browser.begin({ nonce, ...parameters }), name))
  const { authorizationId: id, sealed } = readCode(users.keys, code!)!
  expect(sealed === undefined).toBe(kind === 'stored')
  const [row] = await users.sql<{ id: string }[]>`
    select aggregate_id as id from events where aggregate_type = 'session' and payload ->> 'userId' = ${userId}
  `
  const sessionId = row!.id
  return { code: code!, id, userId, sessionId, happened: () => eventsOf(id, sessionId), left: () => rowsOf(id) }
}

type Kind = 'sealed' | 'stored'

/** Of an authorization, and of its session about codes that were not redeemed. */
const eventsOf = async (id: string, sessionId: string) => {
  const rows = await users.sql<{ type: string; reason: string | null }[]>`
    select type, payload ->> 'reason' as reason from events
    where (aggregate_type = 'authorization' and aggregate_id = ${id})
      or (aggregate_type = 'session' and aggregate_id = ${sessionId} and type = 'code.refused')
    order by transaction_id, position
  `
  return rows.map(({ type, reason }) => (reason === null ? type : `${type} ${reason}`))
}

/** Records of codes, and tokens. */
const rowsOf = async (id: string) => {
  const [{ codes, tokens }] = await users.sql<[{ codes: number; tokens: number }]>`
    select (select count(*)::int from secrets where id = ${id}) as codes,
      (select count(*)::int from tokens where authorization_id = ${id}) as tokens
  `
  return { codes, tokens }
}

const redeem = (code: string, more: Partial<IssueTokenRequest> = {}, by = users) =>
  issueToken
    .handle(
      by,
      {
        ...codec.decode(new Uint8Array()),
        grantType: 'authorization_code',
        clientId: 'client',
        codeVerifier: 'verifier',
        code,
        redirectUri,
        ...more,
      },
      { ...callIn(''), caller: { ...callIn('').caller, userId: '' }, clientAddress: `2001:db8:${people}::` },
    )
    .then(
      () => 'tokens',
      ({ reason }: { reason: string }) => reason,
    )

const invalid = 'INVALID_GRANT'

describe.each<Kind>(['sealed', 'stored'])('a code that is %s', (kind) => {
  const stored = kind === 'stored'
  /** What there is before it is redeemed. */
  const before = stored ? { codes: 1, tokens: 0 } : { codes: 0, tokens: 0 }
  const refused = (reason: string) => (stored ? ['granted', `refused ${reason}`] : [`code.refused ${reason}`])

  test('becomes tokens once; a second use ends them, and a third says nothing new', async () => {
    const { code, happened, left } = await newCode(kind)
    expect(await left()).toEqual(before)
    expect(await happened()).toEqual(stored ? ['granted'] : [])
    expect(await redeem(code)).toBe('tokens')
    expect(await left()).toEqual({ codes: 0, tokens: 1 })
    expect([await redeem(code), await redeem(code)]).toEqual([invalid, invalid])
    expect(await happened()).toEqual(['granted', 'redeemed', 'ended code-reuse'])
    expect(await left()).toEqual({ codes: 0, tokens: 0 })
  })

  test.each([
    ['client', { clientId: 'other' }],
    ['redirect-uri', { redirectUri: `${redirectUri}?` }],
    ['verifier', { codeVerifier: 'another' }],
    ['verifier', { codeVerifier: '' }],
  ])('with a wrong %s changes nothing but for an event', async (reason, more) => {
    const { code, happened, left } = await newCode(kind)
    expect(await redeem(code, more)).toBe(invalid)
    expect(await happened()).toEqual(refused(reason))
    expect(await left()).toEqual(before)
    expect(await redeem(code)).toBe('tokens')
    // Not even a code that was used is used twice by it.
    expect(await redeem(code, more)).toBe(invalid)
    expect(await left()).toEqual({ codes: 0, tokens: 1 })
  })

  test('without the key that it was asked for with changes nothing', async () => {
    const { code, happened } = await newCode(kind, { dpopJkt: 'k'.repeat(43) })
    expect(await redeem(code)).toBe(invalid)
    expect(await happened()).toEqual(refused('key'))
  })

  test('has ten refusals in an hour as events', async () => {
    const { code, happened } = await newCode(kind)
    for (let n = 0; n < 12; n++) expect(await redeem(code, { redirectUri: 'x' })).toBe(invalid)
    expect(await happened()).toHaveLength(stored ? 11 : 10)
    await shiftClock(users.sql, '50 seconds')
    expect(await redeem(code)).toBe('tokens')
  })

  test('is over after 60 seconds by the time of PostgreSQL', async () => {
    const { code, happened, left } = await newCode(kind)
    await shiftClock(users.sql, '61 seconds')
    expect(await redeem(code)).toBe(invalid)
    expect(await happened()).toEqual(stored ? ['granted', 'ended expired'] : ['code.refused expired'])
    expect(await left()).toEqual({ codes: 0, tokens: 0 })
  })

  test.each([
    ['the user is locked', ({ userId }: Code) => lockUser(users, { userId }, callIn('acme'))],
    [
      'its session is ended',
      ({ sessionId }: Code) => deleteSession.handle(users, { sessionId, sessionToken: '' }, callIn('acme')),
    ],
  ])('is over where %s, also between a look at it and its decision', async (_, shut) => {
    const [code, raced] = [await newCode(kind), await newCode(kind)]
    await shut(code)
    expect(await redeem(code.code)).toBe(invalid)
    expect(await code.happened()).toEqual(['granted', 'ended shut-out'])
    const { execute } = users.store
    vi.spyOn(users.store, 'execute').mockImplementationOnce(async (command) => {
      await shut(raced)
      return execute(command)
    })
    expect(await redeem(raced.code)).toBe(invalid)
    expect(await raced.happened()).toEqual(['granted', 'ended shut-out'])
    expect(await raced.left()).toEqual({ codes: 0, tokens: 0 })
  })

  test('gives tokens to one of fifty at once, at two replicas, and the next ends them', async () => {
    const { code, happened, left } = await newCode(kind)
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => redeem(code, {}, n % 2 ? users : sister)))
    expect(answers.filter((answer) => answer === 'tokens')).toHaveLength(1)
    expect(await happened()).toEqual(['granted', 'redeemed', 'ended code-reuse'])
    expect(await left()).toEqual({ codes: 0, tokens: 0 })
  })
})

test('a code that was sealed by another key, or with the salt before this one, is none', async () => {
  const { code, happened } = await newCode('sealed')
  const others = [
    encryptionKey.read(Buffer.alloc(32, 8).toString('base64')),
    await saltCodes((async () => [{ salt: 'the next one' }]) as never, users.config.ROSTER_ENCRYPTION_KEY),
  ]
  for (const keys of others) {
    expect(readCode(keys, code)).toBeUndefined()
    expect(await redeem(code, {}, { ...users, keys })).toBe(invalid)
  }
  expect(await happened()).toEqual([])
  expect(await redeem(code)).toBe('tokens')
})

type Code = Awaited<ReturnType<typeof newCode>>

test('what is no code of ours is nobody, and counts against client and address', async () => {
  const { code, id, happened } = await newCode('sealed')
  const others = [
    makeSecret(users.keys, 'form', [id]),
    makeSecret(users.keys, 'code', ['unknown']),
    'x',
    code.slice(0, -4),
  ]
  for (const text of others) expect(await redeem(text)).toBe(invalid)
  for (let n = 0; n < 6; n++) await redeem('x')
  expect(await redeem('x')).toBe('CLIENT_THROTTLED')
  expect(await happened()).toEqual([])
})
