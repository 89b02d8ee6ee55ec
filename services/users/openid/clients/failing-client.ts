import { setTimeout as sleep } from 'node:timers/promises'
import type { RosterError } from '#lib/errors'
import type { UniqueKey } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { countFailure } from '../../directory/rate-limits/client-failures.ts'
import { refusalOfClient } from '../arrivals/refused.ts'
import type { AuthenticationEvent, FailureReason } from '../events/authentication.ts'

/** A client that proved who it is. */
export interface ProvedClient {
  /** The error that the client gets where it fails after all. */
  refusal: RosterError
  /** The key to claim, since an assertion may be used once. `taken` is the error for a used one. */
  once?: UniqueKey & { taken: RosterError }
  /** Counts, logs and records a failure, then throws the given error, or else the refusal. */
  fail(reason: FailureReason, error?: RosterError): Promise<never>
}

/** How a client tries to prove who it is, and the error that it gets where it fails. */
export interface ClientAttempt {
  clientId: string
  /** As events name it. */
  method: string
  refusal: RosterError
  /** Of `performance.now()`. */
  began: number
}

// Milliseconds before a failure is answered. Otherwise the duration of the work would reveal which clients exist.
const soonest = 100

// Made by Roster, or kept from ZITADEL. Any other text that names no client may be a secret in the wrong place.
const isId = /^([\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}|\d{15,20}(@[\w.-]{1,100})?)$/

/** The `fail` of a client. One that does not exist has no history to add to. */
export function failing(
  context: Context,
  { clientId, method, refusal, began }: ClientAttempt,
  client: { id: string; organizationId: string } | undefined,
  { caller, requestId, deadline, clientAddress }: Call,
): ProvedClient['fail'] {
  return async (reason, error = refusal) => {
    try {
      await countFailure(context, clientId, clientAddress)
      const known = client || isId.test(clientId) ? clientId : undefined
      context.log.info(
        { requestId, clientId: known, method, reason: client ? reason : 'unknown' },
        'a client was refused',
      )
      if (client) context.arrivals.refuse(refusalOfClient(clientId, reason), clientAddress)
      if (client)
        await context.store.execute<object, AuthenticationEvent, void>({
          aggregate: { type: 'authentication', id: client.id },
          call: { caller, requestId, deadline },
          decide: () => ({
            organizationId: client.organizationId,
            events: [{ type: 'failed', payload: { method, reason } }],
            answer: undefined,
          }),
        })
    } finally {
      await sleep(Math.max(0, began + soonest - performance.now()))
    }
    throw error
  }
}
