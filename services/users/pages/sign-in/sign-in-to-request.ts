import type { AuthenticationMethodType } from '#gen/roster/users/v1/user_service'
import type { Write } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { isSignIn } from '../../openid/request/parameters.ts'
import { advancing, findRequest, moveRequest, ongoing, stillOpen } from '../../openid/request/request-row.ts'
import { type Browser, findBrowser, isReplacedBy, makeBrowser } from '../../sessions/browsers/session-cookie.ts'
import { Superseded } from '../../sessions/browsers/superseded.ts'
import type { ProvedFactor } from '../../sessions/factors/factor.ts'
import { openBrowserSession } from '../../sessions/open-browser-session.ts'
import type { NewSession } from '../../sessions/record-factor.ts'
import type { PrepareAnswer, PreparedAnswer } from './answer-at-once.ts'
import type { OpenedRequest } from './opened-request.ts'

export interface SignedInTo {
  /** The browser that has the session, and the request. */
  browser: Browser
  newValue: string
  sessionId: string
  missingFactors: AuthenticationMethodType[]
  /** The request has its answer. */
  answered?: PreparedAnswer | undefined
}

/**
 * Opens a session by a first factor, and goes on with a request as its person. Two clicks, two tabs and lost answers come
 * with the former value of the cookie: whose first factor replaced it gets the answer again, unless the session has a second
 * factor: then a new browser, which is asked for that. So does any other person. The request moves to the new browser,
 * unless it has another person. Throws `Superseded` where the request was answered meanwhile. `prepare`: where nothing is
 * missing then, the application gets its answer in the same transaction.
 */
export async function signInToRequest(
  context: Context,
  { row, browser, value }: Pick<OpenedRequest, 'row' | 'browser' | 'value'>,
  proved: ProvedFactor,
  keep: boolean,
  call: Call,
  prepare?: PrepareAnswer,
  trust = '',
): Promise<SignedInTo> {
  const { sql, keys } = context
  const guards = [stillOpen(row.id)]
  const { clientId } = row.parameters
  const openIn = async (at: Browser, moves: Write[] = []): Promise<SignedInTo> => {
    let answer: PreparedAnswer | undefined
    const goOn = ({ sessionId, userId }: NewSession) => [
      advancing(keys, row.id, ongoing(row.progress), { sessionId, userId }),
    ]
    const along = {
      writes: (session: NewSession) => [...moves, ...(answer ? answer.writes(session) : goOn(session))],
      guards,
      clientId,
      keep,
      trust,
      prepare: prepare && (async () => (answer = await prepare(at)).known),
    }
    const opened = await openBrowserSession(context, proved, at, along, call)
    return { browser: at, ...opened, answered: answer?.code === undefined ? undefined : answer }
  }
  try {
    return await openIn(browser)
  } catch (error) {
    if (!(error instanceof Superseded)) throw error
    const { browser: now } = await findBrowser(sql, value)
    // The value is not what was overtaken; or it is over by now.
    if (!now || now.isPresent) throw error
    const { userId } = proved.user
    const isSame = isReplacedBy(keys, now, userId)
    const again = isSame && (await openIn(now).catch(unlessSuperseded))
    if (again) return again
    // What somebody else began in the browser stays there: an invitation, and a request with a person.
    const latest = await findRequest(context, row.id, { browserId: now.id }, isSignIn)
    if (!latest || latest.parameters.invitation) throw error
    if (latest.userId && !(isSame && latest.userId === userId)) throw error
    const { browser: other } = await makeBrowser(sql, '')
    return openIn(other, [moveRequest(row.id, { from: now.id, to: other.id })])
  }
}

function unlessSuperseded(error: unknown): undefined {
  if (!(error instanceof Superseded)) throw error
}
