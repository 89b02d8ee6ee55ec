import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest'
import { admin, newMember, newOrganization, ok } from '../../examples/people.ts'
import { call } from '../clients/encodings.ts'
import { startOwnHouse } from '../own-house.ts'
import { type Clients, kinds } from './clients.ts'
import { changedState, instancePolicy, organizationPolicy, policyState } from './terraform-login-policy.ts'

const { url, adminToken } = inject('roster')
const byUrl = inject('roster').house === undefined
const connect = kinds[0]!.connect
let house: Awaited<ReturnType<typeof startOwnHouse>>

beforeAll(async () => {
  if (!byUrl) house = await startOwnHouse()
}, 60_000)
afterAll(() => house?.stop())

async function newPolicies() {
  const organization = await newOrganization()
  // A session would lack a second factor as soon as the policy demands one.
  const clients: Clients = connect(url, adminToken, organization)
  return { organization, owner: admin(organization), clients, ...organizationPolicy(clients) }
}

test('Terraform creates the login policy of an organization, reads it without a difference, changes each field, and removes it', async () => {
  const { organization, owner, create, read, update, delete: remove } = await newPolicies()
  const brand = { brand: { lightTheme: { primaryColor: '#123456' } }, tosLink: 'https://example.com/tos' }
  ok(await call('UpdateLoginPolicy', { settings: brand }, owner))
  expect(await read()).toBeUndefined()
  await create(policyState())
  expect(await read()).toEqual({ id: organization, isDefault: false, state: policyState() })
  await expect(create(policyState())).rejects.toThrow(/login policy of its own/)
  await update(policyState(), changedState())
  expect(await read()).toEqual({ id: organization, isDefault: false, state: changedState() })
  await update(changedState(), policyState())
  expect((await read())!.state).toEqual(policyState())
  await remove()
  expect(await read()).toBeUndefined()
  await expect(update(policyState(), changedState())).rejects.toThrow(/no login policy of its own/)
  // What ZITADEL has elsewhere was never touched.
  const { settings } = ok(await call('GetLoginPolicy', {}, owner))
  expect(settings).toMatchObject(brand)
  expect(Object.keys(settings).toSorted()).toEqual(['brand', 'tosLink'])
})

// The details of an error name the fields.
const fieldsOf = (refused: Promise<unknown>): Promise<string> =>
  refused.then(
    () => 'nothing',
    ({ details }: { details: { value: Uint8Array }[] }) =>
      details.map(({ value }) => Buffer.from(value).toString('latin1')).join(),
  )

test('what it sets is what holds', async () => {
  const { organization, owner, create } = await newPolicies()
  const manager = await newMember(organization, ['ORG_OWNER'])
  const ofManager = connect(url, manager.token, organization).management
  expect((await ofManager['getLoginPolicy']!({})).isDefault).toBe(true)
  await expect(ofManager['getDefaultLoginPolicy']!({})).rejects.toThrow(/permission/)
  await create(policyState())
  const { policy } = ok(await call('GetLoginPolicy', {}, owner))
  expect(policy).toMatchObject({
    allowRegister: true,
    forceMfa: true,
    allowPasskeys: true,
    hidePasswordReset: true,
    passwordCheckLifetime: '36000s',
    secondFactorCheckLifetime: '64800s',
    multiFactorCheckLifetime: '43200s',
    externalLoginCheckLifetime: '864000s',
    mfaInitSkipLifetime: '2592000s',
    // Recovery codes have no name there, and serve all the same.
    secondFactors: ['SECOND_FACTOR_TYPE_U2F', 'SECOND_FACTOR_TYPE_OTP', 'SECOND_FACTOR_TYPE_RECOVERY_CODES'],
  })
  const { policy: ofInstance } = await connect(url, adminToken, '').management['getDefaultLoginPolicy']!({})
  expect(ofInstance.isDefault).toBe(true)
})

test.each<[string, () => object, object]>([
  ['allowUsernamePassword', () => ({ allowUsernamePassword: false }), {}],
  ['ignoreUnknownUsernames', () => ({ ignoreUnknownUsernames: false }), {}],
  ['disableLoginWithEmail', () => ({ disableLoginWithEmail: true }), {}],
  ['forceMfaLocalOnly', () => ({ forceMfaLocalOnly: true }), {}],
  ['defaultRedirectUri', () => ({ defaultRedirectUri: 'localhost:8080' }), {}],
  ['passwordCheckLifetime', () => ({ passwordCheckLifetime: { seconds: 864_000n, nanos: 0 } }), {}],
  ['externalLoginCheckLifetime', () => ({ externalLoginCheckLifetime: { seconds: -1n, nanos: 0 } }), {}],
  ['mfaInitSkipLifetime', () => ({ mfaInitSkipLifetime: { seconds: 1n, nanos: 1 } }), {}],
  ['multiFactorCheckLifetime', () => ({ multiFactorCheckLifetime: { seconds: 1n, nanos: 0 } }), {}],
  ['secondFactors', () => ({}), { secondFactors: [] }],
  ['secondFactors[0]', () => ({}), { secondFactors: [4] }],
  ['multiFactors', () => ({}), { multiFactors: [] }],
  ['multiFactors', () => ({ passwordlessType: 0 }), {}],
  [
    'idps',
    () => ({
      idps: [
        { idpId: 'x', ownerType: 1 },
        { idpId: 'x', ownerType: 1 },
      ],
    }),
    {},
  ],
])('a policy that Roster cannot keep is refused by its field: %s', async (field, policy, more) => {
  const { create, read } = await newPolicies()
  const state = { ...policyState(), ...more, policy: { ...policyState().policy, ...policy() } }
  expect(await fieldsOf(create(state))).toContain(field)
  expect(await read()).toBeUndefined()
})

test('its providers are those that people sign in by, until it allows none; a list keeps them', async () => {
  const { owner, clients } = await newPolicies()
  const { management: api } = clients
  const provider = (name: string) => ({ name, clientId: 'c', clientSecret: 's', providerOptions: {} })
  const [one, other] = await Promise.all(
    ['one', 'other'].map(async (name) => (await api['addGoogleProvider']!(provider(name))).id as string),
  )
  const { policy, secondFactors, multiFactors } = policyState()
  await api['addCustomLoginPolicy']!({ ...policy, secondFactors, multiFactors, idps: [{ idpId: one, ownerType: 2 }] })
  const holding = () => call('GetLoginPolicy', {}, owner).then((answer) => ok(answer).policy)
  const holds = (idpIds: string[]) =>
    vi.waitFor(async () => expect((await holding()).identityProviders ?? []).toEqual(idpIds), { timeout: 10_000 })
  await holds([one!])
  for (const idpId of [other, other]) await api['addIDPToLoginPolicy']!({ idpId, ownerType: 2 })
  await holds([one!, other!])
  const { result } = await api['listLoginPolicyIDPs']!({})
  expect(result).toMatchObject([
    { idpId: one, idpName: 'one' },
    { idpId: other, idpName: 'other' },
  ])
  await api['updateCustomLoginPolicy']!({ ...policy, allowExternalIdp: false })
  await holds([])
  expect((await holding()).allowExternalIdp).toBeFalsy()
  await api['updateCustomLoginPolicy']!(policy)
  await holds([one!, other!])
  for (const idpId of [one, one]) await api['removeIDPFromLoginPolicy']!({ idpId })
  await holds([other!])
  for (let at = 1; at < 20; at++) await api['addIDPToLoginPolicy']!({ idpId: `any-${at}`, ownerType: 2 })
  expect(await fieldsOf(api['addIDPToLoginPolicy']!({ idpId: 'one-too-many' }))).toContain('idpId')
  expect(await fieldsOf(api['addIDPToLoginPolicy']!({}))).toContain('idpId')
  ok(await call('ChangeLoginPolicyProviders', { change: { removeIdpId: other! } }, owner))
  expect(ok(await call('GetCustomLoginPolicy', {}, owner)).policy.identityProviders).toHaveLength(19)
})

test('where people sign in with codes by mail, it says so, and neither ends nor begins that', async () => {
  const { owner, create, read } = await newPolicies()
  const codes = { allowUsernamePassword: false, allowMailedCodes: true }
  ok(await call('UpdateLoginPolicy', { settings: codes }, owner))
  expect(await fieldsOf(create(policyState()))).toContain('allowUsernamePassword')
  const state = { ...policyState(), policy: { ...policyState().policy, allowUsernamePassword: false } }
  await create(state)
  expect((await read())!.state).toEqual(state)
  expect(ok(await call('GetLoginPolicy', {}, owner)).policy).toMatchObject({ allowMailedCodes: true, forceMfa: true })
})

test('the last second factor stays, and multi factors say what passwordless_type says', async () => {
  const { create, read, clients } = await newPolicies()
  await create(policyState())
  const { management: api } = clients
  await api['removeSecondFactorFromLoginPolicy']!({ type: 1 })
  expect(await fieldsOf(api['removeSecondFactorFromLoginPolicy']!({ type: 2 }))).toContain('must leave one')
  expect(await fieldsOf(api['removeMultiFactorFromLoginPolicy']!({ type: 1 }))).toContain('passwordless_type')
  for (const request of [{}, { type: 4 }])
    expect(await fieldsOf(api['addSecondFactorToLoginPolicy']!(request))).toMatch(/type/)
  await api['addMultiFactorToLoginPolicy']!({ type: 1 })
  expect((await read())!.state).toEqual({ ...policyState(), secondFactors: [2] })
})

test.skipIf(byUrl)('Terraform sets the policy of the instance, and reads it without a difference', async () => {
  const { update, read } = instancePolicy(connect(house.url, house.adminToken, ''))
  const former = await read()
  expect(former).toMatchObject({ isDefault: true, state: { policy: { forceMfa: false }, secondFactors: [1, 3] } })
  for (const state of [policyState(), changedState(), policyState()]) {
    expect(await update(state)).toBe(former!.id)
    expect(await read()).toEqual({ id: former!.id, isDefault: false, state })
  }
  const { settings } = ok(await call('GetInstanceLoginPolicy', {}, house.machine))
  expect(settings).toMatchObject({ forceMfa: true, mfaInitSkipLifetime: '2592000s', disableLoginWithPhone: false })
})

test.skipIf(byUrl)('the same of the instance in Roster’s words', async () => {
  const { machine } = house
  const settings = { allowUsernamePassword: true, ignoreUnknownUsernames: true, hidePasswordReset: true }
  ok(await call('UpdateInstanceCustomLoginPolicy', { settings }, machine))
  ok(
    await call(
      'ChangeInstanceLoginPolicyFactors',
      { change: { removeSecondFactor: 'SECOND_FACTOR_TYPE_U2F' } },
      machine,
    ),
  )
  const change = { addIdpId: '123456789012345678' }
  ok(await call('ChangeInstanceLoginPolicyProviders', { change }, machine))
  const { policy } = ok(await call('GetInstanceCustomLoginPolicy', {}, machine))
  expect(policy.settings).toMatchObject(settings)
  expect(policy.secondFactors).not.toContain('SECOND_FACTOR_TYPE_U2F')
  expect(policy.identityProviders).toContainEqual({ idpId: change.addIdpId })
})

test.skipIf(byUrl)('Terraform sets the lockout of the instance, which organizations only tighten', async () => {
  const { admin: api } = connect(house.url, house.adminToken, '')
  const lockoutOf = async () => {
    const { details, maxPasswordAttempts, isDefault } = (await api['getLockoutPolicy']!({})).policy
    return { id: details.resourceOwner, isDefault, most: Number(maxPasswordAttempts) }
  }
  const { id, ...former } = await lockoutOf()
  expect(former).toEqual({ isDefault: true, most: 0 })
  const { details } = await api['updateLockoutPolicy']!({ maxPasswordAttempts: 9, maxOtpAttempts: 0 })
  expect(details.resourceOwner).toBe(id)
  expect(await lockoutOf()).toEqual({ id, isDefault: false, most: 9 })
  ok(await call('SetLockoutPolicy', { maxPasswordAttempts: 20 }, house.machine))
  expect(ok(await call('GetLoginPolicy', {}, house.machine)).policy.maxPasswordAttempts).toBe(9)
  expect(ok(await call('GetLockoutPolicy', {}, house.machine)).policy).toMatchObject({ maxPasswordAttempts: 20 })
  expect(ok(await call('GetInstanceLockoutPolicy', {}, house.machine)).policy).toMatchObject({ maxPasswordAttempts: 9 })
  ok(await call('SetInstanceLockoutPolicy', {}, house.machine))
  expect(await lockoutOf()).toEqual({ id, isDefault: true, most: 0 })
})
