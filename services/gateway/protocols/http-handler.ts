import type { IncomingMessage, ServerResponse } from 'node:http'
import { codes, RosterError, toRosterError } from '#lib/errors'
import type { Method } from '#lib/rpc/methods'
import { measures } from '#lib/telemetry/instruments'
import { checkHead } from '../listen/admission.ts'
import type { Gateway } from '../call/gateway.ts'
import { byGrpcPath, findRoutes, type Match, offeredVerbs } from '../call/routes.ts'
import type { Readiness } from '../health/readiness.ts'
import { findConsole } from './console/routes.ts'
import { admitOther, countOther } from './arrive.ts'
import type { Cors, Readers } from '../listen/cors.ts'
import { type Exchange, openExchange, protective, send } from '../listen/exchange.ts'
import { httpStatus } from '../listen/http-status.ts'
import { requests } from '../measures.ts'
import { dressPage } from '../pages/brands.ts'
import type { FindConsole } from '../pages/console.ts'
import { type Pages, servePage } from '../pages/pages.ts'
import { findConnect, isConnect, refuseUnknown, typesOf, verbsOf } from './connect/serve.ts'
import { sendConnectError } from './connect/errors.ts'
import { isGrpcWeb, serveGrpcWeb } from './grpc-web/serve.ts'
import { sendError, unsupportedType } from './json/errors.ts'
import { serveJson } from './json/serve.ts'
import { serveOAuth } from './oauth/serve.ts'
import { sendPageError, serveBrowser } from './page/serve.ts'
import { createProbes } from './probes.ts'
import { type createProviderReports, reportsPath } from './provider-reports.ts'

export interface HttpOptions {
  gateway: Gateway
  cors: Cors
  pages: Pages
  console: FindConsole
  readiness: Readiness
  /** Undefined: there is no such path. */
  providerReports: ReturnType<typeof createProviderReports> | undefined
}

/** Where a manager of passwords looks for the page to change one (W3C, A Well-Known URL for Changing Passwords). */
const changePassword = '/.well-known/change-password'

/** Where a browser reads which other origins may use the passkeys of this one (WebAuthn level 3, Related Origins). */
const relatedOrigins = '/.well-known/webauthn'

/** Answers every request over HTTP/1.1, or over HTTP/2 in its shape: JSON, OAuth, Connect, gRPC-web, pages, probes. */
export function createHttpHandler({ gateway, cors, pages, console, readiness, providerReports }: HttpOptions) {
  const probes = createProbes(readiness)

  async function serve(exchange: Exchange): Promise<void> {
    const { request, path } = exchange
    const serveConsole = findConsole(gateway, exchange)
    if (serveConsole) {
      measure(exchange, path === '/' ? path : '/ui/console')
      admitOther(gateway, exchange)
      return serveConsole(gateway, exchange)
    }
    const routes = findRoutes(path)
    const isPage = [...routes.values()].some((route) => route.isPage)
    // Programs in other pages have no business with ours.
    const readers = isPage || path.startsWith('/ui/') ? 'none' : readersOf(request, routes, byGrpcPath.get(path))
    Object.assign(exchange.headers, cors.headers(request.headers.origin, readers))
    const preflight = cors.preflight(request.method, request.headers, readers)
    if (preflight) {
      admitNoCall(exchange)
      return send({ ...exchange, headers: { 'x-request-id': exchange.requestId } }, 204, preflight, '')
    }
    const verb = request.method === 'HEAD' ? 'GET' : (request.method ?? '')
    const method = byGrpcPath.get(path)
    if (verb === 'POST' && isGrpcWeb(request.headers['content-type'])) return serveGrpcWeb(gateway, exchange, method)
    const match = routes.get(verb)
    // The GET of a page may use up its request, so a HEAD would spoil it. Programs that check mails ask by HEAD.
    const hasHead = !isPage || routes.get('GET')?.method.reads === true
    if (match && (hasHead || request.method === verb)) return encodingOf(match)(gateway, exchange, match)
    const serveConnect = method && findConnect(exchange, method)
    if (serveConnect) return serveConnect(gateway, exchange)
    const probe = verb === 'GET' && probes.get(path)
    if (probe) {
      measure(exchange, path)
      // A probe passes no limit: a busy gateway is alive.
      checkHead(exchange)
      return probe(exchange)
    }
    if (providerReports && path === reportsPath && verb === 'POST') {
      measure(exchange, path)
      return providerReports(exchange)
    }
    admitNoCall(exchange)
    if (providerReports && path === reportsPath) return refuseVerb(exchange, ['POST'])
    const page = pages.get(path) ?? console(path)
    if (page && verb === 'GET') return servePage(exchange, await dressPage(gateway.brands, exchange, page))
    if (path === changePassword && verb === 'GET')
      return send(exchange, 302, { ...protective, location: `${gateway.config.PUBLIC_URL}/ui/account/sign-in` }, '')
    const { PASSKEY_ORIGINS: origins } = gateway.config
    if (path === relatedOrigins && verb === 'GET' && origins.length > 0)
      return send(exchange, 200, { ...protective, 'content-type': 'application/json' }, JSON.stringify({ origins }))
    if (routes.size > 0) return refuseVerb(exchange, [...(page ? ['GET'] : []), ...offeredVerbs(routes)], hasHead)
    if (page || probes.has(path)) return refuseVerb(exchange, ['GET'])
    if (method) return verb === 'POST' ? refuseType(exchange, method) : refuseVerb(exchange, verbsOf(method))
    if (isConnect(exchange)) return refuseUnknown(exchange)
    const unknown = new RosterError('NOT_FOUND', 'PATH_NOT_FOUND', 'There is nothing at this path.')
    // A mistyped link, or one that a mail has cut off.
    if (verb === 'GET' && path.startsWith('/ui/') && request.headers.accept?.includes('text/html'))
      return sendPageError(gateway, exchange, unknown)
    sendError(exchange, unknown)
  }

  // Whatever is no call of an operation: a preflight, a page, a wrong path or verb.
  function admitNoCall(exchange: Exchange) {
    const { path } = exchange
    measure(exchange, pages.has(path) ? path : console(path) ? '/ui/console' : '_OTHER')
    admitOther(gateway, exchange)
    countOther(gateway, exchange)
  }

  return (request: IncomingMessage, response: ServerResponse): void => {
    const exchange = openExchange(request, response)
    serve(exchange).catch((error: unknown) => {
      const refusal = toRosterError(error)
      if (refusal.code === codes.INTERNAL) gateway.log.error({ err: error, requestId: exchange.requestId }, 'failed')
      sendError(exchange, refusal)
    })
  }
}

function encodingOf({ isPage, method }: Match) {
  if (isPage) return serveBrowser
  return method.oauth ? serveOAuth : serveJson
}

// A preflight asks for another verb than its own.
function readersOf(
  { method, headers }: IncomingMessage,
  routes: ReadonlyMap<string, Match>,
  called: Method | undefined,
): Readers {
  if ([...routes.values()].some(({ method }) => method.anyOrigin)) return 'any'
  const verb = method === 'OPTIONS' ? headers['access-control-request-method'] : method
  const meant = called ?? routes.get(verb ?? '')?.method
  return meant?.namedOrigins ? 'named' : 'configured'
}

// Measures a request that is no call of an operation.
function measure({ request, response }: Exchange, route: string) {
  if (!measures()) return
  const began = performance.now()
  response.once('close', () => {
    requests.record((performance.now() - began) / 1000, request.method, route, String(response.statusCode))
  })
}

function refuseVerb(exchange: Exchange, verbs: string[], hasHead = true) {
  const allow = [...verbs, ...(hasHead && verbs.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ')
  if (exchange.request.method === 'OPTIONS') return send(exchange, 204, { ...protective, allow }, '')
  const error = new RosterError('UNIMPLEMENTED', 'METHOD_NOT_ALLOWED', `This path accepts only ${allow}.`)
  refuse(exchange, error, { allow })
}

function refuseType(exchange: Exchange, method: Method) {
  const accepted = typesOf(method, exchange.request.httpVersionMajor >= 2).join(', ')
  refuse(exchange, unsupportedType(`one of ${accepted}`), { 'accept-post': accepted })
}

// Answers in the form of errors that the client reads.
function refuse(exchange: Exchange, error: RosterError, own: Record<string, string>) {
  if (isConnect(exchange)) sendConnectError(exchange, error, httpStatus(error), own)
  else sendError(exchange, error, own)
}
