import { isDeepStrictEqual } from 'node:util'
import type { ObjectDetails } from '#gen/roster/object/v1/object'
import { type Aggregate, details, type Existing } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { instance } from '#lib/instance'
import type { Call } from '#lib/rpc/headers'
import { refuseRemovedOrganization } from '../../../../organization-status.ts'
import type { Context } from '../../../context.ts'
import { statuses } from '../../../directory/organizations/statuses.ts'
import { type LoginPolicyEvent, type LoginPolicySettings, loginPolicyType } from '../../events/login-policy.ts'

/** Changes what is set. `to` gets that, and what the instance sets. */
export function change(
  { store }: Pick<Context, 'store'>,
  call: Call,
  to: (own: LoginPolicySettings, ofInstance: LoginPolicySettings) => LoginPolicySettings,
): Promise<{ details: ObjectDetails }> {
  const { organizationId } = call
  return store.execute({
    aggregate: { type: loginPolicyType, id: organizationId },
    reads: {
      status: statuses.key(organizationId),
      ...(organizationId !== instance.id && { ofInstance: { type: loginPolicyType, id: instance.id } }),
    },
    call,
    decide({ state: own = {} }: Aggregate<LoginPolicySettings>, _now, found): Decision<LoginPolicyEvent> {
      refuseRemovedOrganization(found.status)
      const ofInstance = (found as { ofInstance?: Aggregate<LoginPolicySettings> }).ofInstance?.state ?? {}
      const settings = to(own, ofInstance)
      if (isDeepStrictEqual(own, settings)) return { organizationId, events: [], answer: undefined }
      return { organizationId, events: [{ type: 'changed', payload: settings }], answer: undefined }
    },
    respond: ({ after }: { after: Aggregate<LoginPolicySettings> }) => ({
      details: after.state ? details(after as Existing<LoginPolicySettings>) : neverSet(organizationId),
    }),
  })
}

/** ZITADEL's clients take the owner for the id of a policy. */
export function neverSet(resourceOwner: string): ObjectDetails {
  return { sequence: 0, changeDate: undefined, creationDate: undefined, resourceOwner }
}
