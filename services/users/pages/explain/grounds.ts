import {
  type ExplainSignInRequest,
  type ExplainSignInResponse,
  type SignInGround,
  SignInReason,
} from '#gen/roster/users/v1/session_service'
import type { AggregateKey } from '#lib/eventstore/aggregate'
import { consentKey } from '../../openid/events/consent.ts'
import type { Facts } from '../../openid/judge/facts.ts'
import { isAllowed, type Lack, type Reason } from '../../openid/judge/judge.ts'
import { authorizationType } from '../../openid/events/authorization.ts'
import { outlives } from '../../directory/events/sign-outs.ts'
import type { FactorKind } from '../../sessions/events/session.ts'
import { areSecond } from '../../sessions/factors/asked-first.ts'
import { factorKinds } from '../../sessions/factors/kinds.ts'
import { askedSecondFactors } from '../../sessions/login-policy/login-policy.ts'
import { demands, sentences } from './sentences.ts'
import type { Assessment } from './assess.ts'

/** The verdict in words, with what each part of it stands on. Pure. */
export function groundsOf(
  assessment: Assessment,
  request: AskedIds,
): Pick<ExplainSignInResponse, 'allowed' | 'refusal' | 'missing'> {
  const { facts, isSignedOut } = assessment
  const { refusal, missing: lacks } = groundsOfVerdict(assessment, request)
  if (refusal) return { allowed: false, refusal, missing: [] }
  const person = isSignedOut ? [ground({ reason: SignInReason.SIGN_IN_REASON_PERSON, object: sessionOf(facts!) })] : []
  const missing = [...person, ...lacks]
  return { allowed: missing.length === 0, refusal: undefined, missing }
}

/** The ids of a request that refusals stand on. */
export type AskedIds = Pick<ExplainSignInRequest, 'userId' | 'hintedUserId' | 'authorizationId'>

/** What a verdict refuses, or asks for. Pure. */
export function groundsOfVerdict(
  assessment: Pick<Assessment, 'verdict' | 'facts' | 'user' | 'seesProject'>,
  request: AskedIds,
): { refusal: SignInGround | undefined; missing: SignInGround[] } {
  const { verdict, facts } = assessment
  const refuse = (found: Found) => ({ refusal: ground(found), missing: [] })
  if (verdict === 'scopes') return refuse({ reason: SignInReason.SIGN_IN_REASON_SCOPES })
  if ('shutOut' in verdict) return refuse(refusalOf(verdict.shutOut, assessment, request))
  const lacks = isAllowed(verdict) ? [] : verdict.missing.map((lack) => ground(lackOf(lack, facts!)))
  return { refusal: undefined, missing: lacks }
}

interface Found {
  reason: keyof typeof sentences
  /** Default: that of the reason. */
  sentence?: string
  kinds?: readonly FactorKind[]
  object?: AggregateKey | undefined
  scopes?: readonly string[]
  until?: Date | undefined
}

/** A reason in words. Pure. */
export function ground({
  reason,
  sentence = sentences[reason],
  object,
  scopes = [],
  until,
  kinds = [],
}: Found): SignInGround {
  const { type = '', id = '' } = object ?? {}
  const methods = kinds.map((kind) => factorKinds[kind].method)
  return { reason, sentence, objectType: type, objectId: id, scopes: [...scopes], until, methods }
}

function lackOf(lack: Lack, facts: Facts): Found {
  switch (lack.what) {
    case 'person':
      return { reason: SignInReason.SIGN_IN_REASON_PERSON, object: sessionOf(facts) }
    case 'account':
      return { reason: SignInReason.SIGN_IN_REASON_ACCOUNT }
    case 'click':
      return { reason: SignInReason.SIGN_IN_REASON_CLICK }
    case 'unmet-context':
      return { reason: SignInReason.SIGN_IN_REASON_CONTEXT_UNMET, object: { type: 'user', id: facts.user!.id } }
    case 'factor':
      if (lack.acr) return { reason: SignInReason.SIGN_IN_REASON_CONTEXT, kinds: lack.kinds }
      return {
        reason: SignInReason.SIGN_IN_REASON_FACTOR,
        ...(areSecond(lack.kinds) && { sentence: demands[whoDemands(facts)] }),
        object: sessionOf(facts),
        kinds: lack.kinds,
      }
    case 'fresh-factor':
      if (lack.acr) return { reason: SignInReason.SIGN_IN_REASON_CONTEXT, kinds: lack.kinds }
      return { reason: SignInReason.SIGN_IN_REASON_FRESH_FACTOR, object: sessionOf(facts), kinds: lack.kinds }
    case 'new-password':
      return { reason: SignInReason.SIGN_IN_REASON_NEW_PASSWORD, object: { type: 'user', id: facts.user!.id } }
    case 'consent': {
      const { application, user } = facts
      const object = consentKey(application!.id, user!.id)
      return { reason: SignInReason.SIGN_IN_REASON_CONSENT, object, scopes: lack.scopes }
    }
  }
}

// Whether the user would be asked for a second factor if the policy demanded none.
function whoDemands({ policy, user }: Facts): keyof typeof demands {
  const { secondFactors: demanded, furtherFactors: further = [] } = user!
  return askedSecondFactors({ ...policy, forceMfa: false }, { demanded, further }).length > 0 ? 'user' : 'policy'
}

function refusalOf(
  reason: Reason,
  { facts, user, seesProject }: Pick<Assessment, 'facts' | 'user' | 'seesProject'>,
  request: AskedIds,
): Found {
  const { userId, hintedUserId } = request
  const person = { type: 'user', id: userId }
  const seen = (object: AggregateKey) => (seesProject ? object : undefined)
  const notAdmitted: Found = { reason: SignInReason.SIGN_IN_REASON_NOT_ADMITTED }
  switch (reason) {
    case 'inactive':
      return user.locked
        ? { reason: SignInReason.SIGN_IN_REASON_USER_LOCKED, object: person }
        : { reason: SignInReason.SIGN_IN_REASON_USER_INACTIVE, object: person }
    case 'organization': {
      const object = { type: 'organization', id: facts!.user!.organizationId }
      return { reason: SignInReason.SIGN_IN_REASON_ORGANIZATION_CLOSED, object }
    }
    case 'application':
      return {
        reason: SignInReason.SIGN_IN_REASON_APPLICATION_CLOSED,
        object: facts && seen({ type: 'application', id: facts.application!.id }),
      }
    case 'project': {
      const { id, organizationId, isOpen } = facts!.project!
      // Whether an application and its project are open, its page tells everybody; of the organization it does not.
      if (!isOpen)
        return { reason: SignInReason.SIGN_IN_REASON_APPLICATION_CLOSED, object: seen({ type: 'project', id }) }
      const object = { type: 'organization', id: organizationId }
      return seesProject ? { reason: SignInReason.SIGN_IN_REASON_PROJECT_ORGANIZATION_CLOSED, object } : notAdmitted
    }
    case 'membership': {
      const fixed = facts!.application!.oidc!.organizationId
      const asked = [fixed, facts!.request?.organizationScope, facts!.authorization?.organizationScope]
      const other = asked.find((id) => id !== undefined && id !== facts!.user!.organizationId)
      // The settings of an application are told to those who may see its project.
      if (other !== undefined && other === fixed && !seesProject) return notAdmitted
      if (other !== undefined)
        return { reason: SignInReason.SIGN_IN_REASON_OTHER_ORGANIZATION, object: { type: 'organization', id: other } }
      const object = { type: 'project', id: facts!.project!.id }
      return seesProject ? { reason: SignInReason.SIGN_IN_REASON_PROJECT_CHECK, object } : notAdmitted
    }
    case 'grant': {
      const object = { type: 'project', id: facts!.project!.id }
      return seesProject ? { reason: SignInReason.SIGN_IN_REASON_ROLE_CHECK, object } : notAdmitted
    }
    case 'other-person':
      return { reason: SignInReason.SIGN_IN_REASON_OTHER_PERSON, object: { type: 'user', id: hintedUserId } }
    case 'consent': {
      const { application, authorization, user: ofFacts } = facts!
      const object = consentKey(application!.id, ofFacts!.id)
      return { reason: SignInReason.SIGN_IN_REASON_CONSENT, object, scopes: authorization!.scopes }
    }
    case 'ended':
      return endOf(facts!, request, seen)
  }
}

/** What is over of what an authorization stands on. */
function endOf(
  { user, session, authorization, application, project, consent, ...facts }: Facts,
  { userId, authorizationId }: AskedIds,
  seen: (object: AggregateKey) => AggregateKey | undefined,
): Found {
  if (!authorization || !user)
    return {
      reason: SignInReason.SIGN_IN_REASON_AUTHORIZATION_ENDED,
      object: { type: authorizationType, id: authorizationId },
    }
  const { rounds, sessionId } = authorization
  if (!outlives(user, sessionId, rounds.user))
    return { reason: SignInReason.SIGN_IN_REASON_SIGNED_OUT, object: { type: 'user', id: userId } }
  if (rounds.consent !== consent.revision)
    return { reason: SignInReason.SIGN_IN_REASON_CONSENT_WITHDRAWN, object: consentKey(application!.id, userId) }
  const reason = SignInReason.SIGN_IN_REASON_CLOSED_MEANWHILE
  if (rounds.organization !== facts.organization.revision)
    return { reason, object: { type: 'organization', id: user.organizationId } }
  if (rounds.application !== application!.revision)
    return { reason, object: seen({ type: 'application', id: application!.id }) }
  if (rounds.project !== project!.revision) return { reason, object: seen({ type: 'project', id: project!.id }) }
  if (rounds.projectOrganization !== facts.projectOrganization.revision)
    return { reason, object: seen({ type: 'organization', id: project!.organizationId }) }
  return {
    reason: SignInReason.SIGN_IN_REASON_SESSION_ENDED,
    object: { type: 'session', id: session?.id ?? sessionId },
  }
}

function sessionOf({ session, user }: Facts): AggregateKey | undefined {
  return session && session.userId === user?.id ? { type: 'session', id: session.id } : undefined
}
