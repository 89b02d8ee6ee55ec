import type { Gateway } from '../../call/gateway.ts'
import { type Exchange, protective, send } from '../../listen/exchange.ts'
import { writeConsoleCookie } from '../../auth/console-place.ts'
import { consoleHeader, otherSession, presentedCookie } from '../../auth/presented-console.ts'

export const sessionPath = '/ui/console/session'
export const signOutPath = '/ui/console/sign-out'

/** Tells a page of the console whose session this browser has, and by which name the page presents it. */
export async function serveSession({ config, consoleSessions, authenticator }: Gateway, exchange: Exchange) {
  const {
    name,
    fresh: _,
    freshUntil,
    end,
    ...person
  } = await consoleSessions.find(presentedCookie(exchange.header, config))
  const hasRole = await authenticator.hasRole(person.userId, person.organizationId)
  sendJson(exchange, { session: name, ...person, hasRole, freshUntil, endsAt: end })
}

/** Signs the person out, here and at the applications of the session. The page says of whom it thinks. */
export async function serveSignOut({ config, consoleSessions }: Gateway, exchange: Exchange) {
  const hash = presentedCookie(exchange.header, config)
  const present = await consoleSessions.find(hash)
  if (exchange.header(consoleHeader) !== present.name) throw otherSession(present)
  await consoleSessions.end(hash)
  sendJson(exchange, {}, { 'set-cookie': writeConsoleCookie('', 'session', config) })
}

function sendJson(exchange: Exchange, body: object, headers: object = {}) {
  send(exchange, 200, { ...protective, 'content-type': 'application/json', ...headers }, JSON.stringify(body))
}
