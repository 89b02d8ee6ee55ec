/**
 * The contexts that tokens name (`acr`), each of which satisfies those before it: a person with one factor, with two, with a
 * passkey whose authenticator made sure of the person (OpenID Connect EAP ACR Values 1.0).
 */
export const acrValues = ['urn:roster:acr:1', 'urn:roster:acr:2', 'phr'] as const

export type AcrValue = (typeof acrValues)[number]

/** What former releases named always. */
export const lowestAcr: AcrValue = acrValues[0]

/** What an application asks for. */
export interface AskedContext {
  /** The one that it likes best first. */
  values: AcrValue[]
  /** Without one of them it gets nothing. Else they are tried. */
  isEssential: boolean
}

/** Those that Roster knows, the best first. */
export function knownAcr(values: readonly string[]): AcrValue[] {
  return [...new Set(values)].filter((value): value is AcrValue => (acrValues as readonly string[]).includes(value))
}
