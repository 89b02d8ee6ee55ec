import { expect } from 'vitest'
import { call, type Call, done, has, step } from './step.ts'

const settings = (more: object) => () => ({
  allowUsernamePassword: true,
  ignoreUnknownUsernames: true,
  passwordlessType: 1,
  ...more,
})
const result = (list: number[]) => (answer: any) => expect(answer.result).toEqual(list)
const empty = () => ({})
// The clients have numbers of 64 bits as different types.
const lockout =
  (expected: object) =>
  ({ policy }: any) =>
    expect({ ...policy, maxPasswordAttempts: Number(policy.maxPasswordAttempts) }).toMatchObject(expected)
const type = (type: number) => () => ({ type })

/**
 * Policies of an organization. Those of the instance are read alone, since it is everybody's here: Terraform's test sets them in a
 * Roster of its own.
 */
export const policyCalls: Call[] = [
  step(
    'management',
    'addCustomLoginPolicy',
    settings({ allowRegister: true, secondFactors: [1, 2], multiFactors: [1] }),
  ),
  step(
    'management',
    'getLoginPolicy',
    empty,
    has('policy', () => ({ allowRegister: true, passwordlessType: 1, isDefault: false })),
  ),
  step('management', 'updateCustomLoginPolicy', settings({ hidePasswordReset: true })),
  step('management', 'addSecondFactorToLoginPolicy', type(3)),
  step('management', 'removeSecondFactorFromLoginPolicy', type(1)),
  step('management', 'listLoginPolicySecondFactors', empty, result([2, 3])),
  step('management', 'addMultiFactorToLoginPolicy', type(1)),
  step('management', 'listLoginPolicyMultiFactors', empty, result([1])),
  call('management', 'removeMultiFactorFromLoginPolicy', async ({ admin: { management } }) => {
    await management['updateCustomLoginPolicy']!(settings({ passwordlessType: 0 })())
    expect(await management['removeMultiFactorFromLoginPolicy']!({ type: 1 })).toMatchObject(done)
  }),
  step('management', 'addIDPToLoginPolicy', ({ idpId }) => ({ idpId, ownerType: 1 })),
  step('management', 'listLoginPolicyIDPs', empty, (answer, { idpId }) =>
    expect(answer.result.map((one: { idpId: string }) => one.idpId)).toEqual([idpId]),
  ),
  step('management', 'removeIDPFromLoginPolicy', ({ idpId }) => ({ idpId })),
  step('management', 'resetLoginPolicyToDefault', empty),
  step(
    'management',
    'getDefaultLoginPolicy',
    empty,
    has('policy', () => ({ isDefault: expect.any(Boolean) })),
  ),
  step(
    'admin',
    'getLoginPolicy',
    empty,
    has('policy', () => ({ allowUsernamePassword: true })),
  ),
  step('admin', 'listLoginPolicySecondFactors', empty, (answer) => expect(answer.result).toContain(1)),
  step('admin', 'listLoginPolicyMultiFactors', empty, (answer) => expect(answer.result.length).toBeLessThan(2)),
  step('admin', 'listLoginPolicyIDPs', empty, (answer) => expect(Array.isArray(answer.result)).toBe(true)),
  step('management', 'addCustomLockoutPolicy', () => ({ maxPasswordAttempts: 10, maxOtpAttempts: 0 })),
  step('management', 'updateCustomLockoutPolicy', () => ({ maxPasswordAttempts: 0 })),
  step('management', 'getLockoutPolicy', empty, lockout({ isDefault: false, maxPasswordAttempts: 0 })),
  step('management', 'resetLockoutPolicyToDefault', empty),
  step('management', 'getDefaultLockoutPolicy', empty, lockout({ isDefault: true })),
  step('admin', 'getLockoutPolicy', empty, lockout({ maxPasswordAttempts: 0 })),
]
