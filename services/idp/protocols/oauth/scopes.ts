import { presetOf } from '../../presets.ts'
import type { Configurations } from '../../vocabulary.ts'

/** The scopes that a sign-in asks for: those of the record, or those that its preset needs. */
export function scopesOf(configuration: Configurations['oauth']): string[] {
  return configuration.scopes.length > 0 ? configuration.scopes : (presetOf(configuration).scopes ?? [])
}
