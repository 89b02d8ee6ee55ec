import { type IDPCheck, IDPCheckKind as Kind } from '#gen/roster/idp/v1/idp_check'
import type { GuardedFetch } from '#lib/outbound/guarded-fetch'
import { askForObject, faulty, passed } from './checks.ts'

/** The algorithms of signatures that Roster takes from providers. All of them have public keys. */
export const signatureAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]

const keyTypes = ['RSA', 'EC', 'OKP']

/** Looks whether there are keys that a signature can be checked with. `answer`: what came, for the clock. */
export async function checkKeys(
  fetch: GuardedFetch,
  url: string,
): Promise<{ check: IDPCheck; answer?: Response | undefined }> {
  const kind = Kind.IDP_CHECK_KIND_KEYS
  const asked = await askForObject(fetch, url)
  const answer = 'answer' in asked ? asked.answer : undefined
  if (!('object' in asked)) return { check: faulty(kind, url, asked.problem), answer }
  const keys = Array.isArray(asked.object['keys']) ? (asked.object['keys'] as unknown[]) : []
  const isFit = (key: unknown) => {
    const { kty, use = 'sig' } = (key ?? {}) as { kty?: unknown; use?: unknown }
    return keyTypes.includes(String(kty)) && use === 'sig'
  }
  if (keys.some(isFit)) return { check: passed(kind, url), answer }
  return { check: faulty(kind, url, 'It has no public key for signatures.'), answer }
}
