import { inject } from 'vitest'
import { Authenticator } from '../../services/users/sessions/factors/passkey/testing/authenticator.ts'
import { call, recordSecret } from '../e2e/clients/encodings.ts'
import { ok } from './people.ts'

interface Token {
  token: string
}

/** A device with a new passkey of this user. `code`: of a registration link. */
export async function registerPasskey(userId: string, who: Token, code?: { id: string; code: string }) {
  const { url } = inject('roster')
  const device = new Authenticator(url)
  const domain = new URL(url).hostname
  const begun = ok(await call('RegisterPasskey', { userId, domain, ...(code && { code }) }, who))
  const publicKeyCredential = device.create(begun.publicKeyCredentialCreationOptions.publicKey)
  ok(await call('VerifyPasskeyRegistration', { userId, passkeyId: begun.passkeyId, publicKeyCredential } as never, who))
  return device
}

/** A session of this login application by a passkey; or why there is none. */
export async function enterByPasskey(client: Token, userId: string, device: Authenticator) {
  const { sessionId, sessionToken } = ok(await call('CreateSession', { userId }, client))
  recordSecret(sessionToken)
  const domain = new URL(inject('roster').url).hostname
  const webAuthN = { domain, userVerificationRequirement: 'USER_VERIFICATION_REQUIREMENT_REQUIRED' }
  const { challenges } = ok(await call('SetSession', { sessionId, sessionToken, webAuthN }, client))
  const credentialAssertionData = device.get(challenges.webAuthN.publicKeyCredentialRequestOptions.publicKey)
  const answer = await call('SetSession', { sessionId, sessionToken, credentialAssertionData } as never, client)
  if (answer.ok) recordSecret(answer.ok.sessionToken)
  return answer
}
