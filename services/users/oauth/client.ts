import { setTimeout as sleep } from 'node:timers/promises'
import { RosterError, type Violation } from '#lib/errors'
import { orUnavailable, readNow } from '#lib/database/database'
import type { UniqueKey } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { issuerNamedBy, readAssertion, verifyAssertion } from './assertion.ts'
import type { AuthenticationEvent, FailureReason } from '../vocabulary/authentication.ts'
import { countFailure } from '../throttles/client-failures.ts'
import type { Context } from '../context.ts'
import { findSecret } from '../credentials/machine-credentials.ts'
import { findMachine, type Machine } from './machines.ts'
import { useUp } from './single-use.ts'
import { statuses } from '../organizations/statuses.ts'
import { isOpen, type OrganizationStatus } from '../../organization-status.ts'
import { isActive } from '../states/user-state.ts'
import type { Credential } from '../vocabulary/credentials.ts'

/** The part of a request in which a client names and proves itself. */
export interface ClientRequest {
  clientId: string
  clientSecret: string
  clientAssertionType: string
  clientAssertion: string
}

/** A machine that proved who it is. */
export interface Client {
  machine: Machine
  credential: Credential
  /** The error that the client gets where it fails after all. */
  refusal: RosterError
  /** The key to claim, since an assertion may be used once. `taken` is the error for a used one. */
  once?: UniqueKey & { taken: RosterError }
  /** Counts and records a failure, then throws the given error, or else the refusal. */
  fail(reason: FailureReason, error?: RosterError): Promise<never>
}

// Milliseconds before a failure is answered. Otherwise the duration of the work would reveal which machines exist.
const soonest = 100
const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** The problems of how a client proves who it is. It must do so in exactly one way. */
export function checkClient(request: ClientRequest): Violation[] {
  const { clientSecret, clientAssertion, clientAssertionType } = request
  if (clientAssertion === '' && clientAssertionType === '') return []
  if (clientSecret !== '') return [{ field: 'clientSecret', description: 'must not come with an assertion' }]
  return clientAssertionType === assertionType
    ? []
    : [{ field: 'clientAssertionType', description: `must be ${assertionType}` }]
}

/** Finds the client by its secret or assertion. UNAUTHENTICATED INVALID_CLIENT; RESOURCE_EXHAUSTED CLIENT_THROTTLED. */
export function authenticateClient(context: Context, request: ClientRequest, call: Call): Promise<Client> {
  const { clientId, clientSecret, clientAssertion } = request
  const refusal = new RosterError(
    'UNAUTHENTICATED',
    'INVALID_CLIENT',
    'There is no such machine, or it cannot sign in this way.',
  )
  if (clientAssertion !== '')
    return authenticateBearer(context, clientAssertion, { clientId, method: 'private_key_jwt', refusal }, call)
  if (clientId === '' || clientSecret === '') return Promise.reject(refusal)
  return admit(context, { clientId, method: 'client_secret', refusal }, call, async (machine, now) => {
    const credential = await findSecret(context.sql, machine?.state, clientSecret, now)
    return credential ? { credential } : 'secret'
  })
}

/** Like `authenticateClient`, for a call that stores nothing: an assertion is used up at once. */
export async function authenticateOnce(context: Context, request: ClientRequest, call: Call): Promise<Client> {
  const client = await authenticateClient(context, request, call)
  if (client.once && !(await useUp(context.sql, client.once))) return client.fail('replayed')
  return client
}

/** How a client tries to prove who it is, and the error that it gets where it fails. */
export interface Attempt {
  /** Where it is not empty, the assertion must come from this client. */
  clientId: string
  method: string
  refusal: RosterError
}

/** Finds the client by its assertion. Throws `attempt.refusal`; RESOURCE_EXHAUSTED CLIENT_THROTTLED. */
export async function authenticateBearer(
  context: Context,
  text: string,
  attempt: Attempt,
  call: Call,
): Promise<Client> {
  const assertion = readAssertion(text)
  if (!assertion || !['', assertion.issuer].includes(attempt.clientId)) {
    const clientId = attempt.clientId || issuerNamedBy(text)
    return admit(context, { ...attempt, clientId }, call, async () => 'claims')
  }
  return admit(context, { ...attempt, clientId: assertion.issuer }, call, (machine, now) =>
    verifyAssertion(context.config, assertion, machine, now),
  )
}

type Proof = { credential: Credential; once?: UniqueKey } | FailureReason

async function admit(
  context: Context,
  attempt: Attempt,
  call: Call,
  prove: (machine: Machine | undefined, now: Date) => Promise<Proof>,
): Promise<Client> {
  const { clientId, refusal } = attempt
  const began = performance.now()
  const machine = await findMachine(context, clientId, call)
  const fail = async (reason: FailureReason, error = refusal) => {
    try {
      await recordFailure(context, machine, attempt, reason, call)
    } finally {
      await sleep(Math.max(0, began + soonest - performance.now()))
    }
    throw error
  }
  const proof = await prove(machine, machine?.readAt ?? (await orUnavailable(readNow(context.sql))))
  if (typeof proof === 'string' || !machine) return fail(typeof proof === 'string' ? proof : 'key')
  if (!isActive(machine.state) || !(await isOrganizationOpen(context, machine))) return fail('inactive')
  const { credential, once } = proof
  return { machine, credential, refusal, fail, ...(once && { once: { ...once, taken: refusal } }) }
}

async function isOrganizationOpen({ store }: Context, { organizationId }: Machine): Promise<boolean> {
  const { type, id } = statuses.key(organizationId)
  return isOpen({ state: (await store.load<OrganizationStatus>(type, id))?.state })
}

// A client that does not exist has no history to add to.
async function recordFailure(
  { sql, store, keys }: Context,
  machine: Machine | undefined,
  { clientId, method }: Attempt,
  reason: FailureReason,
  { caller, requestId, deadline, clientAddress }: Call,
): Promise<void> {
  await countFailure({ sql, keys }, clientId, clientAddress)
  if (machine)
    await store.execute<object, AuthenticationEvent, void>({
      aggregate: { type: 'authentication', id: machine.id },
      call: { caller, requestId, deadline },
      decide: () => ({
        organizationId: machine.organizationId,
        events: [{ type: 'failed', payload: { method, reason } }],
        answer: undefined,
      }),
    })
}
