import { RosterError, toRosterError } from '#lib/errors'
import type { Gateway } from '../../call/gateway.ts'
import { type Exchange, protective, send } from '../../listen/exchange.ts'
import { countOther } from '../arrive.ts'
import { sendError } from '../json/errors.ts'
import { hostNamedBy, isPrefetch } from '../page/sender.ts'
import { sendPageError } from '../page/serve.ts'
import { serveSession, serveSignOut, sessionPath, signOutPath } from './own-session.ts'
import { consoleOrigin } from '../../auth/console-place.ts'
import { callbackPath, serveCallback, serveHome, serveSignIn, signInPath } from './sign-in.ts'

type Serve = (gateway: Gateway, exchange: Exchange) => Promise<void> | void

const byPath: Record<string, { verb: 'GET' | 'POST'; serve: Serve }> = {
  [signInPath]: { verb: 'GET', serve: serveSignIn },
  [callbackPath]: { verb: 'GET', serve: serveCallback },
  [sessionPath]: { verb: 'POST', serve: serveSession },
  [signOutPath]: { verb: 'POST', serve: serveSignOut },
}

/** In the query of a link that was led to the console's own host already. */
const led = 'host_other=1'

/** How to answer a request of the console that is neither a call nor a file; undefined for any other request. */
export function findConsole(
  { config, hasConsole }: Pick<Gateway, 'config' | 'hasConsole'>,
  { request, path, query }: Pick<Exchange, 'request' | 'path' | 'query'>,
): Serve | undefined {
  const { method: verb, headers } = request
  // A program gets the list of pages there.
  const isVisit = verb === 'GET' && headers.accept?.includes('text/html') === true
  if (path === '/' && hasConsole && isVisit) return answering('GET', serveHome)
  if (path !== '/ui/console' && !path.startsWith('/ui/console/')) return undefined
  const own = new URL(consoleOrigin(config)).hostname
  const host = URL.parse(`http://${hostNamedBy(headers)}`)?.hostname
  const isReading = verb === 'GET' || verb === 'HEAD'
  if (host !== own && isReading && !query.split('&').includes(led)) return answering('GET', leadHome)
  const found = Object.hasOwn(byPath, path) ? byPath[path] : undefined
  if (!found) return undefined
  return verb === found.verb ? answering(found.verb, found.serve) : refusingVerb(found.verb)
}

// A link gets a page where it cannot be followed, a page of the console an error as the API has it.
function answering(verb: 'GET' | 'POST', serve: Serve): Serve {
  return async (gateway, exchange) => {
    try {
      countOther(gateway, exchange)
      if (isPrefetch(exchange.request.headers)) throw refused()
      await serve(gateway, exchange)
    } catch (error) {
      if (verb === 'POST') throw error
      await sendPageError(gateway, exchange, toRosterError(error))
    }
  }
}

// The cookies belong to one host alone.
function leadHome({ config }: Gateway, exchange: Exchange): void {
  const { path, query } = exchange
  const location = `${consoleOrigin(config)}${path}?${query === '' ? led : `${query}&${led}`}`
  send(exchange, 302, { ...protective, location }, '')
}

function refusingVerb(verb: string): Serve {
  const error = new RosterError('UNIMPLEMENTED', 'METHOD_NOT_ALLOWED', `This path accepts only ${verb}.`)
  return (_, exchange) => sendError(exchange, error, { allow: verb })
}

function refused(): RosterError {
  return new RosterError('PERMISSION_DENIED', 'PAGE_REFUSED', 'The request comes in advance.')
}
