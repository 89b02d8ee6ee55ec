import { verifyAuthenticationResponse } from '@simplewebauthn/server'
import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import type { Passkey } from '../../../directory/events/passkeys.ts'
import { refused } from './ceremony.ts'
import type { RelyingParty } from './relying-party.ts'

/** What a right assertion says. */
export interface Assertion {
  userVerified: boolean
  signCount: number
  backedUp: boolean
}

/** Checks the signature of a passkey and all that it covers, but for the counter. Throws `refused`. */
export async function verifyAssertion(
  credential: AuthenticationResponseJSON,
  { publicKey, credentialId, backupEligible, rpId }: Passkey,
  challenge: string,
  { id, origins }: RelyingParty,
): Promise<Assertion> {
  // It was made for another domain: the setting is another one by now.
  if (rpId !== id) throw refused('unknown')
  const { verified, authenticationInfo: info } = await verifyAuthenticationResponse({
    response: credential,
    expectedChallenge: challenge,
    expectedOrigin: origins,
    expectedRPID: id,
    expectedType: 'webauthn.get',
    // Whether it is needed is decided by the caller, who says it in another sentence.
    requireUserVerification: false,
    credential: { id: credentialId, publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')), counter: 0 },
  }).catch(() => {
    throw refused('wrong')
  })
  // What may be copied never changes (WebAuthn, section 7.2).
  if (!verified || (info.credentialDeviceType === 'multiDevice') !== backupEligible) throw refused('wrong')
  return { userVerified: info.userVerified, signCount: info.newCounter, backedUp: info.credentialBackedUp }
}
