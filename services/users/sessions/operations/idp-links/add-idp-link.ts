import { randomUUID } from 'node:crypto'
import type {
  AddIDPLinkRequest,
  AddIDPLinkResponse,
  IDPIntentProof,
  NewIDPLink,
} from '#gen/roster/users/v1/user_service'
import { RosterError, type Violation } from '#lib/errors'
import { permissionDenied } from '#lib/rpc/authorize'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import type { User, UserEvent } from '../../../directory/events/user.ts'
import { linkingAll, namedLinks, refuseMore } from '../../../directory/links/named-links.ts'
import { isUnproved } from '../../../directory/links/unproved.ts'
import { requireMayActOn } from '../../../directory/may-act-on.ts'
import { existing } from '../../../directory/states/user-state.ts'
import { mayAddBy } from '../../change-factors.ts'
import { findProvedIntent } from '../../intents/intent-rows.ts'
import { requireVouchingSession } from '../../login-client-session.ts'
import { requireFreshFactor } from '../../passkeys/fresh.ts'
import { type Notice, noticeOf, settleNotice, withoutNotice } from '../../passkeys/mail.ts'

export const addIdpLink = {
  /** A login application proves by its own intent who it is, and is asked for a session of the user. */
  async permit({ userId, idpIntent }: AddIDPLinkRequest, call: Call, holdsPermission: boolean, context: Context) {
    if (holdsPermission) return requireMayActOn(context, userId, call)
    if (!idpIntent) throw permissionDenied()
  },

  check(_context: Context, { idpLink, idpIntent }: AddIDPLinkRequest): Violation[] {
    if (idpLink && idpIntent) return [{ field: 'idpIntent', description: 'must not stand beside idpLink' }]
    return idpLink || idpIntent ? [] : [{ field: 'idpLink', description: 'must be set' }]
  },

  async handle(context: Context, request: AddIDPLinkRequest, call: Call): Promise<AddIDPLinkResponse> {
    const { userId, idpIntent } = request
    const isOwn = userId === call.caller.userId
    if (isOwn) await requireFreshFactor(context, call)
    const idpLink = idpIntent ? await linkOf(context, idpIntent, call) : request.idpLink!
    const vouching = idpIntent && (await requireVouchingSession(context, userId, call))
    if (vouching) await requireConnecting(context, idpLink.idpId, call)
    const user = await context.store.load<User>('user', userId)
    requireHuman(user?.state)
    const field = () => (idpIntent ? 'idpIntent' : 'idpLink')
    const place = { organizationId: user!.organizationId, field, isProved: vouching !== undefined, isOwn }
    const links = await namedLinks(context, [idpLink], place, call)
    const mailId = randomUUID()
    const store = (isTold: boolean) =>
      context.store.execute({
        aggregate: { type: 'user', id: userId },
        call,
        decide({ state, organizationId }: Aggregate<User>, now): Decision<UserEvent, Notice | undefined> {
          const human = requireHuman(state)
          mayAddBy(vouching)(human)
          refuseMore(human.links ?? [], idpLink.idpId)
          const ids = { userId, organizationId, mailId, isOwn }
          const notice = isTold ? noticeOf(context, 'linked', human, ids, now) : undefined
          const told = notice && { writes: notice.writes, uses: notice.uses }
          // By an administrator's hand it is no stranger's, who waits for the owner of the address.
          const isWaiting = (vouching !== undefined || isOwn) && (isUnproved(human) || !human.isVerified)
          // A session that such a link opened would make one that outlives it.
          const isNamed =
            vouching !== undefined &&
            (Object.keys(vouching.mark).length > 0 || human.links?.some((one) => one.domain ?? one.named) === true)
          const marks = { ...(isWaiting && { unproved: true as const }), ...(isNamed && { named: true as const }) }
          const made = links.map((link) => ({ ...link, ...marks }))
          return { ...linkingAll(made), ...told, answer: notice }
        },
        respond: ({ after, answer }) => ({ details: details(after), notice: answer }),
      })
    const { notice, ...answer } = await withoutNotice(store, isOwn)
    settleNotice(context, notice)
    return answer
  },
}

async function linkOf(context: Context, proof: IDPIntentProof, { caller }: Call): Promise<NewIDPLink> {
  const {
    idpId,
    subject: userId,
    userName,
    issuer,
  } = (await findProvedIntent(context, proof, caller.userId)).progress.proved
  return { idpId, userId, userName, issuer }
}

// As on Roster's pages: whoever administers the user links by hand whom they like.
async function requireConnecting({ idp }: Context, idpId: string, call: Call): Promise<void> {
  const { refusesLinking } = await idp.lookupProvider({ idpId }, call)
  if (refusesLinking)
    throw new RosterError(
      'FAILED_PRECONDITION',
      'FACTOR_NOT_AVAILABLE',
      'The identity provider signs in those alone who are connected with it already.',
    )
}

function requireHuman(state: User | undefined) {
  const { human } = existing(state)
  if (!human) throw new RosterError('FAILED_PRECONDITION', 'NOT_A_HUMAN', 'Identity providers sign in humans alone.')
  return human
}
