import { RosterError, type Violation } from '#lib/errors'
import { orUnavailable, readNow } from '#lib/database/database'
import type { UniqueKey } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { namesConsole } from '../applications/console-application.ts'
import { loadApplication } from '../applications/find-application.ts'
import { type ApplicationClient, authenticateApplication, type PresentedCredentials } from './application-client.ts'
import { issuerNamedBy, type ReadAssertion, readAssertion, verifyAssertion } from './assertion.ts'
import { type ClientAttempt, failing, type ProvedClient } from './failing-client.ts'
import type { FailureReason } from '../events/authentication.ts'
import type { Context } from '../../context.ts'
import { findSecret } from '../../directory/machine-credentials/machine-credentials.ts'
import { findMachine, type MachineUser } from './machines.ts'
import { useUp } from '../../directory/secrets/single-use.ts'
import { whichInLog } from '../which-in-log.ts'
import { isOrganizationOpen } from '../../directory/organizations/statuses.ts'
import { isActive } from '../../directory/states/user-state.ts'
import type { Credential } from '../../directory/events/credentials.ts'
import { credentialsOf } from '../../directory/events/user.ts'

/** The part of a request in which a client names and proves itself. */
export interface ClientRequest {
  clientId: string
  clientSecret: string
  clientAssertionType: string
  clientAssertion: string
  /** Id and secret came by HTTP Basic. */
  httpBasic: boolean
}

/** A machine or an application that proved who it is. */
export type Client = MachineClient | ApplicationClient

export interface MachineClient extends ProvedClient {
  machine: MachineUser
  credential: Credential
}

const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/**
 * The problems of how a client proves who it is. It must do so in exactly one way: INVALID_ARGUMENT
 * CLIENT_AUTHENTICATED_TWICE.
 */
export function checkClient(request: ClientRequest): Violation[] {
  const { clientSecret, clientAssertion, clientAssertionType, httpBasic } = request
  if (clientAssertion === '' && clientAssertionType === '') return []
  if (clientSecret !== '') {
    const secret = httpBasic ? 'the Authorization header' : 'client_secret'
    const assertion = clientAssertion === '' ? 'client_assertion_type' : 'client_assertion'
    throw new RosterError(
      'INVALID_ARGUMENT',
      'CLIENT_AUTHENTICATED_TWICE',
      `A client proves who it is in one way: by ${secret} or by ${assertion}.`,
    )
  }
  return clientAssertionType === assertionType
    ? []
    : [{ field: 'clientAssertionType', description: `must be ${assertionType}` }]
}

/**
 * Finds the client by what it presents. An application goes before a machine of the same id. UNAUTHENTICATED
 * INVALID_CLIENT; RESOURCE_EXHAUSTED CLIENT_THROTTLED.
 */
export async function authenticateClient(context: Context, request: ClientRequest, call: Call): Promise<Client> {
  const { clientId, clientAssertion } = request
  const presented = presentedBy(request)
  const attempt = {
    clientId: presented.assertion?.issuer ?? (clientId || issuerNamedBy(clientAssertion)),
    method: presented.method,
    refusal: new RosterError(
      'UNAUTHENTICATED',
      'INVALID_CLIENT',
      'The client is unknown, its secret or key is wrong, or it is registered with another method. ' + whichInLog(call),
    ),
    began: performance.now(),
  }
  if (attempt.clientId === '' && presented.method !== 'private_key_jwt') throw nameless(context, attempt, call)
  const [machine, copy] = await Promise.all([
    findMachine(context, attempt.clientId, call),
    // Nobody redeems a code of the console by this door, and a machine may have the name of its client.
    namesConsole(attempt) ? undefined : loadApplication(context, attempt),
  ])
  if (copy || !machine) return authenticateApplication(context, presented, copy, attempt, call)
  if (presented.method === 'private_key_jwt') return admit(context, attempt, machine, call, bySignature(presented))
  return admit(context, { ...attempt, method: 'client_secret' }, machine, call, async ({ sql }, machine, now) => {
    const credential = await findSecret(sql, machine?.state, presented.secret, now)
    return credential ? { credential, kind: 'secret' } : 'secret'
  })
}

function nameless({ log }: Context, { method }: ClientAttempt, { requestId }: Call): RosterError {
  log.info({ requestId, method, reason: 'nameless' }, 'a client was refused')
  return new RosterError(
    'UNAUTHENTICATED',
    'INVALID_CLIENT',
    'client_id: it is missing. It comes in the form, or with the secret by HTTP Basic.',
  )
}

/** Like `authenticateClient`, for a call that stores nothing: an assertion is used up at once. */
export async function authenticateOnce(context: Context, request: ClientRequest, call: Call): Promise<Client> {
  const client = await authenticateClient(context, request, call)
  if (client.once && !(await useUp(context.sql, client.once))) return client.fail('replayed')
  return client
}

/** Finds a machine by its assertion, which is the grant itself. Throws `refusal`; RESOURCE_EXHAUSTED CLIENT_THROTTLED. */
export async function authenticateBearer(
  context: Context,
  { assertion: text, clientId: named }: { assertion: string; clientId: string },
  refusal: RosterError,
  call: Call,
): Promise<MachineClient> {
  const assertion = readFor(named, text)
  const clientId = assertion?.issuer ?? (named || issuerNamedBy(text))
  const attempt = { clientId, method: 'jwt-bearer', refusal, began: performance.now() }
  return admit(context, attempt, await findMachine(context, clientId, call), call, bySignature({ assertion }))
}

function presentedBy({ clientId, clientSecret, clientAssertion, httpBasic }: ClientRequest): PresentedCredentials {
  if (clientAssertion !== '')
    return { method: 'private_key_jwt', secret: '', assertion: readFor(clientId, clientAssertion) }
  const method = clientSecret === '' ? 'none' : httpBasic ? 'client_secret_basic' : 'client_secret_post'
  return { method, secret: clientSecret, assertion: undefined }
}

// Where a client is named beside it, the assertion must come from that one.
function readFor(clientId: string, text: string): ReadAssertion | undefined {
  const assertion = readAssertion(text)
  return assertion && ['', assertion.issuer].includes(clientId) ? assertion : undefined
}

type Proof = { credential: Credential; kind: 'key' | 'secret'; once?: UniqueKey } | FailureReason
type Prove = (context: Context, machine: MachineUser | undefined, now: Date) => Promise<Proof>

function bySignature({ assertion }: { assertion: ReadAssertion | undefined }): Prove {
  return async ({ config }, machine, now) => {
    if (!assertion) return 'claims'
    const keys = credentialsOf(machine?.state).key
    const proof = await verifyAssertion(config, assertion, machine && { id: machine.id, keys }, now)
    return typeof proof === 'string' ? proof : { ...proof, kind: 'key' }
  }
}

async function admit(
  context: Context,
  attempt: ClientAttempt,
  machine: MachineUser | undefined,
  call: Call,
  prove: Prove,
): Promise<MachineClient> {
  const { refusal } = attempt
  const fail = failing(context, attempt, machine, call)
  const proof = await prove(context, machine, machine?.readAt ?? (await orUnavailable(readNow(context.sql))))
  if (typeof proof === 'string' || !machine) return fail(typeof proof === 'string' ? proof : 'key')
  if (!isActive(machine.state) || !(await isOrganizationOpen(context, machine.organizationId))) return fail('inactive')
  const { credential, once, kind } = proof
  const { id: userId, organizationId } = machine
  context.credentialUses.note({
    credentialId: credential.id,
    kind,
    userId,
    organizationId,
    expiresAt: credential.expiresAt,
  })
  return { machine, credential, refusal, fail, ...(once && { once: { ...once, taken: refusal } }) }
}
