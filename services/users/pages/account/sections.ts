import { freshFor } from '../../sessions/fresh-for.ts'

/** The pages of an account, by their paths below `/ui/account`. The first is that of the profile. */
export type Section =
  | ''
  | 'sign-in'
  | 'activity'
  | 'apps'
  | 'data'
  | 'email'
  | 'password'
  | 'passkeys'
  | 'providers'
  | 'authenticator'
  | 'recovery-codes'
  | 'removal'

const matters: ReadonlySet<string> = new Set<Section>([
  'data',
  'email',
  'password',
  'passkeys',
  'providers',
  'authenticator',
  'recovery-codes',
  'removal',
])

/** How old a first factor may be for a page and its form, as `max_age` of a request has it. Empty: as old as the session. */
export function maxAgeOf(section: string): string {
  return matters.has(section) ? String(freshFor) : ''
}

/** The section that a path names. */
export function sectionOf(path: string): Section {
  return path === 'profile' ? '' : (path as Section)
}
