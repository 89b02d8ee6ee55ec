import { verifyRegistrationResponse } from '@simplewebauthn/server'
import type { RegistrationResponseJSON } from '@simplewebauthn/server'
import { decodeAttestationObject } from '@simplewebauthn/server/helpers'
import type { Passkey } from '../../../directory/events/passkeys.ts'
import { refused } from './ceremony.ts'
import { isSound } from './public-key.ts'
import type { RelyingParty } from './relying-party.ts'

/** EdDSA, ES256, RS256: those that are asked for, the best first. */
export const algorithms = [-8, -7, -257]

type Made = Pick<Passkey, 'credentialId' | 'publicKey' | 'aaguid' | 'backupEligible' | 'rpId'> & {
  signCount: number
  backedUp: boolean
  userVerified: boolean
}

/** Checks a credential that was just made. `conditional`: nobody need have touched anything. Throws `refused`. */
export async function verifyRegistration(
  credential: RegistrationResponseJSON,
  challenge: string,
  { id, origins }: RelyingParty,
  conditional: boolean,
): Promise<Made> {
  const verifying = verify(credential, challenge, { id, origins }, conditional)
  const { verified, registrationInfo: made } = await verifying.catch(() => {
    throw refused('wrong')
  })
  // The id beside the signed data is the browser's word alone.
  if (!verified || made.credential.id !== credential.id || !isSound(made.credential.publicKey)) throw refused('wrong')
  return {
    credentialId: made.credential.id,
    publicKey: Buffer.from(made.credential.publicKey).toString('base64url'),
    aaguid: made.aaguid,
    backupEligible: made.credentialDeviceType === 'multiDevice',
    backedUp: made.credentialBackedUp,
    signCount: made.credential.counter,
    rpId: id,
    userVerified: made.userVerified,
  }
}

async function verify(
  response: RegistrationResponseJSON,
  challenge: string,
  { id, origins }: RelyingParty,
  conditional: boolean,
) {
  refuseCertificates(response.response.attestationObject)
  return verifyRegistrationResponse({
    response,
    expectedChallenge: challenge,
    expectedOrigin: origins,
    expectedRPID: id,
    expectedType: 'webauthn.create',
    requireUserPresence: !conditional,
    requireUserVerification: false,
    supportedAlgorithmIDs: algorithms,
  })
}

// No attestation is asked for, so none is read: parsers of certificates stay out of reach. An authenticator may sign with
// the key itself in its place.
function refuseCertificates(attestationObject: string): void {
  const attestation = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, 'base64url')))
  const isNone = attestation.get('fmt') === 'none'
  const isOwn = attestation.get('fmt') === 'packed' && attestation.get('attStmt').get('x5c') === undefined
  if (!isNone && !isOwn) throw refused('wrong')
}
