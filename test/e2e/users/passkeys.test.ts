import { beforeAll, describe, expect, inject, test } from 'vitest'
import { Authenticator } from '../../../services/users/sessions/factors/passkey/testing/authenticator.ts'
import { newLoginClient } from '../../examples/login-applications.ts'
import { admin, type ExampleHuman, newHuman, newOrganization, ok, signIn, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { authorizePath, newWebApplication, openBrowser, readText } from '../../examples/sign-in.ts'
import { readPage } from '../../examples/sign-in-kinds.ts'
import { factsOf } from '../clients/call.ts'
import { over, recordSecret } from '../clients/encodings.ts'

const { url } = inject('roster')
const domain = 'localhost'
let home: string
let loginClient: { token: string }
beforeAll(async () => {
  home = await newOrganization()
  loginClient = await newLoginClient(home)
})

describe.each(over('connect'))('passkeys over $encoding', ({ call }) => {
  const newPerson = () => newHuman(home, { password: unique('Password') })

  const allow = async () => ok(await call('UpdateLoginPolicy', { settings: { allowPasskeys: true } }, admin(home)))

  async function register(person: ExampleHuman, device: Authenticator, caller: { token: string }, more: object = {}) {
    const { userId } = person
    const begun = ok(await call('RegisterPasskey', { userId, domain, ...more }, caller))
    const publicKeyCredential = device.create(begun.publicKeyCredentialCreationOptions.publicKey)
    const made = { userId, passkeyId: begun.passkeyId, publicKeyCredential, passkeyName: 'Phone' }
    ok(await call('VerifyPasskeyRegistration', made as never, caller))
    return {
      passkeyId: begun.passkeyId as string,
      again: () => call('VerifyPasskeyRegistration', made as never, caller),
    }
  }

  test('a person adds one with a session, and removes it; an administrator sees it, and makes a link', async () => {
    const person = await newPerson()
    const { userId } = person
    const own = { token: await signIn(person) }
    ok(await call('ResetLoginPolicy', {}, admin(home)))
    expect(factsOf(await call('RegisterPasskey', { userId }, own)).reason).toBe('FACTOR_NOT_AVAILABLE')
    await allow()
    const { passkeyId, again } = await register(person, new Authenticator(url), own)
    expect(factsOf(await again()).reason).toBe('PASSKEY_CHALLENGE_OVER')
    const listed = { passkeys: [{ id: passkeyId, name: 'Phone', rpId: domain, state: 'AUTH_FACTOR_STATE_READY' }] }
    for (const caller of [own, admin()])
      expect(ok(await call('ListPasskeys', { userId }, caller))).toMatchObject(listed)
    expect(factsOf(await call('RegisterPasskey', { userId }, admin())).reason).toBe('PERMISSION_DENIED')
    const { code } = ok(await call('CreatePasskeyRegistrationLink', { userId, returnCode: {} }, admin()))
    recordSecret(code.code)
    // The login application, which has no permission of its own there.
    const second = await register(person, new Authenticator(url), loginClient, { code })
    ok(await call('RemovePasskey', { userId, passkeyId: second.passkeyId }, admin()))
    ok(await call('RemovePasskey', { userId, passkeyId }, own))
    expect(ok(await call('ListPasskeys', { userId }, own)).passkeys ?? []).toEqual([])
    expect(factsOf(await call('RemovePasskey', { userId, passkeyId }, own)).reason).toBe('PASSKEY_NOT_FOUND')
  })

  test('a login application signs a person in with one, and with a security key after the password', async () => {
    await allow()
    const person = await newPerson()
    const { userId, password } = person
    const own = { token: await signIn(person) }
    const device = new Authenticator(url)
    await register(person, device, own)
    const begun = ok(await call('CreateSession', { userId }, loginClient))
    const { sessionId } = begun
    const ask = async (sessionToken: string, userVerificationRequirement: string) => {
      const webAuthN = { domain, userVerificationRequirement }
      const { challenges } = ok(await call('SetSession', { sessionId, sessionToken, webAuthN }, loginClient))
      return challenges.webAuthN.publicKeyCredentialRequestOptions.publicKey
    }
    const options = await ask(begun.sessionToken, 'USER_VERIFICATION_REQUIREMENT_REQUIRED')
    const check = async (sessionToken: string, credentialAssertionData: object) =>
      call('SetSession', { sessionId, sessionToken, credentialAssertionData } as never, loginClient)
    const whole = ok(await check(begun.sessionToken, device.get(options)))
    recordSecret(whole.sessionToken)
    expect(ok(await call('GetMyUser', {}, { token: whole.sessionToken })).user.userId).toBe(userId)
    const { session } = ok(await call('GetSession', { sessionId }, loginClient))
    expect(session.factors.webAuthN).toMatchObject({ userVerified: true })

    const key = new Authenticator(url)
    const begunKey = ok(await call('RegisterU2F', { userId, domain }, own))
    const publicKeyCredential = key.create(begunKey.publicKeyCredentialCreationOptions.publicKey, { uv: false })
    ok(await call('VerifyU2FRegistration', { userId, u2fId: begunKey.u2fId, publicKeyCredential } as never, own))
    // It is demanded from now on.
    expect(ok(await call('CreateSession', { loginName: person.userName, password })).missingFactors).toEqual([
      'AUTHENTICATION_METHOD_TYPE_PASSKEY',
    ])
    ok(await call('RemoveU2F', { userId, u2fId: begunKey.u2fId }, admin()))
  })

  test('the page of a request takes one without a name', async () => {
    await allow()
    const person = await newPerson()
    const device = new Authenticator(url)
    await register(person, device, { token: await signIn(person) })
    const application = await newWebApplication(home, await newProject(home), { firstParty: true })
    const browser = openBrowser()
    const page = await browser.visit(authorizePath(application))
    const [, text] = /data-options="([^"]*)"/.exec(page.body) ?? []
    const credential = JSON.stringify(device.get(JSON.parse(readText(text!)) as { challenge: string }))
    const [, action] = /action="(\/ui\/login\/[\w-]+\/passkey)"/.exec(page.body) ?? []
    const [, form_token] = /name="form_token" value="([^"]*)"/.exec(page.body) ?? []
    const renewed = await browser.visit(action!)
    expect(JSON.parse(renewed.body)).toMatchObject({ rpId: domain, userVerification: 'required' })
    const body = new URLSearchParams({ form_token: readText(form_token!), credential, action: 'sign-in' })
    const headers = { origin: url, 'sec-fetch-site': 'same-origin' }
    const answer = await browser.visit(action!, { method: 'POST', body, headers })
    recordSecret(browser.cookie().split('=')[1])
    expect(readPage(answer).answer?.searchParams.get('code')).toBeDefined()
  })
})
