import type { Violation } from '#lib/errors'

interface ScopesRequest {
  scopes: string[]
  clearScopes: boolean
}

/** The scopes after an update; undefined where they stay. */
export function newScopes({ scopes, clearScopes }: ScopesRequest): string[] | undefined {
  return clearScopes || scopes.length > 0 ? scopes : undefined
}

/** Refuses scopes together with the wish to have none. */
export function checkScopes({ scopes, clearScopes }: ScopesRequest): Violation[] {
  return clearScopes && scopes.length > 0 ? [{ field: 'clearScopes', description: 'must not come with scopes' }] : []
}
