import { generateKeyPairSync } from 'node:crypto'
import { call } from '../e2e/clients/encodings.ts'
import { admin, newMachine, ok } from './people.ts'

export interface ExampleMachine {
  userId: string
  /** The machine's personal access token, which does not expire, and the token's id. */
  token: string
  tokenId: string
}

/** A machine with a personal access token, and with these roles in its organization. */
export async function newSignedInMachine(organization: string, roles: string[] = []): Promise<ExampleMachine> {
  const userId = await newMachine(organization)
  if (roles.length > 0) ok(await call('AddOrganizationMember', { userId, roles }, admin(organization)))
  const { token, tokenId } = ok(await call('AddPersonalAccessToken', { userId }, admin()))
  return { userId, token, tokenId }
}

/** A time so many seconds from now, in the form of requests. */
export function inSeconds(seconds: number): string {
  // An answer has a whole second without its fraction.
  return new Date(Date.now() + seconds * 1000).toISOString().replace('.000Z', 'Z')
}

/** A key pair of an accepted kind, in both spellings. */
export function examplePair(kind: 'RS256' | 'ES256' | 'EdDSA' = 'ES256') {
  const { publicKey, privateKey } =
    kind === 'RS256'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : kind === 'ES256'
        ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
        : generateKeyPairSync('ed25519')
  return {
    pem: publicKey.export({ format: 'pem', type: 'spki' }).toString(),
    jwk: JSON.stringify(publicKey.export({ format: 'jwk' })),
    privatePem: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    privateJwk: privateKey.export({ format: 'jwk' }) as Record<string, string>,
  }
}
