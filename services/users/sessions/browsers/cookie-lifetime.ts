import type { PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { orUnavailable, type Sql } from '#lib/database/database'
import type { Handle } from '#lib/rpc/serve'
import type { Context } from '../../context.ts'
import { hashToken } from '../../directory/tokens/token.ts'

/** Operations of pages. What gives the browser another value of its cookie also says how long it keeps that. */
export function withCookieLifetime<Operations extends Record<string, PageOperation>>(
  operations: Operations,
): Operations {
  const given = Object.entries(operations).map(([name, operation]) => [
    name,
    async (...[context, request, call]: Parameters<PageOperation>) =>
      addCookieLifetime(context, await operation(context, request, call)),
  ])
  return Object.fromEntries(given) as Operations
}

// Each has a request of its own.
// oxlint-disable-next-line typescript/no-explicit-any
type PageOperation = Handle<Context, any, PageAnswer>

/** What was done is done: an error here would cost the person the new value. */
export async function addCookieLifetime(
  { sql, log }: Pick<Context, 'sql' | 'log'>,
  answer: PageAnswer,
): Promise<PageAnswer> {
  if (answer.newBrowser === '') return answer
  try {
    return { ...answer, newBrowserLifetime: await cookieLifetime(sql, answer.newBrowser) }
  } catch (err) {
    log.warn({ err }, 'the cookie of a browser ends with it, for its sessions could not be read')
    return answer
  }
}

// Seconds until the last session ends; 0, where there is none, or any of them is not kept.
async function cookieLifetime(sql: Sql, value: string): Promise<number> {
  const [row] = await orUnavailable(sql<{ seconds: number }[]>`
    select coalesce(ceil(extract(epoch from max(t.expires_at) - roster_now())), 0)::int as seconds
    from browsers b
    join browser_sessions s on s.browser_id = b.id
    join tokens t on t.session_id <> '' and t.session_id = s.session_id and t.expires_at > roster_now()
    left join aggregates a on a.type = 'session' and a.id = s.session_id
    where b.hash = ${hashToken(value)}
    having bool_and(coalesce((a.state ->> 'kept')::boolean, false))
  `)
  return row?.seconds ?? 0
}
