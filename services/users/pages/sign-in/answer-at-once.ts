import { v7 as uuid } from 'uuid'
import type { PageBrand } from '#gen/roster/users/v1/sign_in_service'
import type { Write } from '#lib/database/database'
import type { ReadBy } from '#lib/eventstore/reads'
import type { Call } from '#lib/rpc/headers'
import { isBesideFormer } from '#lib/schema/releases'
import type { Context } from '../../context.ts'
import type { LoginUser } from '../../directory/login-names/login-user.ts'
import { factKeys, factsFrom, loadSignedInUser } from '../../openid/authorization/facts-of.ts'
import { logGiven, sealGrant } from '../../openid/authorization/grant-code.ts'
import { isAllowed, judge } from '../../openid/judge/judge.ts'
import type { Asked, RequestedApplication } from '../../openid/request/read-parameters.ts'
import { requestFacts } from '../../openid/request/request-facts.ts'
import { organizationOfRequest } from '../../openid/request/request-organization.ts'
import { advancing, ongoing, type RequestRow } from '../../openid/request/request-row.ts'
import { notingUse } from '../../sessions/browsers/browser-sessions.ts'
import type { Browser } from '../../sessions/browsers/session-cookie.ts'
import type { NewSession, Target } from '../../sessions/record-factor.ts'
import { brandOf } from './branded.ts'

/** The answer to a request, decided in the transaction of its sign-in. */
export interface PreparedAnswer {
  known: NonNullable<Target['known']>
  brand: PageBrand | undefined
  /** Goes on with the request, or answers it where nothing is missing. It may run again with what has changed. */
  writes(session: NewSession): Write[]
  /** Of the last run. Undefined: its page comes next. */
  code: string | undefined
  /** Once it is stored. */
  log(): void
}

export type PrepareAnswer = (browser: Browser) => Promise<PreparedAnswer>

/** Reads what the answer depends on. UNAVAILABLE; errors of grants. */
export async function prepareAnswer(
  context: Context,
  row: RequestRow,
  requested: RequestedApplication & { asked: Asked },
  { userId, organizationId }: LoginUser,
  browser: Browser,
  call: Call,
): Promise<PreparedAnswer> {
  const { keys } = context
  const { application, project, asked } = requested
  const { parameters } = row
  const unloaded = { userId, organizationId, sessionId: '', browserId: browser.id, application, project }
  const [{ signedInUser, reads }, brand, isBeside] = await Promise.all([
    loadSignedInUser(context, unloaded, call),
    brandOf(context, organizationOfRequest(parameters.scope, requested)),
    // One of the former release could not redeem it.
    isBesideFormer(context.sql),
  ])
  const { session: _, ...keysOfReads } = factKeys(unloaded)
  const facts = requestFacts(asked, row.beganAt, { chosen: true })
  const authorizationId = uuid()
  let given: { sessionId: string; scopes: readonly string[] } | undefined
  const prepared: PreparedAnswer = {
    known: { reads: keysOfReads, read: Object.values(reads), policy: signedInUser.policy },
    brand,
    code: undefined,
    writes({ sessionId, userId, session, found, now }) {
      const read = { ...(found as ReadBy<ReturnType<typeof factKeys>>), session }
      const verdict = judge('page', factsFrom({ ...signedInUser, sessionId }, read, facts, now), now)
      const code =
        isAllowed(verdict) && !isBeside
          ? sealGrant(keys, authorizationId, { parameters, asked }, verdict, now)
          : undefined
      prepared.code = code
      const of = { sessionId, userId }
      if (!isAllowed(verdict) || code === undefined) return [advancing(keys, row.id, ongoing(row.progress), of)]
      given = { sessionId, scopes: verdict.scopes }
      return [
        advancing(keys, row.id, { chosen: true, given: { code, at: now.toISOString() } }, of, 'given'),
        notingUse(browser, application.id, sessionId),
      ]
    },
    log() {
      if (!given) return
      const { sessionId, scopes } = given
      logGiven(context, { parameters, signedInUser: { ...signedInUser, sessionId } }, { authorizationId, scopes }, call)
    },
  }
  return prepared
}
