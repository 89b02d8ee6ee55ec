import { randomUUID } from 'node:crypto'
import type { LookupProviderResponse } from '#gen/roster/idp/v1/internal_service'
import type { AddHumanUserRequest, AddHumanUserResponse } from '#gen/roster/users/v1/user_service'
import type { Violation } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Command, Decision } from '#lib/eventstore/command'
import { instance } from '#lib/instance'
import type { Call } from '#lib/rpc/headers'
import { coversRole } from '#lib/rpc/roles'
import { isBesideFormer, refuseBesideFormer } from '#lib/schema/releases'
import { v7 as uuid } from 'uuid'
import type { Context } from '../../../context.ts'
import { checkAddress } from '../../email/address.ts'
import {
  checkVerification,
  type CodeRequest,
  codeRequested,
  requestCode,
  templateOf,
} from '../../email/verification.ts'
import { type Vouch, vouching } from '../../login-names/vouching.ts'
import { claimUserName, newProfile, refuseTakenId } from '../../new-user.ts'
import { refuseRemovedOrganization } from '../../../../organization-status.ts'
import { refuseWeakPassword } from '../../passwords/refuse-weak-password.ts'
import type { VouchedOn } from '../../events/code.ts'
import type { NewLink } from '../../links/link.ts'
import { linkingAll, namedLinks } from '../../links/named-links.ts'
import { type NewUserKeys, newUserReads } from './new-user-reads.ts'
import type { User, UserEvent } from '../../events/user.ts'

export const addHumanUser = {
  check: (context: Context, request: AddHumanUserRequest): Violation[] => checkHuman(context, request),

  async handle(context: Context, request: AddHumanUserRequest, call: Call): Promise<AddHumanUserResponse> {
    const { userName, email, profile } = request
    if (request.password !== undefined)
      refuseWeakPassword(request.password, 'password', { userName, email: email?.email, profile })
    if (mustChange(request)) await refuseBesideFormer(context.sql)
    const passwordHash =
      request.password === undefined
        ? undefined
        : await context.passwordHashes.hash(request.password, { lane: call.caller.userId, deadline: call.deadline })
    const links = await linksOf(context, request, call)
    const vouch = await vouching(context, call.organizationId, [request.email?.verification], call)
    const mayInvite = !(await isBesideFormer(context.sql))
    return context.store.execute(createHuman(context, request, call, { vouch, mayInvite, passwordHash, links }))
  },
}

function mustChange({ password, passwordChangeRequired }: AddHumanUserRequest): boolean {
  return password !== undefined && passwordChangeRequired === true
}

/** The identity providers that sign a new human in. UNAVAILABLE UPGRADE_UNDER_WAY, and the errors of `namedLinks`. */
export async function linksOf(
  context: Context,
  { idpLinks }: AddHumanUserRequest,
  call: Call,
  { prefix = '', known }: { prefix?: string; known?: Map<string, LookupProviderResponse> } = {},
): Promise<NewLink[]> {
  const { links = [] } = idpLinks ?? {}
  if (links.length === 0) return []
  await refuseBesideFormer(context.sql)
  const field = (at: number) => `${prefix}idpLinks.links[${at}]`
  return namedLinks(context, links, { organizationId: call.organizationId, field, known }, call)
}

/** The problems of a new human that the contract does not declare. `prefix` is the path to the human. */
export function checkHuman(context: Context, { email }: AddHumanUserRequest, prefix = ''): Violation[] {
  return [
    ...checkAddress(email?.email ?? '', `${prefix}email.email`),
    // Every caller who may create a user holds user.write.
    ...checkVerification(context, email?.verification, true, `${prefix}email.`),
  ]
}

interface Known {
  vouch: Vouch
  /** The former release does not know invitations, and so could not end them. */
  mayInvite: boolean
  passwordHash?: string | undefined
  links: readonly NewLink[]
}

export function createHuman(
  context: Context,
  request: AddHumanUserRequest,
  call: Call,
  { vouch, mayInvite, passwordHash, links }: Known,
): Command<User, UserEvent, string | undefined, AddHumanUserResponse, NewUserKeys> {
  const userId = request.userId ?? uuid()
  const codeId = randomUUID()
  const { email, verification } = request.email!
  const isMailed = verification?.$case !== 'returnCode' && templateOf(verification) === undefined
  const invitation = mayInvite && passwordHash === undefined && isMailed ? { invitedBy: call.caller.userId } : undefined
  return {
    aggregate: { type: 'user', id: userId },
    creates: true,
    reads: newUserReads(userId, call.organizationId),
    call,
    decide(user, now, { status, invitation: other }) {
      refuseRemovedOrganization(status)
      refuseTakenId(user, other)
      const { organizationId } = call
      const code = requestCode(context, verification, { codeId, userId, email, organizationId }, now, invitation)
      return decide(user, request, call, { code, vouchedOn: vouch(email), links }, passwordHash)
    },
    respond: ({ after, answer: emailCode }) => ({ userId: after.id, details: details(after), emailCode }),
  }
}

function decide(
  user: Aggregate<User>,
  request: AddHumanUserRequest,
  { organizationId, caller }: Call,
  {
    code,
    vouchedOn,
    links,
  }: { code: CodeRequest | undefined; vouchedOn: VouchedOn | undefined; links: readonly NewLink[] },
  passwordHash: string | undefined,
): Decision<UserEvent, string | undefined> {
  const { userName } = request
  const added: UserEvent = {
    type: 'human.added',
    payload: {
      userName,
      profile: newProfile(request.profile!),
      email: request.email!.email,
      isVerified: code === undefined,
      ...(!code && vouchedOn && { vouchedOn }),
      // Nobody becomes more powerful than who has this role. Otherwise all whom the first administrator added would recover
      // nothing once that one has gone.
      ...(!coversRole(caller.instanceRoles, instance.administratorRole) && { setBy: caller.userId }),
      ...(mustChange(request) && { passwordChangeRequired: true }),
    },
  }
  // Whoever made it may be a stranger who waits for the owner of the address.
  const linked = linkingAll(code ? links.map((link) => ({ ...link, unproved: true })) : links)
  const requested = code && codeRequested(code, 'creation', { callerId: caller.userId, userId: user.id, vouchedOn })
  return {
    organizationId,
    claims: [claimUserName(organizationId, userName), ...linked.claims],
    events: [added, ...linked.events, ...(requested ? [requested.event] : [])],
    uses: requested?.uses ?? [],
    writes:
      passwordHash === undefined
        ? []
        : [(sql) => sql`insert into passwords (user_id, hash) values (${user.id}, ${passwordHash})`],
    answer: code?.returned,
  }
}
