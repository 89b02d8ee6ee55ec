import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { OIDCAppType } from '#gen/roster/grants/v1/application_service'
import type { Stage, Facts } from './facts.ts'
import { judge, type Verdict } from './judge.ts'
import { defaultPolicy } from '../../sessions/login-policy/login-policy.ts'

const now = new Date('2030-01-01T12:00:00Z')
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000)
const begun: Stage[] = ['page', 'silent', 'session-api']
const later: Stage[] = ['code', 'refresh', 'userinfo', 'token']
const stages = [...begun, ...later]

const mine = { byUserGrant: true, eventId: 'grants-1', since: ago(30) }
const ours = { byUserGrant: false, eventId: 'grants-2', since: ago(90) }

/** What is allowed at each stage. */
function whole(stage: Stage): Facts {
  const facts = {
    user: { id: 'ada', organizationId: 'acme', isActive: true, secondFactors: [], signOuts: 2 },
    organization: { isOpen: true, revision: 0 },
    projectOrganization: { isOpen: true, revision: 5 },
    application: {
      id: 'app',
      clientId: 'client',
      organizationId: 'owner',
      projectId: 'project',
      name: 'App',
      keys: [],
      oidc: { appType: OIDCAppType.OIDC_APP_TYPE_WEB, firstParty: false } as never,
      isOpen: true,
      revision: 7,
    },
    project: {
      id: 'project',
      organizationId: 'owner',
      roleCheck: true,
      hasProjectCheck: true,
      roleAssertion: false,
      isOpen: true,
      revision: 0,
    },
    access: [mine, ours],
    session: {
      id: 's',
      userId: 'ada',
      isAlive: true,
      expiresAt: ago(-60),
      kept: false,
      factors: [{ kind: 'password' as const, at: ago(60) }],
    },
    consent: { isGiven: true, scopes: ['openid', 'profile', 'offline_access'], revision: 1 },
    policy: defaultPolicy,
  }
  const request = {
    beganAt: ago(10),
    prompts: [],
    maxAge: undefined,
    hintedUser: 'ada',
    organizationScope: 'acme',
    scopes: ['openid', 'offline_access'],
    claimScopes: ['profile'],
    acr: undefined,
    passedOver: [],
    chosen: false,
    decided: false,
    needsClick: false,
  }
  const authorization = {
    userId: 'ada',
    applicationId: 'app',
    sessionId: 's',
    scopes: ['openid', 'offline_access'],
    claimScopes: ['profile'],
    acr: 'urn:roster:acr:1' as const,
    factors: [{ kind: 'password' as const, at: ago(60) }],
    organizationScope: 'acme',
    sessionBound: true,
    rounds: { user: 2, organization: 0, projectOrganization: 5, application: 7, project: 0, consent: 1 },
    admittedBy: ['grants-1', 'grants-2'],
    usedAt: ago(60),
  }
  const isNew = begun.includes(stage)
  return { ...facts, request: isNew ? request : undefined, authorization: isNew ? undefined : authorization }
}

const short = (verdict: Verdict) => {
  if ('missing' in verdict) return verdict.missing.map(({ what }) => what).join(' ')
  return 'shutOut' in verdict ? `shut out: ${verdict.shutOut}` : 'allowed'
}
// Every part of the facts is an object, so that a path of names leads to what is changed.
const put = (facts: Facts, path: string, value: unknown): Facts => {
  const copy = structuredClone(facts) as unknown as Record<string, unknown>
  const names = path.split('.')
  let part: Record<string, unknown> | undefined = copy
  for (const name of names.slice(0, -1)) part = part?.[name] as Record<string, unknown> | undefined
  if (part) part[names.at(-1)!] = value
  return copy as unknown as Facts
}

/** A fact that shuts out or is missing: [its path, its value, at the stages where it begins, at those after it]. */
const faults: [string, unknown, string | undefined, string | undefined][] = [
  ['user', undefined, 'person', 'shut out: ended'],
  ['user.isActive', false, 'shut out: inactive', 'shut out: inactive'],
  ['user.signOuts', 3, undefined, 'shut out: ended'],
  ['user.id', 'bob', 'person', 'shut out: ended'],
  ['organization.isOpen', false, 'shut out: organization', 'shut out: organization'],
  ['organization.revision', 9, undefined, 'shut out: ended'],
  ['projectOrganization.isOpen', false, 'shut out: project', 'shut out: project'],
  ['projectOrganization.revision', 9, undefined, 'shut out: ended'],
  ['application', undefined, 'shut out: application', 'shut out: application'],
  ['application.isOpen', false, 'shut out: application', 'shut out: application'],
  ['application.revision', 9, undefined, 'shut out: ended'],
  ['application.id', 'other', undefined, 'shut out: ended'],
  ['application.projectId', 'other', 'shut out: project', 'shut out: project'],
  ['project', undefined, 'shut out: project', 'shut out: project'],
  ['project.isOpen', false, 'shut out: project', 'shut out: project'],
  ['project.revision', 9, undefined, 'shut out: ended'],
  ['access', undefined, 'shut out: grant', 'shut out: grant'],
  ['access', [ours], 'shut out: grant', 'shut out: grant'],
  ['access', [{ ...mine, eventId: 'grants-3' }, ours], undefined, 'shut out: ended'],
  ['authorization.admittedBy', ['grants-0', 'grants-2'], undefined, 'shut out: ended'],
  // From before it was remembered, or before the check: his grant is younger than its last use.
  ['authorization.admittedBy', undefined, undefined, 'shut out: ended'],
  ['session', undefined, 'person', 'shut out: ended'],
  ['session.isAlive', false, 'person', 'shut out: ended'],
  ['session.userId', 'eve', 'person', 'shut out: ended'],
  ['session.factors', [], 'factor', undefined],
  ['policy.forceMfa', true, 'factor', 'factor'],
  ['user.secondFactors', ['otp-email'], 'factor', 'factor'],
  ['request', undefined, 'shut out: ended', undefined],
  ['request.hintedUser', 'grace', 'shut out: other-person', undefined],
  ['request.organizationScope', 'umbrella', 'shut out: membership', undefined],
  ['request.prompts', ['select_account'], 'account', undefined],
  ['request.prompts', ['create'], 'account', undefined],
  ['request.prompts', ['login'], 'fresh-factor', undefined],
  ['request.prompts', ['consent'], 'consent', undefined],
  ['request.prompts', ['login', 'select_account', 'consent'], 'account fresh-factor consent', undefined],
  ['request.maxAge', 59, 'fresh-factor', undefined],
  ['request.maxAge', 0, 'fresh-factor', undefined],
  ['policy.passwordCheckLifetime', 59, 'fresh-factor', undefined],
  ['request.needsClick', true, 'click', undefined],
  ['consent.isGiven', false, 'consent', 'shut out: consent'],
  ['consent.scopes', [], 'consent', 'shut out: consent'],
  ['consent.scopes', ['openid', 'offline_access'], 'consent', 'shut out: consent'],
  ['consent.revision', 2, undefined, 'shut out: ended'],
  ['application.oidc.organizationId', 'umbrella', 'shut out: membership', 'shut out: membership'],
  ['authorization', undefined, undefined, 'shut out: ended'],
  ['authorization.userId', 'mallory', undefined, 'shut out: ended'],
  ['authorization.applicationId', 'another', undefined, 'shut out: ended'],
  ['authorization.factors', [], undefined, 'factor'],
  ['authorization.organizationScope', 'umbrella', undefined, 'shut out: membership'],
]

describe.each(stages)('at the stage %s', (stage) => {
  const isNew = begun.includes(stage)

  test('a second factor is enough for the policy and for who has one, and the tokens name both', () => {
    const factors = [...whole(stage).session!.factors, { kind: 'otp-email', at: ago(50) }]
    let facts = put(whole(stage), isNew ? 'session.factors' : 'authorization.factors', factors)
    facts = put(put(facts, 'policy.forceMfa', true), 'user.secondFactors', ['otp-email'])
    expect(judge(stage, facts, now)).toMatchObject({ authTime: ago(60), amr: ['pwd', 'otp', 'mfa'] })
    // What an application has already goes on with one that is older than the policy wants now.
    const [young, old] = [50, 49].map((lifetime) => put(facts, 'policy.secondFactorCheckLifetime', lifetime))
    expect([short(judge(stage, young!, now)), short(judge(stage, old!, now))]).toEqual([
      'allowed',
      isNew ? 'factor' : 'allowed',
    ])
  })

  test('who has all is allowed', () => {
    expect(judge(stage, whole(stage), now)).toMatchObject({
      userId: 'ada',
      application: { id: 'app' },
      sessionId: 's',
      scopes: ['openid', 'offline_access'],
      authTime: ago(60),
      acr: 'urn:roster:acr:1',
      amr: ['pwd'],
      rounds: { user: 2, organization: 0, projectOrganization: 5, application: 7, project: 0, consent: 1 },
    })
  })

  test('a provider beside the password counts by the own link alone: neither as newer, nor as stronger', () => {
    const factors = [
      { kind: 'password' as const, at: ago(60) },
      { kind: 'provider' as const, at: ago(5), provedAt: ago(5).toISOString(), idpId: 'acme', counted: ['amr:mfa'] },
    ]
    const provider = { idpId: 'acme', organizationId: 'acme', name: 'Acme', stylingType: 0, secondFactors: ['amr:mfa'] }
    const by = (made: object, byHandAlone: boolean) => {
      const facts = put(whole(stage), isNew ? 'session.factors' : 'authorization.factors', factors)
      const linked = [{ idpId: 'acme', linkedAt: ago(90).toISOString(), ...made }]
      const policy = { ...defaultPolicy, providers: [provider], byHandAlone }
      return judge(stage, put(put(facts, 'user.linked', linked), 'policy', policy), now)
    }
    const strong = { authTime: ago(5), amr: ['pwd', 'mfa'], ...(isNew && { acr: 'urn:roster:acr:2' }) }
    const weak = { authTime: ago(60), amr: ['pwd'], acr: 'urn:roster:acr:1' }
    expect(by({}, true)).toMatchObject(strong)
    expect(by({ named: true }, false)).toMatchObject(strong)
    expect(by({ named: true }, true)).toMatchObject(weak)
    expect(by({ domain: 'example.com' }, true)).toMatchObject(weak)
    expect(by({ linkedAt: ago(1).toISOString() }, false)).toMatchObject(weak)
    expect(by({ idpId: 'other' }, false)).toMatchObject(weak)
  })

  test.each(faults)('%s %j', (path, value, onPages, after) => {
    expect(short(judge(stage, put(whole(stage), path, value), now))).toBe((isNew ? onPages : after) ?? 'allowed')
  })

  test('whatever is missing beside it, nobody is allowed', () => {
    const wrong = faults.filter(([, , onPages, after]) => (isNew ? onPages : after) !== undefined)
    fc.assert(
      fc.property(fc.subarray(wrong, { minLength: 1 }), (some) => {
        // The innermost first: what a later fault takes away stays away.
        const ordered = some.toSorted(([one], [other]) => other.split('.').length - one.split('.').length)
        const facts = ordered.reduce((facts, [path, value]) => put(facts, path, value), whole(stage))
        expect(short(judge(stage, facts, now))).not.toBe('allowed')
      }),
    )
  })

  test('people of its organizations, among them its owner, and those with a grant, pass the check of the project', () => {
    const checked = put(whole(stage), 'project.roleCheck', false)
    const at = (access: Facts['access']) => short(judge(stage, put(checked, 'access', access), now))
    expect(at([mine])).toBe('allowed')
    expect(at([ours])).toBe('allowed')
    expect(at([])).toBe('shut out: membership')
    expect(at(undefined)).toBe('shut out: membership')
    const scope = isNew ? 'request.organizationScope' : 'authorization.organizationScope'
    const ofOwner = put(put(put(checked, 'access', undefined), 'user.organizationId', 'owner'), scope, 'owner')
    expect(short(judge(stage, ofOwner, now))).toBe('allowed')
    expect(short(judge(stage, put(ofOwner, 'project.roleCheck', true), now))).toBe('shut out: grant')
    expect(short(judge(stage, put(put(checked, 'project.hasProjectCheck', false), 'access', undefined), now))).toBe(
      'allowed',
    )
  })
})

describe('no request asks twice:', () => {
  const at = (path: string, value: unknown, request: object, checked: number) => {
    const facts = put(whole('page'), 'session.factors', [{ kind: 'password', at: ago(checked) }])
    return short(judge('page', put({ ...facts, request: { ...facts.request!, ...request } }, path, value), now))
  }

  test('a password that was checked since it began is fresh', () => {
    expect(at('request.prompts', ['login'], {}, 9)).toBe('allowed')
    expect(at('request.maxAge', 0, {}, 9)).toBe('allowed')
    expect(at('request.prompts', ['login'], {}, 10)).toBe('fresh-factor')
    expect(at('request.prompts', ['login'], { maxAge: 3600 }, 11)).toBe('fresh-factor')
    expect(at('request.maxAge', 60, {}, 60)).toBe('allowed')
    expect(at('policy.passwordCheckLifetime', 5, {}, 9)).toBe('allowed')
    expect(at('policy.passwordCheckLifetime', 60, {}, 60)).toBe('allowed')
    expect(at('policy.passwordCheckLifetime', 60, { maxAge: 3600 }, 61)).toBe('fresh-factor')
  })
  test('who chose and allowed is not asked again', () => {
    expect(at('request.prompts', ['select_account'], { chosen: true }, 60)).toBe('allowed')
    expect(at('request.prompts', ['consent'], { decided: true }, 60)).toBe('allowed')
    expect(at('request.needsClick', true, { decided: true }, 60)).toBe('allowed')
  })
})

describe('an application of the own organization', () => {
  const own = put(put(whole('page'), 'application.organizationId', 'acme'), 'consent.scopes', [])

  test('that is a first party needs no consent', () => {
    expect(short(judge('page', own, now))).toBe('consent')
    expect(short(judge('page', put(own, 'application.oidc.firstParty', true), now))).toBe('allowed')
    const foreign = put(put(whole('page'), 'consent.scopes', []), 'application.oidc.firstParty', true)
    expect(short(judge('page', foreign, now))).toBe('consent')
  })
  test('asks where the request says so', () => {
    const asking = put(put(own, 'application.oidc.firstParty', true), 'request.prompts', ['consent'])
    expect(short(judge('page', asking, now))).toBe('consent')
  })
})

describe.each(begun)('at the stage %s, an application that asks for no scope', (stage) => {
  const facts = (consent: object, more: object = {}) => {
    const { request, ...others } = put(whole(stage), 'consent', { isGiven: false, scopes: [], revision: 0, ...consent })
    return { ...others, request: { ...request!, scopes: [], claimScopes: [], ...more } }
  }

  test('needs consent to its first use, and where it asks again', () => {
    expect(judge(stage, facts({}), now)).toEqual({ missing: [{ what: 'consent', scopes: [] }] })
    for (const given of [{ isGiven: true }, { isGiven: true, scopes: ['openid'] }]) {
      expect(judge(stage, facts(given), now)).toMatchObject({ userId: 'ada', scopes: [] })
      const again = facts(given, { prompts: ['consent'] })
      expect(judge(stage, again, now)).toEqual({ missing: [{ what: 'consent', scopes: [] }] })
    }
  })
  test('needs none as a first party, nor does the own account', () => {
    const ofAcme = put(put(facts({}), 'application.organizationId', 'acme'), 'application.oidc.firstParty', true)
    expect(short(judge(stage, ofAcme, now))).toBe('allowed')
    const own = { ...facts({}, { prompts: ['consent'] }), access: [mine] }
    const account = put(put(put(own, 'application.id', ''), 'application.projectId', ''), 'project.id', '')
    expect(short(judge(stage, account, now))).toBe('allowed')
  })
})

test('what a first party was granted without consent ends where it is none any more', () => {
  const granted = put(put(whole('refresh'), 'application.organizationId', 'acme'), 'consent', {
    isGiven: false,
    scopes: [],
    revision: 1,
  })
  expect(short(judge('refresh', put(granted, 'application.oidc.firstParty', true), now))).toBe('allowed')
  expect(short(judge('refresh', granted, now))).toBe('shut out: consent')
})

test('without a page, offline_access is left out rather than asked for', () => {
  const facts = (stage: Stage) => put(whole(stage), 'consent.scopes', ['openid', 'profile'])
  expect(judge('silent', facts('silent'), now)).toMatchObject({ scopes: ['openid'] })
  expect(short(judge('page', facts('page'), now))).toBe('consent')
  const first = put(
    put(facts('silent'), 'consent', { isGiven: false, scopes: [], revision: 0 }),
    'request.claimScopes',
    [],
  )
  expect(short(judge('silent', put(first, 'request.scopes', ['offline_access']), now))).toBe('consent')
})

test('what let in the person before it was remembered, and since before the last use, does so on', () => {
  const unremembered = put(whole('refresh'), 'authorization.admittedBy', undefined)
  expect(short(judge('refresh', put(unremembered, 'access', [{ ...mine, since: ago(60) }]), now))).toBe('allowed')
  const oneOfTwo = put(whole('refresh'), 'access', [mine, { ...mine, eventId: 'grants-3' }])
  expect(judge('refresh', oneOfTwo, now)).toMatchObject({ admittedBy: ['grants-1', 'grants-3'] })
})

test('an authorization that outlives its session needs none', () => {
  const facts = put(put(whole('refresh'), 'authorization.sessionBound', false), 'session', undefined)
  expect(short(judge('refresh', facts, now))).toBe('allowed')
  expect(short(judge('code', facts, now))).toBe('shut out: ended')
})

test('what began with the session that set the last password goes on, and nothing else', () => {
  const facts = put(whole('refresh'), 'user', {
    ...whole('refresh').user!,
    signOuts: 3,
    keptSession: { id: 's', since: 2 },
  })
  expect(short(judge('refresh', facts, now))).toBe('allowed')
  expect(short(judge('refresh', put(facts, 'authorization.sessionId', 'another'), now))).toBe('shut out: ended')
  expect(short(judge('refresh', put(facts, 'authorization.rounds.user', 1), now))).toBe('shut out: ended')
})
