import type {
  ListIDPLinksRequest,
  ListIDPLinksResponse,
  RemoveIDPLinkRequest,
  RemoveIDPLinkResponse,
} from '#gen/roster/users/v1/user_service'
import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { type Link, linkKey } from '../../../directory/events/links.ts'
import type { User, UserEvent } from '../../../directory/events/user.ts'
import { showLink } from '../../../directory/links/show-link.ts'
import { requireMayActOn } from '../../../directory/may-act-on.ts'
import { existing } from '../../../directory/states/user-state.ts'
import { keepingWayIn } from '../../passkeys/last-way-in.ts'
import { requireFreshFactor } from '../../passkeys/fresh.ts'

export async function listIdpLinks(context: Context, { userId }: ListIDPLinksRequest): Promise<ListIDPLinksResponse> {
  const user = await context.store.load<User>('user', userId)
  const { human } = existing(user?.state)
  const links = (human?.links ?? []).map(showLink)
  return { details: details(user!), links }
}

export const removeIdpLink = {
  permit: ({ userId }: RemoveIDPLinkRequest, call: Call, _holdsPermission: boolean, context: Context) =>
    requireMayActOn(context, userId, call),

  async handle(context: Context, request: RemoveIDPLinkRequest, call: Call): Promise<RemoveIDPLinkResponse> {
    const { userId, idpId, linkedUserId } = request
    if (userId === call.caller.userId) await requireFreshFactor(context, call)
    return unlink(context, { userId, idpId, of: ({ subject }) => subject === linkedUserId }, call)
  },
}

/**
 * NOT_FOUND IDP_LINK_NOT_FOUND, also where it is none `of` these. By their own hand FAILED_PRECONDITION LAST_FACTOR: another's hand
 * removes the last one, too, since a wrong link lets somebody else in, and keeps the person out.
 */
export async function unlink(
  context: Context,
  { userId, idpId, of }: { userId: string; idpId: string; of(link: Link): boolean },
  call: Call,
): Promise<RemoveIDPLinkResponse> {
  const keepWayIn = await keepingWayIn(context, userId, call)
  return context.store.execute({
    aggregate: { type: 'user', id: userId },
    call,
    decide({ state }: Aggregate<User>, now): Decision<UserEvent> {
      const { human } = existing(state)
      const link = human?.links?.find((one) => one.idpId === idpId && of(one))
      if (!human || !link)
        throw new RosterError('NOT_FOUND', 'IDP_LINK_NOT_FOUND', 'The user has no such link to an identity provider.')
      const links = human.links!.filter((one) => one !== link)
      if (call.caller.userId === userId) keepWayIn(human, { ...human, links }, now)
      return { events: [{ type: 'idp.unlinked', payload: { idpId } }], releases: [linkKey(link)], answer: undefined }
    },
    respond: ({ after }) => ({ details: details(after) }),
  })
}
