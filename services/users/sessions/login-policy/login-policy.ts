import type { Brand, KeepSignedIn, ProviderDomain } from '../events/login-policy.ts'
import type { CheckOfFactor, Factor, FactorKind, Session } from '../events/session.ts'
import type { Link } from '../../directory/events/links.ts'
import type { Human, SecondFactorKind } from '../../directory/events/human.ts'
import { countingPasskeys } from '../../directory/events/passkeys.ts'
import type { KnownProvider } from '../factors/provider/known-providers.ts'
import { factorKinds, isFirst, isWayOut, secondFactors } from '../factors/kinds.ts'

export interface CheckedFactor extends CheckOfFactor {
  kind: FactorKind
  at: Date
  /** It is older than an application asked for. Missing: it is not. */
  stale?: boolean
}

declare const counting: unique symbol

/** A factor that counts for the person now. Only `countingFactors` makes one: what asks for times or strength takes no other. */
export type Counting<F extends Counted = CheckedFactor> = F & { readonly [counting]: true }

type Counted = Pick<CheckedFactor, 'kind' | 'idpId' | 'at' | 'byLink' | 'setBy'>

/** What an organization demands of those who sign in, and allows them. */
export interface LoginPolicy {
  /** What begins a session, where no passkey and no provider does: a password, or a mailed code. `provider`: nothing else does. */
  factors: readonly FactorKind[]
  /** The identity providers that people sign in by, as they serve now. */
  providers: readonly KnownProvider[]
  /** Those of the people who have addresses of a domain. Whether the domain is verified is asked where it counts. */
  providerDomains: readonly ProviderDomain[]
  /** Pages ask for the name first, and lead to the provider of its domain. */
  allowDomainDiscovery: boolean
  /** People sign in with passkeys; else these count for nothing. */
  allowPasskeys: boolean
  /** The domain that they serve: of the instance. */
  passkeyRpId: string
  /** Everybody needs a second factor. */
  forceMfa: boolean
  /** Who has a role does: who that is, is asked for each person. */
  forceMfaOfAdministrators: boolean
  /** Those that serve as one. */
  secondFactors: readonly FactorKind[]
  /** For so many days a browser whose person says so is not asked for a second factor again. 0: nobody says so. */
  trustedBrowserDays: number
  /** After so many wrong passwords in a row a user is locked. */
  maxPasswordAttempts: number
  /** People may register themselves. */
  allowRegister: boolean
  /** A request without a token gets no code for a forgotten password. */
  hidePasswordReset: boolean
  /** People are told by mail of a sign-in in a browser that they did not use before. */
  tellOfSignIns: boolean
  /** Where a page leads to that knows no better way. Empty: nowhere. */
  defaultRedirectUri: string
  /** Seconds from the check of a password until it is asked for again. */
  passwordCheckLifetime: number
  /** Likewise, of a person who stays signed in. */
  keptCheckLifetime: number
  /** Seconds that a second factor counts where one is demanded. */
  secondFactorCheckLifetime: number
  /** Likewise, that a verified passkey counts as two. */
  multiFactorCheckLifetime: number
  /** Nothing reads these two. */
  externalLoginCheckLifetime?: number
  mfaInitSkipLifetime?: number
  keepSignedIn: KeepSignedIn
  /** Links at the foot of pages. Empty: none. */
  tosLink: string
  privacyPolicyLink: string
  helpLink: string
  /** How pages look. Missing: as Roster. */
  brand?: Brand
}

/**
 * What is demanded of one person: `forceMfa` says whether that one needs a second factor. So no policy of an organization
 * is taken for it.
 */
export type PersonPolicy = Omit<LoginPolicy, 'forceMfaOfAdministrators'> & {
  forceMfaOfAdministrators?: never
  /**
   * The person has a role: a provider that was connected by an address alone, or by somebody else, proves nothing, and nor does
   * what was set up by such a link.
   */
  byHandAlone?: boolean
  /** Ids of users whose roles do not cover the person's: passkeys that they may have made do not count. Missing: none. */
  outgrown?: readonly string[]
}

export const defaultPolicy: PersonPolicy = {
  factors: ['password'],
  providers: [],
  providerDomains: [],
  allowDomainDiscovery: false,
  allowPasskeys: false,
  passkeyRpId: '',
  forceMfa: false,
  secondFactors,
  trustedBrowserDays: 0,
  maxPasswordAttempts: Infinity,
  allowRegister: false,
  hidePasswordReset: false,
  tellOfSignIns: true,
  defaultRedirectUri: '',
  passwordCheckLifetime: Infinity,
  keptCheckLifetime: Infinity,
  secondFactorCheckLifetime: Infinity,
  multiFactorCheckLifetime: Infinity,
  keepSignedIn: 'off',
  tosLink: '',
  privacyPolicyLink: '',
  helpLink: '',
}

/** Seconds from the check of a password until it is asked for again. */
export function checkLifetime(policy: PersonPolicy, isKept: boolean): number {
  return isKept && policy.keepSignedIn !== 'off' ? policy.keptCheckLifetime : policy.passwordCheckLifetime
}

/** The second factors of a person. */
export interface OwnFactors {
  /** The person is asked for one of these, whatever the policy. */
  demanded: readonly SecondFactorKind[]
  /** These serve, too, where a second factor is demanded. */
  further: readonly SecondFactorKind[]
  /** Somebody else set the password. Missing: nobody did. */
  passwordMustChange?: boolean | undefined
  /** The password was set in a session that rested on a link alone which counts for nobody with a role. */
  passwordByLink?: boolean | undefined
  /** The identity providers to which the person is linked, and since when, RFC 3339. Missing: none. */
  linked?: readonly Pick<Link, 'idpId' | 'linkedAt' | 'domain' | 'named'>[] | undefined
}

/**
 * What a person has set up. A passkey that opens sessions is not demanded: it may be on another device. One of another domain
 * stays what the person has, or the password alone would set up another factor; one that a browser made without asking, and
 * nobody has used, is not.
 */
export function ownFactors(
  human: Human | undefined,
  policy: Pick<PersonPolicy, 'byHandAlone' | 'outgrown'>,
): OwnFactors {
  const { secondFactors: demanded = [], passwordMustChange = false, passwordByLink = false, links = [] } = human ?? {}
  const passkeys = countingPasskeys(human, policy)
  const password = { passwordMustChange, passwordByLink }
  const linked = links.map(({ idpId, linkedAt, domain, named }) => ({
    idpId,
    linkedAt,
    ...(domain !== undefined && { domain }),
    ...(named && { named }),
  }))
  if (passkeys.some(({ secondOnly }) => secondOnly))
    return { demanded: ['passkey', ...demanded], further: [], ...password, linked }
  const further = passkeys.some(({ conditional }) => !conditional) ? ['passkey' as const] : []
  return { demanded, further, ...password, linked }
}

/** Kinds of which one suffices; or another password, in place of one that somebody else set. */
export type Lacking = FactorKind[] | 'new-password'

/**
 * What is still to be checked, in the order in which pages ask: of each list, one kind suffices. Where the password that
 * opened the session was set by somebody else, another one comes last, once all is proved. A user with second
 * factors of their own is asked for one of them, whatever the policy. A passkey opens a session where its authenticator
 * made sure of the person, and is two factors then. `now`: where a second factor is asked for again after a time. Without
 * it, it counts however old it is, as in what an application has already. `standsIn`: the second factor for which a trusted
 * browser stands.
 */
export function missingFactors(
  policy: Demands,
  own: OwnFactors,
  proved: readonly (Counted & Pick<CheckedFactor, 'userVerified' | 'provedAt' | 'counted'>)[],
  { now, standsIn }: { now?: Date | undefined; standsIn?: FactorKind | undefined } = {},
): Lacking[] {
  const checked = countingFactors(policy, own, proved)
  const isWithin = (lifetime: number, { at, provedAt }: (typeof checked)[number]) =>
    !now || now.getTime() - (provedAt === undefined ? at.getTime() : Date.parse(provedAt)) <= lifetime * 1000
  const young = checked.filter((factor) => isWithin(policy.secondFactorCheckLifetime, factor))
  const isBoth = ({ kind, userVerified = false }: (typeof checked)[number]) =>
    policy.allowPasskeys && kind === 'passkey' && userVerified
  const isChecked = (kind: FactorKind) => checked.some((factor) => factor.kind === kind)
  const isTwo = (factor: (typeof checked)[number]) => isBoth(factor) || countsAsTwo(policy, factor)
  if (young.some((factor) => isTwo(factor) && isWithin(policy.multiFactorCheckLifetime, factor))) return []
  const first = policy.factors
    .filter((kind) => !isChecked(kind) && !checked.some((factor) => isBoth(factor) || factor.kind === 'provider'))
    .map((kind): FactorKind[] => [kind, ...othersThan(policy).filter((other) => other !== kind)])
  const second = askedSecondFactors(policy, own)
  // Another one than these does not count: who set up an app is not to be passed by the mailbox.
  // Nor does a passkey that stands for both and has grown old as that.
  const isSecond = (factor: (typeof checked)[number]) => !isBoth(factor) || isChecked('password')
  const isPassed = second.some(
    (kind) => kind === standsIn || young.some((factor) => factor.kind === kind && isSecond(factor)),
  )
  // Who comes by a passkey or a mailed code does not use it.
  const isUsed = own.passwordMustChange === true && policy.factors.includes('password') && isChecked('password')
  const lacked = second.length === 0 || isPassed ? [] : [second]
  if (!isUsed) return [...first, ...lacked]
  // Whoever set the password must not set up the second factor with it.
  const isSetUp = own.demanded.length === 0 && second.some((kind) => factorKinds[kind].second?.isSetUpInSignIn)
  return isSetUp ? [...first, 'new-password', ...lacked] : [...first, ...lacked, 'new-password']
}

/**
 * The factors that count for the person. A sign-in at a provider does as long as the policy lists the provider, and the link by
 * which it came serves the person. What an earlier link proved does not count for the one that took its place. What was set up
 * by a link that does not serve counts no more than that. A passkey of an `outgrown` user does not count.
 */
export function countingFactors<F extends Counted>(
  policy: Pick<PersonPolicy, 'byHandAlone' | 'outgrown' | 'providers'>,
  own: Pick<OwnFactors, 'linked' | 'passwordByLink'>,
  checked: readonly F[],
): Counting<F>[] {
  const { linked = [] } = own
  const isByProvider = ({ idpId, at }: F) =>
    policy.providers.some((provider) => provider.idpId === idpId) &&
    linked.some((link) => link.idpId === idpId && Date.parse(link.linkedAt) <= at.getTime() && servesFor(policy, link))
  const isByOther = (factor: F) =>
    (policy.byHandAlone && isSetUpByLink(own, factor)) ||
    (factor.setBy !== undefined && policy.outgrown?.includes(factor.setBy))
  const counts = (factor: F) => (factor.kind === 'provider' ? isByProvider(factor) : !isByOther(factor))
  return checked.filter(counts) as Counting<F>[]
}

/**
 * Whether a link counts at all. Who may pick addresses at a provider, or name whom it proves, could wait until one of its people
 * has a role.
 */
export function servesFor(
  { byHandAlone = false }: Pick<PersonPolicy, 'byHandAlone'>,
  { domain, named }: Pick<Link, 'domain' | 'named'>,
): boolean {
  return !byHandAlone || (domain === undefined && !named)
}

/** Whether a password or a passkey was set up in a session that rested on a link alone which counts for nobody with a role. */
export function isSetUpByLink(
  { passwordByLink = false }: Pick<OwnFactors, 'passwordByLink'>,
  { kind, byLink }: Pick<CheckedFactor, 'kind' | 'byLink'>,
): boolean {
  return byLink === true || (kind === 'password' && passwordByLink)
}

/** Whether a sign-in at a provider counts as two factors: it said what the provider's record asks for, and still does. */
export function countsAsTwo(
  { providers }: Pick<LoginPolicy, 'providers'>,
  { kind, idpId, counted }: Pick<CheckedFactor, 'kind' | 'idpId' | 'counted'>,
): boolean {
  if (kind !== 'provider' || counted === undefined) return false
  const { secondFactors: counting = [] } = providers.find((provider) => provider.idpId === idpId) ?? {}
  return counting.some((word) => counted.includes(word))
}

/** What begins a session in place of a password or a mailed code. */
export function othersThan({
  allowPasskeys,
  providers,
}: Pick<LoginPolicy, 'allowPasskeys' | 'providers'>): FactorKind[] {
  return [...(allowPasskeys ? ['passkey' as const] : []), ...(providers.length > 0 ? ['provider' as const] : [])]
}

type Demands = Pick<
  PersonPolicy,
  | 'byHandAlone'
  | 'outgrown'
  | 'factors'
  | 'providers'
  | 'allowPasskeys'
  | 'forceMfa'
  | 'forceMfaOfAdministrators'
  | 'secondFactors'
  | 'secondFactorCheckLifetime'
  | 'multiFactorCheckLifetime'
>

/** The second factors of which one is asked for; none: nothing is. */
export function askedSecondFactors(
  policy: Omit<Demands, 'providers' | 'secondFactorCheckLifetime' | 'multiFactorCheckLifetime'>,
  { demanded: owned, further }: OwnFactors,
): FactorKind[] {
  const { forceMfa } = policy
  // The mailbox is one factor: where it begins a session, it is no second one.
  const demanded = owned.filter((kind) => !provesAgain(policy, kind))
  // A security key of the person's own is asked for all the same, or a policy would take it away.
  const allowed = policy.secondFactors.filter(
    (kind) => !provesAgain(policy, kind) && (kind !== 'passkey' || policy.allowPasskeys || demanded.includes(kind)),
  )
  // Recovery codes stand for another factor alone.
  const serving = (kinds: readonly FactorKind[]) => (kinds.every(isWayOut) ? [] : kinds)
  const own = serving(demanded)
  if (!forceMfa && own.length === 0) return []
  const usable = serving(own.filter((kind) => allowed.includes(kind)))
  const ofAnybody = allowed.filter((kind) => !isWayOut(kind) && !factorKinds[kind].second!.needsSetUp)
  const others = usable.length > 0 ? usable : forceMfa ? ofAnybody : own
  const found = [...further.filter((kind) => allowed.includes(kind)), ...others]
  // A second factor is demanded, though the person has none that serves.
  const asked = found.length > 0 ? found : policy.secondFactors.filter((kind) => !isWayOut(kind))
  return orderOfPages.filter((kind) => asked.includes(kind))
}

/** Whether a second factor proves nothing more than the first one of this policy. */
export function provesAgain({ factors }: Pick<LoginPolicy, 'factors'>, kind: FactorKind): boolean {
  return kind === 'otp-email' && factors.includes('mailed-code')
}

const orderOfPages = Object.keys(factorKinds) as FactorKind[]

/** What was checked of a session. One of a former release began with its password. */
export function checkedFactors({ factors }: Pick<Session, 'factors'>): Factor[] {
  return factors ?? [{ kind: 'password', at: '' }]
}

/** The same with their times. */
export function checkedAt(session: Pick<Session, 'factors'>): CheckedFactor[] {
  return checkedFactors(session).map((factor) => ({ ...factor, at: new Date(factor.at) }))
}

export function lastFirstFactor(factors: readonly Counting[]): Date | undefined {
  return latest(factors.filter(isFirst).map(({ at }) => at))
}

/**
 * When the person last proved a first factor. A provider answers without asking where the person is signed in there: so what
 * counts is when that was, and where it does not say so, nothing does.
 */
export function lastProof(factors: readonly Counting[]): Date | undefined {
  return latest(factors.filter(isFirst).flatMap((factor) => proofOf(factor) ?? []))
}

/** When a factor was proved. Undefined: nobody knows. */
export function proofOf({ kind, at, provedAt }: CheckedFactor): Date | undefined {
  if (kind !== 'provider') return at
  return provedAt === undefined ? undefined : new Date(provedAt)
}

function latest(times: Date[]): Date | undefined {
  return times.length > 0 ? new Date(Math.max(...times.map((time) => time.getTime()))) : undefined
}
