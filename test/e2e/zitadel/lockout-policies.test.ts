import { expect, inject, test } from 'vitest'
import { admin, newOrganization, ok } from '../../examples/people.ts'
import { call } from '../clients/encodings.ts'
import { kinds } from './clients.ts'

const { url, adminToken } = inject('roster')

async function newLockout() {
  const organization = await newOrganization()
  const { management: api, settings } = kinds[0]!.connect(url, adminToken, organization)
  const ctx = { ctx: { resourceOwner: { case: 'orgId', value: organization } } }
  return {
    organization,
    owner: admin(organization),
    create: (policy: object) => api['addCustomLockoutPolicy']!(policy),
    update: (policy: object) => api['updateCustomLockoutPolicy']!(policy),
    remove: () => api['resetLockoutPolicyToDefault']!({}),
    /** As `zitadel_lockout_policy` of Terraform reads it. */
    async read() {
      const { policy, isDefault } = await api['getLockoutPolicy']!({})
      expect(policy.isDefault).toBe(isDefault)
      const { details, maxPasswordAttempts, maxOtpAttempts } = policy
      if (isDefault) return undefined
      return { id: details.resourceOwner, maxPasswordAttempts: Number(maxPasswordAttempts), maxOtpAttempts }
    },
    holds: async () => Number((await settings!['getLockoutSettings']!(ctx)).settings.maxPasswordAttempts),
  }
}

test('Terraform sets the lockout of an organization, reads it without a difference, changes it, and removes it', async () => {
  const { organization: id, owner, create, update, remove, read, holds } = await newLockout()
  const own = { forceMfaOfAdministrators: false, tosLink: 'https://example.com/tos' }
  ok(await call('UpdateLoginPolicy', { settings: own }, owner))
  expect(await read()).toBeUndefined()
  await create({ maxPasswordAttempts: 5, maxOtpAttempts: 0 })
  expect(await read()).toEqual({ id, maxPasswordAttempts: 5, maxOtpAttempts: 0n })
  expect(await holds()).toBe(5)
  // 0 is a value: of the organization, and nobody is locked.
  await update({ maxPasswordAttempts: 0, maxOtpAttempts: 0 })
  expect(await read()).toEqual({ id, maxPasswordAttempts: 0, maxOtpAttempts: 0n })
  expect(await holds()).toBe(0)
  await update({ maxPasswordAttempts: 50, maxOtpAttempts: 0 })
  expect(ok(await call('GetLoginPolicy', {}, owner)).settings).toMatchObject({ ...own, maxPasswordAttempts: 50 })
  await remove()
  await remove()
  expect(await read()).toBeUndefined()
  expect(ok(await call('GetLoginPolicy', {}, owner)).settings).not.toHaveProperty('maxPasswordAttempts')
  expect(ok(await call('GetLoginPolicy', {}, owner)).settings).toMatchObject(own)
})

test('a lockout and a login policy of ZITADEL leave each other alone', async () => {
  const { owner, create, remove, read } = await newLockout()
  const settings = { allowUsernamePassword: true, ignoreUnknownUsernames: true, allowRegister: true }
  await create({ maxPasswordAttempts: 7 })
  ok(await call('AddCustomLoginPolicy', { settings, secondFactors: ['SECOND_FACTOR_TYPE_OTP'] }, owner))
  ok(await call('UpdateCustomLoginPolicy', { settings }, owner))
  expect((await read())!.maxPasswordAttempts).toBe(7)
  await remove()
  expect(ok(await call('GetCustomLoginPolicy', {}, owner)).policy).toMatchObject({ settings })
})

test.each([
  ['maxPasswordAttempts', { maxPasswordAttempts: 51 }],
  ['maxPasswordAttempts', { maxPasswordAttempts: 2 ** 32 - 1 }],
  ['maxOtpAttempts', { maxPasswordAttempts: 5, maxOtpAttempts: 5 }],
  ['maxOtpAttempts', { maxPasswordAttempts: 5, maxOtpAttempts: 2 ** 32 - 1 }],
])('a lockout that Roster cannot keep is refused by its field: %s of %j', async (field, policy) => {
  const { create, read } = await newLockout()
  const { details } = await create(policy).then(
    () => ({ details: [] }),
    (error: { details: { value: Uint8Array }[] }) => error,
  )
  expect(details.map(({ value }) => Buffer.from(value).toString('latin1')).join()).toContain(field)
  expect(await read()).toBeUndefined()
})
