import { randomUUID } from 'node:crypto'
import { describe, expect, inject, test } from 'vitest'
import {
  assertion,
  assertionType,
  basic,
  clientCredentials,
  issuer,
  jwtBearer,
  newClient,
  sendForm,
  tokenPath,
} from '../../examples/oauth.ts'
import { admin, getUser, newHuman, newMember, newOrganization, ok, unique, uniqueEmail } from '../../examples/people.ts'
import { factsOf } from '../clients/call.ts'
import { call as json, encodings, over } from '../clients/encodings.ts'

const organization = newOrganization()
const { house } = inject('roster')
const keyed = async (key: string = randomUUID(), more: Record<string, string> = {}) => ({
  ...admin(await organization),
  headers: { 'idempotency-key': key, ...more },
})

describe.each(over('json'))('a request with an Idempotency-Key over $encoding', ({ call }) => {
  test('has one effect, and gives the same marked answer when it is repeated in any encoding', async () => {
    const { userId } = await newHuman(await organization)
    const options = await keyed()
    const request = { userId, email: uniqueEmail(), returnCode: {} }
    const first = await call('SetEmail', request, options)
    expect(first.headers['idempotent-replayed']).toBeUndefined()
    for (const { call: again } of encodings) {
      const answer = await again('SetEmail', request, options)
      expect(ok(answer)).toEqual(ok(first))
      expect(answer.headers['idempotent-replayed']).toBe('true')
      expect(answer.headers['etag']).toBe(first.headers['etag'])
    }
    expect((await getUser(userId)).details.sequence).toBe(ok(first).details.sequence)
    // The code in the stored answer is the valid one.
    ok(await json('VerifyEmail', { userId, verificationCode: ok(first).verificationCode }))
  })

  test('with a key of another request is refused', async () => {
    const options = await keyed()
    const request = { userName: unique('machine'), name: 'Robot' }
    const { userId } = ok(await call('AddMachineUser', request, options))
    const other = await call('AddMachineUser', { ...request, name: 'Other' }, options)
    expect(factsOf(other)).toMatchObject({ code: 3, reason: 'IDEMPOTENCY_KEY_REUSED' })
    if (other.http) expect([422, 200]).toContain(other.http)
    expect(ok(await call('AddMachineUser', request, options)).userId).toBe(userId)
  })

  test('has one effect even with concurrent repetitions', async () => {
    const options = await keyed()
    const request = { userName: unique('machine'), name: 'Robot' }
    const answers = await Promise.all(Array.from({ length: 20 }, () => call('AddMachineUser', request, options)))
    const ids = new Set(answers.filter(({ error }) => !error).map((answer) => ok(answer).userId))
    expect(ids.size).toBe(1)
    for (const answer of answers.filter(({ error }) => error)) {
      expect(factsOf(answer)).toMatchObject({ code: 10, reason: 'REQUEST_UNDER_WAY', retryDelay: '1s' })
      if (answer.http === 409) expect(answer.headers['retry-after']).toBe('1')
    }
  })

  test('with a malformed key is refused, and the error names the key', async () => {
    for (const key of ['a b', 'x'.repeat(256)]) {
      const answer = await call('AddMachineUser', { userName: unique('m'), name: 'M' }, await keyed(key))
      expect(factsOf(answer)).toMatchObject({
        code: 3,
        reason: 'IDEMPOTENCY_KEY_MALFORMED',
        fields: ['idempotency-key'],
      })
    }
    ok(await call('AddMachineUser', { userName: unique('m'), name: 'M' }, await keyed(randomUUID().padEnd(255, 'x'))))
  })
})

test('a key belongs to its caller and its method', async () => {
  const key = randomUUID()
  const request = { userName: unique('machine'), name: 'Robot' }
  const mine = ok(await json('AddMachineUser', request, await keyed(key)))
  const { token } = await newMember(await organization, ['ORG_OWNER'])
  const others = await json('AddMachineUser', request, { token, headers: { 'idempotency-key': key } })
  expect(factsOf(others).reason).toBe('USER_NAME_TAKEN')
  ok(
    await json(
      'SetEmail',
      { userId: (await newHuman(await organization)).userId, email: uniqueEmail() },
      await keyed(key),
    ),
  )
  expect(mine.userId).toBeDefined()
})

test('an error without an effect is not stored: the request may succeed later under its key', async () => {
  const options = await keyed()
  const { userId } = await newHuman(await organization)
  const first = await json('SetEmail', { userId: `${userId}-later`, email: uniqueEmail() }, options)
  expect(factsOf(first).reason).toBe('USER_NOT_FOUND')
  ok(await json('SetEmail', { userId, email: uniqueEmail() }, options))
})

test('a wrong code counts once, even if its keyed request is repeated', async () => {
  const { userId } = await newHuman(await organization, { verification: { returnCode: {} } })
  const { verificationCode } = ok(await json('ResendEmailCode', { userId, returnCode: {} }, admin(await organization)))
  const headers = { 'idempotency-key': randomUUID() }
  for (let i = 0; i < 6; i++) {
    const answer = await json('VerifyEmail', { userId, verificationCode: 'WRONG2' }, { headers })
    expect(factsOf(answer).reason).toBe('CODE_INVALID')
  }
  ok(await json('VerifyEmail', { userId, verificationCode }))
})

test('an answer without a change is stored under its key, too', async () => {
  const { userId } = await newHuman(await organization, { verification: { isVerified: true } })
  const { email } = (await getUser(userId)).human.email
  const options = await keyed()
  const first = ok(await json('SetEmail', { userId, email, isVerified: true }, options))
  ok(await json('SetEmail', { userId, email: uniqueEmail() }, admin(await organization)))
  expect(ok(await json('SetEmail', { userId, email, isVerified: true }, options))).toEqual(first)
})

test.each(encodings)('a stored error that is repeated over $encoding is marked, too', async ({ call }) => {
  const { userId } = await newHuman(await organization)
  ok(await json('SetEmail', { userId, email: uniqueEmail(), returnCode: {} }, admin()))
  const options = await keyed()
  const wrong = () => call('VerifyEmail', { userId, verificationCode: 'WRONG2' }, options)
  const [first, again] = [await wrong(), await wrong()]
  expect(factsOf(first)).toMatchObject({ reason: 'CODE_INVALID' })
  expect(again.error).toEqual(first.error)
  expect([first, again].map(({ headers }) => headers['idempotent-replayed'])).toEqual([undefined, 'true'])
})

describe('an OAuth request with an Idempotency-Key', () => {
  const replayed = (answers: { headers: Headers }[]) => answers.map(({ headers }) => headers.get('idempotent-replayed'))

  /** All tokens and failures of the client, after one more failure: once that is visible, all earlier ones are. */
  async function expectBehind({ userId }: { userId: string }, expected: string[]) {
    await sendForm('/oauth/v2/revoke', { token: 'unknown' }, { headers: basic(userId, 'wrong') })
    const filter = { aggregateTypes: ['authentication'], aggregateIds: [userId] }
    const found = async () =>
      (ok(await json('SearchEvents', { filter }, admin())).events ?? []).map(
        ({ data }: { data: { reason?: string } }) => data.reason ?? 'issued',
      )
    await expect.poll(found).toContain('secret')
    expect((await found()).sort()).toEqual(expected)
  }

  test('gets the same token again, marked', async () => {
    const { userId, secret } = await newClient({ organization: await organization })
    const headers = { ...basic(userId, secret), 'idempotency-key': randomUUID() }
    const ask = () => sendForm(tokenPath, { grant_type: clientCredentials }, { headers })
    const [first, again] = [await ask(), await ask()]
    expect([first.status, again.body]).toEqual([200, first.body])
    expect(replayed([first, again])).toEqual([null, 'true'])
  })

  test('that revokes nothing is answered again to a client that signs, too', async () => {
    const client = await newClient({ organization: await organization })
    const headers = { 'idempotency-key': randomUUID() }
    const form = { token: 'unknown', client_assertion_type: assertionType, client_assertion: await assertion(client) }
    const revoke = () => sendForm('/oauth/v2/revoke', form, { headers })
    const [first, again] = [await revoke(), await revoke()]
    expect([first.status, again.status]).toEqual([200, 200])
    expect(replayed([first, again])).toEqual([null, 'true'])
  })

  test('is refused with a used assertion, even where it would revoke nothing', async () => {
    const client = await newClient({ organization: await organization })
    const form = { token: 'unknown', client_assertion_type: assertionType, client_assertion: await assertion(client) }
    expect((await sendForm('/oauth/v2/revoke', form)).status).toBe(200)
    const { status, body } = await sendForm('/oauth/v2/revoke', form, { headers: { 'idempotency-key': randomUUID() } })
    expect([status, body.error]).toEqual([400, 'invalid_client'])
  })

  test('leaves one failure behind where the assertion of a revocation was used', async () => {
    const client = await newClient({ organization: await organization })
    const form = { token: 'unknown', client_assertion_type: assertionType, client_assertion: await assertion(client) }
    const revoke = () => sendForm('/oauth/v2/revoke', form)
    expect([(await revoke()).status, (await revoke()).status]).toEqual([200, 400])
    await expectBehind(client, ['replayed', 'secret'])
  })

  test.skipIf(!house)(
    `that comes to two replicas at once leaves no failure behind${house ? '' : ' (skipped: needs a second gateway)'}`,
    async () => {
      const client = await newClient({ organization: await organization })
      const urls = [issuer(), house!.secondUrl, issuer(), house!.secondUrl]
      for (let round = 0; round < 15; round++) {
        const form = { grant_type: jwtBearer, assertion: await assertion(client) }
        const headers = { 'idempotency-key': randomUUID() }
        const answers = await Promise.all(urls.map((url) => sendForm(tokenPath, form, { headers, url })))
        expect(answers.map(({ status }) => status)).toContain(200)
      }
      await expectBehind(client, [...Array<string>(15).fill('issued'), 'secret'])
    },
  )
})

describe('an Idempotency-Key does not bypass the proof of the caller:', () => {
  test('a keyed sign-in is throttled like any other', async () => {
    const human = await newHuman(await organization, { password: unique('Password') })
    const headers = { 'idempotency-key': randomUUID() }
    const signIn = (password: string) => json('CreateSession', { loginName: human.userName, password }, { headers })
    ok(await signIn(human.password))
    for (let n = 0; n < 5; n++) await signIn(`guess-${n}-guess`)
    expect(factsOf(await signIn('another-guess')).reason).toBe('SIGN_IN_THROTTLED')
    expect(factsOf(await signIn(human.password)).reason).toBe('SIGN_IN_THROTTLED')
  })

  test('a removed secret cannot get an earlier token again under its key', async () => {
    const { userId, secret, secretId } = await newClient({ organization: await organization })
    const headers = { ...basic(userId, secret), 'idempotency-key': randomUUID() }
    const ask = () => sendForm(tokenPath, { grant_type: clientCredentials }, { headers })
    const first = await ask()
    expect((await ask()).body).toEqual(first.body)
    ok(await json('RemoveMachineSecret', { userId, secretId }, admin()))
    expect(await ask()).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
  })
})

test('a repeated sign-in counts only once', async () => {
  const human = await newHuman(await organization, { password: unique('Password') })
  const request = { loginName: human.userName, password: human.password }
  const options = { headers: { 'idempotency-key': randomUUID() } }
  const first = ok(await json('CreateSession', request, options))
  for (let i = 0; i < 6; i++) expect(ok(await json('CreateSession', request, options))).toEqual(first)
  ok(await json('CreateSession', request, {}))
})
