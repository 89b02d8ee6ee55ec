import { readFileSync } from 'node:fs'
import type { LoginPolicySettings } from '#gen/roster/users/v1/login_policy_service'
import { SecondFactorType } from '#gen/roster/users/v1/settings_service'

// Everything is compared with the tables that a person reads.
const document = readFileSync(new URL('../../../../../docs/sign-in/factors.md', import.meta.url), 'utf8')
const tables = [...document.matchAll(/(?:^\|.*\n)+/gm)].map(([table]) =>
  table
    .trim()
    .split('\n')
    .filter((_, line) => line !== 1)
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    ),
)

const [[, ...names], ...people] = tables[0]! as [string[], ...string[][]]
const [, ...ofDoors] = tables[1]!

export const policyNames = names
/** Each row is what a person has, and what is asked for under each policy. */
export const ofPeople = people
/** What each door answers: where nothing is missing, where something is, and where a trusted browser stands in. */
export const doors = new Map(
  ofDoors.map(([door, open, shut, trusted]) => [door!, { open: open!, shut: shut!, trusted: trusted! }]),
)

export const listed = (cell: string) => (cell === '–' ? [] : cell.split(', '))

const apps = { types: [SecondFactorType.SECOND_FACTOR_TYPE_OTP] }
const days = { trustedBrowserDays: 10 }
const byMail = { allowMailedCodes: true, allowUsernamePassword: false, allowPasskeys: true, ...days }
export const policies: Record<string, LoginPolicySettings> = {
  'nothing demanded': days,
  'passkeys allowed': { ...days, allowPasskeys: true },
  'second factor demanded': { ...days, forceMfa: true },
  'demanded, passkeys allowed': { ...days, forceMfa: true, allowPasskeys: true },
  'demanded, only apps serve': { ...days, forceMfa: true, secondFactors: apps },
  'mailed codes, passkeys allowed': byMail,
  'mailed codes, demanded': { ...byMail, forceMfa: true },
}

/**
 * What a session has checked, in the words of the table; `code` is a mailed one. A key has no person verified, unlike a passkey.
 * `reset` is the password that a mailed code renewed, `invitation` the one that an invited person chose, and with `trusted`
 * the browser stands in for the first second factor of the row. `provider` is one that each policy lists.
 */
export const checked = [
  'code',
  'code, app',
  'code, trusted',
  'password',
  'password, mail',
  'password, app',
  'password, codes',
  'password, key',
  'password, trusted',
  'passkey',
  'provider',
  'provider, app',
  'provider, trusted',
  'reset',
  'invitation',
]

/** A policy by which a session may begin so. */
export const baseOf = (done: string) => (done.startsWith('code') ? byMail : { ...days, allowPasskeys: true })

/** The second factor that the browser of a person of this row is trusted for. */
export function trustedFor(row: string, done: string): 'app' | 'mail' | undefined {
  const cell = ofPeople.find(([name]) => name === row)![1 + policyNames.indexOf(trusting(done))]!
  const has = listed(row)
  // Who has none sets an app up, which is another row then.
  return (['app', 'mail'] as const).find(
    (kind) => listed(cell).includes(kind) && (kind === 'mail' || has.includes(kind)),
  )
}

/** A policy by which it is asked for. */
export const trusting = (done: string) =>
  done.startsWith('code') ? 'mailed codes, demanded' : 'second factor demanded'

/** What is missing by the table of people, and whether a trusted browser stands in for it. */
export function expected(
  { policy, row, cell }: { policy: string; row: string; cell: string },
  done: string,
): { missing: string[]; isTrusted: boolean } {
  const [first, second] = done.split(', ')
  const { allowPasskeys = false, allowMailedCodes = false } = policies[policy]!
  const wanted = firstOf(policy)
  const begins = ['code', 'passkey', 'provider'].includes(first!) ? first : 'password'
  const isBegun = begins === 'provider' || (begins === 'passkey' ? allowPasskeys : begins === wanted)
  if (!isBegun) return { missing: [wanted], isTrusted: false }
  if (begins === 'passkey') return { missing: [], isTrusted: false }
  const asked = listed(cell)
  if (asked.includes(second === 'key' ? 'passkey' : second!)) return { missing: [], isTrusted: false }
  const isTrusted = second === 'trusted' && asked.includes(trustedFor(row, done)!)
  // The mailbox proves nothing more, and sets nothing up.
  const isAlone = begins !== 'provider' && (first === 'reset' || allowMailedCodes)
  const helps = isAlone
    ? asked.filter((kind) => kind !== 'mail' && (kind !== 'app' || listed(row).includes('app')))
    : asked
  return { missing: asked.length > 0 && helps.length === 0 ? ['help'] : helps, isTrusted }
}

/** What begins a session under this policy. */
export const firstOf = (policy: string) => (policies[policy]!.allowMailedCodes ? 'code' : 'password')
