import { describe, expect, test } from 'vitest'
import { IDPStylingType } from '#gen/roster/idp/v1/identity_provider_service'
import type { SecondFactorKind } from '../../directory/events/human.ts'
import { askedFirst, maySetUp, provable } from '../factors/asked-first.ts'
import type { KnownProvider } from '../factors/provider/known-providers.ts'
import type { FactorKind } from '../events/session.ts'
import type { Human } from '../../directory/events/human.ts'
import type { User } from '../../directory/events/user.ts'
import type { LoginPolicySettings } from '../events/login-policy.ts'
import { policyOf } from './load-login-policy.ts'
import {
  askedSecondFactors,
  type CheckedFactor,
  defaultPolicy,
  type LoginPolicy,
  missingFactors,
  ownFactors,
} from './login-policy.ts'

const policy = { ...defaultPolicy, allowPasskeys: true, passkeyRpId: 'x' }
const demanding = { ...policy, forceMfa: true }
const passkey = (secondOnly: boolean) => ({ id: 'x', rpId: 'x', ...(secondOnly && { secondOnly }) })
const having = (secondFactors: SecondFactorKind[], passkeys: object[] = []) =>
  ({ email: 'ada@example.com', isVerified: true, secondFactors, passkeys }) as unknown as Human
const checked = (...kinds: (FactorKind | 'verified passkey')[]): CheckedFactor[] =>
  kinds.map((kind) => ({
    at: new Date(0),
    ...(kind === 'verified passkey' ? { kind: 'passkey', userVerified: true } : { kind }),
  }))

const none = having([])
const app = having(['totp', 'recovery-code'])
const key = having([], [passkey(true)])
const opens = having([], [passkey(false)])
const appAndOpens = having(['totp', 'recovery-code'], [passkey(false)])
const appAndKey = having(['totp'], [passkey(true)])

describe('what is missing beside a password', () => {
  test.each<[string, typeof policy, Human, FactorKind[]]>([
    ['nothing, where nobody demands it', policy, none, []],
    ['nothing, of who has a passkey that opens sessions', policy, opens, []],
    ['a security key', policy, key, ['passkey']],
    ['an app, or a passkey that the person has', policy, appAndOpens, ['passkey', 'totp', 'recovery-code']],
    ['an app or a security key', policy, appAndKey, ['passkey', 'totp']],
    ['what anybody can prove or set up', demanding, none, ['totp', 'otp-email']],
    ['that, or a passkey that the person has', demanding, opens, ['passkey', 'totp', 'otp-email']],
    ['no mailed code, of who has an app', demanding, app, ['totp', 'recovery-code']],
    ['no passkey, where none is allowed', { ...demanding, allowPasskeys: false }, opens, ['totp', 'otp-email']],
    ['a security key of the person all the same', { ...policy, allowPasskeys: false }, key, ['passkey']],
    ['the app alone, where passkeys are no second factor', only('totp'), appAndOpens, ['totp']],
    ['a security key, though the person has none', only('passkey'), none, ['passkey']],
    ['the same where the policy allows no passkeys', { ...only('passkey'), allowPasskeys: false }, none, ['passkey']],
  ])('%s', (_, of, human, expected) => {
    expect(askedSecondFactors(of, ownFactors(human, policy))).toEqual(expected)
    expect(missingFactors(of, ownFactors(human, policy), checked('password'))).toEqual(
      expected.length > 0 ? [expected] : [],
    )
  })
})

describe('a sign-in at a provider', () => {
  const provider = (secondFactors?: string[]): KnownProvider => ({
    idpId: 'acme',
    organizationId: 'o',
    name: 'Acme',
    stylingType: IDPStylingType.STYLING_TYPE_UNSPECIFIED,
    ...(secondFactors && { secondFactors }),
  })
  const own = { demanded: [], further: [], linked: [{ idpId: 'acme', linkedAt: new Date(0).toISOString() }] }
  const sessionOf = (more: Partial<CheckedFactor> = {}): CheckedFactor[] => [
    { kind: 'provider', idpId: 'acme', at: new Date(0), counted: ['amr:mfa'], ...more },
  ]
  const lacking = (providers: LoginPolicy['providers'], checks: CheckedFactor[], now?: Date, of = demanding) =>
    missingFactors({ ...of, providers }, own, checks, { now })

  test.each<[string, string[] | undefined, Partial<CheckedFactor>, boolean]>([
    ['is two factors where it said what the record asks for', ['acr:phr', 'amr:mfa'], {}, true],
    ['is one where the record asks for nothing', undefined, {}, false],
    ['is one where the record asks for something else by now', ['amr:hwk'], {}, false],
    ['is one where it said nothing of that', ['amr:mfa'], { counted: [] }, false],
    ['is one of another provider', ['amr:mfa'], { idpId: 'other' }, false],
    ['is one of an earlier link', ['amr:mfa'], { at: new Date(-1) }, false],
  ])('%s', (_, asked, more, isTwo) => expect(lacking([provider(asked)], sessionOf(more)).length === 0).toBe(isTwo))

  test('by a link that an address alone made, or somebody else, proves nobody who has a role', () => {
    const lackingFor = (made: object, byHandAlone: boolean) =>
      missingFactors(
        { ...policy, providers: [provider()], byHandAlone },
        { ...own, linked: own.linked.map((link) => ({ ...link, ...made })) },
        sessionOf(),
      )
    expect(lackingFor({ domain: 'example.com' }, false)).toEqual([])
    expect(lackingFor({ domain: 'example.com' }, true)).not.toEqual([])
    expect(lackingFor({ named: true }, false)).toEqual([])
    expect(lackingFor({ named: true }, true)).not.toEqual([])
    expect(lackingFor({}, true)).toEqual([])
  })

  test('is two for as long as a multi-factor check counts, from when the person signed in there', () => {
    const of = { ...demanding, multiFactorCheckLifetime: 3600 }
    const at = new Date(7_200_000)
    const [providers, now] = [[provider(['amr:mfa'])], new Date(7_300_000)]
    expect(lacking(providers, sessionOf({ at }), now, of)).toEqual([])
    expect(lacking(providers, sessionOf({ at, provedAt: new Date(0).toISOString() }), now, of)).not.toEqual([])
  })
})

function only(...secondFactors: FactorKind[]) {
  return { ...demanding, secondFactors }
}

test.each<[CheckedFactor[], Human, boolean]>([
  [checked('verified passkey'), appAndOpens, true],
  [checked('verified passkey'), appAndKey, true],
  [checked('password', 'passkey'), appAndOpens, true],
  [checked('password', 'passkey'), app, false],
  [checked('password', 'otp-email'), appAndOpens, false],
  [checked('password', 'otp-email'), opens, true],
  [checked('passkey'), opens, false],
])('%j: whether that is enough where a second factor is demanded', (factors, human, isEnough) => {
  expect(missingFactors(demanding, ownFactors(human, policy), factors).length === 0).toBe(isEnough)
})

test('a verified passkey counts for nothing where none is allowed', () => {
  const missing = missingFactors(
    { ...policy, allowPasskeys: false },
    ownFactors(opens, policy),
    checked('verified passkey'),
  )
  expect(missing).toEqual([['password']])
})

test('a verified passkey is two factors for as long as the policy says, and beside a password a second one for longer', () => {
  const of = { ...demanding, multiFactorCheckLifetime: 60 }
  const missing = (seconds: number, ...factors: Parameters<typeof checked>) =>
    missingFactors(of, ownFactors(opens, policy), checked(...factors), { now: new Date(seconds * 1000) })
  expect(missing(60, 'verified passkey')).toEqual([])
  expect(missing(61, 'verified passkey')).toEqual([['passkey', 'totp', 'otp-email']])
  expect(missing(61, 'password', 'verified passkey')).toEqual([])
})

test.each<[LoginPolicySettings, LoginPolicySettings, Partial<LoginPolicy>]>([
  [{}, {}, { forceMfa: false, forceMfaOfAdministrators: false, hidePasswordReset: false, passwordCheckLifetime: 600 }],
  [{ forceMfa: true }, { forceMfa: false }, { forceMfa: true }],
  [{ forceMfa: false }, { forceMfa: true }, { forceMfa: true }],
  [{ forceMfaOfAdministrators: true }, { forceMfaOfAdministrators: false }, { forceMfaOfAdministrators: true }],
  [{ hidePasswordReset: true }, { hidePasswordReset: false }, { hidePasswordReset: true }],
  [{}, { allowPasskeys: true }, { allowPasskeys: true }],
  [{ allowPasskeys: false }, { allowPasskeys: true }, { allowPasskeys: false }],
  [{ allowPasskeys: true }, { allowPasskeys: false }, { allowPasskeys: false }],
  [{ passwordCheckLifetime: 60 }, { passwordCheckLifetime: 90 }, { passwordCheckLifetime: 60, keptCheckLifetime: 60 }],
  [{ passwordCheckLifetime: 90 }, { passwordCheckLifetime: 60 }, { passwordCheckLifetime: 60, keptCheckLifetime: 60 }],
  [{ passwordCheckLifetime: 9000 }, {}, { passwordCheckLifetime: 600, keptCheckLifetime: 6000 }],
  [
    { secondFactorCheckLifetime: 60 },
    { secondFactorCheckLifetime: 90 },
    { secondFactorCheckLifetime: 60, passwordCheckLifetime: 600 },
  ],
  [{ multiFactorCheckLifetime: 90 }, { multiFactorCheckLifetime: 60 }, { multiFactorCheckLifetime: 60 }],
  [{}, { keepSignedIn: 'always' }, { keepSignedIn: 'always' }],
  [{ keepSignedIn: 'off' }, { keepSignedIn: 'always' }, { keepSignedIn: 'off' }],
  [{ keepSignedIn: 'allowed' }, { keepSignedIn: 'always' }, { keepSignedIn: 'allowed' }],
  [{ keepSignedIn: 'always' }, { keepSignedIn: 'off' }, { keepSignedIn: 'off' }],
  // What demands nothing of who signs in is the organization's.
  [
    { allowRegister: false, tellOfSignIns: true },
    { allowRegister: true, tellOfSignIns: false },
    { allowRegister: true, tellOfSignIns: false },
  ],
])('of the instance %j and an organization %j the stricter holds', (ofInstance, own, expected) => {
  const lifetimes = { SESSION_LIFETIME: 600, KEPT_SESSION_LIFETIME: 6000, PUBLIC_URL: 'https://x', PASSKEY_RP_ID: '' }
  expect(policyOf(ofInstance, own, lifetimes)).toMatchObject(expected)
})

describe('the page', () => {
  const user = (human: Human) => ({ human }) as User

  test('of a first factor is that of the password, which asks for a passkey, too', () => {
    const [first] = missingFactors(policy, ownFactors(opens, policy), [])
    expect(first).toEqual(['password', 'passkey'])
    expect(askedFirst(first as FactorKind[], user(opens), policy)).toBe('password')
    expect(provable(first as FactorKind[], user(opens), policy)).toEqual([])
  })

  test('of a second factor asks for a passkey first, and for what the person chose', () => {
    const kinds = askedSecondFactors(policy, ownFactors(appAndOpens, policy))
    expect(
      [undefined, 'totp', 'otp-email'].map((way) => askedFirst(kinds, user(appAndOpens), policy, way as FactorKind)),
    ).toEqual(['passkey', 'totp', 'passkey'])
  })

  test('asks for no passkey of another domain, and sets up nothing in its place', () => {
    const moved = { ...demanding, passkeyRpId: 'y' }
    const kinds = askedSecondFactors(moved, ownFactors(opens, policy))
    expect(provable(kinds, user(opens), moved)).toEqual(['otp-email'])
    expect(askedFirst(kinds, user(opens), moved)).toBe('otp-email')
    expect(maySetUp(kinds, opens)).toBe(false)
    // Nor is a key of the person passed over.
    expect(missingFactors(policy, ownFactors(key, policy), checked('password'))).toEqual([['passkey']])
    expect(provable(['passkey'], user(key), moved)).toEqual([])
  })

  test('asks for no passkey that a browser made without asking, and nobody has used', () => {
    const unused = having([], [{ ...passkey(false), conditional: true }])
    const kinds = askedSecondFactors(demanding, ownFactors(unused, policy))
    expect(kinds).toEqual(['totp', 'otp-email'])
    expect(maySetUp(kinds, unused)).toBe(true)
  })

  test('sets no app up of a person who has a passkey, unless that counts for nothing', () => {
    const asked = (of: typeof policy) => askedSecondFactors(of, ownFactors(opens, policy))
    expect(maySetUp(asked(demanding), opens)).toBe(false)
    expect(maySetUp(asked({ ...demanding, allowPasskeys: false }), opens)).toBe(true)
    expect(maySetUp(asked({ ...demanding, allowPasskeys: false }), none)).toBe(true)
  })
})
