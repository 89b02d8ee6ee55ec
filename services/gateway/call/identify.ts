import { isDeepStrictEqual } from 'node:util'
import { invalid } from '#lib/errors'
import { telemetry } from '#lib/telemetry/telemetry'
import { isTraceparent } from '#lib/telemetry/traceparent'
import type { Call } from '#lib/rpc/headers'
import type { Method } from '#lib/rpc/methods'
import { checkOrigin } from './check-origin.ts'
import { readConditions } from './conditions.ts'
import { type Header, userAgentOf } from '../listen/headers.ts'
import { type PresentedConsole, presentedConsole } from '../auth/presented-console.ts'
import type { Credentials } from '../auth/authenticate.ts'
import type { ArrivedCall } from './arrived-call.ts'
import type { Gateway } from './gateway.ts'

/** A call whose caller is proved. */
export interface IdentifiedCall {
  gateway: Gateway
  method: Method
  /** Aborted once the caller no longer waits for an answer. */
  signal: AbortSignal
  /** Gives the call as its service gets it, with the caller as last authenticated. */
  forService(): Call
  /**
   * Authenticates the caller again; `forService` gives that one from then on. False where it is another caller, or the
   * same one with other rights. Errors of `identify`.
   */
  identifyAgain(): Promise<boolean>
  /**
   * Lets the call act in the organization that this field of the request names. INVALID_ARGUMENT
   * ORGANIZATION_AMBIGUOUS where a header names another one; errors of `identify`.
   */
  actIn(organizationId: string, field: string): Promise<void>
}

/** How long an identified call waits for others. */
export interface Wait {
  /** Gives the Unix time in milliseconds after which a question that is put now need not be answered. */
  deadline(): number
  signal: AbortSignal
}

/**
 * Proves the caller, by its token or the session of the console, counts the call against the caller's rates, checks where it comes from, and reads its conditions.
 * Errors of these four.
 */
export async function identify(call: ArrivedCall, wait: Wait): Promise<IdentifiedCall> {
  const { gateway, arrival } = call
  const { authenticator, consoleSessions, rates, streamGuard } = gateway
  const { method, requestId, clientAddress, header } = arrival
  let organization = () => organizationOf(header)
  const session = presentedConsole(arrival, gateway.config)
  const credentials = credentialsOf(call, session, wait, organization)
  const proved = await authenticator.authenticate(method.access, credentials)
  if (proved.caller.userId !== '') streamGuard.trust(arrival.incoming.connection)
  call.userId = proved.caller.userId
  call.home = proved.caller.organizationId
  rates.admit(proved.caller, method, clientAddress)
  checkOrigin(gateway.config, method, header)
  let identity = await authenticator.actFor(proved, credentials)
  if (session && proved.caller.userId !== '') await consoleSessions.use(method, session)
  const authenticateAgain = async () => {
    const credentials = credentialsOf(call, session, wait, organization)
    return authenticator.actFor(await authenticator.authenticate(method.access, credentials), credentials)
  }
  const isTrusted = gateway.config.TRUST_TRACEPARENT === 'true'
  // What is traced here names its own span in the request to the service.
  const foreign = isTrusted && !telemetry.tracing ? header('traceparent') : undefined
  const traceparent = isTraceparent(foreign) ? foreign : ''
  const facts = {
    requestId,
    clientAddress,
    userAgent: userAgentOf(header),
    traceparent,
    ...readConditions(method, header),
  }
  if (facts.idempotencyKey !== undefined) rates.admitKey(method, clientAddress)
  return {
    gateway,
    method,
    signal: wait.signal,
    forService: () => ({ ...facts, ...identity, deadline: wait.deadline() }),
    async identifyAgain() {
      const before = identity
      identity = await authenticateAgain()
      return before === identity || isDeepStrictEqual(before, identity)
    },
    async actIn(organizationId, field) {
      const inHeader = organization()
      if (inHeader && inHeader !== organizationId) throw organizationAmbiguous(field)
      organization = () => organizationId
      identity = await authenticateAgain()
    },
  }
}

function credentialsOf(
  { arrival, token }: ArrivedCall,
  session: PresentedConsole | undefined,
  { deadline, signal }: Wait,
  organization: Credentials['organization'],
): Credentials {
  const { header, requestId, verb, path, clientAddress } = arrival
  return {
    authorization: token === undefined ? header('authorization') : `Bearer ${token}`,
    console: session,
    request: arrival,
    proof: header('dpop'),
    verb,
    path,
    organization,
    clientAddress,
    requestId,
    deadline: deadline(),
    signal,
  }
}

// Clients of the field's reference system send the second header.
function organizationOf(header: Header): string | undefined {
  const [organization, alias] = [header('x-service-orgid'), header('x-zitadel-orgid')]
  if (organization && alias && organization !== alias) throw organizationAmbiguous('x-zitadel-orgid')
  return organization || alias
}

function organizationAmbiguous(field: string) {
  const description = 'names another organization than x-service-orgid'
  return invalid([{ field, description }], 'ORGANIZATION_AMBIGUOUS')
}
