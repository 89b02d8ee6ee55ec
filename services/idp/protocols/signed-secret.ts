import { createPrivateKey } from 'node:crypto'
import { SignJWT } from 'jose'
import { presetOf } from '../presets.ts'
import type { Idp } from '../vocabulary.ts'
import type { Upstream } from './protocol.ts'

/** Seconds that a signed secret serves: that of one request, with clocks that differ. Apple takes half a year. */
const lifetime = 300

/** The client secret for one request: that of the record, or one that its key signs now. */
export async function secretToSend({ oidc }: Idp, secret: Upstream['secret'], now: Date): Promise<Upstream['secret']> {
  if (!oidc || !presetOf(oidc).signsSecrets || 'fault' in secret) return secret
  const { teamId = '', keyId = '' } = oidc.appleKey ?? {}
  const at = Math.floor(now.getTime() / 1000)
  try {
    const signed = new SignJWT({ iss: teamId, sub: oidc.clientId, aud: oidc.issuer, iat: at, exp: at + lifetime })
    const key = createPrivateKey(secret.secret)
    return { secret: await signed.setProtectedHeader({ alg: 'ES256', kid: keyId }).sign(key) }
  } catch {
    return { fault: 'The private key signs nothing: set it anew.' }
  }
}
