import { readFileSync } from 'node:fs'
import type { JsonObject } from '@bufbuild/protobuf'
import { beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { newSigningApi } from '../../examples/applications.ts'
import { admin, newHuman, newMember, newOrganization, ok, signIn, unique, uniqueEmail } from '../../examples/people.ts'
import type { Operation } from '../../examples/contract.ts'
import { examplePair, newSignedInMachine } from '../../examples/machines.ts'
import { assertion, basic, grantBy, newClient, obtainToken, privateKeyJwt, sendForm } from '../../examples/oauth.ts'
import { addition, forOrganization, protocols } from '../../examples/idps.ts'
import { newProject } from '../../examples/projects.ts'
import { startTestReceiver } from '../../support/receiver.ts'
import type { Call } from '../clients/call.ts'
import { encodings, recordSecret } from '../clients/encodings.ts'
import { mailTo, noticeTo } from '../mailbox.ts'
import { dumpNats, dumpPostgres, dumpRedis } from './stores.ts'

const { house, adminToken, adminPassword, secretsFile } = inject('roster')
const why = house ? '' : ' (skipped: the servers of a Roster by URL are not known)'

// Uses all kinds of secrets, in every encoding. Codes are returned, mailed, used, wrong and replaced. There are also
// passwords, tokens, private keys, client secrets, and secrets of webhooks.
async function live() {
  const organization = await newOrganization()
  recordSecret(adminToken)
  recordSecret(adminPassword)
  await useProviders(organization)
  await useOAuth(organization)
  await useApplications(organization)
  for (const { call } of encodings) {
    const me = await newMember(organization, [])
    const { verificationCode } = ok(
      await call('SetEmail', { userId: me.userId, email: uniqueEmail(), returnCode: {} }, admin()),
    )
    await call('VerifyEmail', { userId: me.userId, verificationCode: verificationCode.toLowerCase() })
    await call('CreateSession', { loginName: me.userName, password: unique('mistyped') })
    await call('CreateSession', { loginName: unique('no-one'), password: unique('mistyped') })
    const short = unique('x').repeat(20)
    recordSecret(short)
    // The password is too long, so that the error says something about the field.
    await call('AddHumanUser', { userName: unique('human'), password: short }, admin(organization))
    const dead = unique('dead-token')
    recordSecret(dead)
    await call('GetUser', { userId: me.userId }, { token: dead })
    for (const token of [dead, me.token])
      ok(await call('ExplainToken', { token }, { ...admin(), headers: { 'idempotency-key': unique('key') } }))
    const human = await newHuman(organization, { verification: {}, password: unique('Password') })
    const mailed = await mailTo(human.email)
    await call('VerifyEmail', { userId: human.userId, verificationCode: mailed.code }, { token: await signIn(human) })
    await useCredentials(call, organization)
    const unused = await newHuman(organization, { verification: { sendCode: {} } })
    await mailTo(unused.email)
    await newHuman(organization, { verification: { returnCode: {} } })
    await resetPasswords(call, organization)
    await sendToWebhook(organization, call)
  }
}

// Both owners replace the secrets of providers of every type, also in vain, and read the providers.
async function useProviders(organization: string) {
  for (const nameOf of [(operation: Operation) => operation, forOrganization])
    for (const [index, example] of protocols.entries()) {
      const { call } = encodings[index % encodings.length]!
      const ask = (operation: Operation, request: JsonObject) => call(nameOf(operation), request, admin(organization))
      const { idpId } = ok(await ask(example.add, addition(example)))
      const { secret } = example
      if (secret) ok(await ask(example.update, { idpId, [secret]: unique('idp-secret') }))
      if (secret) await ask(example.update, { idpId, [secret]: `${unique('idp-secret')}${'x'.repeat(1000)}` })
      await ask(example.add, { ...addition(example), name: '' })
      ok(await ask('GetIDP', { idpId }))
      ok(await ask('SearchIDPs', { sortingColumn: 'IDP_FIELD_NAME_CREATION_DATE', descending: true }))
    }
}

// A code is mailed and left, returned and used, and wrong. A changed address causes a notice.
async function resetPasswords(call: Call, organization: string) {
  const [left, human] = [await newHuman(organization), await newHuman(organization)]
  ok(await call('RequestPasswordReset', { loginName: left.userName }))
  await mailTo(left.email)
  const { userId } = human
  const { verificationCode } = ok(await call('PasswordReset', { userId, returnCode: {} }, admin(organization)))
  ok(await call('ResetPassword', { userId, verificationCode, newPassword: unique('Password') }))
  await call('ResetPassword', { userId, verificationCode, newPassword: unique('Password') })
  ok(await call('SetEmail', { userId, email: uniqueEmail(), returnCode: {} }, admin(organization)))
  await noticeTo(human.email)
}

// Sends with both secrets of a rotation, and then with neither.
async function sendToWebhook(organization: string, call: Call) {
  const hook = await startTestReceiver()
  const { webhookId } = ok(await call('AddWebhook', { url: hook.url }, admin(organization)))
  ok(await call('RotateWebhookSecret', { webhookId }, admin(organization)))
  if (house) {
    await newHuman(organization)
    await vi.waitFor(() => expect(hook.received).not.toEqual([]), { timeout: 20_000 })
  }
  ok(await call('RemoveWebhook', { webhookId }, admin(organization)))
  await hook.stop()
}

// An assertion is secret until it ends. A secret that was sent by mistake may still be useful to an attacker.
async function useOAuth(organization: string) {
  const client = await newClient({ organization, jwt: true })
  const [text, refused] = [await assertion(client), await assertion(client, { claims: { aud: 'elsewhere' } })]
  for (const secret of [text, refused]) recordSecret(secret)
  expect((await grantBy(text)).status).toBe(200)
  await grantBy(text)
  await privateKeyJwt(refused)
  const token = await obtainToken(client, 'openid')
  const headers = basic(client.userId, client.secret)
  await sendForm('/oauth/v2/introspect', { token }, { headers })
  await sendForm(`/oauth/v2/revoke?token=${token}`, { token }, { headers })
  await sendForm('/oauth/v2/revoke', { token }, { headers })
}

async function useApplications(organization: string) {
  const projectId = await newProject(organization)
  for (const { call } of encodings) {
    const keyed = () => ({ ...admin(organization), headers: { 'idempotency-key': unique('key') } })
    const { appId } = ok(await call('AddOIDCApplication', { projectId, name: 'App' }, keyed()))
    ok(await call('AddClientSecret', { projectId, appId }, keyed()))
    ok(await call('GenerateClientSecret', { projectId, appId }, keyed()))
    const signing = { projectId, appId: (await newSigningApi(organization, projectId)).appId }
    ok(await call('AddApplicationKey', { ...signing, algorithm: 'KEY_ALGORITHM_ES256' }, keyed()))
  }
}

// The clients record the secrets that they receive. Record here the private key that somebody sends by mistake.
async function useCredentials(call: Call, organization: string) {
  const { userId, token, tokenId } = await newSignedInMachine(organization)
  for (const operation of ['AddPersonalAccessToken', 'AddMachineKey', 'AddMachineSecret'] as const)
    ok(await call(operation, { userId }, { token, headers: { 'idempotency-key': unique('key') } }))
  const { privatePem } = examplePair()
  for (const line of privatePem.split('\n').filter((line) => line !== '' && !line.startsWith('-'))) recordSecret(line)
  await call(
    'AddMachineKey',
    { userId, publicKey: privatePem },
    { token, headers: { 'idempotency-key': unique('key') } },
  )
  ok(await call('RemovePersonalAccessToken', { userId, tokenId }, { token }))
  await call('GetUser', { userId }, { token })
}

describe.skipIf(!house)(`no code, password, token, private key or client secret is kept${why}`, () => {
  let secrets: string[]

  beforeAll(async () => {
    await live()
    const all = [...new Set(readFileSync(secretsFile, 'utf8').trim().split('\n'))]
    // Codes of only digits occur in many numbers by chance. A search for all secrets of the run would take minutes.
    secrets = all.filter((secret) => !/^\d+$/.test(secret)).slice(-400)
    expect(secrets.length).toBeGreaterThan(40)
  })

  test('in PostgreSQL: no row of any table of any schema', async () => {
    const dump = await dumpPostgres(house!.databaseUrl)
    expect(dump).toContain('human.added')
    expect(found(dump, secrets)).toEqual([])
  })

  test('in NATS: no message of any stream, nor its headers', async () => {
    const dump = await dumpNats(house!.natsUrl)
    expect(dump).toContain('email.code.requested')
    expect(found(dump, secrets)).toEqual([])
  })

  test('in Redis: no key and no value', async () => {
    const dump = await dumpRedis(house!.redisUrl)
    expect(dump).toMatch(/\S/)
    expect(found(dump, secrets)).toEqual([])
  })

  test('in the log, even at its most detailed level; nor any address', async () => {
    const log = readFileSync(house!.logFile, 'utf8')
    expect(log).toContain('roster.users.v1.UserService.SetEmail')
    expect(found(log, secrets)).toEqual([])
    expect(log.match(/[\w.-]+@example\.com/g) ?? []).toEqual([])
  })

  test('the search itself works: raw, in hex and in base64 at any offset', () => {
    const secret = 'K7XM2P'
    const hidden = ['a K7XM2P', Buffer.from(secret).toString('hex')]
    for (const before of ['', 'x', 'xy']) hidden.push(Buffer.from(`${before}${secret}tail`).toString('base64'))
    for (const text of hidden) expect(found(`--${text}--`, [secret])).toEqual([secret])
    expect(found('nothing', [secret])).toEqual([])
  })
})

/** The secrets that a text contains, plain, in hex or in base64. */
function found(text: string, secrets: string[]): string[] {
  return secrets.filter((secret) => spellings(secret).some((spelling) => text.includes(spelling)))
}

function spellings(secret: string): string[] {
  const hex = Buffer.from(secret).toString('hex')
  // The part of the base64 that does not depend on the text before and after.
  const base64 = [0, 1, 2].map((offset) => {
    const whole = Buffer.from('\0'.repeat(offset) + secret)
      .toString('base64')
      .replace(/=+$/, '')
    const usable = Math.floor(((secret.length + offset) * 8) / 6)
    return whole.slice(Math.ceil((offset * 8) / 6), usable)
  })
  const urlSafe = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))
  return [...new Set([secret, hex, hex.toUpperCase(), ...base64, ...urlSafe])]
}
