import type { JsonObject } from '@bufbuild/protobuf'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { unique } from '../../examples/people.ts'
import { type Provider, startProvider } from '../conformance/provider.ts'
import { openRelyingParty, type RelyingParty } from '../conformance/relying-party.ts'

let provider: Provider
let op: RelyingParty
beforeAll(async () => {
  provider = await startProvider()
  op = await openRelyingParty(provider, '')
})
afterAll(() => provider?.stop())

const soon = { timeout: 9000 }

/** An application that is told at a path of its own, where the person has signed in. */
async function signedIn(more: JsonObject & { host?: string; scope?: string } = {}) {
  const { host = '127.0.0.1', scope = 'openid', ...settings } = more
  const path = `/${unique('path')}`
  const backChannelLogoutUri = provider.receiver.uriAt(host, path)
  const client = await provider.addClient('BASIC', { backChannelLogoutUri, ...settings })
  const browser = op.newBrowser()
  const { answer, last } = await op.arrivalOf(op.request({ scope }, client), browser)
  expect(answer?.['code'], last.body).toBeDefined()
  const { body } = await op.redeem(answer!['code']!, client)
  const sessionId = scope === 'openid' ? (decodeJwt(body.id_token)['sid'] as string) : ''
  return {
    client,
    browser,
    sessionId,
    path,
    told: () => provider.receiver.tokensAt(path).map((text) => decodeJwt(text)),
  }
}

async function deliveryTo({ client }: Awaited<ReturnType<typeof signedIn>>) {
  const { deliveries = [] } = await provider.act('SearchDeliveries', { kind: 'DELIVERY_KIND_LOGOUT' })
  return (deliveries as JsonObject[]).find(({ applicationId }) => applicationId === client.appId)
}

test('an application is told of each end of its session, and another session stays', async () => {
  const { userId } = provider.person
  const [first, second] = [await signedIn(), await signedIn()]
  await provider.act('DeleteSession', { sessionId: first.sessionId })
  await expect.poll(first.told, soon).toMatchObject([{ sid: first.sessionId, sub: userId }])
  expect(await deliveryTo(second)).toBeUndefined()
  await provider.act('LockUser', { userId })
  await provider.act('UnlockUser', { userId })
  // A sweep gives these their events.
  await expect.poll(second.told, { timeout: 15_000 }).toMatchObject([{ sid: second.sessionId }])
  for (const end of ['SetPassword', 'DeleteUserSessions'] as const) {
    const next = await signedIn()
    await provider.act(end, {
      userId,
      ...(end === 'SetPassword' && { newPassword: { password: provider.person.password } }),
    })
    await expect.poll(next.told, { timeout: 15_000 }).toMatchObject([{ sid: next.sessionId }])
  }
}, 60_000)

test('each try has a token of its own, until the application takes one', async () => {
  const to = await signedIn({ idTokenAlgorithm: 'ID_TOKEN_ALGORITHM_ES256' })
  provider.receiver.answer(500, 302, 204)
  await provider.act('DeleteSession', { sessionId: to.sessionId })
  await expect.poll(to.told, { timeout: 20_000 }).toHaveLength(3)
  expect(new Set(to.told().map(({ jti }) => jti)).size).toBe(3)
  for (const { iat, exp, sid } of to.told()) expect([exp! - iat!, sid]).toEqual([120, to.sessionId])
  expect(decodeProtectedHeader(provider.receiver.tokensAt(to.path)[0]!).alg).toBe('ES256')
  await expect.poll(() => deliveryTo(to), soon).toMatchObject({ state: 'DELIVERY_STATE_SENT', attempts: 3 })
}, 60_000)

test('a notifier that stops in a try leaves it to the next one, which has it signed anew', async () => {
  const to = await signedIn()
  provider.receiver.answer(0)
  await provider.act('DeleteSession', { sessionId: to.sessionId })
  await expect.poll(to.told, soon).toHaveLength(1)
  await provider.restart('notifier')
  await expect.poll(to.told, { timeout: 20_000 }).toHaveLength(2)
  const [one, other] = to.told()
  expect(one!.jti).not.toBe(other!.jti)
}, 60_000)

test('400 ends it', async () => {
  const to = await signedIn()
  provider.receiver.answer(400)
  await provider.act('DeleteSession', { sessionId: to.sessionId })
  await expect
    .poll(() => deliveryTo(to), soon)
    .toMatchObject({ state: 'DELIVERY_STATE_FAILED', error: 'status 400', attempts: 1, userId: provider.person.userId })
})

test('nothing is sent to a name that leads to a private address', async () => {
  // To 127.0.0.1, which is allowed, and to ::1. The receiver listens at both.
  const to = await signedIn({ host: 'app.localhost' })
  await provider.act('DeleteSession', { sessionId: to.sessionId })
  await expect.poll(() => deliveryTo(to), soon).toMatchObject({ error: 'no address that may be sent to' })
  expect(to.told()).toEqual([])
})

test('an application without an ID token of the session is not told', async () => {
  const without = await signedIn({ scope: 'profile' })
  const others = await signedIn()
  await provider.act('DeleteUserSessions', { userId: provider.person.userId })
  await expect.poll(others.told, { timeout: 15_000 }).toHaveLength(1)
  expect(await deliveryTo(without)).toBeUndefined()
})

test('an application is told when the organization is deactivated, and when the person is removed', async () => {
  const ofClosed = await signedIn()
  await provider.act('DeactivateOrganization', {})
  await expect.poll(ofClosed.told, { timeout: 25_000 }).toMatchObject([{ sid: ofClosed.sessionId }])
  await provider.act('ReactivateOrganization', {})
  const ofRemoved = await signedIn()
  await provider.act('DeleteUser', { userId: provider.person.userId })
  await expect.poll(ofRemoved.told, { timeout: 25_000 }).toMatchObject([{ sid: ofRemoved.sessionId }])
}, 60_000)
