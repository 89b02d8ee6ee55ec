import { createHash, randomBytes } from 'node:crypto'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { anonymous } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import type { Human, SecondFactorKind, TrustedBrowser } from '../../directory/events/human.ts'
import { type User, type UserEvent, userKey } from '../../directory/events/user.ts'
import { beganSinceOpen } from '../../directory/organizations/statuses.ts'
import { isActive } from '../../directory/states/user-state.ts'
import type { PersonPolicy } from '../login-policy/login-policy.ts'

/** Of several people: the cookie has a secret for each, the last one first. */
const mostSecrets = 4
const secretForm = /^[\w-]{43}$/
const day = 86_400

// Only who has the secret makes it, so it is none itself.
function idOf(userId: string, secret: string): string {
  return createHash('sha256').update(`${userId} ${secret}`).digest('base64url')
}

function secretsOf(cookie: string): string[] {
  return cookie
    .split('.')
    .filter((text) => secretForm.test(text))
    .slice(0, mostSecrets)
}

type Allows = Pick<PersonPolicy, 'trustedBrowserDays'>

/** A mark that counts: its person has not ended it, and the policy allows as many days as then. `now`: its days count, too. */
function findTrust(
  human: Human | undefined,
  trustId: string | undefined,
  { trustedBrowserDays }: Allows,
  now: Date | undefined,
): TrustedBrowser | undefined {
  const found = trustId === undefined ? undefined : human?.trustedBrowsers?.find(({ id }) => id === trustId)
  if (!found || found.days > trustedBrowserDays) return undefined
  const isOver = now && now.getTime() >= Date.parse(found.at) + found.days * day * 1000
  return isOver ? undefined : found
}

/** The second factor for which a trusted browser stands. Undefined: for none. */
export function standsFor(
  human: Human | undefined,
  trustId: string | undefined,
  policy: Allows,
  now?: Date,
): SecondFactorKind | undefined {
  return findTrust(human, trustId, policy, now)?.kind
}

/** When a mark is looked at, and what is known of the organization of its person. */
interface Moment {
  now: Date
  status: Parameters<typeof beganSinceOpen>[1]
}

// A deactivation of the organization has ended it, with the sessions. These do not come back either, so who looks at the
// mark of one need not ask.
function isSinceOpen({ at }: TrustedBrowser, status: Moment['status']): boolean {
  return beganSinceOpen({ createdAt: new Date(at) }, status)
}

/** Until when the browser of a session is trusted. Undefined: it is not. */
export function endOfTrust(
  human: Human | undefined,
  { sessionId, trustId }: { sessionId: string; trustId: string | null },
  policy: Allows,
  { now, status }: Moment,
): Date | undefined {
  const ends = (human?.trustedBrowsers ?? [])
    .filter((one) => one.id === trustId || one.sessionId === sessionId)
    .filter((one) => findTrust(human, one.id, policy, now) && isSinceOpen(one, status))
    .map(({ at, days }) => Date.parse(at) + days * day * 1000)
  return ends.length > 0 ? new Date(Math.max(...ends)) : undefined
}

/** The mark of a person that the cookie of a browser proves. */
export function trustOf(
  { id, human }: { id: string; human: Human | undefined },
  cookie: string,
  policy: Allows,
  { now, status }: Moment,
): string | undefined {
  return secretsOf(cookie)
    .map((secret) => findTrust(human, idOf(id, secret), policy, now))
    .find((mark) => mark && isSinceOpen(mark, status))?.id
}

/**
 * Marks a browser in which a person has just proved a second factor. Returns the new value of its cookie: the secret is new,
 * or whoever had the browser before would have it, too. UNAVAILABLE.
 */
export async function trustBrowser(
  { store }: Pick<Context, 'store'>,
  { userId, sessionId, kind, days }: { userId: string; sessionId: string; kind: SecondFactorKind; days: number },
  cookie: string,
  { requestId, deadline }: Pick<Call, 'requestId' | 'deadline'>,
): Promise<{ newTrust: string; newTrustLifetime: number }> {
  const secret = randomBytes(32).toString('base64url')
  const trustId = idOf(userId, secret)
  await store.execute({
    aggregate: userKey(userId),
    call: { caller: { ...anonymous, userId }, requestId, deadline },
    decide({ state }: Aggregate<User>): Decision<UserEvent> {
      if (!state?.human || !isActive(state)) return { events: [], answer: undefined }
      return { events: [{ type: 'browser.trusted', payload: { trustId, kind, days, sessionId } }], answer: undefined }
    },
  })
  const newTrust = [secret, ...secretsOf(cookie)].slice(0, mostSecrets).join('.')
  return { newTrust, newTrustLifetime: days * day }
}

/** The person is asked again where a session was opened, or a factor was checked. UNAVAILABLE. */
export async function distrustBrowser(
  { store }: Pick<Context, 'store'>,
  { userId, sessionId, trustId }: { userId: string; sessionId: string; trustId: string | undefined },
  call: Pick<Call, 'caller' | 'requestId' | 'deadline'>,
): Promise<void> {
  await store.execute({
    aggregate: userKey(userId),
    call,
    decide({ state }: Aggregate<User>): Decision<UserEvent> {
      const found = (state?.human?.trustedBrowsers ?? []).filter(
        (one) => one.id === trustId || one.sessionId === sessionId,
      )
      return {
        events: found.map(({ id }) => ({ type: 'browser.distrusted', payload: { trustId: id } })),
        answer: undefined,
      }
    },
  })
}
