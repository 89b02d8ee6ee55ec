import type { ApplicationCopy, ProjectCopy } from '../applications/application-copy.ts'
import type { Revisions } from '../events/authorization.ts'
import type { FactorKind } from '../../sessions/events/session.ts'
import { outlives, signOutsOf } from '../../directory/events/sign-outs.ts'
import { areSecond } from '../../sessions/factors/asked-first.ts'
import { type AcrValue } from '../acr.ts'
import {
  contextLack,
  type ContextLack,
  contextOf,
  isMultiple,
  namedContext,
  type UnmetContext,
} from './authentication-context.ts'
import { isConsole } from '../applications/console-application.ts'
import { providerTokens } from '../scope.ts'
import type { Admission, Stage, Facts, RequestFacts } from './facts.ts'
import { withoutForeignTokens } from './provider-tokens.ts'
import { freshFor } from '../../sessions/fresh-for.ts'
import { factorKinds, firstFactors } from '../../sessions/factors/kinds.ts'
import {
  type CheckedFactor,
  checkLifetime,
  type Counting,
  countingFactors,
  lastFirstFactor,
  lastProof,
  missingFactors,
  othersThan,
  proofOf,
} from '../../sessions/login-policy/login-policy.ts'

declare const judged: unique symbol

/** Only `judge` makes it. What issues codes and tokens, or describes a person, takes one as its argument. */
export interface Allowed {
  readonly [judged]: true
  userId: string
  organizationId: string
  application: ApplicationCopy
  project: ProjectCopy
  sessionId: string | undefined
  /** The end of the session, where this ends with it. */
  sessionEnd: Date | undefined
  /** Those of the request that are given. */
  scopes: readonly string[]
  factors: readonly Counting[]
  /** When the last first factor was checked. */
  authTime: Date
  acr: AcrValue
  /** The trusted browser of the session. */
  trustId: string | undefined
  amr: string[]
  rounds: Revisions
  /** What lets the person into the project, by the events of grants. Undefined where that lets in everybody. */
  admittedBy: string[] | undefined
}

/** In the order in which pages ask. */
export interface Missing {
  missing: [Lack, ...Lack[]]
}

export type Lack =
  | { what: 'person' }
  | { what: 'account' }
  | { what: 'click' }
  | { what: 'factor' | 'fresh-factor'; kinds: readonly FactorKind[]; acr?: undefined }
  | ContextLack
  | UnmetContext
  | { what: 'new-password' }
  | { what: 'consent'; scopes: readonly string[] }

export interface ShutOut {
  shutOut: Reason
}

/**
 * `grant`: the project asks for a grant of it. `ended`: what the authorization stands on is over. `consent`: the person
 * never let the application have this, and it is no first party any more.
 */
export type Reason =
  | 'inactive'
  | 'organization'
  | 'application'
  | 'project'
  | 'membership'
  | 'grant'
  | 'other-person'
  | 'ended'
  | 'consent'

export type Verdict = Allowed | Missing | ShutOut

export function isAllowed(verdict: Verdict): verdict is Allowed {
  return !('missing' in verdict) && !('shutOut' in verdict)
}

/** Whether this user may come to this application at this stage, or what is missing. Pure. */
export function judge(stage: Stage, facts: Facts, now: Date): Verdict {
  const isNew = stage === 'page' || stage === 'silent' || stage === 'session-api'
  const { application, project, request, session, authorization } = facts
  if (!application?.isOpen) return { shutOut: 'application' }
  if (!project?.isOpen || project.id !== application.projectId || !facts.projectOrganization.isOpen)
    return { shutOut: 'project' }
  if (isNew ? !request : !authorization) return { shutOut: 'ended' }
  // With its session end its codes, too.
  const mustLive = isNew || stage === 'code' || authorization!.sessionBound
  if (!facts.user || (mustLive && noSession(session, facts.user)))
    return isNew ? { missing: [{ what: 'person' }] } : { shutOut: 'ended' }
  const reason = shutsOut(facts, facts.user, application, project)
  if (reason) return { shutOut: reason }
  const checked = isNew ? markStale(session!.factors, request!, now) : authorization!.factors
  const factors = countingFactors(facts.policy, facts.user, checked)
  const consented = isNew
    ? consentTo(stage, facts, facts.user, application, withGivable(request!, factors, facts, project))
    : given(authorization!.scopes)
  // What an application has already goes on, however old its factors are.
  const beside = { now: isNew ? now : undefined, standsIn: standIn(isNew, facts, application) }
  const { ofPolicy, newPassword, toSetUp } = factorsOf(facts, facts.user, factors, beside)
  const recent = factors.filter(({ stale = false }) => !stale)
  const missing: Lack[] = [
    ...selectAccount(request),
    ...ofPolicy,
    ...(isNew ? maxAge(factors, request!, { ...facts.policy, kept: session!.kept }, now) : []),
    ...(newPassword && isNew ? freshPassword(factors, now) : []),
    ...(newPassword ? [{ what: 'new-password' as const }] : []),
    ...toSetUp,
    ...(request?.acr ? acrValuesOf(stage, { ...facts, user: facts.user }, recent, [...ofPolicy, ...toSetUp]) : []),
    ...consented.lacks,
  ]
  const [first, ...others] = missing
  if (first) return { missing: [first, ...others] }
  return {
    userId: facts.user.id,
    organizationId: facts.user.organizationId,
    application,
    project,
    sessionId: session?.id,
    sessionEnd: mustLive ? session!.expiresAt : undefined,
    scopes: consented.scopes,
    factors,
    authTime: lastProof(factors) ?? lastFirstFactor(factors)!,
    acr: isNew ? namedContext(contextOf(recent, facts.policy), request!.acr) : authorization!.acr,
    trustId: isNew ? session!.trustId : undefined,
    amr: [
      ...new Set(recent.flatMap(({ kind }) => factorKinds[kind].amr)),
      ...(isMultiple(recent, facts.policy) ? ['mfa'] : []),
    ],
    rounds: revisionsOf(facts, facts.user, application, project),
    admittedBy: facts.access?.map(({ eventId }) => eventId),
  } as unknown as Allowed
}

function noSession(session: Facts['session'], user: NonNullable<Facts['user']>): boolean {
  return !session?.isAlive || session.userId !== user.id
}

// A person who registers chooses the account, too.
function selectAccount(request: RequestFacts | undefined): Lack[] {
  const isAsked = request?.prompts.some((prompt) => prompt === 'select_account' || prompt === 'create')
  return isAsked && !request!.chosen ? [{ what: 'account' }] : []
}

// It lets in, and proves nothing: who changes an account proves who it is anew.
function standIn(isNew: boolean, { session, authorization, request }: Facts, application: ApplicationCopy) {
  // What acts in Roster may change the account, too, or that of others.
  if (application.oidc?.rosterApi) return undefined
  if (!isNew) return authorization!.standsIn
  const changes = isRoster(application) && request!.maxAge !== undefined
  return changes ? undefined : session!.standsIn
}

function factorsOf(
  { policy }: Facts,
  {
    secondFactors: demanded,
    furtherFactors: further = [],
    passwordMustChange,
    passwordByLink,
    linked = [],
  }: NonNullable<Facts['user']>,
  checked: readonly CheckedFactor[],
  beside: Parameters<typeof missingFactors>[3],
): { ofPolicy: Lack[]; newPassword: boolean; toSetUp: Lack[] } {
  const own = { demanded, further, passwordMustChange, passwordByLink, linked }
  const missing = missingFactors(policy, own, checked, beside)
  const lacks = missing.map((kinds) => (kinds === 'new-password' ? undefined : { what: 'factor' as const, kinds }))
  const at = lacks.indexOf(undefined)
  const [before, after] = at < 0 ? [lacks, []] : [lacks.slice(0, at), lacks.slice(at + 1)]
  return {
    ofPolicy: before.filter((lack) => lack !== undefined),
    newPassword: at >= 0,
    toSetUp: after.filter((lack) => lack !== undefined),
  }
}

// Whoever finds the browser later knows no password, and chooses none.
function freshPassword(factors: readonly CheckedFactor[], now: Date): Lack[] {
  const isFresh = factors.some(({ kind, at }) => kind === 'password' && now.getTime() - at.getTime() <= freshFor * 1000)
  return isFresh ? [] : [{ what: 'fresh-factor', kinds: ['password'] }]
}

// `acr_values`, and `acr` of `claims`. A login application sees to what is only to be tried.
function acrValuesOf(
  stage: Stage,
  facts: Facts & { user: NonNullable<Facts['user']> },
  recent: readonly Counting[],
  ofPolicy: readonly Lack[],
): Lack[] {
  const { acr: asked, passedOver } = facts.request!
  const lack = contextLack(facts, { asked: asked!, passedOver, silently: stage === 'silent' }, recent)
  if (!lack || (stage === 'session-api' && 'maySkip' in lack && lack.maySkip)) return []
  // What the policy demands comes to it, too.
  const isDemanded = lack.what === 'factor' && ofPolicy.some((other) => 'kinds' in other && areSecond(other.kinds))
  return isDemanded ? [] : [lack]
}

// They count for the policy, and go with the authorization, whose tokens never name them.
function markStale(factors: readonly CheckedFactor[], request: RequestFacts, now: Date): CheckedFactor[] {
  return factors.map((factor) => ({ ...factor, ...(!isRecent(proofOf(factor), request, now) && { stale: true }) }))
}

// As young as the application asks for, or younger than its request. A page that is left open for longer than ten minutes
// asks again, where the application says how long a factor counts.
function isRecent(at: Date | undefined, { maxAge = Infinity, prompts, beganAt }: RequestFacts, now: Date): boolean {
  // Of a provider that does not say when.
  if (!at) return maxAge === Infinity && !prompts.includes('login')
  const age = (now.getTime() - at.getTime()) / 1000
  return at > beganAt ? age <= Math.max(maxAge, freshFor) : !prompts.includes('login') && age <= maxAge
}

// `max_age`, `prompt=login` and the lifetime by the policy. A factor counts if it is as young as is asked for, or younger
// than the request: so no request asks twice.
function maxAge(
  factors: readonly Counting[],
  request: RequestFacts,
  policy: Facts['policy'] & { kept: boolean },
  now: Date,
): Lack[] {
  const checked = lastFirstFactor(factors)
  if (!checked) return []
  const isYoung =
    checked > request.beganAt || now.getTime() - checked.getTime() <= checkLifetime(policy, policy.kept) * 1000
  const others: readonly FactorKind[] = ['passkey', ...othersThan(policy)]
  const kinds = firstFactors.filter((kind) => others.includes(kind) || policy.factors.includes(kind))
  return isYoung && isRecent(lastProof(factors), request, now) ? [] : [{ what: 'fresh-factor', kinds }]
}

function idTokenHint(request: RequestFacts | undefined, user: NonNullable<Facts['user']>): Reason | undefined {
  return request?.hintedUser === undefined || request.hintedUser === user.id ? undefined : 'other-person'
}

function shutsOut(
  facts: Facts,
  user: NonNullable<Facts['user']>,
  application: ApplicationCopy,
  project: ProjectCopy,
): Reason | undefined {
  const { authorization, request } = facts
  if (!user.isActive) return 'inactive'
  if (!facts.organization.isOpen) return 'organization'
  const only = [application.oidc?.organizationId, request?.organizationScope, authorization?.organizationScope]
  if (only.some((organizationId) => organizationId !== undefined && organizationId !== user.organizationId))
    return 'membership'
  const refused = idTokenHint(request, user) ?? refusedBy(project, user, facts)
  if (refused) return refused
  if (!authorization) return undefined
  const isOf = authorization.userId === user.id && authorization.applicationId === application.id
  const { rounds, sessionId } = authorization
  const { user: _, ...others } = revisionsOf(facts, user, application, project)
  if (!isOf || !outlives(user, sessionId, rounds.user) || !isSame(rounds, others)) return 'ended'
  const ungiven = lacksOfConsent(facts.consent, authorization, application, user)
  return ungiven ? 'consent' : undefined
}

// What let in the person before must still do so, without a break since then: a lost grant that is given again is another.
// People of the owner come in as long as it is open, which its revision says.
function refusedBy(
  { roleCheck, hasProjectCheck, organizationId: owner }: ProjectCopy,
  { organizationId: home }: NonNullable<Facts['user']>,
  { access = [], authorization }: Facts,
): Reason | undefined {
  const lasting = (admission: Admission) =>
    authorization?.admittedBy?.includes(admission.eventId) ?? !(authorization && admission.since > authorization.usedAt)
  const checks = [
    { isOn: roleCheck, reason: 'grant', admissions: access.filter(({ byUserGrant }) => byUserGrant) },
    { isOn: hasProjectCheck && home !== owner, reason: 'membership', admissions: access },
  ] as const
  for (const { isOn, reason, admissions } of checks)
    if (isOn && !admissions.some(lasting)) return admissions.length > 0 ? 'ended' : reason
  return undefined
}

function revisionsOf(
  facts: Facts,
  user: NonNullable<Facts['user']>,
  application: ApplicationCopy,
  project: ProjectCopy,
): Revisions {
  return {
    user: signOutsOf(user),
    organization: facts.organization.revision,
    projectOrganization: facts.projectOrganization.revision,
    application: application.revision,
    project: project.revision,
    consent: facts.consent.revision,
  }
}

function isSame(then: Revisions, now: Omit<Revisions, 'user'>): boolean {
  return (Object.keys(now) as (keyof typeof now)[]).every((what) => then[what] === now[what])
}

interface Consented {
  scopes: readonly string[]
  lacks: Lack[]
}

const given = (scopes: readonly string[]): Consented => ({ scopes, lacks: [] })

// What nobody can give is not asked for.
function withGivable(
  request: RequestFacts,
  factors: readonly CheckedFactor[],
  { policy }: Pick<Facts, 'policy'>,
  { organizationId }: ProjectCopy,
): RequestFacts {
  return { ...request, scopes: withoutForeignTokens(request.scopes, factors, policy.providers, organizationId) }
}

function consentTo(
  stage: Stage,
  { consent }: Facts,
  user: NonNullable<Facts['user']>,
  application: ApplicationCopy,
  request: RequestFacts,
): Consented {
  const asksAgain = request.prompts.includes('consent') && !request.decided && !isPartOfRoster(application)
  const lacking = asksAgain ? wishesOf(request) : lacksOfConsent(consent, request, application, user)
  // Without a page it is left out, as OpenID Connect Core has it (section 11). That does not allow its first use.
  if (stage === 'silent' && consent.isGiven && lacking?.length === 1 && lacking[0] === 'offline_access')
    return { scopes: request.scopes.filter((scope) => scope !== 'offline_access'), lacks: clickOf(request) }
  return { scopes: request.scopes, lacks: lacking ? [{ what: 'consent', scopes: lacking }] : clickOf(request) }
}

/** Whether the person let the application in, whatever it asks for, or need not be asked. */
export function isKnownTo(application: ApplicationCopy, { consent, user }: Facts): boolean {
  return user !== undefined && lacksOfConsent(consent, { scopes: [], claimScopes: [] }, application, user) === undefined
}

type Wishes = Pick<RequestFacts, 'scopes' | 'claimScopes'>

function wishesOf({ scopes, claimScopes }: Wishes): string[] {
  return [...new Set([...scopes, ...claimScopes])]
}

// The scopes that the person did not give; none of them where the first use alone is to be allowed. Undefined: nothing is.
function lacksOfConsent(
  { isGiven, scopes }: Facts['consent'],
  wishes: Wishes,
  application: ApplicationCopy,
  user: NonNullable<Facts['user']>,
): string[] | undefined {
  const isOwn = application.oidc?.firstParty === true && application.organizationId === user.organizationId
  if (isPartOfRoster(application)) return undefined
  const lacking = wishesOf(wishes).filter((scope) => !scopes.includes(scope))
  // What the person has at another service is not the organization's to give.
  if (isOwn) return lacking.includes(providerTokens) ? [providerTokens] : undefined
  return isGiven && lacking.length === 0 ? undefined : lacking
}

/** The own account: no copy has an empty id. */
function isRoster({ id }: ApplicationCopy): boolean {
  return id === ''
}

/** Nobody is asked whether it may be used. */
function isPartOfRoster(application: ApplicationCopy): boolean {
  return isRoster(application) || isConsole(application)
}

function clickOf({ needsClick, decided }: RequestFacts): Lack[] {
  return needsClick && !decided ? [{ what: 'click' }] : []
}
