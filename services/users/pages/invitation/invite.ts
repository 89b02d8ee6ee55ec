import { randomUUID } from 'node:crypto'
import { v7 as uuid } from 'uuid'
import type { AddInvitationRequest, AddInvitationResponse } from '#gen/roster/users/v1/invitation_service'
import type { Violation } from '#lib/errors'
import { details } from '#lib/eventstore/aggregate'
import type { Command } from '#lib/eventstore/command'
import { permissionDenied } from '#lib/rpc/authorize'
import { holds, rolesIn } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import { coversRole } from '#lib/rpc/roles'
import { refuseRemovedOrganization } from '../../../organization-status.ts'
import type { Context } from '../../context.ts'
import { checkAddress } from '../../directory/email/address.ts'
import {
  type Invitation,
  type InvitationEvent,
  type InvitedTo,
  invitationType,
} from '../../directory/events/invitation.ts'
import { requireMayActOn } from '../../directory/may-act-on.ts'
import { type StatusKey, statuses } from '../../directory/organizations/statuses.ts'
import { findHolder } from '../../directory/login-names/address-holder.ts'
import { keepInvitation, pendingGuard } from './invitation-rows.ts'
import { requireLanding } from './landing.ts'
import { type MadeLink, makeLink } from './new-link.ts'

/** PERMISSION_DENIED where the caller may not give one of the roles. A token may allow less than its user. */
export function permitInvited({ grants, organizationRoles }: InvitedTo, { caller, organizationId }: Call): void {
  const held = rolesIn(caller, organizationId)
  const mayGive =
    grants.every(({ projectId }) => holds(caller, 'user.grant.write', organizationId, projectId)) &&
    (organizationRoles.length === 0 || holds(caller, 'org.member.write', organizationId)) &&
    organizationRoles.every((role) => coversRole(held, role))
  if (!mayGive) throw permissionDenied()
}

/** The problems of an invitation that the contract does not declare. `prefix` is the path to it. */
export function checkInvitation({ email, grants, appId, landingUri }: AddInvitationRequest, prefix = ''): Violation[] {
  const projects = grants.map(({ projectId }) => projectId)
  const twice = projects.findIndex((id, index) => projects.indexOf(id) !== index)
  return [
    ...checkAddress(email, `${prefix}email`),
    ...(twice < 0 ? [] : [{ field: `${prefix}grants[${twice}].projectId`, description: 'is there twice' }]),
    ...(landingUri === '' || appId !== '' ? [] : [{ field: `${prefix}landingUri`, description: 'needs an appId' }]),
    ...(landingUri === '' || isWebAddress(landingUri)
      ? []
      : [{ field: `${prefix}landingUri`, description: 'must be an http or https URL in printable ASCII' }]),
  ]
}

// Browsers read a backslash as a slash, and drop tabs.
function isWebAddress(text: string): boolean {
  return /^https?:\/\/[^/?#@]+([/?#][\x21-\x7e]*)?$/.test(text) && !/[^\x21-\x7e]|\\/.test(text) && URL.canParse(text)
}

/** Asks for all that an invitation depends on: whether its roles can be given, and its application. */
export async function requireGivable(context: Context, invited: InvitedTo, call: Call): Promise<void> {
  const { grants, organizationRoles } = invited
  const { organizationId, caller } = call
  const asked = { inviterId: caller.userId, organizationId, userId: '', grants, organizationRoles }
  await context.grants.giveInvitedRoles(asked, { requestId: call.requestId, deadline: call.deadline })
  await requireLanding(context, invited, call)
}

/**
 * PERMISSION_DENIED, as SetEmail, where the address is that of a person of the organization with more roles than the caller.
 * Of people elsewhere the caller learns nothing.
 */
export async function requireMayInvite(context: Context, email: string, call: Call): Promise<void> {
  const { organizationId } = call
  const holderId = await findHolder(context, { email, organizationId, anywhere: false })
  if (holderId !== undefined) await requireMayActOn(context, holderId, call)
}

export function invitedTo({ appId, landingUri, grants, organizationRoles }: AddInvitationRequest): InvitedTo {
  return {
    ...(appId !== '' && { applicationId: appId }),
    ...(landingUri !== '' && { landingUri }),
    grants: grants.map(({ projectId, roleKeys }) => ({ projectId, roleKeys: [...new Set(roleKeys)] })),
    organizationRoles: [...new Set(organizationRoles)],
  }
}

/** A command, and the mail that waits once it is stored. */
export interface Creation {
  command: Command<Invitation, InvitationEvent, MadeLink, AddInvitationResponse, StatusKey>
  mail(): MadeLink['mail']
}

/** The id of the invitation becomes that of a new person. */
export function createInvitation(context: Context, request: AddInvitationRequest, call: Call): Creation {
  const [id, codeId] = [uuid(), randomUUID()]
  const { organizationId, caller } = call
  const { email } = request
  let made: MadeLink | undefined
  const command: Creation['command'] = {
    aggregate: { type: invitationType, id },
    creates: true,
    reads: { status: statuses.key(organizationId) },
    call,
    decide(_, now, { status }) {
      refuseRemovedOrganization(status)
      const invited = { id, organizationId, email, codeId, inviterId: caller.userId }
      const link = makeLink(context, invited, request.delivery, now)
      return {
        organizationId,
        events: [{ type: 'created', payload: { ...link.facts, ...invitedTo(request) } }],
        writes: [keepInvitation(context.keys, { id, organizationId, now }, request, link.facts), ...link.writes],
        uses: link.uses,
        guards: [pendingGuard(organizationId)],
        answer: link,
      }
    },
    respond({ after, answer }) {
      made = answer
      return { invitationId: after.id, details: details(after), link: answer.link }
    },
  }
  return { command, mail: () => made?.mail }
}
