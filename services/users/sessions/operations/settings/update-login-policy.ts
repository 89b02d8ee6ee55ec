import { isDeepStrictEqual } from 'node:util'
import {
  type IdentityProviders,
  KeepSignedIn,
  type LoginPolicySettings as Sent,
  type UpdateLoginPolicyRequest,
  type UpdateLoginPolicyResponse,
} from '#gen/roster/users/v1/login_policy_service'
import { invalid, type Violation } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { domainName } from '#lib/names/domain-name'
import { instance } from '#lib/instance'
import type { Call } from '#lib/rpc/headers'
import { refuseRemovedOrganization } from '../../../../organization-status.ts'
import type { Config } from '../../../config.ts'
import type { Context } from '../../../context.ts'
import { faultsOfBrand } from '../../login-policy/brand.ts'
import { hashOf, keepLogos, type KindOfLogo, kindsOfLogo } from '../../login-policy/logos.ts'
import { NoLogo, rewritePng } from '../../login-policy/rewrite-png.ts'
import { statuses } from '../../../directory/organizations/statuses.ts'
import { isWayOut, kindOfSecond, secondFactors } from '../../factors/kinds.ts'
import {
  type LoginPolicyEvent,
  type LoginPolicySettings,
  loginPolicyType,
  type ProviderDomain,
} from '../../events/login-policy.ts'

export const updateLoginPolicy = {
  check: (
    { config }: Context,
    { settings }: UpdateLoginPolicyRequest,
    { organizationId }: Pick<Call, 'organizationId'>,
  ): Violation[] => (settings ? faultsOf(settings, config, organizationId === instance.id) : []),

  async handle(context: Context, { settings }: UpdateLoginPolicyRequest, call: Call) {
    const logos: Logos = {}
    for (const kind of kindsOfLogo) {
      const file = settings?.brand?.[kind] ?? Buffer.alloc(0)
      if (file.length > 0) logos[kind] = await readLogo(kind, file, call)
    }
    return replace(context, settings ? given(settings, logos) : {}, call, logos)
  },
}

/** Replaces all settings by none. */
export function resetLoginPolicy(context: Context, _request: object, call: Call): Promise<UpdateLoginPolicyResponse> {
  return replace(context, {}, call)
}

/** What no declared rule sees. */
export function faultsOf(
  {
    defaultRedirectUri = '',
    passwordCheckLifetime,
    secondFactorCheckLifetime,
    brand,
    secondFactors: serving,
    ...sent
  }: Sent,
  { SESSION_LIFETIME, KEPT_SESSION_LIFETIME }: Pick<Config, 'SESSION_LIFETIME' | 'KEPT_SESSION_LIFETIME'>,
  ofInstance: boolean,
): Violation[] {
  const { allowMailedCodes = false, allowUsernamePassword = true, identityProviders } = sent
  const hasProviders = (identityProviders?.idpIds.length ?? 0) > 0 && sent.allowExternalIdp !== false
  const isPage = defaultRedirectUri === '' || isWebPage(defaultRedirectUri)
  const lifetimes = [
    { name: 'passwordCheckLifetime', lifetime: passwordCheckLifetime, least: 60, most: SESSION_LIFETIME },
    { name: 'secondFactorCheckLifetime', lifetime: secondFactorCheckLifetime, least: 60, most: KEPT_SESSION_LIFETIME },
    {
      name: 'multiFactorCheckLifetime',
      lifetime: sent.multiFactorCheckLifetime,
      least: 60,
      most: KEPT_SESSION_LIFETIME,
    },
    { name: 'externalLoginCheckLifetime', lifetime: sent.externalLoginCheckLifetime, least: 0, most: tenYears },
    { name: 'mfaInitSkipLifetime', lifetime: sent.mfaInitSkipLifetime, least: 0, most: tenYears },
  ]
  return [
    ...(allowMailedCodes && allowUsernamePassword
      ? [violation('allowMailedCodes', 'must not stand beside passwords: allowUsernamePassword must be false')]
      : []),
    ...(!allowMailedCodes && !allowUsernamePassword && (ofInstance || !hasProviders)
      ? [violation('allowUsernamePassword', `must be true unless ${ofInstance ? inPlace : inPlaceThere}`)]
      : []),
    ...faultsOfDomains(identityProviders),
    ...(isPage ? [] : [violation('defaultRedirectUri', 'must be https, without user and fragment')]),
    ...(serving && !servesAlone(serving)
      ? [violation('secondFactors.types', 'must have one at least that is no recovery code')]
      : []),
    ...lifetimes.flatMap(({ name, lifetime, least, most }) =>
      !lifetime || (lifetime.nanos === 0 && lifetime.seconds >= least && lifetime.seconds <= most)
        ? []
        : [violation(name, `must be ${least} to ${most} whole seconds`)],
    ),
    ...linksOf(sent).flatMap(([name, link]) =>
      link === '' || isWebPage(link) ? [] : [violation(name, 'must be https, without user and fragment')],
    ),
    // A page shows it in place of that one.
    ...(brand?.darkLogo.length && !brand.logo.length ? [violation('brand.darkLogo', 'must stand beside a logo')] : []),
    ...faultsOfBrand(brand ?? {}).map(({ field, description }) => violation(`brand.${field}`, description)),
  ]
}

// Whether a domain is verified is seen where the entry counts: it may be so later, and not any more.
function faultsOfDomains({ idpIds, domains }: Pick<IdentityProviders, 'idpIds' | 'domains'> = none): Violation[] {
  const names = domains.map(({ domain }) => domainName(domain))
  return domains.flatMap(({ idpId }, at) => {
    const [name, field] = [names[at], `identityProviders.domains[${at}]`]
    return [
      ...(name === undefined
        ? [violation(`${field}.domain`, 'must be a domain with at least one dot, such as example.com')]
        : []),
      ...(name !== undefined && names.indexOf(name) < at
        ? [violation(`${field}.domain`, 'must not stand there twice: a domain has one provider')]
        : []),
      ...(idpIds.includes(idpId) ? [] : [violation(`${field}.idpId`, 'must be one of identityProviders.idpIds')]),
    ]
  })
}

const none: Pick<IdentityProviders, 'idpIds' | 'domains'> = { idpIds: [], domains: [] }

// An instance whose only way in is a server of somebody else could be locked out.
const inPlace = 'allowMailedCodes is: people sign in by one of them'
const inPlaceThere = 'allowMailedCodes is, or identityProviders has one: people sign in by one of them'

const tenYears = 315_360_000

function servesAlone({ types }: NonNullable<Sent['secondFactors']>): boolean {
  const kinds = types.map(kindOfSecond)
  return kinds.every((kind) => kind !== undefined) && kinds.some((kind) => !isWayOut(kind))
}

function linksOf({ tosLink = '', privacyPolicyLink = '', helpLink = '' }: Pick<Sent, Links>): [Links, string][] {
  return Object.entries({ tosLink, privacyPolicyLink, helpLink }) as [Links, string][]
}
type Links = 'tosLink' | 'privacyPolicyLink' | 'helpLink'

// Characters that a browser would read in another way than other programs do are none of a URI (RFC 3986).
function isWebPage(uri: string): boolean {
  const isPlain = /^https:\/\/([\w.-]+|\[[\da-f:.]+\])(:\d+)?([/?][\w.~:/?[\]@!$&'()*+,;=%-]*)?$/i.test(uri)
  return isPlain && URL.canParse(uri)
}

function violation(field: string, description: string): Violation {
  return { field: `settings.${field}`, description }
}

type Logos = Partial<Record<KindOfLogo, Buffer>>

// INVALID_ARGUMENT VALIDATION_FAILED; RESOURCE_EXHAUSTED LOGOS_THROTTLED.
async function readLogo(kind: KindOfLogo, file: Buffer, { organizationId, deadline }: Call): Promise<Buffer> {
  try {
    return await rewritePng(file, { lane: organizationId, deadline })
  } catch (error) {
    throw error instanceof NoLogo ? invalid([violation(`brand.${kind}`, error.message)]) : error
  }
}

function inOneSpelling({ domain, idpId, trusted }: ProviderDomain): ProviderDomain {
  return { domain: domainName(domain)!, idpId, trusted }
}

/** The settings as they are stored. What may only be as it is says nothing that has to be kept. */
export function given(
  {
    forceMfa,
    forceMfaOfAdministrators,
    secondFactors: serving,
    allowRegister,
    allowPasskeys,
    allowMailedCodes,
    allowUsernamePassword,
    allowDomainDiscovery,
    trustedBrowserDays,
    maxPasswordAttempts,
    identityProviders,
    allowExternalIdp,
    hidePasswordReset,
    tellOfSignIns,
    defaultRedirectUri,
    passwordCheckLifetime,
    secondFactorCheckLifetime,
    multiFactorCheckLifetime,
    externalLoginCheckLifetime,
    mfaInitSkipLifetime,
    disableLoginWithPhone,
    brand,
    keepSignedIn,
    tosLink,
    privacyPolicyLink,
    helpLink,
  }: Sent,
  logos: Logos,
) {
  const kinds = serving?.types.map(kindOfSecond)
  const settings = {
    forceMfa,
    forceMfaOfAdministrators,
    // In one order, so that the same settings are the same.
    secondFactors: kinds && { kinds: secondFactors.filter((kind) => kinds.includes(kind)) },
    allowRegister,
    allowPasskeys,
    allowMailedCodes,
    // Beside mailed codes it goes without saying.
    allowUsernamePassword: allowUsernamePassword === false && !allowMailedCodes ? false : undefined,
    allowDomainDiscovery,
    trustedBrowserDays,
    maxPasswordAttempts,
    identityProviders: identityProviders && {
      idpIds: identityProviders.idpIds,
      // As events of before: one without has none.
      domains: identityProviders.domains.length === 0 ? undefined : identityProviders.domains.map(inOneSpelling),
    },
    allowExternalIdp,
    hidePasswordReset,
    tellOfSignIns,
    defaultRedirectUri,
    passwordCheckLifetime: passwordCheckLifetime?.seconds,
    secondFactorCheckLifetime: secondFactorCheckLifetime?.seconds,
    multiFactorCheckLifetime: multiFactorCheckLifetime?.seconds,
    externalLoginCheckLifetime: externalLoginCheckLifetime?.seconds,
    mfaInitSkipLifetime: mfaInitSkipLifetime?.seconds,
    disableLoginWithPhone,
    keepSignedIn: keepSignedIn === undefined ? undefined : keptAs[keepSignedIn],
    tosLink,
    privacyPolicyLink,
    helpLink,
    brand: brand && {
      ...brand,
      ...Object.fromEntries(
        kindsOfLogo.flatMap((kind) => [
          [kind, undefined],
          [`${kind}Hash`, logos[kind] && hashOf(logos[kind])],
        ]),
      ),
    },
  }
  // Without what is undefined, at any depth.
  return JSON.parse(JSON.stringify(settings)) as LoginPolicySettings
}

const keptAs: Partial<Record<KeepSignedIn, LoginPolicySettings['keepSignedIn']>> = {
  [KeepSignedIn.KEEP_SIGNED_IN_OFF]: 'off',
  [KeepSignedIn.KEEP_SIGNED_IN_ALLOWED]: 'allowed',
  [KeepSignedIn.KEEP_SIGNED_IN_ALWAYS]: 'always',
}

async function replace(
  { store }: Pick<Context, 'store'>,
  settings: LoginPolicySettings,
  call: Call,
  logos: Logos = {},
): Promise<UpdateLoginPolicyResponse> {
  const { organizationId } = call
  return store.execute({
    aggregate: { type: loginPolicyType, id: organizationId },
    reads: { status: statuses.key(organizationId) },
    call,
    decide({ state = {} }: Aggregate<LoginPolicySettings>, _now, { status }): Decision<LoginPolicyEvent> {
      refuseRemovedOrganization(status)
      if (isDeepStrictEqual(state, settings)) return { organizationId, events: [], answer: undefined }
      const writes = keepLogos(organizationId, logos)
      return { organizationId, events: [{ type: 'changed', payload: settings }], writes, answer: undefined }
    },
    respond: ({ after }) => ({ details: after.state && details(after) }),
  })
}
