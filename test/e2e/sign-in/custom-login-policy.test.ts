import { expect, test } from 'vitest'
import { newMember, newOrganization, ok } from '../../examples/people.ts'
import { factsOf } from '../clients/call.ts'
import { call } from '../clients/encodings.ts'

test('the part of a policy that ZITADEL’s has is added, replaced, changed and reset by who manages the organization', async () => {
  const organization = await newOrganization()
  const [owner, manager] = [await newMember(organization, ['ORG_OWNER']), await newMember(organization, [])]
  const settings = { allowUsernamePassword: true, ignoreUnknownUsernames: true }
  const whole = { settings, secondFactors: ['SECOND_FACTOR_TYPE_OTP'] }
  expect(factsOf(await call('UpdateCustomLoginPolicy', { settings }, owner)).reason).toBe('LOGIN_POLICY_NOT_FOUND')
  const change = { change: { addSecondFactor: 'SECOND_FACTOR_TYPE_OTP_EMAIL' } }
  expect(factsOf(await call('ChangeLoginPolicyFactors', change, owner)).reason).toBe('LOGIN_POLICY_NOT_FOUND')
  expect(factsOf(await call('AddCustomLoginPolicy', whole, manager)).reason).toBe('PERMISSION_DENIED')
  ok(await call('AddCustomLoginPolicy', whole, owner))
  expect(factsOf(await call('AddCustomLoginPolicy', whole, owner)).reason).toBe('LOGIN_POLICY_EXISTS')
  ok(await call('ChangeLoginPolicyFactors', change, owner))
  ok(await call('UpdateCustomLoginPolicy', { settings: { ...settings, allowRegister: true } }, owner))
  const { policy } = ok(await call('GetCustomLoginPolicy', {}, owner))
  expect(policy).toMatchObject({
    settings: { ...settings, allowRegister: true },
    secondFactors: ['SECOND_FACTOR_TYPE_OTP', 'SECOND_FACTOR_TYPE_OTP_EMAIL'],
  })
  const both = { change: { ...change.change, removeSecondFactor: 'SECOND_FACTOR_TYPE_OTP' } }
  expect(factsOf(await call('ChangeLoginPolicyFactors', both, owner)).fields).toEqual(['change'])
  ok(await call('ResetCustomLoginPolicy', {}, owner))
  expect(ok(await call('GetCustomLoginPolicy', {}, owner)).policy.isDefault).toBe(true)
})
