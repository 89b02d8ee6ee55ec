import type { ClaimMapping, SecondFactorClaims } from '#gen/roster/idp/v1/idp_claims'
import type { IDPPreset } from '#gen/roster/idp/v1/idp_config'
import { presetOf } from '../presets.ts'
import { claimAt } from './claim-at.ts'
import { asObject } from './checks.ts'
import { type ProviderClaims, UpstreamError } from './protocol.ts'

/** The longest text of a claim that is kept. */
const longest = 200

/** The subject, byte for byte. OpenID Connect Core (2) bounds it. */
export function readSubject(subject: string): string {
  if (!/^[\x20-\x7e]{1,255}$/.test(subject))
    throw new UpstreamError('not-believed', 'The subject is not 1 to 255 ASCII characters.')
  return subject
}

/** The claims of OpenID Connect, which are read where the record names no others. */
export const defaultMapping = {
  userName: 'preferred_username',
  givenName: 'given_name',
  familyName: 'family_name',
  displayName: 'name',
  nickName: 'nickname',
  email: 'email',
  emailVerified: 'email_verified',
  language: 'locale',
} as const satisfies Required<ClaimMapping>

/** The claims that a record reads. An empty one is none. */
export function mappingOf(mapping: Partial<ClaimMapping> = {}): Record<keyof typeof defaultMapping, string> {
  const named = Object.entries(mapping).filter(([, claim]) => claim !== undefined)
  const isOther = mapping.email !== undefined && mapping.email !== defaultMapping.email
  // What vouches for one address says nothing of another.
  return { ...defaultMapping, ...(isOther && { emailVerified: '' }), ...Object.fromEntries(named) }
}

/**
 * What the provider says of a person, in one answer or in several: the later one counts. What is no text, or too long, is as
 * good as missing.
 */
export function readClaims(
  sources: Record<string, unknown>[],
  { preset, mapping }: { preset?: IDPPreset | undefined; mapping?: Partial<ClaimMapping> | undefined } = {},
): ProviderClaims {
  const { vouchesForNoAddress, saysYesByText } = presetOf({ preset })
  const { email, emailVerified, userName, displayName, language, ...others } = mappingOf(mapping)
  const claims = Object.assign({}, ...sources) as Record<string, unknown>
  // The word for an address is that of the answer which has the address: another one may mean another address.
  const ofAddress = sources.findLast((source) => claimAt(source, email) !== undefined) ?? {}
  const verified = claimAt(ofAddress, emailVerified)
  const isVerified = !vouchesForNoAddress && (verified === true || (saysYesByText && verified === 'true'))
  const named = { ...others, preferredUsername: userName, name: displayName, locale: language }
  const found = Object.entries(named).map(([name, claim]) => [name, claimAt(claims, claim)] as const)
  const texts = [...found, ['email', claimAt(ofAddress, email)] as const].filter(
    ([, value]) => typeof value === 'string' && value !== '' && value.length <= longest && !value.includes('\0'),
  )
  return { ...Object.fromEntries(texts), ...(isVerified && { emailVerified: true }) }
}

/** The words of a record that make a sign-in count as two factors: `amr:` or `acr:`, and a value. */
export function wordsOf({ amr, acr }: SecondFactorClaims = { amr: [], acr: [] }): string[] {
  return [...amr.map((value) => `amr:${value}`), ...acr.map((value) => `acr:${value}`)]
}

/** How a person signed in, as the provider signed it. Of other types, it is as good as missing. */
export function readMethods({ amr, acr }: Record<string, unknown>): SecondFactorClaims {
  const texts = (values: unknown[]) => values.filter((value): value is string => typeof value === 'string')
  return { amr: texts(Array.isArray(amr) ? amr : [amr]), acr: texts([acr]) }
}

/** The name that a provider posts beside its code, once. Nobody signed it, so it says no more than a form of a person's own. */
export function nameBeside(answer: URLSearchParams, preset: IDPPreset | undefined): Record<string, unknown> {
  if (!presetOf({ preset }).postsAnswer) return {}
  const { name } = asObject(answer.get('user') ?? '') ?? {}
  const { firstName, lastName } = (name ?? {}) as { firstName?: unknown; lastName?: unknown }
  return { given_name: firstName, family_name: lastName }
}
