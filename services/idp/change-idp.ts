import { isDeepStrictEqual } from 'node:util'
import type { ObjectDetails } from '#gen/roster/object/v1/object'
import { invalid, RosterError, type Violation } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { keepReceiver, receiverOf, sealSecret, storeSecret } from './client-secrets.ts'
import type { Context } from './context.ts'
import { ownIdp } from './own-idp.ts'
import { type Configurations, type Idp, type IdpEvent, only, type Protocol } from './vocabulary.ts'

/** Changes a provider of the owner that the call is for. NOT_FOUND IDP_NOT_FOUND, and the errors of `decide`. */
export async function changeIdp(
  { store }: Context,
  idpId: string,
  call: Call,
  decide: (idp: Idp) => Omit<Decision<IdpEvent>, 'answer'>,
): Promise<{ details: ObjectDetails }> {
  return store.execute({
    aggregate: { type: 'idp', id: idpId },
    call,
    decide: (idp: Aggregate<Idp>): Decision<IdpEvent> => ({ ...decide(ownIdp(idp, call).state), answer: undefined }),
    respond: ({ after }) => ({ details: details(after) }),
  })
}

/**
 * Changes those settings of a protocol that are given. A secret that is given always counts as a change: whether it is
 * today's one is not shown. One that is not given stays with whom it was given for. `check` compares the request with the
 * record. NOT_FOUND IDP_NOT_FOUND, FAILED_PRECONDITION IDP_TYPE_MISMATCH.
 */
export function changeConfiguration<P extends Protocol>(
  context: Context,
  idpId: string,
  call: Call,
  protocol: P,
  changes: { [Field in keyof Configurations[P]]: Configurations[P][Field] | undefined },
  secret?: { replacement: string | undefined },
  check: (before: Configurations[P]) => Violation[] = () => [],
): Promise<{ details: ObjectDetails }> {
  const replacement = secret?.replacement
  const sealed = replacement === undefined ? undefined : sealSecret(context.keys, replacement)
  return changeIdp(context, idpId, call, ({ [protocol]: before }) => {
    if (!before) throw typeMismatch()
    const violations = check(before as Configurations[P])
    if (violations.length > 0) throw invalid(violations)
    return configurationChange(idpId, protocol, before as Configurations[P], changes, secret && { sealed })
  })
}

/** The change of those settings of a protocol that are given. `sealed`: the secret in the place of the one before. */
export function configurationChange<P extends Protocol>(
  idpId: string,
  protocol: P,
  before: Configurations[P],
  changes: { [Field in keyof Configurations[P]]: Configurations[P][Field] | undefined },
  secret?: { sealed: Buffer | undefined },
): Omit<Decision<IdpEvent>, 'answer'> {
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
  const sealed = secret?.sealed
  const after = { ...before, ...given } as Configurations[P]
  if (sealed === undefined && isDeepStrictEqual(before, after)) return { events: [] }
  const receiver = (configuration: Configurations[P]) => receiverOf(only(protocol, configuration))
  const [former, next] = [receiver(before), receiver(after)]
  const writes = sealed ? [storeSecret(idpId, sealed, next)] : former === next ? [] : [keepReceiver(idpId, former)]
  const payload = { ...only(protocol, after), ...(secret && { secretReplaced: sealed !== undefined }) }
  return { events: [{ type: `${protocol}.changed`, payload } as unknown as IdpEvent], writes }
}

/** FAILED_PRECONDITION IDP_TYPE_MISMATCH. */
export function typeMismatch() {
  return new RosterError('FAILED_PRECONDITION', 'IDP_TYPE_MISMATCH', 'The identity provider is of another type.')
}
