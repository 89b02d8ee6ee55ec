import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { call, recordSecret } from '../../e2e/clients/encodings.ts'
import { factsOf } from '../../e2e/clients/call.ts'
import { newLoginClient } from '../../examples/login-applications.ts'
import { admin, type ExampleHuman, newHuman, newOrganization, ok, signIn, unique } from '../../examples/people.ts'
import { build, unlessThereIs } from '../build.ts'

const { url } = inject('roster')
const domain = 'localhost'
const why = unlessThereIs('python3')

describe.skipIf(why)(`an authenticator in Python${why}:`, () => {
  let folder: string
  let home: string
  let login: { token: string }

  beforeAll(async () => {
    const commands = 'python3 -m venv .venv && .venv/bin/pip install -r requirements.txt'
    folder = await build('passkeys/python', {}, commands)
    home = await newOrganization()
    login = await newLoginClient(home)
    ok(await call('UpdateLoginPolicy', { settings: { allowPasskeys: true } }, admin(home)))
  })

  /** A device of this library: `ask` gives it what a page would, and returns what it answers. */
  function start(library: string) {
    const program = spawn('.venv/bin/python', ['client.py', library, url], {
      cwd: folder,
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const lines = createInterface(program.stdout)[Symbol.asyncIterator]()
    const ask = async ({ publicKey }: { publicKey: object }): Promise<object> => {
      program.stdin.write(`${JSON.stringify(publicKey)}\n`)
      return JSON.parse((await lines.next()).value as string) as object
    }
    return { ask, stop: () => program.stdin.end() }
  }

  const newPerson = () => newHuman(home, { password: unique('Password') })
  type Ask = ReturnType<typeof start>['ask']

  /** Asks a session for a passkey, and hands it the answer of the device. */
  async function prove(session: { sessionId: string; sessionToken: string }, ask: Ask, verification: string) {
    const webAuthN = { domain, userVerificationRequirement: `USER_VERIFICATION_REQUIREMENT_${verification}` }
    const { sessionId, sessionToken } = session
    const { challenges } = ok(await call('SetSession', { sessionId, sessionToken, webAuthN }, login))
    const credentialAssertionData = await ask(challenges.webAuthN.publicKeyCredentialRequestOptions)
    const answer = await call('SetSession', { sessionId, sessionToken, credentialAssertionData } as never, login)
    return answer
  }

  async function expectIn({ userId }: ExampleHuman, answer: Awaited<ReturnType<typeof prove>>) {
    const { sessionToken } = ok(answer)
    recordSecret(sessionToken)
    expect(ok(await call('GetMyUser', {}, { token: sessionToken })).user.userId).toBe(userId)
  }

  test('fido2 makes a passkey, and signs in with it', async () => {
    const person = await newPerson()
    const { userId } = person
    const own = { token: await signIn(person) }
    const { ask, stop } = start('fido2')
    const begun = ok(await call('RegisterPasskey', { userId, domain }, own))
    const publicKeyCredential = await ask(begun.publicKeyCredentialCreationOptions)
    const { passkeyId } = begun
    ok(await call('VerifyPasskeyRegistration', { userId, passkeyId, publicKeyCredential } as never, own))
    const session = ok(await call('CreateSession', { userId }, login))
    await expectIn(person, await prove(session, ask, 'REQUIRED'))
    stop()
  })

  test('soft-webauthn, which makes sure of nobody, makes no passkey, but a security key', async () => {
    const person = await newPerson()
    const { userId, userName: loginName, password } = person
    const own = { token: await signIn(person) }
    const { ask, stop } = start('soft-webauthn')
    const begun = ok(await call('RegisterPasskey', { userId, domain }, own))
    const refused = {
      userId,
      passkeyId: begun.passkeyId,
      publicKeyCredential: await ask(begun.publicKeyCredentialCreationOptions),
    }
    const failed = await call('VerifyPasskeyRegistration', refused as never, own)
    expect(factsOf(failed).reason).toBe('PASSKEY_UNVERIFIED')
    const { u2fId, publicKeyCredentialCreationOptions } = ok(await call('RegisterU2F', { userId, domain }, own))
    const publicKeyCredential = await ask(publicKeyCredentialCreationOptions)
    ok(await call('VerifyU2FRegistration', { userId, u2fId, publicKeyCredential } as never, own))
    const session = ok(await call('CreateSession', { loginName, password }, login))
    expect(session.missingFactors).toEqual(['AUTHENTICATION_METHOD_TYPE_PASSKEY'])
    await expectIn(person, await prove(session, ask, 'DISCOURAGED'))
    stop()
  })
})
