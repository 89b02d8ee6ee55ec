import { isDeepStrictEqual } from 'node:util'
import type { ObjectDetails } from '#gen/roster/object/v1/object'
import { RosterError } from '#lib/errors'
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
 * today's one is not shown. One that is not given stays with whom it was given for. NOT_FOUND IDP_NOT_FOUND, FAILED_PRECONDITION IDP_TYPE_MISMATCH.
 */
export function changeConfiguration<P extends Protocol>(
  context: Context,
  idpId: string,
  call: Call,
  protocol: P,
  changes: { [Field in keyof Configurations[P]]: Configurations[P][Field] | undefined },
  secret?: { replacement: string | undefined },
): Promise<{ details: ObjectDetails }> {
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
  const replacement = secret?.replacement
  const sealed = replacement === undefined ? undefined : sealSecret(context.keys, replacement)
  return changeIdp(context, idpId, call, ({ [protocol]: before }) => {
    if (!before) throw typeMismatch()
    const after = { ...before, ...given } as Configurations[P]
    if (replacement === undefined && isDeepStrictEqual(before, after)) return { events: [] }
    const [receiver, next] = [receiverOf({ [protocol]: before }), receiverOf({ [protocol]: after })]
    const writes = sealed
      ? [storeSecret(idpId, sealed, next)]
      : receiver === next
        ? []
        : [keepReceiver(idpId, receiver)]
    const payload = { ...only(protocol, after), ...(secret && { secretReplaced: replacement !== undefined }) }
    return { events: [{ type: `${protocol}.changed`, payload } as unknown as IdpEvent], writes }
  })
}

function typeMismatch() {
  return new RosterError('FAILED_PRECONDITION', 'IDP_TYPE_MISMATCH', 'The identity provider is of another type.')
}
