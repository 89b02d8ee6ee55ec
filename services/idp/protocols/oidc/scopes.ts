import { presetOf } from '../../presets.ts'
import type { Configurations } from '../../vocabulary.ts'

/** The scopes that a sign-in asks for: those of the record, or those that bring who it is. */
export function scopesOf({ scopes, preset }: Pick<Configurations['oidc'], 'scopes' | 'preset'>): string[] {
  if (scopes.length > 0) return [...new Set(['openid', ...scopes])]
  return presetOf({ preset }).scopes ?? ['openid', 'profile', 'email']
}
